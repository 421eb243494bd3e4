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
	p := h.process("one", h.journal)
	res, s := p.inquire(options())
	same(t, "status of the run", res.Status, journal.Done)
	p.ended(s, record.Completed, record.Satisfied, 3)
	same(t, "questions", h.asked(), questions[:3])
	same(t, "by whom", by(s), slices.Repeat([]string{acting + " " + acting}, 3))
	same(t, "trail", trail(s), nil)
	same(t, "summary", []string{s.AuditResult.Summary, s.AuditResult.By}, []string{"It is settled (answer 1).", acting})
	same(t, "hypothesis", s.Hypothesis.Text, bridge)
	same(t, "gaps after the second answer", s.Pairs[1].GapAnalysis.Gaps,
		[]record.Gap{{Category: "missing_information", Description: "No date is in answer 2.", Severity: "high", ID: "m2.1", Aspect: "when", Since: 2}})
	for n, want := range []string{"breadth", "breadth", "depth"} {
		same(t, fmt.Sprintf("strategy of question %d", n+1), s.Pairs[n].Strategy, want)
		contains(t, h.requests(asking)[n].System, "Strategy: "+want)
	}
}

func TestSatisfactionWantsCompletenessNothingSevereAndNoFollowUp(t *testing.T) {
	for name, one := range map[string]said{
		"too little":     {Complete: 79},
		"severely open":  {Complete: 100, Gaps: []gap{missing(1, "high")}},
		"to be followed": {Complete: 100, More: true},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			h.analyses = func(n int, _ model.Request) modeltest.Turn {
				if n == 1 {
					return one.turn()
				}
				return said{Complete: 80, Gaps: []gap{missing(2, "medium")}}.turn()
			}
			p := h.process("one", h.journal)
			_, s := p.inquire(options())
			p.ended(s, record.Completed, record.Satisfied, 2)
			same(t, "remaining gaps", len(s.AuditResult.RemainingGaps), 1)
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

func TestInquiryEndsWhereNothingChangesForThreePairs(t *testing.T) {
	h := newHouse(t)
	h.analyses = func(n int, _ model.Request) modeltest.Turn {
		g := missing(1, "medium")
		if n > 1 {
			g.ID = "m1.1"
		}
		return said{Gaps: []gap{g}, Complete: 40, More: true}.turn()
	}
	p := h.process("one", h.journal)
	_, s := p.inquire(options())
	p.ended(s, record.LimitReached, record.NoProgress, 4)
	same(t, "since", s.Pairs[3].GapAnalysis.Gaps[0].Since, 1)
}

func TestPairByWhichSomethingChangesBreaksARowWithoutProgress(t *testing.T) {
	h := newHouse(t)
	h.analyses = func(n int, _ model.Request) modeltest.Turn {
		return said{Complete: 40 + n/3, More: true}.turn() // at the third, the sixth and the ninth it gets on
	}
	p := h.process("one", h.journal)
	_, s := p.inquire(options())
	p.ended(s, record.LimitReached, record.Limit, 10)
}

func TestWitnessThatFailsEndsTheInquiryAndWhatWasAnsweredStays(t *testing.T) {
	for name, one := range map[string]struct {
		err    error
		reason record.EndReason
		event  record.EventKind
	}{
		"error":     {&model.Error{Kind: model.Server, Message: "the disk is gone"}, record.Broken, record.ErrorEvent},
		"timeout":   {&model.Error{Kind: model.Timeout, Message: "no answer in 30 s"}, record.TimedOut, record.TimeoutEvent},
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
			p := h.process("one", h.journal)
			res, s := p.inquire(options())
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
	p := h.process("one", h.journal)
	res, s := p.inquire(options())
	p.ended(s, record.Failed, record.Broken, 0)
	same(t, "questions", len(h.asked()), 0)
	contains(t, s.AuditTrail[0].Reason, "bridge.pdf: it is gone")
	contains(t, res.Failure.Message, "bridge.pdf: it is gone")
	same(t, "summed up by", s.ProvisionalAudit.By, model.OfflineRules)
}

// garbled are two answers that fit no form, one after another, each time.
func garbled(model.Request) modeltest.Turn {
	return modeltest.Say("I'd rather talk about the weather.")
}

func TestRulesTakeOverWhatTheDetectiveFailsAtAndTheTrailSaysSo(t *testing.T) {
	for name, one := range map[string]struct {
		turn  modeltest.Turn
		event string
		words string
	}{
		"rate limit":          {modeltest.Fail(model.RateLimit), "error", "scripted failure"},
		"timeout":             {modeltest.Fail(model.Timeout), "timeout", "scripted failure"},
		"broken JSON twice":   {modeltest.Func(garbled), "error", "does not fit"},
		"dies mid-stream":     {modeltest.Turn{Text: `{"question":"Who`, Err: &model.Error{Kind: model.Server, Message: "the stream was cut"}}, "error", "the stream was cut"},
		"silent mid-stream":   {modeltest.Turn{Text: `{"gaps":[`, Err: &model.Error{Kind: model.Timeout, Message: "silence"}}, "timeout", "silence"},
		"refused":             {modeltest.Fail(model.Refused), "error", "scripted failure"},
		"window is too small": {modeltest.Fail(model.ContextLength), "error", "scripted failure"},
	} {
		t.Run("asks, "+name, func(t *testing.T) {
			h := newHouse(t)
			usual := h.asks
			h.asks = func(n int, req model.Request) modeltest.Turn {
				if n == 2 {
					return one.turn
				}
				return usual(n, req)
			}
			p := h.process("one", h.journal)
			_, s := p.inquire(options())
			p.ended(s, record.Completed, record.Satisfied, 3)
			same(t, "by whom", by(s), []string{acting + " " + acting, model.OfflineRules + " " + acting, acting + " " + acting})
			same(t, "trail", trail(s), []string{one.event, "provider_switch " + acting + " " + model.OfflineRules})
			contains(t, s.AuditTrail[0].Reason, one.words)
			lacks(t, strings.Join(h.asked(), "\n"), questions[1])
		})
		t.Run("analyses, "+name, func(t *testing.T) {
			h := newHouse(t)
			usual := h.analyses
			h.analyses = func(n int, req model.Request) modeltest.Turn {
				if n == 1 {
					return one.turn
				}
				return usual(n, req)
			}
			p := h.process("one", h.journal)
			_, s := p.inquire(options())
			if len(s.Pairs) == 0 || s.Pairs[0].AnalysedBy != model.OfflineRules || s.Pairs[0].ProviderUsed != acting {
				t.Errorf("pairs %+v", s.Pairs)
			}
			same(t, "the trail's beginning", trail(s)[:2], []string{one.event, "provider_switch " + acting + " " + model.OfflineRules})
			contains(t, s.AuditTrail[0].Reason, one.words)
		})
		t.Run("sums up, "+name, func(t *testing.T) {
			h := newHouse(t)
			h.sums = func(model.Request) modeltest.Turn {
				if name == "broken JSON twice" {
					return modeltest.Say(" \n ")
				}
				return one.turn
			}
			p := h.process("one", h.journal)
			_, s := p.inquire(options())
			p.ended(s, record.Completed, record.Satisfied, 3)
			same(t, "summed up by", s.AuditResult.By, model.OfflineRules)
			same(t, "trail", trail(s), []string{one.event, "provider_switch " + acting + " " + model.OfflineRules})
			contains(t, s.AuditResult.Summary, "Fact 1 holds.", "Fact 3 holds.")
		})
	}
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
	p := h.process("one", h.journal)
	_, s := p.inquire(options())
	p.ended(s, record.Completed, record.Satisfied, 3)
	same(t, "trail", trail(s), nil)
	same(t, "requests for questions", len(h.requests(asking)), 4)
}

func TestModelsAnswerInTheOrderOfTheSettingsAndSwitchesStandInTheTrail(t *testing.T) {
	h := newHouse(t)
	first := &detective{h, "first:one"}
	silent := modeltest.Script(t, slices.Repeat([]modeltest.Turn{modeltest.Fail(model.RateLimit)}, 20)...).As("broken:two", true)
	fails := modeltest.Script(t, slices.Repeat([]modeltest.Turn{modeltest.Fail(model.Overloaded)}, 20)...).As("broken:one", true)
	h.other = model.Chain(model.ChainPolicy{}, fails, silent, first)
	p := h.process("one", h.journal)
	_, s := p.inquire(options())
	p.ended(s, record.Completed, record.Satisfied, 3)
	same(t, "by whom", by(s), slices.Repeat([]string{"first:one first:one"}, 3))
	same(t, "the trail of the first question", trail(s)[:2], []string{"provider_switch broken:one broken:two", "provider_switch broken:two first:one"})
	for _, e := range s.AuditTrail {
		if e.Reason == "" || e.Event != record.ProviderSwitch {
			t.Errorf("event %+v", e)
		}
	}
}

func TestQuestionThatIsRepeatedIsAskedForOnceMoreAndThenPutByTheRules(t *testing.T) {
	h := newHouse(t)
	usual, again := h.asks, 0
	h.asks = func(n int, req model.Request) modeltest.Turn {
		switch {
		case n == 2 && len(req.Messages) == 1:
			again++
			return ask(strings.ToUpper(questions[0]))
		case n == 3:
			again++
			return ask(questions[0])
		}
		return usual(n, req)
	}
	p := h.process("one", h.journal)
	_, s := p.inquire(options())
	p.ended(s, record.Completed, record.Satisfied, 3)
	same(t, "by whom", by(s), []string{acting + " " + acting, acting + " " + acting, model.OfflineRules + " " + acting})
	same(t, "repeated", again, 3)
	same(t, "trail", trail(s), []string{"error", "provider_switch " + acting + " " + model.OfflineRules})
	contains(t, s.AuditTrail[0].Reason, "asked question 1 again")
	contains(t, h.requests(asking)[2].Messages[2].Text, "asked already, as question 1")
	heard := h.asked()
	slices.Sort(heard)
	same(t, "questions that were put twice", len(slices.Compact(heard)), 3)
}

func TestNothingLeftToAskEndsTheInquiry(t *testing.T) {
	h := newHouse(t)
	h.asks = func(int, model.Request) modeltest.Turn { return modeltest.Fail(model.RateLimit) } // the rules ask
	h.analyses = func(n int, _ model.Request) modeltest.Turn { return said{Complete: n, More: true}.turn() }
	h.says = speaking()
	p := h.process("one", h.journal)
	o := options()
	o.Limit = 20
	_, s := p.inquire(o)
	if len(s.Pairs) == 0 || len(s.Pairs) == 20 {
		t.Fatalf("%d pairs", len(s.Pairs))
	}
	p.ended(s, record.LimitReached, record.NoProgress, len(s.Pairs))
	same(t, "the last of the trail", trail(s)[2*len(s.Pairs):], []string{"error", "provider_switch " + acting + " " + model.OfflineRules})
}

func TestInquiryByRulesAloneAsksNoModel(t *testing.T) {
	h := newHouse(t)
	h.offline = true
	h.broken = fmt.Errorf("a model is asked")
	p := h.process("one", h.journal)
	_, s := p.inquire(options())
	if len(s.Pairs) == 0 || s.Status == record.Failed {
		t.Fatalf("status %s after %d pairs, %v", s.Status, len(s.Pairs), s.AuditTrail)
	}
	p.ended(s, s.Status, s.EndReason, len(s.Pairs))
	same(t, "by whom", by(s), slices.Repeat([]string{model.OfflineRules + " " + model.OfflineRules}, len(s.Pairs)))
	same(t, "summed up by", s.Audit().By, model.OfflineRules)
	same(t, "trail", trail(s), nil)
	same(t, "detective", s.Detective, model.OfflineRules)
}

func TestTreeThatDoesNotGoOnEndsAsAnErrorAndNeverAsTheLimit(t *testing.T) {
	h := newHouse(t)
	h.tree = changed(h, `<Judge ledger="{ledger}" stale="3" done="{done}" reason="{reason}"/>`, `<AlwaysFailure/>`)
	p := h.process("one", h.journal)
	_, s := p.inquire(options())
	p.ended(s, record.Failed, record.Broken, 1)
}
