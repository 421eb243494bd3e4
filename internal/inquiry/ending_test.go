package inquiry_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/inquiry"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/inquiry/witness"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/run"
)

// silent is a witness that finds nothing.
func silent(_ context.Context, _ string, _ int) (witness.Answer, error) {
	return witness.Answer{Text: "I found no passage on this.", NotFound: true, By: "documents"}, nil
}

func TestAnswersThatAllSayNothingGetNoScoreAndSatisfyNobody(t *testing.T) {
	nothingNew := func(int, model.Request) modeltest.Turn { return said{Complete: 50, More: true}.turn() }
	for name, one := range map[string]struct {
		says     func(context.Context, string, int) (witness.Answer, error)
		analyses func(int, model.Request) modeltest.Turn
		reason   record.EndReason
	}{
		"nothing found":               {silent, nothingNew, record.NoProgress},
		"empty answers":               {speaking(), nothingNew, record.NoProgress},
		"nothing found to the limit":  {silent, never, record.Limit},
		"the detective says it is so": {silent, func(int, model.Request) modeltest.Turn { return satisfied.turn() }, record.NoProgress},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			h.says, h.analyses = one.says, one.analyses
			p, res, s := h.inquires()
			p.ended(s, record.LimitReached, one.reason, len(s.Pairs))
			assert.That(t, s.ProvisionalAudit.ConsistencyScore == nil, "score %v", s.ProvisionalAudit.ConsistencyScore)
			contains(t, s.ProvisionalAudit.Unjudged, "nothing was compared")
			contains(t, record.Verdict(&s), "No answer said anything", "look at the witness")
			lacks(t, res.Answer, "of 100", "satisfied", "onsistency")
		})
	}
	h := newHouse(t)
	hanging, _ := h.halfway()
	says := h.says
	h.says = func(ctx context.Context, q string, n int) (witness.Answer, error) {
		if n == 1 {
			return silent(ctx, q, n)
		}
		return says(ctx, q, n)
	}
	p := h.process("one", h.journal)
	r := p.begin(bridge, options())
	held(t, "the second question", hanging)
	assert.NoError(t, p.service.Cancel(t.Context(), ada, r.ID, "enough"))
	_, s := p.wait(r)
	p.ended(s, record.Failed, record.Stopped, 1)
	contains(t, record.Verdict(&s), "It was stopped", "No answer said anything")
	h = newHouse(t)
	h.says = func(ctx context.Context, q string, n int) (witness.Answer, error) {
		if n == 2 {
			return witness.Answer{Text: "It was corrosion.", By: "documents"}, nil
		}
		return silent(ctx, q, n)
	}
	h.analyses = func(int, model.Request) modeltest.Turn { return satisfied.turn() }
	p, _, s = h.inquires()
	p.ended(s, record.Completed, record.Satisfied, 2) // one answer that says something is enough
}

func TestInquiryWhoseAnswersWereNotAllAnalysedIsNotSaidToBeSatisfied(t *testing.T) {
	for failed, words := range map[int]string{1: "1 of 3 answers could not be judged", 2: "2 of 3 answers could not be judged"} {
		h := newHouse(t)
		usual := h.analyses
		h.analyses = func(n int, req model.Request) modeltest.Turn {
			if n <= failed {
				return modeltest.Fail(model.RateLimit)
			}
			return usual(n, req)
		}
		p, res, s := h.inquires()
		p.ended(s, record.Completed, record.Satisfied, 3)
		headline := record.Verdict(&s)
		contains(t, headline, words, "Provisional: consistency")
		lacks(t, headline, "satisfied")
		contains(t, res.Answer, words)
		item := assert.Must(p.desk.List(t.Context(), ada, journal.Filter{}))(t)[0]
		same(t, "in the list", []any{item.Provisional, item.Verdict}, []any{true, headline})
	}
}

func TestKilledInquiryIsPausedInListAndShowAndSaysHowItGoesOn(t *testing.T) {
	h := newHouse(t)
	id, _ := h.dies(9, true)
	p := h.process("survivor", h.journal)
	row := assert.Must(h.journal.Run(t.Context(), ada, id))(t)
	item := assert.Must(p.desk.List(t.Context(), ada, journal.Filter{}))(t)[0]
	for what, one := range map[string]inquiry.Session{"show": assert.Must(p.desk.Session(t.Context(), ada, row))(t),
		"read": assert.Must(p.desk.Read(t.Context(), ada, row))(t)} {
		s := one.Session
		contains(t, record.Verdict(&s), "It is paused", "‘sibyl run resume "+id+"’ goes on", "‘sibyl run stop "+id+"’ ends")
		contains(t, string(record.Markdown(s)), "It is paused")
		same(t, what, []any{s.Status, s.Resumable, record.Verdict(&s)}, []any{record.Running, true, item.Verdict})
		same(t, what, []any{one.Standing.State, one.Standing.Cause}, []any{run.StatePaused, run.CauseInterrupted})
	}
	same(t, "in the list", []any{item.Status, item.State}, []any{record.Running, run.StatePaused})
	s := p.resumed(id)
	p.ended(s, record.Completed, record.Satisfied, 3)
	item = assert.Must(p.desk.List(t.Context(), ada, journal.Filter{}))(t)[0]
	same(t, "in the list afterwards", []any{item.State, s.Resumable}, []any{run.StateEnded, false})
}

func TestInquiryThatIsUnderWayIsNotInterrupted(t *testing.T) {
	h := newHouse(t)
	hanging, answer := h.halfway()
	p := h.process("one", h.journal)
	r := p.begin(bridge, options())
	held(t, "the second question", hanging)
	item := assert.Must(p.desk.List(t.Context(), ada, journal.Filter{}))(t)[0]
	contains(t, item.Verdict, "It goes on")
	same(t, "state", item.State, run.StateRunning)
	answer <- witness.Answer{Text: "Fact 2 holds.", By: "scripted:witness"}
	p.wait(r)
}

// slow is a model whose first answers come after a failure and another try, as model.Retry tells it.
type slow struct {
	model.Model
	kind  model.Kind
	times int
}

func (m *slow) Chat(ctx context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
	if m.times--; m.times >= 0 {
		if err := emit(model.Delta{Wait: &model.Wait{Model: m.ID(), Kind: m.kind, Attempt: 1}}); err != nil {
			return model.Response{}, err
		}
	}
	return m.Model.Chat(ctx, req, emit)
}

func TestTimeoutThatASecondTryMendsIsInTheTrail(t *testing.T) {
	for times, want := range map[int][]string{1: {"timeout"}, 2: {"timeout", "timeout"}, // the question, and the analysis
		7: slices.Repeat([]string{"timeout"}, 7)} { // the summary, too
		h := newHouse(t)
		h.other = &slow{&detective{h, acting}, model.Timeout, times}
		p, _, s := h.inquires()
		p.ended(s, record.Completed, record.Satisfied, 3)
		same(t, "trail", trail(s), want)
		contains(t, s.AuditTrail[0].Reason, acting+": no answer in time", "asked again")
	}
	h := newHouse(t)
	h.other = &slow{&detective{h, acting}, model.RateLimit, 1}
	_, _, s := h.inquires()
	same(t, "trail after a rate limit", trail(s), nil)
}

func TestTimeoutOfAWitnessThatASecondTryMendsIsInTheTrail(t *testing.T) {
	h := newHouse(t)
	m := &slow{modeltest.Script(t, modeltest.Say("It was corrosion.")).As("ollama:w", true), model.Timeout, 1}
	h.says = func(ctx context.Context, q string, n int) (witness.Answer, error) {
		if n > 1 {
			return witness.Answer{Text: "No more.", By: "ollama:w"}, nil
		}
		return witness.Model(m, "You are a witness.").Answer(ctx, q, "en", nil)
	}
	_, _, s := h.inquires()
	same(t, "trail", trail(s), []string{"timeout"})
	contains(t, s.AuditTrail[0].Reason, "ollama:w: no answer in time")
}

func TestTimeoutThatEndsInAFallbackIsInTheTrailBesideTheSwitchOnce(t *testing.T) {
	h := newHouse(t)
	h.other = model.Chain(model.ChainPolicy{}, always(t, "openai:det", modeltest.Fail(model.Timeout)), &detective{h, "two:det2"})
	p, _, s := h.inquires()
	p.ended(s, record.Completed, record.Satisfied, 3)
	same(t, "trail", trail(s), []string{"timeout", "provider_switch openai:det two:det2"})
}

func TestProviderThatIsDeadIsToldOnceAndNotAtEachPair(t *testing.T) {
	why := func(kind string) witness.Answer {
		return witness.Answer{Text: "Fact holds.", By: "documents", Notes: []bt.Why{
			bt.Reason("witness.other: {model}: {why}; the quotations are chosen by {by}").With("openai:det",
				(&bt.Fault{Kind: kind, Reason: kind}).Why(), "two:det2")}}
	}
	for name, kinds := range map[string][]string{"one cause": {"server", "server", "server"}, "timeout": {"timeout", "timeout", "timeout"}} {
		h := newHouse(t)
		h.says = func(_ context.Context, _ string, n int) (witness.Answer, error) { return why(kinds[n-1]), nil }
		p := h.process("one", h.journal)
		r := p.begin(bridge, options())
		_, s := p.wait(r)
		p.ended(s, record.Completed, record.Satisfied, 3)
		assert.That(t, len(s.AuditTrail) == 1, "%s: the trail: %+v", name, s.AuditTrail)
		same(t, name, string(s.AuditTrail[0].Event) == "timeout", name == "timeout")
		same(t, "times that it is told", strings.Count(p.lines(r.ID), "openai:det"), 1)
	}
}

func TestPairWhoseAnalysisFailedIsJudgedFirstOnceTheRunIsResumed(t *testing.T) {
	for name, dead := range map[string]func(h *house, mended *bool){
		"it dies at the next question": func(h *house, mended *bool) {
			asks, analyses := h.asks, h.analyses
			h.analyses = func(n int, req model.Request) modeltest.Turn {
				if n == 2 && !*mended {
					return modeltest.Fail(model.Server)
				}
				return analyses(n, req)
			}
			h.asks = func(n int, req model.Request) modeltest.Turn {
				if n == 3 && !*mended {
					return refused
				}
				return asks(n, req)
			}
		},
		"it dies at the analysis of the next pair": func(h *house, mended *bool) {
			analyses := h.analyses
			h.analyses = func(n int, req model.Request) modeltest.Turn {
				switch {
				case n == 2 && !*mended:
					return modeltest.Fail(model.Server)
				case n == 3 && !*mended:
					return refused
				}
				return analyses(n, req)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h, mended := newHouse(t), false
			dead(h, &mended)
			p := h.process("one", h.journal)
			r := p.begin(bridge, options())
			_, s := p.wait(r)
			assert.Require(t, s.Resumable && s.Pairs[1].AnalysedBy == "", "it is to fail with pair 2 unjudged: %+v", s.Pairs)
			mended = true
			before := len(h.sent)
			assert.Must(assert.Must(p.service.Resume(t.Context(), ada, r.ID))(t).Wait(t.Context()))(t)
			s = p.session(r.ID)
			p.ended(s, record.Completed, record.Satisfied, 3)
			first := h.sent[before]
			assert.That(t, first.Purpose == analysing && strings.Contains(first.Messages[0].Text, "Answer 2:") &&
				!strings.Contains(first.Messages[0].Text, "Answer 3:"), "the first request is %s: %s", first.Purpose,
				first.Messages[0].Text)
			same(t, "judged", fmt.Sprint(s.JudgedPairs(), *s.Pairs[1].GapAnalysis.CompletenessScore), "3 12")
			same(t, "since when the gap is open", s.Pairs[1].GapAnalysis.Gaps[0].Since, 2)
			x := assert.Must(p.service.Explain(t.Context(), ada, r.ID))(t)
			assert.That(t, len(x.Steps) > 0, "it is not explained")
		})
	}
}
