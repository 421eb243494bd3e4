package council_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"sibyl/internal/council"
	"sibyl/internal/council/session"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/service"
)

// except plays everybody but for some answers, by the oracle and its round.
func except(turns map[string]modeltest.Turn) func(model.Request) modeltest.Turn {
	return func(req model.Request) modeltest.Turn {
		if req.Purpose == council.Purpose {
			if turn, is := turns[fmt.Sprintf("%s %d", who(req), 1+len(req.Messages)/2)]; is {
				return turn
			}
		}
		return everybody(req)
	}
}

func TestSeveralOraclesAnswerByARunEachOverOneSnapshot(t *testing.T) {
	h := newHouse(t)
	h.says("Hm.")
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
		row := must(h.journal.Run(t.Context(), ada, a.Run))(t)
		same(t, "run of "+a.Oracle.Name, []any{row.Assistant, row.Status}, []any{council.MemberName, journal.Done})
	}
	same(t, "runs", len(runs), 3)
	h.whole(3)
}

// whole wants so many answers in the folder: numbered from 1 on, each once, with its file, and nothing that breaks the rules.
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
	same(h, "problems", must(h.sessions().Check(h.Context(), h.id, nil))(h), nil)
}

func TestOracleThatFailsOrTimesOutHarmsNoOther(t *testing.T) {
	for name, turn := range map[string]modeltest.Turn{
		"fails": modeltest.Fail(model.Server), "times out": modeltest.Fail(model.Timeout), "refuses": modeltest.Fail(model.Refused),
		"breaks off": {Text: "Half of", Err: &model.Error{Kind: model.Timeout, Message: "scripted failure"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			h.says("Hm.")
			h.plays = except(map[string]modeltest.Turn{"Bob 1": turn})
			p := h.process("one", h.journal)
			res, o := p.run(h.ask("ada", "bob", "cleo"))
			same(t, "status", res.Status, journal.Done)
			same(t, "partial", res.Partial, true)
			same(t, "answers", names(o.Answers), []string{"Ada", "Cleo"})
			if len(o.Silent) != 1 || o.Silent[0].Oracle.Name != "Bob" || o.Comparison == nil {
				t.Fatalf("outcome %+v", o)
			}
			contains(t, o.Silent[0].Reason, "scripted failure")
			contains(t, strings.Join(res.Warnings, "\n"), "Bob gave no answer", "‘sibyl council ask bob --session "+h.id+"’ asks again")
			same(t, "who is compared", headings(h.requests(council.EffectCompare)[0]), []string{"Ada", "Cleo"})
			h.whole(2)
			h.plays = nil
			p.run(h.ask("bob"))
			h.whole(3)
		})
	}
}

func TestSittingInWhichNobodyAnswersFailsAndLeavesTheSessionAsItWas(t *testing.T) {
	h := newHouse(t)
	h.says("Hm.")
	before := h.metadata()
	h.plays = func(model.Request) modeltest.Turn { return modeltest.Fail(model.Server) }
	o := h.ask("ada", "bob")
	o.Rounds = 2
	res, out := h.process("one", h.journal).run(o)
	same(t, "status", res.Status, journal.Failed)
	contains(t, res.Failure.Message, "no oracle has answered")
	contains(t, res.Failure.Hint, "the session is unchanged", "sibyl council ask ada bob")
	same(t, "silent", len(out.Silent), 2)
	same(t, "requests", len(h.asked), 2)
	same(t, "metadata.json", h.metadata(), before)
}

func TestTwelveOraclesAnswerAtOnce(t *testing.T) {
	h := newHouse(t)
	h.says("Hm.")
	var all []string
	for n := range council.MostOracles {
		all = append(all, fmt.Sprintf("Oracle%c", 'A'+n))
		h.oracle(all[n], "")
	}
	res, o := h.process("one", h.journal).run(h.ask(all...))
	same(t, "status", res.Status, journal.Done)
	same(t, "answers", names(o.Answers), all)
	h.whole(council.MostOracles)
}

func TestTwoSittingsOfOneSessionAtOnceKeepAllAnswers(t *testing.T) {
	h := newHouse(t)
	h.says("Hm.")
	var both sync.WaitGroup
	for _, holder := range []string{"one", "two"} {
		p := h.process(holder, h.journal)
		both.Go(func() {
			live, err := p.service.Start(t.Context(), ada, service.Request{Assistant: council.Name, Options: h.ask("ada", "bob", "cleo")})
			if err != nil {
				t.Error(err)
				return
			}
			if res, err := live.Wait(t.Context()); err != nil || res.Status != journal.Done {
				t.Errorf("a sitting ends with %v %v", res.Status, err)
			}
		})
	}
	both.Wait()
	h.whole(6)
}

func TestSittingThatIsStoppedShowsWhoHasAnsweredAndStopsTheOthers(t *testing.T) {
	h := newHouse(t)
	h.says("Hm.")
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
		if err != nil {
			t.Fatal(err)
		}
		if u.Record != nil && u.Record.Kind == "completion" { // Ada has answered
			break
		}
	}
	if err := p.service.Cancel(t.Context(), ada, r.ID, "enough"); err != nil {
		t.Fatal(err)
	}
	res, o := p.wait(r)
	same(t, "status", res.Status, journal.Cancelled)
	same(t, "answers", names(o.Answers), []string{"Ada"})
	if len(o.Silent) != 1 || o.Silent[0].Oracle.Name != "Bob" || o.Silent[0].Reason != "it was stopped" {
		t.Errorf("without an answer: %+v", o.Silent)
	}
	bob := o.Silent[0].Run
	for u, err := range p.service.Watch(t.Context(), ada, bob, service.Place{}) { // until it ends
		_, _ = u, err
	}
	same(t, "run of Bob", must(h.journal.Run(t.Context(), ada, bob))(t).Status, journal.Cancelled)
	h.whole(1)
}

func TestSittingThatIsStoppedWhileNobodyDrivesItStopsItsOracles(t *testing.T) {
	h := newHouse(t)
	h.says("Hm.")
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
	if err := other.service.Cancel(t.Context(), ada, r.ID, "enough"); err != nil {
		t.Fatal(err)
	}
	for _, row := range h.runs() {
		same(t, "status of the run of "+row.Assistant, row.Status, journal.Cancelled)
	}
	res := must(other.service.Result(t.Context(), ada, r.ID))(t)
	same(t, "silent", len(outcomeOf(t, res.Outcome).Silent), 2)
	h.whole(0)
}

func TestRoundOfDebateShowsEachOracleItsOwnAnswerAndThoseOfTheOthers(t *testing.T) {
	h := newHouse(t)
	h.says("Hm.")
	o := h.ask("ada", "bob", "cleo")
	o.Rounds = 2
	res, out := h.process("one", h.journal).run(o)
	same(t, "status", res.Status, journal.Done)
	same(t, "requests", len(h.requests(council.Purpose)), 6)
	for _, req := range h.requests(council.Purpose)[3:] {
		m, name := req.Messages, who(req)
		same(t, "roles", []model.Role{m[0].Role, m[1].Role, m[2].Role}, []model.Role{model.User, model.Assistant, model.User})
		same(t, "own answer", m[1].Text, name+" answers.")
		same(t, "the prompt again", strings.HasPrefix(m[0].Text, "# "+name+"\n"), true)
		contains(t, m[2].Text, "These are the answers of the others")
		for _, other := range []string{"Ada", "Bob", "Cleo"} {
			same(t, "answer of "+other+" to "+name, strings.Contains(m[2].Text, "[ORACLE: "+other+" - "), other != name)
		}
	}
	for _, a := range out.Answers {
		same(t, "answer", []any{a.Text, a.Round}, []any{a.Oracle.Name + " answers again.", 2})
	}
	var rounds []int
	for _, e := range h.session().Answers {
		rounds = append(rounds, e.Round)
	}
	same(t, "rounds", rounds, []int{1, 1, 1, 2, 2, 2})
	h.whole(6)
}

func TestOracleThatFailedInTheFirstRoundIsLeftOutOfTheNext(t *testing.T) {
	h := newHouse(t)
	h.says("Hm.")
	h.plays = except(map[string]modeltest.Turn{"Bob 1": modeltest.Fail(model.Server)})
	o := h.ask("ada", "bob", "cleo")
	o.Rounds = 2
	_, out := h.process("one", h.journal).run(o)
	same(t, "answers", names(out.Answers), []string{"Ada", "Cleo"})
	var asked []string
	for _, req := range h.requests(council.Purpose)[3:] {
		asked = append(asked, who(req))
		lacks(t, req.Messages[2].Text, "Bob")
	}
	same(t, "asked in the second round", sorted(asked), []string{"Ada", "Cleo"})
	same(t, "without an answer", out.Silent[0].Oracle.Name, "Bob")
}

func TestDebateWithoutAnotherIsLeftOutAndTold(t *testing.T) {
	h := newHouse(t)
	h.says("Hm.")
	h.plays = except(map[string]modeltest.Turn{"Bob 1": modeltest.Fail(model.Server)})
	o := h.ask("ada", "bob")
	o.Rounds = 3
	res, out := h.process("one", h.journal).run(o)
	same(t, "status", res.Status, journal.Done)
	same(t, "requests", len(h.asked), 2)
	same(t, "answers", []any{names(out.Answers), out.Answers[0].Round}, []any{[]string{"Ada"}, 1})
	same(t, "left out", out.Skipped, []council.Skipped{{What: "round 2", Why: "fewer than two oracles have answered"}})
	contains(t, strings.Join(res.Warnings, "\n"), "round 2: left out, fewer than two oracles have answered")
}

func TestAnswersOfTheFirstRoundStandIfTheNextOneFails(t *testing.T) {
	h := newHouse(t)
	h.says("Hm.")
	h.plays = except(map[string]modeltest.Turn{"Ada 2": modeltest.Fail(model.Server), "Bob 2": modeltest.Fail(model.Timeout)})
	o := h.ask("ada", "bob")
	o.Rounds = 3
	res, out := h.process("one", h.journal).run(o)
	same(t, "status", res.Status, journal.Done)
	same(t, "partial", res.Partial, true)
	same(t, "answers", []any{names(out.Answers), out.Answers[0].Round, out.Answers[1].Round}, []any{[]string{"Ada", "Bob"}, 1, 1})
	same(t, "silent", len(out.Silent), 2)
	same(t, "compared", out.Comparison != nil, true)
	same(t, "requests of oracles", len(h.requests(council.Purpose)), 4)
}

func TestComparisonOfAModelKeepsNamesAndSourcesThatThereAre(t *testing.T) {
	h := newHouse(t)
	h.says("Hm.")
	h.plays = func(req model.Request) modeltest.Turn {
		if req.Purpose == council.EffectCompare {
			return modeltest.Say(`{"agree":[{"text":"Both.","by":["ada"," Bob ","Zoe"],"sources":["t1","t9"]},{"text":"Nobody.","by":["Zoe","Ada"],"sources":[]}],
				"differ":[{"text":"One or the other.","by":["Ada","Bob"],"sources":[]},{"text":"Invented.","by":["Zoe"],"sources":[]}],
				"overlooked":[{"text":"The date.","by":["Ada"],"sources":["t1"]}]}`)
		}
		return everybody(req)
	}
	res, o := h.process("one", h.journal).run(h.ask("ada", "bob"))
	c := o.Comparison
	if len(c.Agree) != 1 || len(c.Differ) != 1 || len(c.Overlooked) != 1 {
		t.Fatalf("comparison %+v", c)
	}
	same(t, "agreed", []any{c.Agree[0].Text, c.Agree[0].By, c.Agree[0].Sources}, []any{"Both.", []string{"Ada", "Bob"}, []string{"t1"}})
	same(t, "differing", c.Differ[0].Text, "One or the other.")
	same(t, "who overlooks", c.Overlooked[0].By, nil)
	same(t, "by", c.By, acting)
	contains(t, res.Answer, "Both.", "The date.")
	lacks(t, res.Answer, "Zoe", "t9")
}

func TestComparisonFallsBackToRulesAndSaysSo(t *testing.T) {
	h := newHouse(t)
	h.says("The rent is 900 euros.")
	h.plays = func(req model.Request) modeltest.Turn {
		if req.Purpose == council.EffectCompare {
			return modeltest.Say("I'd rather not.")
		}
		return everybody(req)
	}
	res, o := h.process("one", h.journal).run(h.ask("ada", "bob"))
	same(t, "status", res.Status, journal.Done)
	same(t, "by", o.Comparison.By, model.OfflineRules)
	same(t, "partial", res.Partial, false)
	if len(o.Skipped) != 1 || o.Skipped[0].What != "the comparison by the model" {
		t.Errorf("left out: %+v", o.Skipped)
	}
	contains(t, strings.Join(res.Warnings, "\n"), "the comparison by the model: left out")
}

// advice is what the oracles of a house move say.
var advice = map[string]string{"Ada": "Sell the house in spring, before the roof leaks.", "Bob": "Keep renting for another year.", "Cleo": "Talk with the bank about the interest."}

// advising has each oracle give its advice, and a chair write this.
func advising(chair ...string) func(model.Request) modeltest.Turn {
	return func(req model.Request) modeltest.Turn {
		switch req.Purpose {
		case council.Purpose:
			return modeltest.Say(advice[who(req)])
		case council.EffectChair:
			return modeltest.Say(sentences(chair...))
		}
		return everybody(req)
	}
}

func TestChairIsAttributedByWhatTheAnswersSay(t *testing.T) {
	h := newHouse(t)
	h.says("Hm.")
	h.plays = advising("Sell in\nspring. ~ ada", "Keep renting for a year. ~ Bob!", "Move to Lisbon at once. ~ Ada, Bob", "Both can wait. ~ ", "Write to the tax office. [Bob] ~ Zoe")
	o := h.ask("ada", "bob", "cleo")
	o.Chair = "bob"
	res, out := h.process("one", h.journal).run(o)
	same(t, "status", res.Status, journal.Done)
	same(t, "sentences", out.Sentences, []council.Sentence{
		{Text: "Sell in spring.", By: []string{"Ada"}},
		{Text: "Keep renting for a year.", By: []string{"Bob"}, Minority: true},
		{Text: "Move to Lisbon at once.", Doubted: []string{"Ada", "Bob"}},
		{Text: "Both can wait."},
		{Text: "Write to the tax office. (Bob)"},
	})
	want := "- Sell in spring. [Ada]\n- Move to Lisbon at once. [the chair's own]\n- Both can wait. [the chair's own]\n- Write to the tax office. (Bob) [the chair's own]\n\n" +
		"**Minority views**\n\n- Keep renting for a year. [Bob]\n\n*Nothing is taken up of: Cleo*"
	same(t, "text", out.Chair.Text, want)
	contains(t, res.Answer, want, "no answer says this, though the chair named one: “Move to Lisbon at once.” (Ada, Bob)")
	all := h.session().Answers
	last := all[len(all)-1]
	same(t, "entry", []any{last.Kind, last.OracleName, last.File, h.stored(last.File)}, []any{"chair", "Bob", "004_bob.txt", want})
	h.whole(4)
}

func TestChairThatGivesNothingIsLeftOutAndTold(t *testing.T) {
	h := newHouse(t)
	h.says("Hm.")
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
	same(t, "left out", slices.ContainsFunc(out.Skipped, func(s council.Skipped) bool { return s.What == "the chair" }), true)
	h.whole(2)
}

func TestSessionAfterASittingIsReady(t *testing.T) {
	h := newHouse(t)
	h.says("Hm.")
	h.process("one", h.journal).run(h.ask("ada", "bob"))
	same(t, "state", h.session().State, session.Ready)
}

func TestContextIsCutWhereTheAnswersNeedItsRoom(t *testing.T) {
	h := newHouse(t)
	for n := range 4 {
		h.says(fmt.Sprintf("Thought %d. %s", n+1, strings.Repeat("word ", 40)))
	}
	h.window = 600
	h.plays = func(req model.Request) modeltest.Turn {
		if req.Purpose == council.Purpose {
			return modeltest.Say(strings.Repeat(who(req)+" advises. ", 20))
		}
		return everybody(req)
	}
	p := h.process("one", h.journal)
	o := h.ask("ada", "bob")
	o.Rounds = 2
	_, out := p.run(o)
	same(t, "answers", names(out.Answers), []string{"Ada", "Bob"})
	for _, a := range out.Answers {
		same(t, "snapshot of the second round", []any{a.Round, a.Snapshot.Transcripts, a.Snapshot.Entries, a.Snapshot.Cut}, []any{2, 2, []string{"t3", "t4"}, []string{"t1", "t2"}})
	}
	for _, req := range h.asked {
		whole, tokens := len(req.Messages) == 1 && req.Purpose == council.Purpose, 0
		for _, m := range req.Messages {
			tokens += (len(m.Text) + 3) / 4
		}
		same(t, "whole in "+req.Purpose, strings.Contains(req.Messages[0].Text, "Thought 1."), whole)
		same(t, "cut told in "+req.Purpose, strings.Contains(req.Messages[0].Text, " of 4 transcripts"), !whole)
		if req.Purpose == council.Purpose && tokens > h.window*3/4 {
			t.Errorf("%d tokens are sent into a window of %d", tokens, h.window)
		}
	}
}
