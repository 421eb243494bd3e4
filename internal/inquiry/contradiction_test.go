package inquiry_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/files"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/inquiry/witness"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// beams are two answers that clash.
var beams = clash{First: 1, Second: 2, FirstWords: "40 beams", SecondWords: "60 beams", Kind: "number", Description: "The number of beams differs."}

// clashing is a detective who sees that answers 1 and 2 clash, asks about both after answer 2, and thinks of the reply what settled says.
func clashing(t *testing.T, replies []string, settled said) *house {
	h := newHouse(t)
	h.says = speaking(append([]string{"There were 40 beams.", "In all,\n 60 Beams were set."}, replies...)...)
	usual := h.asks
	h.asks = func(n int, req model.Request) modeltest.Turn {
		if n == 3 {
			return ask("You said “40 beams”, and “60 beams”: which holds?", 1, 2, 2, 1, 3)
		}
		return usual(n, req)
	}
	h.analyses = func(n int, _ model.Request) modeltest.Turn {
		switch n {
		case 1:
			return said{Complete: 50, More: true}.turn()
		case 2:
			return said{Complete: 90, Contradictions: []clash{beams}}.turn()
		}
		return settled.turn()
	}
	return h
}

func TestSuspicionIsASevereGapAndAskedAboutBeforeItIsRecorded(t *testing.T) {
	h := clashing(t, []string{"Both are what I said."}, said{Complete: 90, Contradictions: []clash{beams}})
	p := h.process("one", h.journal)
	_, s := p.inquire(options())
	p.ended(s, record.Completed, record.Satisfied, 3)
	gaps := s.Pairs[1].GapAnalysis.Gaps
	if len(gaps) != 1 || gaps[0].Category != record.Inconsistency || gaps[0].Severity != record.High || gaps[0].Since != 2 {
		t.Errorf("gaps after the second answer: %+v", gaps)
	}
	same(t, "strategy of the third question", s.Pairs[2].Strategy, "contradiction")
	same(t, "what it is about", s.Pairs[2].About, []int{0, 1})
	contains(t, h.requests(asking)[2].Messages[0].Text, "answers 1 and 2: “40 beams” against “60 Beams”")
	same(t, "contradictions", s.AuditResult.Contradictions, []record.Contradiction{
		{Pairs: [2]int{0, 1}, Description: beams.Description, Kind: "number", Words: [2]string{"40 beams", "60 Beams"}, Settled: 3}})
	same(t, "remaining gaps: it is charged once", s.AuditResult.RemainingGaps, []record.RemainingGap{})
	same(t, "score", s.AuditResult.ConsistencyScore, record.Score(s.Pairs, s.AuditResult.Contradictions).Score)
}

func TestContradictionThatIsCorrectedIsClosed(t *testing.T) {
	h := clashing(t, []string{"I was wrong: it was 60."}, said{Complete: 90})
	p := h.process("one", h.journal)
	_, s := p.inquire(options())
	p.ended(s, record.Completed, record.Satisfied, 3)
	same(t, "contradictions", len(s.AuditResult.Contradictions), 0)
	same(t, "remaining gaps", len(s.AuditResult.RemainingGaps), 0)
}

func TestSilenceSettlesNoContradiction(t *testing.T) {
	for name, reply := range map[string]witness.Answer{"empty": {Text: " "}, "not in the documents": {Text: "The documents do not say.", NotFound: true}} {
		t.Run(name, func(t *testing.T) {
			h := clashing(t, nil, said{Complete: 90, Contradictions: []clash{beams}})
			usual := h.says
			h.says = func(ctx context.Context, q string, n int) (witness.Answer, error) {
				if n < 3 {
					return usual(ctx, q, n)
				}
				return reply, nil
			}
			p := h.process("one", h.journal)
			_, s := p.inquire(options())
			p.ended(s, record.LimitReached, record.NoProgress, 6)
			same(t, "contradictions", len(s.ProvisionalAudit.Contradictions), 0)
			same(t, "remaining gaps", len(s.ProvisionalAudit.RemainingGaps), 1)
			same(t, "category", s.ProvisionalAudit.RemainingGaps[0].Category, record.Inconsistency)
			same(t, "strategies after that", s.Pairs[3].Strategy, "depth")
		})
	}
}

func TestQuestionThatNamesOneOfTheAnswersRecordsNothing(t *testing.T) {
	h := clashing(t, []string{"Yes."}, said{Complete: 90, Contradictions: []clash{beams}})
	h.asks = func(n int, _ model.Request) modeltest.Turn { return ask(questions[n-1], 1) }
	p := h.process("one", h.journal)
	_, s := p.inquire(options())
	same(t, "contradictions", len(s.ProvisionalAudit.Contradictions), 0)
	same(t, "remaining gaps", len(s.ProvisionalAudit.RemainingGaps), 1)
}

func TestWordsThatDoNotStandInTheAnswersAreNoContradiction(t *testing.T) {
	for name, c := range map[string]clash{
		"first":        {First: 1, Second: 2, FirstWords: "41 beams", SecondWords: "60 beams"},
		"second":       {First: 1, Second: 2, FirstWords: "40 beams", SecondWords: "none at all"},
		"other pair":   {First: 2, Second: 1, FirstWords: "40 beams", SecondWords: "60 beams"},
		"same pair":    {First: 1, Second: 1, FirstWords: "40", SecondWords: "beams"},
		"no such pair": {First: 1, Second: 7, FirstWords: "40 beams", SecondWords: "60 beams"},
		"only blanks":  {First: 1, Second: 2, FirstWords: "  ", SecondWords: "60 beams"},
	} {
		t.Run(name, func(t *testing.T) {
			c.Kind, c.Description = "number", "They differ."
			h := clashing(t, nil, said{})
			h.asks = func(n int, _ model.Request) modeltest.Turn { return ask(questions[n-1]) }
			h.analyses = func(n int, _ model.Request) modeltest.Turn {
				if n == 1 {
					return said{Complete: 50, More: true}.turn()
				}
				return said{Complete: 90, Contradictions: []clash{c}}.turn()
			}
			p := h.process("one", h.journal)
			_, s := p.inquire(options())
			p.ended(s, record.Completed, record.Satisfied, 2)
			same(t, "gaps", len(s.Pairs[1].GapAnalysis.Gaps), 0)
			same(t, "contradictions", len(s.AuditResult.Contradictions), 0)
		})
	}
}

func TestContradictionStaysRecordedThoughALaterAnalysisDoesNotNameIt(t *testing.T) {
	for name, fourth := range map[string]modeltest.Turn{"of a model": said{Complete: 90}.turn(), "of the rules": modeltest.Fail(model.RateLimit)} {
		t.Run(name, func(t *testing.T) {
			h := clashing(t, []string{"Both.", "The paint was green.", "Nothing more."}, said{})
			usual := h.analyses
			h.analyses = func(n int, req model.Request) modeltest.Turn {
				switch n {
				case 3:
					return said{Complete: 60, More: true, Contradictions: []clash{beams}}.turn()
				case 4:
					return fourth
				case 5:
					return said{Complete: 90}.turn()
				}
				return usual(n, req)
			}
			p := h.process("one", h.journal)
			_, s := p.inquire(options())
			same(t, "contradictions", len(s.Audit().Contradictions), 1)
			same(t, "status", s.Status, record.Completed)
		})
	}
}

func TestSuspicionOfAModelIsOpenWhileTheRulesAnalyse(t *testing.T) {
	h := clashing(t, []string{"Green."}, said{Complete: 90, Contradictions: []clash{beams}})
	h.asks = func(n int, _ model.Request) modeltest.Turn {
		if n == 4 {
			return ask("You said “40 beams”, and “60 beams”: which holds?", 1, 2)
		}
		return ask(questions[n-1])
	}
	usual := h.analyses
	h.analyses = func(n int, req model.Request) modeltest.Turn {
		if n == 3 {
			return modeltest.Fail(model.RateLimit)
		}
		return usual(n, req)
	}
	h.says = speaking("There were 40 beams.", "60 beams were set.", "It is green.", "Both hold.")
	p := h.process("one", h.journal)
	_, s := p.inquire(options())
	high := 0
	for _, g := range s.Pairs[2].GapAnalysis.Gaps {
		if g.Category == record.Inconsistency && g.Severity == record.High {
			high++
		}
	}
	same(t, "clashes that are open after the third answer", high, 1)
	same(t, "strategy of the fourth question", s.Pairs[3].Strategy, "contradiction")
	same(t, "contradictions", len(s.Audit().Contradictions), 1)
}

func TestWhatAModelRepeatsInItsAnalysisStandsOnce(t *testing.T) {
	h := clashing(t, []string{"Both."}, said{Complete: 90, Contradictions: []clash{beams, beams}})
	usual, doubled := h.analyses, missing(1, "low")
	h.analyses = func(n int, req model.Request) modeltest.Turn {
		if n != 2 {
			return usual(n, req)
		}
		same := gap{ID: "c1-2-number", Category: "inconsistency", Severity: "low", Description: "They clash.", Pair: 2}
		return said{Complete: 90, Contradictions: []clash{beams, beams}, Gaps: []gap{doubled, doubled, same, same, {Category: "vagueness", Severity: "low", Description: " ", Pair: 1}, missing(9, "low")}}.turn()
	}
	p := h.process("one", h.journal)
	_, s := p.inquire(options())
	p.ended(s, record.Completed, record.Satisfied, 3)
	var ids []string
	for _, g := range s.Pairs[1].GapAnalysis.Gaps {
		ids = append(ids, g.ID)
	}
	slices.Sort(ids)
	same(t, "gaps after the second answer", strings.Join(ids, " "), "c1-2-number m2.1 m2.2")
	same(t, "contradictions", len(s.AuditResult.Contradictions), 1)
}

func TestRulesHoldNothingOfOneParagraphAgainstEachOther(t *testing.T) {
	const first, second = "The workshop employed 240 people.", "There were 310 people employed at the workshop."
	for parting, asked := range map[string]bool{" ": false, "\n\n": true} {
		h := newHouse(t)
		h.offline = true
		passage := first + parting + second
		h.opens = func() ([]record.Document, error) {
			return []record.Document{{Name: "a.txt", Hash: hashOf("a"), Pages: 1, Chunks: 1}}, nil
		}
		h.says = func(_ context.Context, _ string, n int) (witness.Answer, error) {
			if n > 2 {
				return witness.Answer{Text: "That is not in the documents.", NotFound: true, By: "documents"}, nil
			}
			quote := []string{first, second}[n-1]
			cited := witness.Citation{Document: "a.txt", Hash: hashOf("a"), Page: 1, ChunkHash: files.Hash([]byte(passage)), Quote: quote, Passage: passage}
			return witness.Answer{Text: quote, Citations: []witness.Citation{cited}, By: "documents"}, nil
		}
		h.process("one", h.journal).inquire(options())
		both := slices.ContainsFunc(h.asked(), func(q string) bool { return strings.Contains(q, "240 people") && strings.Contains(q, "310 people") })
		same(t, "asked about both", both, asked)
	}
}

// Reports that disagree are often quoted in one answer: each side of what they contradict is shown with its own passage.
func TestReportsThatOneAnswerQuotesAreHeldAgainstEachOther(t *testing.T) {
	h := newHouse(t)
	h.offline = true
	reports := []string{"The workshop employed 240 people.", "There were 310 people employed at the workshop."}
	both := witness.Answer{Text: strings.Join(reports, " "), By: "documents"}
	var docs []record.Document
	for i, passage := range reports {
		letter := string(rune('a' + i))
		docs = append(docs, record.Document{Name: letter + ".txt", Hash: hashOf(letter), Pages: 1, Chunks: 1})
		both.Citations = append(both.Citations, witness.Citation{Document: letter + ".txt", Hash: hashOf(letter), Page: 1, ChunkHash: files.Hash([]byte(passage)), Quote: passage, Passage: passage})
	}
	h.opens = func() ([]record.Document, error) { return docs, nil }
	h.says = func(_ context.Context, asked string, n int) (witness.Answer, error) {
		if n == 1 || strings.Contains(asked, "240 people") && strings.Contains(asked, "310 people") {
			return both, nil
		}
		return witness.Answer{Text: "That is not in the documents.", NotFound: true, By: "documents"}, nil
	}
	p := h.process("one", h.journal)
	o := options()
	o.Witness, o.Documents = "reports", true
	r := p.begin("The workshop grew.", o)
	_, s := p.wait(r)
	found := s.Audit().Contradictions
	if len(found) != 1 || found[0].Pairs != [2]int{0, 0} || found[0].Settled == 0 {
		t.Fatalf("contradictions: %+v", found)
	}
	asked := slices.IndexFunc(s.Pairs, func(p record.Pair) bool { return slices.Equal(p.About, []int{0}) })
	same(t, "the pair that asks about it", asked+1, found[0].Settled)
	contains(t, string(record.Markdown(s)), found[0].Description)
	page := string(must(p.desk.Evidence(t.Context(), must(p.journal.Run(t.Context(), ada, r.ID))(t), s))(t))
	contains(t, page, "<mark>240</mark>", "<mark>310</mark>")
	report := record.Verify([]byte(page), nil)
	same(t, "the page holds", report.OK(), true)
}
