package inquiry_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/inquiry/record"
	"sibyl/internal/inquiry/witness"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

func TestInquiryEndsWhenTheDetectiveIsSatisfied(t *testing.T) {
	h := newHouse(t)
	p, res, s := h.inquires()
	same(t, "status of the run", res.Status, journal.Done)
	p.ended(s, record.Completed, record.Satisfied, 3)
	same(t, "questions", h.asked(), questions[:3])
	same(t, "by whom", by(s), slices.Repeat([]string{acting + " " + acting}, 3))
	same(t, "trail", trail(s), nil)
	same(t, "summary", []string{s.AuditResult.Summary, s.AuditResult.By}, []string{"It is settled (answer 1).", acting})
	same(t, "hypothesis", s.Hypothesis.Text, bridge)
	same(t, "gaps after the second answer", s.Pairs[1].GapAnalysis.Gaps,
		[]record.Gap{{Category: "missing_information", Description: "No date is in answer 2.", Severity: "high",
			ID: "g2.1", Aspect: "when", Since: 2}})
}

func TestDetectiveChoosesTheStrategyOfEachQuestionFromTheFirstOn(t *testing.T) {
	h := newHouse(t)
	chosen := []string{"timeline", "depth", "breadth"}
	h.asks = func(n int, _ model.Request) modeltest.Turn {
		return asJSON(map[string]any{"question": questions[n-1], "strategy": chosen[n-1], "aspect": "what", "gaps": []string{}})
	}
	_, s := h.process("one", h.journal).inquire(options())
	var got []string
	for _, pair := range s.Pairs {
		got = append(got, pair.Strategy)
	}
	same(t, "strategies", got, chosen)
}

func TestSatisfactionWantsCompletenessNoFollowUpAndNoGapThatDecides(t *testing.T) {
	for name, one := range map[string]said{
		"too little":         {Complete: 79},
		"to be followed":     {Complete: 100, More: true},
		"a high gap is open": {Complete: 100, Gaps: []gap{missing(1, "high")}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			h.analyses = func(n int, _ model.Request) modeltest.Turn {
				if n == 1 {
					return one.turn()
				}
				return said{Complete: 80, Gaps: []gap{missing(2, "medium")}}.turn()
			}
			p, res, s := h.inquires()
			p.ended(s, record.Completed, record.Satisfied, 2)
			same(t, "remaining gaps", len(s.AuditResult.RemainingGaps), 1)
			contains(t, res.Answer, "1 open gap", "- medium: No date is in answer 2.")
		})
	}
}

func TestInquiryEndsAtItsLimitWithAProvisionalAudit(t *testing.T) {
	for _, limit := range []int{5, 20} {
		h := newHouse(t)
		h.analyses = never
		p := h.process("one", h.journal)
		o := options()
		o.Limit = limit
		res, s := p.inquire(o)
		same(t, "partial", res.Partial, true)
		p.ended(s, record.LimitReached, record.Limit, limit)
		same(t, "remaining gaps", s.ProvisionalAudit.RemainingGaps, record.Remaining(s.Pairs))
		same(t, "summed up by", s.ProvisionalAudit.By, acting)
	}
}

func TestNoProgressIsJudgedByWhatGapsSayAndNotByTheirIds(t *testing.T) {
	h := newHouse(t)
	h.analyses = func(n int, _ model.Request) modeltest.Turn {
		g := missing(1, "medium")
		g.ID = fmt.Sprintf("fresh-%d", n)
		if n%2 == 0 {
			g.Description = strings.ToUpper(g.Description) + " "
		}
		return said{Gaps: []gap{g}, Complete: 40 - n, More: true}.turn()
	}
	p, _, s := h.inquires()
	p.ended(s, record.LimitReached, record.NoProgress, 4)
	same(t, "since", s.Pairs[3].GapAnalysis.Gaps[0].Since, 1)
}

func TestPairByWhichSomethingChangesBreaksARowWithoutProgress(t *testing.T) {
	h := newHouse(t)
	h.analyses = func(n int, _ model.Request) modeltest.Turn {
		return said{Complete: 40 + n/3, More: true}.turn() // at the third, the sixth and the ninth it gets on
	}
	p, _, s := h.inquires()
	p.ended(s, record.LimitReached, record.Limit, 10)
}

func TestWitnessThatFailsEndsTheInquiryAndWhatWasAnsweredStays(t *testing.T) {
	for name, one := range map[string]struct {
		err    error
		reason record.EndReason
		event  record.EventKind
	}{
		"error": {&model.Error{Kind: model.Server, Message: "the disk is gone"}, record.Broken, record.ErrorEvent},
		"timeout": {&model.Error{Kind: model.Timeout, Message: "no answer in 30 s"}, record.TimedOut,
			record.TimeoutEvent},
		"deadline":  {context.DeadlineExceeded, record.TimedOut, record.TimeoutEvent},
		"any other": {fmt.Errorf("the disk is gone"), record.Broken, record.ErrorEvent},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			usual := h.says
			h.says = func(ctx context.Context, q string, n int) (witness.Answer, error) {
				if n == 3 {
					return witness.Answer{}, one.err
				}
				return usual(ctx, q, n)
			}
			h.analyses = never
			p, res, s := h.inquires()
			same(t, "status of the run", res.Status, journal.Failed)
			p.ended(s, record.Failed, one.reason, 2)
			same(t, "trail", trail(s), []string{string(one.event)})
			contains(t, s.AuditTrail[0].Reason, one.err.Error()[strings.LastIndex(one.err.Error(), ":")+1:])
			contains(t, res.Failure.Message, s.AuditTrail[0].Reason)
		})
	}
}

func TestWitnessThatIsGoneWhenTheInquiryBeginsIsNamed(t *testing.T) {
	h := newHouse(t)
	h.opens = func() ([]record.Document, error) {
		if h.opened > 1 { // it was looked at before anything began
			return nil, fmt.Errorf("bridge.pdf: it is gone")
		}
		return nil, nil
	}
	p, res, s := h.inquires()
	p.ended(s, record.Failed, record.Broken, 0)
	same(t, "questions", len(h.asked()), 0)
	contains(t, s.AuditTrail[0].Reason, "bridge.pdf: it is gone")
	contains(t, res.Failure.Message, "bridge.pdf: it is gone")
}

func TestAnswerThatDoesNotFitItsFormIsAskedForOnceMore(t *testing.T) {
	h := newHouse(t)
	usual := h.asks
	tries := 0
	h.asks = func(n int, req model.Request) modeltest.Turn {
		if tries++; tries == 1 {
			return modeltest.Say("Who?")
		}
		return usual(n, req)
	}
	p, _, s := h.inquires()
	p.ended(s, record.Completed, record.Satisfied, 3)
	same(t, "trail", trail(s), nil)
	same(t, "requests for questions", len(h.requests(asking)), 4)
}

func TestQuestionThatRepeatsTheInstructionsIsAskedForAgain(t *testing.T) {
	h := newHouse(t)
	usual := h.asks
	tries := 0
	h.asks = func(n int, req model.Request) modeltest.Turn {
		if tries++; tries == 1 {
			return ask("It is short, in plain words, and stands on its own: the witness sees it without your notes.")
		}
		return usual(n, req)
	}
	p, _, s := h.inquires()
	p.ended(s, record.Completed, record.Satisfied, 3)
	same(t, "questions", h.asked(), questions[:3])
	same(t, "requests for questions", len(h.requests(asking)), 4)
}

func TestQuestionThatIsRepeatedIsAskedForAgainAndThenItsGapIsLeft(t *testing.T) {
	h := newHouse(t)
	usual := h.asks
	h.asks = func(n int, req model.Request) modeltest.Turn {
		if n == 2 && len(req.Messages) < 5 {
			return ask(strings.ToUpper(questions[0]), "g1.1")
		}
		return usual(n, req)
	}
	p, _, s := h.inquires()
	p.ended(s, record.Completed, record.Satisfied, 3)
	same(t, "questions", h.asked(), questions[:3])
	all := h.requests(asking)
	contains(t, all[2].Messages[2].Text, "asked already, as question 1")
	contains(t, all[3].Messages[4].Text, "Leave this gap")
	contains(t, all[4].Messages[0].Text, "Do not ask about these gaps again: g1.1")
}

func TestDetectiveThatOnlyRepeatsItselfIsNamedAsWhoEndedTheInquiry(t *testing.T) {
	h := newHouse(t)
	h.asks = func(int, model.Request) modeltest.Turn { return ask(questions[0]) }
	p, res, s := h.inquires()
	p.ended(s, record.LimitReached, record.Repeated, 1)
	same(t, "trail", trail(s), []string{"error"})
	contains(t, s.AuditTrail[0].Reason, acting, "only repeats itself")
	contains(t, res.Answer, "the detective, "+acting+", only repeated its questions", "--detective")
	lacks(t, res.Answer, "brought nothing new")
	same(t, "requests for questions", len(h.requests(asking)), 4)
}

func TestQuestionsAreInTheLanguageOfTheHypothesis(t *testing.T) {
	for hypothesis, language := range map[string]string{
		"Le pont a été fermé à cause de la corrosion des câbles.":   "French",
		"El puente se cerró porque los cables estaban corroídos.":   "Spanish",
		"Die Brücke wurde wegen der Korrosion der Seile gesperrt.":  "German",
		"A ponte foi fechada porque os cabos estavam enferrujados.": "Portuguese",
		"Most zamknięto z powodu korozji lin.":                      "the language of the hypothesis",
	} {
		h := newHouse(t)
		p := h.process("one", h.journal)
		p.wait(p.begin(hypothesis, options()))
		contains(t, h.requests(asking)[0].System, "Write in "+language+".")
	}
}

func TestTreeThatDoesNotGoOnEndsAsAnErrorAndNeverAsTheLimit(t *testing.T) {
	h := newHouse(t)
	h.tree = changed(h, `<Judge stale="3"/>`, `<AlwaysFailure/>`)
	p, _, s := h.inquires()
	p.ended(s, record.Failed, record.Broken, 1)
}
