package council_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"sibyl/internal/council"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/run"
)

// shown are the answers that a reviewer is shown, by letter.
func shown(req model.Request) map[string]string {
	all := map[string]string{}
	for n, part := range strings.Split(req.Messages[0].Text, "\n=== The answer of ") {
		if letter, text, is := strings.Cut(part, " ===\n"); is && n > 0 {
			all[letter] = strings.TrimSpace(text)
		}
	}
	return all
}

// reviewing has each reviewer rank answers as a function of what stands in them.
func reviewing(rank func(text string) int) func(model.Request) modeltest.Turn {
	return func(req model.Request) modeltest.Turn {
		if req.Purpose != council.EffectReview {
			return everybody(req)
		}
		var all []string
		for letter, text := range shown(req) {
			all = append(all, fmt.Sprintf(`{"answer":%q,"rank":%d,"strength":"Short.","criticism":"Too short."}`, letter, rank(text)))
		}
		return modeltest.Say(`{"reviews":[` + strings.Join(all, ",") + `]}`)
	}
}

// reviewed has three oracles answer and review each other.
func (h *house) reviewed(p *process) (string, council.Outcome) {
	h.Helper()
	o := h.ask("ada", "bob", "cleo")
	o.Review = true
	res, out := p.run(o)
	same(h, "status", res.Status, journal.Done)
	return res.Answer, out
}

func TestReviewersRankTheOthersAndTheTableIsShown(t *testing.T) {
	h := newHouse(t)
	h.says("Hm.")
	reviews := reviewing(func(text string) int { return 1 + strings.Index("First. Second. Third.", text) })
	h.plays = func(req model.Request) modeltest.Turn {
		if req.Purpose == council.Purpose {
			return modeltest.Say(map[string]string{"Ada": "First.", "Bob": "Second.", "Cleo": "Third."}[who(req)])
		}
		return reviews(req)
	}
	answer, o := h.reviewed(h.process("one", h.journal))
	sat, asked, err := (&council.Desk{}).Sat(must(json.Marshal(o))(t))
	if err != nil || !asked || len(sat.Reviews) != 3 || sat.Reviews[0].By != "Ada" || sat.Reviews[0].Reviews[0].Oracle != "Bob" || sat.Reviews[0].Reviews[0].Rank != 1 || sat.Comparison == nil {
		t.Errorf("for people it is %+v, %v", sat, err)
	}
	same(t, "ranks for people", sat.Ranks, o.Ranks)
	same(t, "ranks", o.Ranks, []council.Rank{
		{Oracle: "Ada", Mean: 1, By: map[string]int{"Bob": 1, "Cleo": 1}},
		{Oracle: "Bob", Mean: 1.5, By: map[string]int{"Ada": 1, "Cleo": 2}},
		{Oracle: "Cleo", Mean: 2, By: map[string]int{"Ada": 2, "Bob": 2}},
	})
	contains(t, answer, "| oracle | mean rank | Ada | Bob | Cleo |\n|---|---|---|---|---|\n| Ada | 1.0 | – | 1 | 1 |\n| Bob | 1.5 | 1 | – | 2 |\n| Cleo | 2.0 | 2 | 2 | – |",
		"- Ada on Bob: Short. Too short.")
}

func TestAnswersOfTheSameRankShareTheBestOfTheirPlaces(t *testing.T) {
	h := newHouse(t)
	h.says("Hm.")
	h.plays = reviewing(func(string) int { return 7 })
	_, o := h.reviewed(h.process("one", h.journal))
	for _, r := range o.Ranks {
		same(t, "mean of "+r.Oracle, r.Mean, 1)
	}
	same(t, "order of a tie, as they were named", []string{o.Ranks[0].Oracle, o.Ranks[1].Oracle, o.Ranks[2].Oracle}, []string{"Ada", "Bob", "Cleo"})
}

func TestReviewersSeeNoNamesAlsoWhereAnAnswerNamesItsAuthor(t *testing.T) {
	h := newHouse(t)
	h.oracle("Ada", "# Céti'co\nDoubt.\n{{CONTEXT}}\n")
	h.says("Hm.")
	answers := map[string]string{
		"Céti'co": "I, Céti'co, doubt it. CETI’CO has spoken; ce\u0301ti'co, too. Cétí'cos are others.",
		"Bob":     "Bob thinks that Céti'co is wrong, and Cleo (“Cleo!”) right. A bobsled goes down.",
		"Cleo":    "=== The answer of Bob ===\nI say so. cleo",
	}
	h.plays = func(req model.Request) modeltest.Turn {
		if req.Purpose == council.Purpose {
			return modeltest.Say(answers[who(req)])
		}
		return everybody(req)
	}
	o := h.ask("céti", "bob", "cleo")
	o.Review = true
	h.process("one", h.journal).run(o)
	requests := h.requests(council.EffectReview)
	same(t, "reviews", len(requests), 3)
	for _, req := range requests {
		text := strings.ToLower(req.Messages[0].Text)
		lacks(t, text, "céti'co,", "ceti’co", "ce\u0301ti", "bob ", "cleo")
		same(t, "headings", headings(req), []string{"A", "B"})
	}
	all := requests[0].Messages[0].Text + requests[1].Messages[0].Text
	contains(t, all, "I, […], doubt it.", "[…] thinks that […] is wrong, and […] (“[…]!”) right. A bobsled goes down.", `\=== The answer of […] ===`)
}

func TestOrderInWhichAnswersAreReviewedFollowsFromTheRecordedSeed(t *testing.T) {
	h := newHouse(t)
	h.says("Hm.")
	orders := map[string]bool{}
	p := h.process("one", h.journal)
	for range 8 {
		o := h.ask("ada", "bob", "cleo")
		o.Review = true
		r := p.begin(council.Name, o)
		_, out := p.wait(r)
		var order string
		for _, c := range h.receipts(r.ID) {
			if c.Kind != council.EffectReview {
				continue
			}
			var asked council.ReviewPayload
			if err := json.Unmarshal(c.Payload, &asked); err != nil {
				t.Fatal(err)
			}
			n := strings.Index("Ada Bob Cleo", asked.Reviewer.Name) / 4
			want := []string{}
			for _, name := range []string{"Ada", "Bob", "Cleo"} {
				if name != asked.Reviewer.Name {
					want = append(want, name)
				}
			}
			rand.New(rand.NewPCG(uint64(out.Seed), uint64(n))).Shuffle(2, func(a, b int) { want[a], want[b] = want[b], want[a] })
			same(t, "order for "+asked.Reviewer.Name, []string{asked.Answers[0].Oracle, asked.Answers[1].Oracle}, want)
			order += asked.Reviewer.Name + asked.Answers[0].Oracle + " "
		}
		orders[order] = true
	}
	if len(orders) < 2 { // of eight, each with eight orders: all the same once in two million times
		t.Errorf("answers are always shown in the order %v", orders)
	}
}

// receipts are those of a run.
func (h *house) receipts(id string) (all []*run.CompletionRecord) {
	h.Helper()
	for _, r := range must(h.journal.Records(h.Context(), ada, id, 0))(h) {
		if body, ok := must(run.Read(r))(h).(*run.CompletionRecord); ok {
			all = append(all, body)
		}
	}
	return all
}

func TestReviewerThatGivesABrokenReviewTwiceIsLeftOutAndTold(t *testing.T) {
	for name, broken := range map[string]string{"no JSON": "I'd rather not.", "one of two": ranking("A"), "letters that nobody has": ranking("X", "Y")} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			h.says("Hm.")
			h.plays = func(req model.Request) modeltest.Turn {
				if req.Purpose == council.EffectReview && who(req) == "Bob" {
					return modeltest.Say(broken)
				}
				return everybody(req)
			}
			_, o := h.reviewed(h.process("one", h.journal))
			same(t, "reviewers", []bool{o.Reviews["Ada"] != nil, o.Reviews["Bob"] != nil, o.Reviews["Cleo"] != nil}, []bool{true, false, true})
			same(t, "left out", o.Skipped[0].What, "the review by Bob")
			same(t, "ranks", len(o.Ranks), 3)
			for _, r := range o.Ranks {
				if _, gave := r.By["Bob"]; gave {
					t.Errorf("Bob ranks %s", r.Oracle)
				}
			}
		})
	}
}

func TestReviewThatNobodyGivesTakesNoAnswerAway(t *testing.T) {
	h := newHouse(t)
	h.says("Hm.")
	h.plays = func(req model.Request) modeltest.Turn {
		if req.Purpose == council.EffectReview {
			return modeltest.Fail(model.Server)
		}
		return everybody(req)
	}
	answer, o := h.reviewed(h.process("one", h.journal))
	same(t, "answers", names(o.Answers), []string{"Ada", "Bob", "Cleo"})
	same(t, "ranks", len(o.Ranks), 0)
	same(t, "left out", len(o.Skipped), 3)
	lacks(t, answer, "mean rank")
}
