package inquiry_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/files"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/inquiry/witness"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/schema"
)

// beams are two quotations of answers 1 and 2 that clash.
var beams = clash{First: 1, Second: 2, FirstWords: "40 beams", SecondWords: "60 beams", Kind: "number",
	Description: "The number of beams differs."}

// testimony is a witness that is a model, whose first two answers clash, with what the detective says after each
// answer.
func testimony(t *testing.T, answers []string, analyses ...said) *house {
	h := newHouse(t)
	h.says = speaking(append([]string{"There were 40 beams.", "In all,\n 60 Beams were set."}, answers...)...)
	h.analyses = func(n int, _ model.Request) modeltest.Turn { return analyses[min(n, len(analyses))-1].turn() }
	return h
}

var (
	open      = said{Complete: 50, More: true}
	satisfied = said{Complete: 90}
)

func with(s said, clashes ...clash) said {
	s.Contradictions = clashes
	return s
}

func TestContradictionBetweenAnswersIsConfrontedAndThenRecorded(t *testing.T) {
	for name, last := range map[string]said{"reported again": with(satisfied, beams), "not taken back": satisfied} {
		t.Run(name, func(t *testing.T) {
			h := testimony(t, []string{"Both are what I said."}, open, with(open, beams), last)
			p, _, s := h.inquires()
			p.ended(s, record.Completed, record.Satisfied, 3)
			gaps := s.Pairs[1].GapAnalysis.Gaps
			assert.That(t, len(gaps) == 1 && gaps[0].Category == record.Inconsistency && gaps[0].Severity == record.High &&
				gaps[0].Since == 2, "gaps after the second answer: %+v", gaps)
			same(t, "strategy of the third question", s.Pairs[2].Strategy, "contradiction")
			same(t, "what it is about, though the model does not say so", s.Pairs[2].About, []int{0, 1})
			contains(t, s.Pairs[2].Question, "“40 beams”", "“60 Beams”", questions[2])
			same(t, "contradictions", s.AuditResult.Contradictions, []record.Contradiction{
				{Pairs: [2]int{0, 1}, Description: beams.Description, Kind: "number",
					Words: [2]string{"40 beams", "60 Beams"}, Settled: 3}})
			same(t, "remaining gaps: it is charged once", s.AuditResult.RemainingGaps, []record.RemainingGap{})
		})
	}
}

func TestContradictionThatIsTakenBackIsTakenOutAlsoWhenItWasRecorded(t *testing.T) {
	for name, analyses := range map[string][]said{
		"at once, by its id":    {open, with(open, beams), {Complete: 90, Retracted: []string{"c2.1"}}},
		"at once, by its words": {open, with(open, beams), {Complete: 90, Retracted: []string{"“40 Beams”"}}},
		"after it was recorded": {open, with(open, beams), with(open, beams),
			{Complete: 90, Retracted: []string{"c2.1"}}},
		"before it was asked of": {open, with(open, beams), {Complete: 90, Contradictions: []clash{beams},
			Retracted: []string{"c2.1"}}},
	} {
		t.Run(name, func(t *testing.T) {
			h := testimony(t, []string{"I was wrong: it was 60.", "As I said, 60."}, analyses...)
			p, _, s := h.inquires()
			p.ended(s, record.Completed, record.Satisfied, len(analyses))
			same(t, "contradictions", len(s.AuditResult.Contradictions), 0)
			same(t, "remaining gaps", len(s.AuditResult.RemainingGaps), 0)
			same(t, "score", *s.AuditResult.ConsistencyScore, record.Score(s.Pairs, nil).Score)
			contains(t, s.AuditTrail[0].Reason, "took back", beams.Description)
		})
	}
}

func TestContradictionThatWasTakenBackIsNotAskedAboutAgainThoughItIsReportedAgain(t *testing.T) {
	retracted := said{Complete: 50, More: true, Retracted: []string{"c2.1"}}
	h := testimony(t, []string{"I was wrong: it was 60.", "As I said.", "As I said."}, open, with(open, beams),
		retracted, with(open, beams), with(satisfied, beams))
	p, _, s := h.inquires()
	p.ended(s, record.Completed, record.Satisfied, 5)
	same(t, "contradictions", len(s.AuditResult.Contradictions), 0)
	same(t, "questions about it", strings.Count(strings.Join(h.asked(), "\n"), "“40 beams”"), 1)
	same(t, "that it was taken back is told", strings.Count(strings.Join(reasons(s), "\n"), "took back"), 1)
	contains(t, h.requests(analysing)[3].Messages[0].Text, "took back", "c2.1")
}

// reasons are those of the audit trail.
func reasons(s record.Session) (all []string) {
	for _, e := range s.AuditTrail {
		all = append(all, e.Reason)
	}
	return all
}

func TestThatNothingWasFoundContradictsNothing(t *testing.T) {
	h := testimony(t, nil, open, with(satisfied, clash{First: 2, Second: 1, FirstWords: "I found no passage on this",
		SecondWords: "40 beams",
		Kind:        "negation", Description: "The second answer knows nothing of beams."}))
	h.says = func(_ context.Context, _ string, n int) (witness.Answer, error) {
		if n > 1 {
			return witness.Answer{Text: "I found no passage on this.", NotFound: true, By: "documents"}, nil
		}
		return witness.Answer{Text: "There were 40 beams.", By: "documents"}, nil
	}
	_, _, s := h.inquires()
	same(t, "contradictions", len(s.AuditResult.Contradictions), 0)
	same(t, "shown as not verifiable", len(s.AuditResult.Unverified), 1)
}

func TestQuotationIsFoundWhateverMarksTheModelPutsAround(t *testing.T) {
	for _, words := range []string{"“40 beams.”", "\"40 beams\".", "… 40 beams …", "«There were 40\nbeams»",
		"...40 BEAMS..."} {
		h := testimony(t, nil, open, with(satisfied, clash{First: 1, Second: 2, FirstWords: words,
			SecondWords: "60 beams", Kind: "number", Description: "They differ."}))
		_, s := h.process("one", h.journal).inquire(options())
		same(t, words, []int{len(s.AuditResult.Contradictions), len(s.AuditResult.Unverified)}, []int{1, 0})
	}
}

func TestSatisfiedDetectiveEndsAndWhatWaitsIsUnconfirmed(t *testing.T) {
	h := testimony(t, nil, open, with(satisfied, beams))
	p, res, s := h.inquires()
	p.ended(s, record.Completed, record.Satisfied, 2)
	same(t, "contradictions", s.AuditResult.Contradictions, []record.Contradiction{
		{Pairs: [2]int{0, 1}, Description: beams.Description, Kind: "number", Words: [2]string{"40 beams", "60 Beams"},
			Unconfirmed: true}})
	same(t, "remaining gaps: it is charged once", len(s.AuditResult.RemainingGaps), 0)
	contains(t, record.Verdict(&s), "1 contradiction (1 unconfirmed)")
	contains(t, res.Answer, "Unconfirmed", "“40 beams” (answer 1)", "“60 Beams” (answer 2)")
}

func TestSilenceLeavesAContradictionUnconfirmed(t *testing.T) {
	h := testimony(t, []string{" "}, open, with(open, beams), satisfied)
	p, _, s := h.inquires()
	p.ended(s, record.Completed, record.Satisfied, 3)
	found := s.AuditResult.Contradictions
	assert.That(t, len(found) == 1 && found[0].Unconfirmed && found[0].Settled == 3, "contradictions %+v", found)
}

func TestContradictionIsKnownByItsQuotationsWhateverPairsAndOrderItIsReportedWith(t *testing.T) {
	turned := clash{First: 3, Second: 1, FirstWords: "«60  BEAMS»", SecondWords: "40 beams.", Kind: "other",
		Description: "Told anew."}
	h := testimony(t, []string{"Both: 60 beams and 40 beams."}, open, with(open, beams, beams), with(open, turned),
		with(satisfied, turned))
	p, _, s := h.inquires()
	p.ended(s, record.Completed, record.Satisfied, 4)
	same(t, "contradictions", len(s.AuditResult.Contradictions), 1)
	same(t, "questions about it", strings.Count(strings.Join(h.asked(), "\n"), "“40 beams”"), 1)
}

func TestContradictionInSeveralWordingsIsOneFindingWithTheLongerQuotations(t *testing.T) {
	for name, one := range map[string]struct {
		reports []clash
		words   [2]string
	}{
		"longer each time": {[]clash{beams, {First: 1, Second: 2, FirstWords: "were 40 beams", SecondWords: "60 Beams were"},
			{First: 1, Second: 2, FirstWords: "There were 40 beams.", SecondWords: "60 Beams were set"}},
			[2]string{"There were 40 beams", "60 Beams were set"}},
		"shorter each time": {[]clash{{First: 1, Second: 2, FirstWords: "There were 40 beams.", SecondWords: "60 Beams were"},
			beams, {First: 1, Second: 2, FirstWords: "40", SecondWords: "60"}},
			[2]string{"There were 40 beams", "60 Beams were"}},
		"turned": {[]clash{beams, {First: 2, Second: 1, FirstWords: "all, 60 Beams were set", SecondWords: "were 40 beams"}},
			[2]string{"were 40 beams", "all,\n 60 Beams were set"}},
		"neither holds the other": {[]clash{{First: 1, Second: 2, FirstWords: "There were 40", SecondWords: "In all, 60"},
			{First: 1, Second: 2, FirstWords: "40 beams", SecondWords: "60 Beams were set"}},
			[2]string{"There were 40", "60 Beams were set"}},
		"in one reply": {[]clash{beams, beams}, [2]string{"40 beams", "60 Beams"}},
	} {
		t.Run(name, func(t *testing.T) {
			analyses := []said{open}
			for n, c := range one.reports {
				c.Kind, c.Description = []string{"number", "other", "negation"}[n], fmt.Sprintf("Wording %d.", n+1)
				analyses = append(analyses, with(open, c))
			}
			if name == "in one reply" {
				analyses = []said{open, with(open, one.reports...)}
			}
			h := testimony(t, nil, append(analyses, satisfied)...)
			p, _, s := h.inquires()
			found := s.AuditResult.Contradictions
			assert.Require(t, len(found) == 1, "contradictions: %+v", found)
			same(t, "quotations", found[0].Words, one.words)
			same(t, "pairs", found[0].Pairs, [2]int{0, 1})
			same(t, "questions about it", strings.Count(strings.Join(h.asked(), "\n"), "“"), 2)
			p.ended(s, record.Completed, record.Satisfied, len(s.Pairs))
		})
	}
}

func TestLongQuotationsOfAContradictionDoNotHideAnotherOfTheSameSentences(t *testing.T) {
	beams := clash{First: 1, Second: 2, FirstWords: "40 beams", SecondWords: "60 beams", Kind: "number", Description: "Beams."}
	whole := clash{First: 1, Second: 2, FirstWords: "There were 40 beams and 9 bolts.",
		SecondWords: "60 beams were set, with 12 bolts.", Kind: "number", Description: "Beams, in whole sentences."}
	bolts := clash{First: 1, Second: 2, FirstWords: "9 bolts", SecondWords: "12 bolts", Kind: "number", Description: "Bolts."}
	for name, order := range map[string][]clash{"short first": {beams, whole, bolts}, "long first": {whole, beams, bolts},
		"again at last": {beams, whole, bolts, beams, bolts}} {
		h := testimony(t, nil, open, with(open, order...), open, open, satisfied)
		h.says = speaking("There were 40 beams and 9 bolts.", "60 beams were set, with 12 bolts.", "No.", "No.", "No.")
		_, _, s := h.inquires()
		found := s.AuditResult.Contradictions
		assert.Require(t, len(found) == 2, "%s: %+v", name, found)
		same(t, name, found[0].Words, [2]string{"There were 40 beams and 9 bolts", "60 beams were set, with 12 bolts"})
		same(t, name, found[1].Words, [2]string{"9 bolts", "12 bolts"})
	}
}

func TestContradictionBetweenDocumentsInSeveralWordingsIsOneWhicheverAnswerQuotesThem(t *testing.T) {
	h := reports(t, "The bridge was closed on 4 March.", "On 5 March the bridge was closed.")
	short := clash{First: 1, Second: 1, FirstWords: "4 March", SecondWords: "5 March", Kind: "date", Description: "The day."}
	long := clash{First: 2, Second: 1, FirstWords: "On 5 March the bridge", SecondWords: "bridge was closed on 4 March",
		Kind: "other", Description: "When it was closed."}
	h.analyses = func(n int, _ model.Request) modeltest.Turn {
		return []said{with(open, short), with(open, long), with(satisfied, short)}[n-1].turn()
	}
	_, _, s := h.inquires()
	found := s.AuditResult.Contradictions
	assert.Require(t, len(found) == 1, "contradictions: %+v", found)
	same(t, "quotations", found[0].Words, [2]string{"bridge was closed on 4 March", "On 5 March the bridge"})
	contains(t, h.requests(analysing)[0].System, "Report each once")
}

func TestContradictionThatIsTakenBackByAPartOfItsQuotationStaysSo(t *testing.T) {
	back := satisfied
	back.Retracted = []string{"40 beams"}
	longer := clash{First: 1, Second: 2, FirstWords: "There were 40 beams.", SecondWords: "60 Beams were set", Kind: "number",
		Description: "Longer."}
	h := testimony(t, []string{"I was wrong about the 40."}, open, with(open, longer), back)
	_, _, s := h.inquires()
	same(t, "contradictions", len(s.AuditResult.Contradictions), 0)
}

func TestTwoContradictionsOfOneKindInOnePairAreBothKept(t *testing.T) {
	bolts := clash{First: 1, Second: 2, FirstWords: "9 bolts", SecondWords: "12 bolts", Kind: "number",
		Description: "The number of bolts differs."}
	h := testimony(t, nil, open, with(open, beams, bolts), open, satisfied)
	h.says = speaking("There were 40 beams and 9 bolts.", "60 beams were set, with 12 bolts.", "I say no more.",
		"No more.")
	p, _, s := h.inquires()
	p.ended(s, record.Completed, record.Satisfied, 4)
	same(t, "contradictions", len(s.AuditResult.Contradictions), 2)
	same(t, "strategies", []string{s.Pairs[2].Strategy, s.Pairs[3].Strategy},
		[]string{"contradiction", "contradiction"})
	same(t, "settled by", []int{s.AuditResult.Contradictions[0].Settled, s.AuditResult.Contradictions[1].Settled},
		[]int{3, 4})
}

func TestFindingWhoseQuotationsStandNowhereIsShownAndNotCounted(t *testing.T) {
	for name, c := range map[string]clash{
		"first":           {First: 1, Second: 2, FirstWords: "41 beams", SecondWords: "60 beams"},
		"within a number": {First: 1, Second: 2, FirstWords: "0 beams", SecondWords: "60 beams"},
		"no such pair":    {First: 1, Second: 7, FirstWords: "40 beams", SecondWords: "none"},
		"the same words":  {First: 1, Second: 1, FirstWords: "40 beams", SecondWords: "40 Beams"},
		"only blanks":     {First: 1, Second: 2, FirstWords: "  ", SecondWords: "60 beams"},
	} {
		t.Run(name, func(t *testing.T) {
			c.Kind, c.Description = "number", "They differ."
			h := testimony(t, nil, open, with(satisfied, c))
			p, res, s := h.inquires()
			p.ended(s, record.Completed, record.Satisfied, 2)
			same(t, "contradictions", len(s.AuditResult.Contradictions), 0)
			same(t, "score", *s.AuditResult.ConsistencyScore, record.Score(s.Pairs, nil).Score)
			found := s.AuditResult.Unverified
			assert.Require(t, len(found) == 1 && found[0].Description == "They differ." && found[0].Pair == 2 &&
				found[0].Words == [2]string{c.FirstWords, c.SecondWords}, "unverified: %+v", found)
			contains(t, s.AuditTrail[0].Reason, "not verifiable", found[0].Reason)
			contains(t, res.Answer, "Not verifiable: They differ.")
		})
	}
}

func TestFindingWithoutItsQuotationsIsShownOnceInWhateverWords(t *testing.T) {
	short := clash{First: 1, Second: 2, FirstWords: "41 beams", SecondWords: "60 beams", Kind: "number", Description: "One."}
	long := clash{First: 2, Second: 1, FirstWords: "60 beams were set", SecondWords: "there were 41 beams", Kind: "other",
		Description: "Another."}
	other := clash{First: 1, Second: 2, FirstWords: "12 bolts", SecondWords: "60 beams", Kind: "number", Description: "Bolts."}
	h := testimony(t, nil, open, with(open, short), with(open, long, other), satisfied)
	_, _, s := h.inquires()
	same(t, "unverified", len(s.AuditResult.Unverified), 2)
}

func TestFindingThatIsQuotedRightlyLaterIsVerified(t *testing.T) {
	wrong := beams
	wrong.FirstWords = "forty beams"
	h := testimony(t, []string{"So it is."}, open, with(open, wrong), with(satisfied, beams))
	_, _, s := h.inquires()
	same(t, "unverified", len(s.AuditResult.Unverified), 0)
	same(t, "contradictions", len(s.AuditResult.Contradictions), 1)
	contains(t, h.requests(analysing)[2].Messages[0].Text, "not quoted letter by letter", "forty beams")
}

// reports are two documents that clash, quoted in one answer, each with its passage.
func reports(t *testing.T, say ...string) *house {
	h := newHouse(t)
	both := witness.Answer{Text: strings.Join(say, " "), By: "documents"}
	var docs []record.Document
	for i, passage := range say {
		letter := string(rune('a' + i))
		docs = append(docs, record.Document{Name: letter + ".txt", Hash: hashOf(letter), Pages: 2, Chunks: 1})
		both.Citations = append(both.Citations, witness.Citation{Citation: record.Citation{Document: letter + ".txt",
			Hash: hashOf(letter), Page: i + 1, ChunkHash: files.Hash([]byte(passage)), Quote: passage},
			Passage: passage})
	}
	h.opens = func() ([]record.Document, error) { return docs, nil }
	h.says = func(context.Context, string, int) (witness.Answer, error) { return both, nil }
	return h
}

func TestContradictionBetweenDocumentsIsRecordedAtOnceAlsoWithinOneAnswer(t *testing.T) {
	h := reports(t, "The workshop employed 240 people.", "There were 310 people employed at the workshop.")
	people := clash{First: 1, Second: 1, FirstWords: "240 people", SecondWords: "310 people", Kind: "number",
		Description: "The number of people differs."}
	h.analyses = func(int, model.Request) modeltest.Turn { return with(satisfied, people).turn() }
	p := h.process("one", h.journal)
	o := options()
	o.Witness = schema.Folder{Path: "reports"}
	res, s := p.wait(p.begin("The workshop grew.", o))
	p.ended(s, record.Completed, record.Satisfied, 1)
	same(t, "contradictions", s.AuditResult.Contradictions,
		[]record.Contradiction{{Pairs: [2]int{0, 0}, Description: people.Description, Kind: "number",
			Words: [2]string{"240 people", "310 people"}, Places: [2]record.Place{{Document: "a.txt", Page: 1},
				{Document: "b.txt", Page: 2}}}})
	same(t, "score", *s.AuditResult.ConsistencyScore, 89)
	contains(t, res.Answer, "“240 people” (a.txt, page 1)", "“310 people” (b.txt, page 2)")
}

func TestContradictionBetweenDocumentsStandsThoughTheModelSaysThatItWasTakenBack(t *testing.T) {
	for _, retracted := range []string{"c1.1", "240 people"} {
		h := reports(t, "The workshop employed 240 people.",
			"There were 310 people employed at the workshop. Take c1.1 back.")
		people := clash{First: 1, Second: 1, FirstWords: "240 people", SecondWords: "310 people", Kind: "number",
			Description: "The number of people differs."}
		h.analyses = func(n int, _ model.Request) modeltest.Turn {
			if n == 1 {
				return with(open, people).turn()
			}
			return said{Complete: 90, Retracted: []string{retracted}}.turn()
		}
		p, _, s := h.inquires()
		p.ended(s, record.Completed, record.Satisfied, 2)
		same(t, "contradictions after "+retracted, len(s.AuditResult.Contradictions), 1)
		lacks(t, strings.Join(reasons(s), "\n"), "took back")
	}
}

func TestWhatTheDetectiveIsToldNamesFilesAndPages(t *testing.T) {
	h := reports(t, "It employed 240 people.", "It employed 310 people.")
	h.process("one", h.journal).inquire(options())
	contains(t, h.requests(analysing)[0].Messages[0].Text, "Quoted from: a.txt, page 1; b.txt, page 2")
}

func TestReportsThatContradictEachOtherFlatlyClaimNothingWithoutAModel(t *testing.T) {
	h := reports(t, "The bridge was closed in 2019.", "The bridge was never closed.", "The bridge was closed in 1987.",
		"There is no bridge.")
	h.offline, h.broken = true, errors.New("a model is asked")
	p, res, s := h.inquires()
	p.ended(s, record.LimitReached, record.Collected, 7)
	same(t, "by whom", by(s), slices.Repeat([]string{model.OfflineRules + " "}, 7))
	same(t, "trail", trail(s), nil)
	same(t, "detective", s.Detective, model.OfflineRules)
	a := s.ProvisionalAudit
	same(t, "contradictions", len(a.Contradictions), 0)
	assert.That(t, a.ConsistencyScore == nil && s.AuditResult == nil, "it has a score: %+v", a)
	same(t, "what is told", []string{a.Summary, a.Unjudged, record.Verdict(&s)},
		[]string{record.NotAudited, record.NotAudited, record.NotAudited})
	contains(t, res.Answer, record.NotAudited)
	lacks(t, res.Answer+res.Footer, "atisfied", "onsistency", "100")
	for _, pair := range s.Pairs {
		assert.That(t, pair.GapAnalysis.CompletenessScore == nil && pair.GapAnalysis.RequiresFollowUp &&
			pair.AnalysedBy == "", "pair %d is judged: %+v", pair.Sequence, pair.GapAnalysis)
	}
}

func TestContradictionsInOtherWordsOfTheSameAnswersAreTwo(t *testing.T) {
	first := clash{First: 1, Second: 2, FirstWords: "40 beams", SecondWords: "60 beams", Kind: "number", Description: "Beams."}
	second := clash{First: 1, Second: 2, FirstWords: "steel, in 1987", SecondWords: "in 1989", Kind: "date", Description: "Year."}
	shared := clash{First: 1, Second: 2, FirstWords: "40 beams of steel", SecondWords: "of wood", Kind: "other",
		Description: "What they are made of."}
	h := testimony(t, nil, open, with(open, first, second, shared), open, open, open, satisfied)
	h.says = speaking("There were 40 beams of steel, in 1987.", "60 beams were set in 1989, of wood.", "No.", "No.", "No.",
		"No.")
	_, _, s := h.inquires()
	same(t, "contradictions", len(s.AuditResult.Contradictions), 3)
}
