package council_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/council"
	"sibyl/internal/council/session"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/service"
)

// except plays everybody but for some answers, by the oracle.
func except(turns map[string]modeltest.Turn) func(model.Request) modeltest.Turn {
	return func(req model.Request) modeltest.Turn {
		if req.Purpose == council.Purpose {
			if turn, is := turns[who(req)]; is {
				return turn
			}
		}
		return everybody(req)
	}
}

func TestSeveralOraclesAnswerByARunEachOverOneSnapshot(t *testing.T) {
	h := houseOf(t, "Hm.")
	h.hearing(func() { h.says("Said meanwhile.") })
	res, o := h.process("one", h.journal).run(h.ask("ada", "bob", "cleo"))
	same(t, "status", res.Status, journal.Done)
	same(t, "partial", res.Partial, false)
	same(t, "answers, as they were named", names(o.Answers), []string{"Ada", "Bob", "Cleo"})
	for _, req := range h.requests(council.Purpose) {
		contains(t, req.Messages[0].Text, "Hm.")
		lacks(t, req.Messages[0].Text, "Said meanwhile.", "answers.")
	}
	runs := map[string]bool{}
	for _, a := range o.Answers {
		runs[a.Run] = true
		same(t, "snapshot of "+a.Oracle.Name, a.Snapshot.Entries, []string{"t1"})
		same(t, "stored of "+a.Oracle.Name, h.stored(a.File), a.Text)
		row := assert.Must(h.journal.Run(t.Context(), ada, a.Run))(t)
		same(t, "run of "+a.Oracle.Name, []any{row.Assistant, row.Status}, []any{council.MemberName, journal.Done})
	}
	same(t, "runs", len(runs), 3)
	h.whole(3)
}

// whole wants so many answers in the folder: numbered from 1 on, each once, with its file, and nothing that breaks the
// rules.
func (h *house) whole(answers int) {
	h.Helper()
	var sequences []int
	operations := map[string]bool{}
	for _, e := range h.session().Answers {
		sequences = append(sequences, e.Sequence)
		operations[e.Operation] = true
	}
	var want []int
	for n := range answers {
		want = append(want, n+1)
	}
	same(h, "sequence numbers", sequences, want)
	same(h, "operations", len(operations), answers)
	same(h, "files", len(h.files()), answers)
	same(h, "problems", assert.Must(h.sessions().Check(h.Context(), h.id, nil))(h), nil)
}

func TestOracleThatFailsOrTimesOutHarmsNoOther(t *testing.T) {
	for name, turn := range map[string]modeltest.Turn{
		"fails": modeltest.Fail(model.Server), "times out": modeltest.Fail(model.Timeout),
		"refuses":    modeltest.Fail(model.Refused),
		"breaks off": {Text: "Half of", Err: &model.Error{Kind: model.Timeout, Message: "scripted failure"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := houseOf(t, "Hm.")
			h.plays = except(map[string]modeltest.Turn{"Bob": turn})
			p := h.process("one", h.journal)
			res, o := p.run(h.ask("ada", "bob", "cleo"))
			same(t, "status", res.Status, journal.Done)
			same(t, "partial", res.Partial, true)
			same(t, "answers", names(o.Answers), []string{"Ada", "Cleo"})
			assert.Require(t, len(o.Silent) == 1 && o.Silent[0].Oracle.Name == "Bob", "outcome %+v", o)
			contains(t, o.Silent[0].Reason, "scripted failure")
			contains(t, strings.Join(res.Warnings, "\n"), "Bob gave no answer", "‘sibyl council ask bob --session "+
				h.id+"’ asks again")
			h.whole(2)
			h.plays = nil
			p.run(h.ask("bob"))
			h.whole(3)
		})
	}
}

func TestSittingInWhichNobodyAnswersFailsAndLeavesTheSessionAsItWas(t *testing.T) {
	h := houseOf(t, "Hm.")
	before := h.metadata()
	h.plays = func(model.Request) modeltest.Turn { return modeltest.Fail(model.Server) }
	res, out := h.process("one", h.journal).run(h.ask("ada", "bob"))
	same(t, "status", res.Status, journal.Failed)
	contains(t, res.Failure.Message, "no oracle has answered")
	contains(t, res.Failure.Hint, "the session is unchanged", "sibyl council ask ada bob")
	same(t, "silent", len(out.Silent), 2)
	same(t, "requests", len(h.asked), 2)
	same(t, "metadata.json", h.metadata(), before)
}

func TestTwoSittingsOfOneSessionAtOnceKeepAllAnswers(t *testing.T) {
	h := houseOf(t, "Hm.")
	var both sync.WaitGroup
	for _, holder := range []string{"one", "two"} {
		p := h.process(holder, h.journal)
		both.Go(func() {
			live, err := p.service.Start(t.Context(), ada, service.Request{Assistant: council.Name,
				Options: h.ask("ada", "bob", "cleo")})
			if err != nil {
				t.Error(err)
				return
			}
			res, err := live.Wait(t.Context())
			assert.That(t, err == nil && res.Status == journal.Done, "a sitting ends with %v %v", res.Status, err)
		})
	}
	both.Wait()
	h.whole(6)
}

func TestSittingThatIsStoppedShowsWhoHasAnsweredAndStopsTheOthers(t *testing.T) {
	h := houseOf(t, "Hm.")
	hanging := make(chan bool, 1)
	h.plays = func(req model.Request) modeltest.Turn {
		if who(req) == "Bob" {
			hanging <- true
			return modeltest.Turn{Text: "Half of", Hang: true}
		}
		return everybody(req)
	}
	p := h.process("one", h.journal)
	r := p.begin(council.Name, h.ask("ada", "bob"))
	held(t, "Bob to be asked", hanging)
	for u, err := range p.service.Watch(t.Context(), ada, r.ID, service.Place{}) {
		assert.NoError(t, err)
		if u.Record != nil && u.Record.Kind == "completion" { // Ada has answered
			break
		}
	}
	assert.NoError(t, p.service.Cancel(t.Context(), ada, r.ID, "enough"))
	res, o := p.wait(r)
	same(t, "status", res.Status, journal.Cancelled)
	same(t, "answers", names(o.Answers), []string{"Ada"})
	assert.That(t, len(o.Silent) == 1 && o.Silent[0].Oracle.Name == "Bob" && o.Silent[0].Reason == "it was stopped",
		"without an answer: %+v", o.Silent)
	bob := o.Silent[0].Run
	for u, err := range p.service.Watch(t.Context(), ada, bob, service.Place{}) { // until it ends
		_, _ = u, err
	}
	same(t, "run of Bob", assert.Must(h.journal.Run(t.Context(), ada, bob))(t).Status, journal.Cancelled)
	h.whole(1)
}

func TestSittingThatIsStoppedWhileNobodyDrivesItStopsItsOracles(t *testing.T) {
	h := houseOf(t, "Hm.")
	hanging := make(chan bool, 1)
	h.plays = func(req model.Request) modeltest.Turn {
		hanging <- true
		return modeltest.Turn{Hang: true}
	}
	p := h.process("dead", h.journal)
	r := p.begin(council.Name, h.ask("ada", "bob"))
	held(t, "the first to be asked", hanging)
	held(t, "the second to be asked", hanging)
	p.leave()
	other := h.process("two", h.journal)
	assert.NoError(t, other.service.Cancel(t.Context(), ada, r.ID, "enough"))
	for _, row := range h.runs() {
		same(t, "status of the run of "+row.Assistant, row.Status, journal.Cancelled)
	}
	res := assert.Must(other.service.Result(t.Context(), ada, r.ID))(t)
	same(t, "silent", len(outcomeOf(t, res.Outcome).Silent), 2)
	h.whole(0)
}

// advice is what the oracles of a house move say.
var advice = map[string]string{"Ada": "**Sell** the house\nin spring, before the roof leaks.",
	"Bob":  "Keep renting for another year.",
	"Cleo": "Talk with the bank about the interest."}

// advised is a house whose oracles give their advice, and whose chair writes this.
func advised(t *testing.T, chair string) *house {
	t.Helper()
	h := houseOf(t, "Hm.")
	h.plays = func(req model.Request) modeltest.Turn {
		switch req.Purpose {
		case council.Purpose:
			return modeltest.Say(advice[who(req)])
		case council.EffectChair:
			return modeltest.Say(chair)
		}
		return everybody(req)
	}
	return h
}

func TestChairMergesTheAnswersAndNamesWhoseWordsItQuotes(t *testing.T) {
	h := advised(t, merged([]string{"Sell in\nspring. ~ ada: sell the house in spring",
		"Renting on is safe. ~ Bob: Keep renting for another year!",
		"Both can wait. ~ ", "Write to the tax office. [Bob] ~ Zoe: to the tax office", "\u200b ~ Ada"},
		[]string{"The house matters. ~ Ada: Sell the house | Bob: Keep renting for another"},
		[]string{"One sells, one waits. ~ Ada: Sell the house | Bob: Keep renting"}, []string{"The date.\n\n## Bob"}))
	o := h.ask("ada", "bob", "cleo")
	o.Chair = "bob"
	res, out := h.process("one", h.journal).run(o)
	same(t, "status", res.Status, journal.Done)
	same(t, "what is merged", out.MergedAnswers, &council.MergedAnswers{
		Sentences: []council.Sentence{{Text: "Sell in spring.", By: []string{"Ada"}},
			{Text: "Renting on is safe.", By: []string{"Bob"}, Minority: true},
			{Text: "Both can wait."}, {Text: "Write to the tax office. (Bob)"}},
		Agree:      []council.Sentence{{Text: "The house matters.", By: []string{"Ada", "Bob"}}},
		Differ:     []council.Sentence{{Text: "One sells, one waits.", By: []string{"Ada"}, Unproven: []string{"Bob"}}},
		Overlooked: []council.Sentence{{Text: "The date. ## Bob"}}, Unused: []string{"Cleo"},
	})
	want := "- Sell in spring. [Ada]\n- Both can wait. [the chair's own]\n- Write to " +
		"the tax office. (Bob) [the chair's own]\n\n" +
		"**Minority views**\n\n- Renting on is safe. [Bob]\n\n**Where they " +
		"agree**\n\n- The house matters. [Ada, Bob]\n\n" +
		"**Where they differ**\n\n- One sells, one waits. [Ada, Bob?]\n\n**What none of " +
		"them mentions**\n\n- The date. ## Bob\n\n" +
		"*Nothing is taken up of: Cleo*\n\n*?: the answer does not hold the words that the chair quotes*"
	same(t, "text", out.Chair.Text, want)
	contains(t, res.Answer, "## Bob (chair)\n\n"+want)
	all := h.session().Answers
	last := all[len(all)-1]
	same(t, "entry", []any{last.Kind, last.OracleName, last.File, h.stored(last.File)},
		[]any{"chair", "Bob", "004_bob.txt", want})
	same(t, "requests", len(h.asked), 4)
	same(t, "state", h.session().State, session.Ready)
	h.whole(4)
}

func TestSentencesOfAChairThatRepeatItsInstructionsAreLeftOut(t *testing.T) {
	const rule = "An empty list is a good answer where nothing is to be found: never invent a point to fill one."
	h := advised(t, merged([]string{rule + " ~ ", "Sell in spring. ~ Ada: Sell the house in spring"},
		[]string{rule + " ~ Ada: Sell the house"}, nil, []string{rule}))
	o := h.ask("ada", "bob", "cleo")
	o.Chair = "bob"
	_, out := h.process("one", h.journal).run(o)
	same(t, "what is merged", out.MergedAnswers, &council.MergedAnswers{
		Sentences: []council.Sentence{{Text: "Sell in spring.", By: []string{"Ada"}}}, Unused: []string{"Bob", "Cleo"}})
}

func TestChairPresidesInTheLanguageOfTheSession(t *testing.T) {
	for language, want := range map[string]string{"en": "**What none of them mentions**",
		"de": "**Was niemand erwähnt**", "pt": "**O que ninguém menciona**",
		"fr": "**Ce que personne ne mentionne**", "es": "**Lo que nadie menciona**"} {
		h := advised(t, merged([]string{"Wait. ~ "}, nil, nil, []string{"The date."}))
		assert.Must(h.sessions().Set(t.Context(), h.id, session.Settings{Language: &language}))(t)
		o := h.ask("ada", "bob")
		o.Chair = "cleo"
		_, out := h.process("one", h.journal).run(o)
		contains(t, out.Chair.Text, want)
	}
}

func TestNoWordsAreCreditedToAnOracleThatDidNotSayThem(t *testing.T) {
	for words, proven := range map[string]bool{
		"Keep renting for another year": true, "keep RENTING, for another": true, "for another year.": true,
		"Keep renting for another month": false, "eep renting for another": false, "Sell the house": false,
		"renting": false, "": false, " … ": false,
	} {
		h := advised(t, sentences("Wait. ~ Bob: "+words))
		o := h.ask("ada", "bob")
		o.Chair = "ada"
		_, out := h.process("one", h.journal).run(o)
		same(t, "by whom “"+words+"”", out.Sentences[0].By != nil, proven)
		same(t, "in doubt “"+words+"”", out.Sentences[0].Unproven != nil, !proven)
	}
}

func TestChairOfOneAnswerIsLeftOutAndTold(t *testing.T) {
	h := houseOf(t, "Hm.")
	h.plays = except(map[string]modeltest.Turn{"Bob": modeltest.Fail(model.Server)})
	o := h.ask("ada", "bob")
	o.Chair = "cleo"
	res, out := h.process("one", h.journal).run(o)
	same(t, "status", res.Status, journal.Done)
	same(t, "requests", len(h.asked), 2)
	same(t, "left out", out.Skipped,
		[]council.Skipped{{What: "the chair", Why: bt.Why{Text: "fewer than two oracles have answered",
			Coded: bt.Coded{Code: "sitting.too_few"}}}})
	contains(t, strings.Join(res.Warnings, "\n"), "Did not compare the answers: fewer than two oracles have answered")
}

func TestChairThatGivesNothingIsLeftOutAndTold(t *testing.T) {
	h := houseOf(t, "Hm.")
	h.plays = func(req model.Request) modeltest.Turn {
		if req.Purpose == council.EffectChair {
			return modeltest.Fail(model.Timeout)
		}
		return everybody(req)
	}
	o := h.ask("ada", "bob")
	o.Chair = "cleo"
	res, out := h.process("one", h.journal).run(o)
	same(t, "status", res.Status, journal.Done)
	same(t, "answers", names(out.Answers), []string{"Ada", "Bob"})
	same(t, "partial", res.Partial, true)
	same(t, "left out", slices.ContainsFunc(out.Skipped, func(s council.Skipped) bool {
		return s.What == "the chair"
	}), true)
	h.whole(2)
}

func TestRepliesOfNoUseCountAmongWhatRunsTook(t *testing.T) {
	h := houseOf(t, "Hm.")
	h.plays = func(req model.Request) modeltest.Turn {
		turn := everybody(req)
		turn.Usage = model.Usage{InputTokens: 10}
		switch {
		case req.Purpose == council.EffectChair:
			turn.Text = "No JSON."
		case strings.Contains(req.System, "Bob"):
			turn.Text = " \n"
		}
		return turn
	}
	o := h.ask("ada", "bob", "cleo")
	o.Chair = "cleo"
	p := h.process("one", h.journal)
	p.run(o)
	var all []string
	for _, r := range h.runs() {
		all = append(all, r.ID)
	}
	used := assert.Must(p.service.Used(t.Context(), ada, all...))(t)
	if len(used) != 1 || used[0].Input != 70 { // three oracles, and the chair twice at length and twice briefly
		t.Errorf("used: %+v", used)
	}
}

// A small model may write one paragraph into every field. It is asked for less then.
func TestChairThatSaysOneThingEverywhereIsAskedForOneSentenceOfEach(t *testing.T) {
	const same5 = "Ada would sell the house in spring and Bob would keep renting. ~ Ada: Sell the house in spring"
	repeats := merged([]string{same5, same5}, []string{same5}, []string{same5}, []string{"Ada would sell the house in spring " +
		"and Bob would keep renting."})
	brief := `{"sentences":[{"oracle":"Ada","words":"Sell the house in spring","text":"Sell in spring."},` +
		`{"oracle":"Bob","words":"Keep renting for another year","text":"Renting on is safe."},` +
		`{"oracle":"Cleo","words":"Talk with the bank","text":"Renting on is safe."}]}`
	long := ""
	for n := range 90 {
		long += fmt.Sprintf("word%d ", n*n)
	}
	for name, c := range map[string]struct {
		first, second string
		want          []string // its sentences; nil: it is left out
	}{
		"repeats":       {repeats, brief, []string{"Sell in spring.", "Renting on is safe."}},
		"quotes nobody": {sentences("Sell. ~ Ada: sell everything now", "Wait. ~ "), brief, []string{"Sell in spring.", "Renting on is safe."}},
		"is too long":   {sentences(long + " ~ Ada: Sell the house in spring"), brief, []string{"Sell in spring.", "Renting on is safe."}},
		"says one thing twice in passing": {merged([]string{"Sell in spring. ~ Ada: Sell the house in spring", "Renting on is safe. ~ Bob: Keep renting for another",
			"Ask the bank. ~ Cleo: Talk with the bank"}, []string{"Ask the bank. ~ Cleo: Talk with the bank"}, nil, []string{"The date."}), "",
			[]string{"Sell in spring.", "Renting on is safe.", "Ask the bank."}},
		"never says anything": {repeats, `{"sentences":[{"oracle":"Zoe","words":"","text":"Sell."},{"oracle":"Ada","words":"no","text":"Wait."}]}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			h := advised(t, c.first)
			plays := h.plays
			h.plays = func(req model.Request) modeltest.Turn {
				if req.Purpose == council.EffectChair && req.Schema.Name == "briefly" {
					return modeltest.Say(c.second)
				}
				return plays(req)
			}
			o := h.ask("ada", "bob", "cleo")
			o.Chair = "bob"
			res, out := h.process("one", h.journal).run(o)
			same(t, "answers", names(out.Answers), []string{"Ada", "Bob", "Cleo"})
			asked := 1
			if c.second != "" {
				asked = 2
			}
			same(t, "requests to the chair", len(h.requests(council.EffectChair)), asked)
			if c.want == nil {
				same(t, "it is left out", out.Chair == nil, true)
				contains(t, strings.Join(res.Warnings, "\n"), "repeats itself, is longer than the answers, or quotes nobody")
				return
			}
			var got []string
			for _, s := range out.Sentences {
				got = append(got, s.Text)
			}
			same(t, "its sentences", got, c.want)
			same(t, "it is there", out.Chair != nil && len(out.Skipped) == 0, true)
		})
	}
}

// Where no spaces are put between words, a quotation is proven by its characters.
func TestWordsOfScriptsWithoutSpacesAreProven(t *testing.T) {
	h := houseOf(t, "Hm.")
	h.plays = func(req model.Request) modeltest.Turn {
		switch req.Purpose {
		case council.Purpose:
			return modeltest.Say("家を春に売りなさい。税金が下がります。")
		case council.EffectChair:
			return modeltest.Say(sentences("春に売る。 ~ Ada: 家を春に売りなさい", "税金。 ~ Bob: 税金が下がります"))
		}
		return everybody(req)
	}
	o := h.ask("ada", "bob")
	o.Chair = "cleo"
	_, out := h.process("one", h.journal).run(o)
	assert.Require(t, out.MergedAnswers != nil, "it is left out: %+v", out.Skipped)
	same(t, "by", out.Sentences[0].By, []string{"Ada"})
}

func TestChairThatFailedMergesTheSameAnswersOnceMore(t *testing.T) {
	h := advised(t, "nothing that can be read")
	p := h.process("one", h.journal)
	o := h.ask("ada", "bob", "cleo")
	o.Chair = "bob"
	_, first := p.run(o)
	same(t, "what the chair made at first", first.MergedAnswers == nil, true)
	replies := len(h.requests(council.Purpose))
	h.plays = advised(t, sentences("Sell in spring. ~ ada: sell the house in spring")).plays
	_, second := p.run(council.Options{Session: h.id, Merge: first.Run})
	same(t, "requests to oracles", len(h.requests(council.Purpose)), replies)
	same(t, "the sitting that it merges", second.Merges, first.Run)
	same(t, "answers", len(second.Answers), len(first.Answers))
	assert.That(t, second.MergedAnswers != nil && second.Chair != nil && second.Chair.Oracle.Name == "Bob",
		"the chair made %+v", second.SittingResult)
	same(t, "the run of the first answer", second.Answers[0].Run, first.Answers[0].Run)
	p.refused(council.Name, council.Options{Session: h.id, Merge: first.Answers[0].Run}, "no such sitting")
	p.refused(council.Name, council.Options{Session: h.id, Merge: "none"}, "no such sitting")
}

func TestChairThatMergesOnceMoreHasTheModelOfItsSession(t *testing.T) {
	h := advised(t, sentences("Sell in spring. ~ ada: sell the house in spring"))
	p := h.process("one", h.journal)
	chair := func(o council.Options, sets bool) council.Outcome {
		o.Session = h.id
		_, out := p.wait(assert.Must(p.service.Start(t.Context(), ada, service.Request{Assistant: council.Name, Options: o,
			Sets: func(string) bool { return sets }}))(t))
		return out
	}
	o := h.ask("ada", "bob")
	o.Chair, o.Model = "bob", "played:own"
	first := chair(o, true)
	same(t, "the model of the first chair", first.Chair.Model, "played:own")
	same(t, "that of the second", chair(council.Options{Merge: first.Run}, false).Chair.Model, "played:own")
}
