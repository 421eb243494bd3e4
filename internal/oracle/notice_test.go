package oracle_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/tool"
)

// standIn is a model that answers in another one's place.
type standIn struct{ model.Model }

func (s standIn) Chat(ctx context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
	resp, err := s.Model.Chat(ctx, req, emit)
	resp.Model = "local:small"
	resp.Tries = []model.Try{{Model: "cloud:big", Kind: model.RateLimit, Message: "slow down"}}
	return resp, err
}

// The wire form of every notice that a run can bring: people's scripts and other rooms read it.
func TestNoticesHaveAStableForm(t *testing.T) {
	satisfied := modeltest.Say("It checks a token (`woodone.go:3`). " + enough())
	again := goingRound["the same call"]
	for _, c := range []struct {
		name, question string
		turns          []modeltest.Turn
		change         func(*harness)
		want           string
	}{
		{agent.NoticeBudgetWarning, auth, []modeltest.Turn{costing(model.Usage{InputTokens: 80}, reading(0)), satisfied}, func(h *harness) { h.maxTokens = 100 },
			`{"type":"budget.warning","severity":"warning","text":"80 of 100 tokens were used.","turn":1,"payload":{"kind":"tokens","limit":"100","used":"80"}}`},
		{agent.NoticeBudgetExhausted, auth, []modeltest.Turn{costing(model.Usage{InputTokens: 120}, reading(0)), modeltest.Say("So far. " + needTurn("more"))}, func(h *harness) { h.maxTokens = 100 },
			`{"type":"budget.exhausted","severity":"warning","text":"The budget ran out: the last turn began after 120 of 100 tokens.","turn":2,"payload":{"kind":"tokens","limit":"100","used":"120"}}`},
		{agent.NoticeLoop, auth, []modeltest.Turn{again(0), again(1), again(2), theEnd}, nil,
			`{"type":"loop.detected","severity":"warning","text":"The model repeats itself (the same call).","turn":3,"payload":{"pattern":"the same call","step":"1"}}`},
		{oracle.NoticeFallback, auth, []modeltest.Turn{modeltest.Say(stuck("nothing")), theEnd}, func(h *harness) { h.classifier = says(oracle.Retry, 0.8).ask },
			`{"type":"fallback.consulted","severity":"info","text":"The fallback was consulted (stuck) and decided: retry, since the classifier says so (0.80).","turn":1,"payload":{"by":"classifier","cause":"stuck","verdict":"retry"}}`},
		{oracle.NoticeMalformed, auth, []modeltest.Turn{modeltest.Say("So. " + malformed), theEnd}, nil,
			`{"type":"signal.malformed","severity":"info","text":"A malformed signal was ignored: there is no signal type \"done\"","turn":1,"payload":{"reason":"there is no signal type \"done\""}}`},
		{oracle.NoticeExtra, auth, []modeltest.Turn{reading(0), modeltest.Say("So. " + enough() + stuck("x") + malformed + partial("y"))}, nil,
			`{"type":"signal.extra","severity":"warning","text":"Turn 2 had several signals: only the first counts.","turn":2,"payload":{"count":"2"}}`},
		{oracle.NoticeMissing, auth, []modeltest.Turn{reading(0), modeltest.Say("It checks a token.")}, nil,
			`{"type":"signal.missing","severity":"info","text":"The answer came without a signal.","turn":2}`},
		{oracle.NoticeUnread, auth, []modeltest.Turn{modeltest.Say("It checks a token. " + enough())}, func(h *harness) {
			h.world.without("code_read", "code_search", "vault_read", "vault_search", "thread_seek", "web_search", "web_fetch")
		},
			`{"type":"signal.unread","severity":"warning","text":"Nothing was looked up for this answer: it relies on what the model knows.","turn":1}`},
		{oracle.NoticeUnsure, auth, []modeltest.Turn{reading(0), modeltest.Say("It checks a token. " + element("context_sufficient", "0.2", "sources_found", "1"))}, nil,
			`{"type":"signal.unsure","severity":"warning","text":"The model is not sure of this answer: it gives it a confidence of 0.20.","turn":2,"payload":{"confidence":"0.2"}}`},
		{agent.NoticeTruncated, auth, []modeltest.Turn{costing(model.Usage{InputTokens: 100}, reading(0)), theEnd}, nil,
			`{"type":"history.truncated","severity":"warning","text":"The server has read only a part`},
		{oracle.NoticeGap, auth, []modeltest.Turn{modeltest.Say(needCapability("sending an email")), theEnd}, nil,
			`{"type":"capability.gap","severity":"warning","text":"The model requested a capability that is not available here: sending an email","turn":1,"payload":{"capability":"sending an email"}}`},
		{oracle.NoticeDelegation, auth, []modeltest.Turn{modeltest.Say("So. " + delegate("all modules"))}, nil,
			`{"type":"delegation.recommended","severity":"warning","text":"The model recommends delegating: all modules (it is too large)","turn":1,"payload":{"reason":"it is too large","scope":"all modules"}}`},
		{agent.NoticeOtherModel, auth, []modeltest.Turn{reading(0), satisfied}, func(h *harness) { h.model = standIn{h.script} },
			`{"type":"model.fallback","severity":"warning","text":"local:small answers instead: cloud:big: rate_limit","turn":1,"payload":{"answered":"local:small","reason":"cloud:big: rate_limit"}}`},
		{agent.NoticeSummarised, auth, []modeltest.Turn{opening("one"), opening("two"), opening("three"), modeltest.Say("NOTES."), theEnd}, func(h *harness) {
			h.env.WindowTokens = 10_000
			h.openLong(2_500)
		}, `{"type":"history.summarised","severity":"info","text":"The conversation was long: the model goes on from notes of it.","turn":3,"payload":{"tokens":"2","turns":"1"}}`},
		{oracle.NoticeClassifier, auth, []modeltest.Turn{modeltest.Say(stuck("nothing")), theEnd}, func(h *harness) { h.classifier = (&classifier{err: errors.New("it is gone")}).ask },
			`{"type":"classifier.unavailable","severity":"warning","text":"The classifier is not available, so rules decide: it is gone","turn":1,"payload":{"reason":"it is gone"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := setUp(t, c.turns...)
			if c.change != nil {
				c.change(h)
			}
			a := h.ask(c.question)
			found := notices(a, c.name)
			same(t, "times it is told", len(found), 1)
			raw, err := json.Marshal(found[0])
			if err != nil {
				t.Fatal(err)
			}
			if form := string(raw); c.want == "" || !strings.HasPrefix(form, c.want) || strings.HasSuffix(c.want, "}") && form != c.want {
				t.Errorf("its form is %s; want %s", form, c.want)
			}
		})
	}
}

func TestTopicShiftThatLeavesExchangesOutIsTold(t *testing.T) {
	h := setUp(t, theEnd, theEnd, theEnd)
	h.finish(h.start(auth))
	a := h.finish(h.start("How does the auth middleware check the token?"))
	same(t, "times it is told where the topic stays", len(notices(a, oracle.NoticeShift)), 0)
	a = h.ask(weather)
	same(t, "topic shift", a.TopicShift, true)
	same(t, "times it is told", len(notices(a, oracle.NoticeShift)), 1)
}

func TestEveryNoticeIsToldOnce(t *testing.T) {
	mess := modeltest.SayAndCall("So. "+malformed+needCapability("sending an email")+stuck("x"), "code_read", lines("a.go", 1, 9))
	h := setUp(t, slices.Repeat([]modeltest.Turn{mess}, 12)...)
	h.turns, h.maxTokens = 12, 1000
	h.model = standIn{h.script}
	a := h.play(auth)
	seen := map[string]int{}
	for _, n := range a.Notices {
		seen[n.Type+" "+n.Text]++
		if !strings.Contains(n.Type, ".") || n.Severity == "" || n.Text == "" || n.Turn < 1 || n.Turn > a.Turns {
			t.Errorf("an odd notice: %+v", n)
		}
	}
	for text, n := range seen {
		if n != 1 {
			t.Errorf("%d times: %s", n, text)
		}
	}
}

func TestNoticesOfARunThatFailsAreKept(t *testing.T) {
	h := setUp(t, modeltest.Say(needCapability("sending an email")), modeltest.Fail(model.Garbled))
	a := h.ask(auth)
	same(t, "stop reason", a.StopReason, oracle.StopError)
	same(t, "told", len(notices(a, oracle.NoticeGap)), 1)
}

func TestWriteOfUnknownFateIsToldWithItsTool(t *testing.T) {
	h := setUp(t, modeltest.SayAndCall(needTurn("write it"), "vault_write", `{"path":"a.md"}`), theEnd)
	h.world.on("vault_write", func(tool.Call) (tool.Result, error) { panic("disk gone") })
	a := h.ask(save)
	found := notices(a, agent.NoticeUnsureWrite)
	same(t, "times it is told", len(found), 1)
	same(t, "severity", found[0].Severity, agent.Warning)
	same(t, "tool", found[0].Payload["tool"], "vault_write")
	holds(t, "reason", found[0].Payload["reason"], "broke down")
}
