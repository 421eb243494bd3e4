package inquiry_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/service"
)

// lines are what a person who watches a run is told.
func (p *process) lines(id string) string {
	p.Helper()
	var told []string
	for u, err := range p.service.Watch(p.Context(), ada, id, service.Place{}) {
		assert.NoError(p, err)
		told = append(told, u.Told.Text)
	}
	return strings.Join(told, "\n")
}

// refused is a key that is not taken.
var refused = modeltest.Turn{Err: &model.Error{Kind: model.Auth, Status: 401, Message: "invalid api key"}}

// always is a model that fails in one way.
func always(t *testing.T, id string, turn modeltest.Turn) model.Model {
	return modeltest.Script(t, slices.Repeat([]modeltest.Turn{turn}, 40)...).As(id, true)
}

func TestDetectiveThatFailsIsToldWithTheOneThatIsAskedAndStandsInTheTrailOnce(t *testing.T) {
	h := newHouse(t)
	h.other = model.Chain(model.ChainPolicy{AnyFailure: true}, always(t, "openai:det", refused),
		&detective{h, "two:det2"})
	p := h.process("one", h.journal)
	r := p.begin(bridge, options())
	_, s := p.wait(r)
	p.ended(s, record.Completed, record.Satisfied, 3)
	same(t, "by whom", by(s), slices.Repeat([]string{"two:det2 two:det2"}, 3))
	same(t, "trail", trail(s), []string{"provider_switch openai:det two:det2"})
	same(t, "reason", s.AuditTrail[0].Reason, "openai:det: 401 - the key is refused")
	told := p.lines(r.ID)
	same(t, "times that it is told", strings.Count(told, "so two:det2 was asked: openai:det: 401 - the key is refused"), 1)
}

func TestDetectiveThatNobodyReplacesFailsTheInquiryWhichGoesOnOnceTheKeyIsRight(t *testing.T) {
	for name, one := range map[string]struct {
		turn  modeltest.Turn
		words string
	}{
		"wrong key":           {refused, "scripted:test: 401 - the key is refused"},
		"no credit":           {modeltest.Fail(model.Payment), "there is no credit"},
		"rate limit":          {modeltest.Fail(model.RateLimit), "too many requests"},
		"timeout":             {modeltest.Fail(model.Timeout), "no answer in time"},
		"refused":             {modeltest.Fail(model.Refused), "refused to answer"},
		"window is too small": {modeltest.Fail(model.ContextLength), "too long"},
		"garbage every time":  {modeltest.Say("I'd rather talk about the weather."), "the reply is unusable"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			usual := h.asks
			h.asks = func(n int, req model.Request) modeltest.Turn {
				if n == 2 {
					return one.turn
				}
				return usual(n, req)
			}
			p := h.process("one", h.journal)
			r := p.begin(bridge, options())
			res, s := p.wait(r)
			p.ended(s, record.Failed, record.Broken, 1)
			a := s.ProvisionalAudit
			if res.Failure == nil || a.ConsistencyScore != nil || !s.Resumable {
				t.Fatalf("failure %v, score %v, resumable %v", res.Failure, a.ConsistencyScore, s.Resumable)
			}
			contains(t, res.Failure.Message, one.words, "sibyl run resume "+r.ID)
			contains(t, res.Answer, one.words)
			contains(t, a.Unjudged, one.words)
			contains(t, s.AuditTrail[0].Reason, one.words)
			listed := assert.Must(p.desk.List(t.Context(), ada, journal.Filter{}))(t)[0]
			same(t, "in the list", []string{string(listed.Status), listed.Verdict},
				[]string{"failed", record.Verdict(&s)})

			h.asks = usual // the key is right now
			again := h.process("two", h.journal)
			res = assert.Must(assert.Must(again.service.Resume(t.Context(), ada, r.ID))(t).Wait(t.Context()))(t)
			same(t, "status of the run", res.Status, journal.Done)
			s = again.session(r.ID)
			again.ended(s, record.Completed, record.Satisfied, 3)
			same(t, "questions", h.asked(), questions[:3])
			same(t, "resumable", s.Resumable, false)
			contains(t, s.AuditTrail[0].Reason, one.words)
		})
	}
}

func TestAnalysisThatFailsOnceIsMarkedAtItsPairAndToldAndTheInquiryGoesOn(t *testing.T) {
	for name, one := range map[string]struct {
		turn  modeltest.Turn
		event string
		words string
	}{
		"rate limit":  {modeltest.Fail(model.RateLimit), "error", "too many requests"},
		"timeout":     {modeltest.Fail(model.Timeout), "timeout", "no answer in time"},
		"broken JSON": {modeltest.Say("Nothing."), "error", "the reply is unusable"},
		"dies mid-stream": {modeltest.Turn{Text: `{"gaps":[`, Err: &model.Error{Kind: model.Server,
			Message: "the stream was cut"}}, "error", "the stream was cut"},
		"silent mid-stream": {modeltest.Turn{Text: `{"gaps":[`, Err: &model.Error{Kind: model.Timeout,
			Message: "silence"}}, "timeout", "silence"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			usual := h.analyses
			h.analyses = func(n int, req model.Request) modeltest.Turn {
				if n == 2 {
					return one.turn
				}
				return usual(n, req)
			}
			p := h.process("one", h.journal)
			r := p.begin(bridge, options())
			_, s := p.wait(r)
			p.ended(s, record.Completed, record.Satisfied, 3)
			g := s.Pairs[1].GapAnalysis
			assert.That(t, g.CompletenessScore == nil && s.Pairs[1].AnalysedBy == "" && len(g.Gaps) == 1 && g.Gaps[0].Since == 1,
				"the second pair: %+v, by %q", g, s.Pairs[1].AnalysedBy)
			contains(t, g.Unjudged, one.words)
			same(t, "trail", trail(s), []string{one.event})
			contains(t, p.lines(r.ID), "Answer 2 could not be judged, and the inquiry goes on: "+g.Unjudged)
		})
	}
}

func TestThreeAnalysesInARowThatFailEndTheInquiryAndItGoesOn(t *testing.T) {
	h := newHouse(t)
	usual := h.analyses
	h.analyses = func(n int, req model.Request) modeltest.Turn {
		if n > 1 {
			return modeltest.Say("Nothing.")
		}
		return never(n, req)
	}
	p := h.process("one", h.journal)
	r := p.begin(bridge, options())
	_, s := p.wait(r)
	p.ended(s, record.Failed, record.Broken, 4)
	same(t, "trail", trail(s), []string{"error", "error", "error"})
	h.analyses = func(_ int, req model.Request) modeltest.Turn { return usual(3, req) }
	assert.Must(assert.Must(p.service.Resume(t.Context(), ada, r.ID))(t).Wait(t.Context()))(t)
	s = p.session(r.ID)
	p.ended(s, record.Completed, record.Satisfied, 4)
	same(t, "judged", []bool{s.Pairs[1].AnalysedBy != "", s.Pairs[2].AnalysedBy != "", s.Pairs[3].AnalysedBy != ""},
		[]bool{true, true, true})
}

func TestInquiryThatFailedAndIsStoppedStaysFailedAndGivesWayToAnother(t *testing.T) {
	h := newHouse(t)
	usual := h.asks
	h.asks = func(int, model.Request) modeltest.Turn { return refused }
	p := h.process("one", h.journal)
	r := p.begin(bridge, options())
	p.wait(r)
	assert.NoError(t, p.service.Cancel(t.Context(), ada, r.ID, "another one begins"))
	s := p.session(r.ID)
	p.ended(s, record.Failed, record.Broken, 0)
	same(t, "resumable", s.Resumable, false)
	contains(t, s.ProvisionalAudit.Unjudged, "the key is refused")
	h.asks = usual
	h.folder += "-2"
	_, s = h.process("two", h.journal).inquire(options())
	same(t, "status of the other", s.Status, record.Completed)
}

func TestSummaryThatFailsLeavesTheFindings(t *testing.T) {
	for name, turn := range map[string]modeltest.Turn{"empty": modeltest.Say(" \n "), "wrong key": refused,
		"an echo": modeltest.Say("Say nothing that no answer says. Do not judge the witness as a person, and do not " +
			"recommend anything.")} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			h.sums = func(model.Request) modeltest.Turn { return turn }
			p, _, s := h.inquires()
			p.ended(s, record.Completed, record.Satisfied, 3)
			same(t, "summed up by", s.AuditResult.By, "")
			same(t, "summary", s.AuditResult.Summary, record.Verdict(&s))
			same(t, "trail", trail(s), []string{"error"})
		})
	}
}

func TestRepliesOfNoUseCountAmongWhatAnInquiryTookAndSent(t *testing.T) {
	h := newHouse(t)
	usual := h.asks
	h.asks = func(n int, req model.Request) modeltest.Turn {
		turn := usual(n, req)
		if n > 1 {
			turn = modeltest.Say("I'd rather talk about the weather.")
			turn.Usage = model.Usage{InputTokens: 10}
		}
		return turn
	}
	h.analyses = func(n int, req model.Request) modeltest.Turn {
		turn := modeltest.Say("Nothing.")
		turn.Usage = model.Usage{OutputTokens: 1}
		return turn
	}
	p := h.process("one", h.journal)
	r := p.begin(bridge, options())
	p.wait(r)
	used := assert.Must(p.service.Used(t.Context(), ada, r.ID))(t)
	if len(used) != 1 || used[0].Input != 30 || used[0].Output != 2 { // a question is asked for three times, an analysis twice
		t.Errorf("used: %+v", used)
	}
	x := assert.Must(p.service.Explain(t.Context(), ada, r.ID))(t)
	assert.That(t, len(x.Left) >= 3, "of two questions and an analysis this was sent: %+v", x.Left)
}

// rewritten has a detective write each form in another way.
func (h *house) rewritten(how func(written string) string) {
	asks, analyses := h.asks, h.analyses
	again := func(turn modeltest.Turn) modeltest.Turn { return modeltest.Say(how(turn.Text)) }
	h.asks = func(n int, req model.Request) modeltest.Turn { return again(asks(n, req)) }
	h.analyses = func(n int, req model.Request) modeltest.Turn { return again(analyses(n, req)) }
}

func TestDetectiveIsUnderstoodThatWritesItsFormsInItsOwnWay(t *testing.T) {
	for name, how := range map[string]func(string) string{
		"with a property too many": func(s string) string { return `{"confidence":0.9,` + s[1:] },
		"with an object too many":  func(s string) string { return `{"meta":{"thoughts":["Hm."]},` + s[1:] },
		"wrapped":                  func(s string) string { return `{"result":` + s + `}` },
		"with names in other cases": strings.NewReplacer(`"question"`, `"Question"`, `"completenessScore"`,
			`"completeness_score"`, `"requiresFollowUp"`, `"RequiresFollowup"`).Replace,
		"with numbers as texts": func(s string) string {
			return regexp.MustCompile(`:([0-9]+)`).ReplaceAllString(s, `:"$1"`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			h.rewritten(how)
			p, _, s := h.inquires()
			p.ended(s, record.Completed, record.Satisfied, 3)
			same(t, "questions", h.asked(), questions[:3])
			same(t, "trail", trail(s), nil)
			same(t, "requests", []int{len(h.requests(asking)), len(h.requests(analysing))}, []int{3, 3})
		})
	}
}

func TestDetectiveThatIsNeverUnderstoodIsAskedThreeTimesForAQuestion(t *testing.T) {
	for name, how := range map[string]func(string) string{
		"no form":           func(string) string { return "Who built it?" },
		"half of it":        func(string) string { return `{"question":"Who built it?","mood":"curious"}` },
		"the instructions":  func(string) string { return ask("Choose what the hypothesis would fall with.").Text },
		"a form of another": func(string) string { return `{"result":{"name":"The bridge"}}` },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			h.rewritten(how)
			p := h.process("one", h.journal)
			r := p.begin(bridge, options())
			res, s := p.wait(r)
			p.ended(s, record.Failed, record.Broken, 0)
			same(t, "requests", len(h.requests(asking)), 3)
			contains(t, res.Failure.Message, "the reply is unusable", "sibyl run resume "+r.ID)
		})
	}
}
