package oracle_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
	"sibyl/internal/run/replay"
	"sibyl/internal/tool"
	"sibyl/prompts"
)

// replay takes the last run through its tree, in a process without model and tools.
func (h *harness) replay(o replay.Options) *replay.Result {
	h.t.Helper()
	return h.replayBy(func(*run.Assistant) {}, o)
}

// replayBy is replay with another assistant.
func (h *harness) replayBy(change func(*run.Assistant), o replay.Options) *replay.Result {
	h.t.Helper()
	assistant := assert.Must(oracle.New(oracle.Deps{
		Model: func(context.Context, oracle.Env) (model.Model, error) {
			h.t.Error("a replay opened a model")
			return nil, errors.New("no model")
		},
		Tools: func(context.Context, oracle.Env) (*tool.Set, func(), error) {
			h.t.Error("a replay opened tools")
			return nil, nil, errors.New("no tools")
		}}))(h.t)
	change(assistant)
	e := assert.Must(run.NewEngine(run.Config{Store: h.store, Assistants: []*run.Assistant{assistant}, Build: "test",
		Holder: "replays"}))(h.t)
	before := len(h.records())
	found, err := replay.Run(h.t.Context(), e, owner, h.last.ID, o)
	assert.NoErrorf(h.t, err, "replaying")
	same(h.t, "records that the replay wrote", len(h.records())-before, 0)
	return found
}

// kindsOf lists the kinds of differences.
func kindsOf(found *replay.Result) []replay.DifferenceKind {
	kinds := []replay.DifferenceKind{}
	for _, d := range found.Differences {
		kinds = append(kinds, d.Kind)
	}
	return kinds
}

// askedHarness searches, reads and answers, in three turns.
func askedHarness(t *testing.T) *harness {
	h := setUp(t,
		modeltest.SayAndCall(needTurn("look for it"), "code_search", `{"query":"auth"}`),
		modeltest.SayAndCall(needTurn("open it"), "code_read", lines("auth/middleware.go", 10, 30)),
		modeltest.Say("It checks a token (`auth/middleware.go:12`). "+enough()))
	same(t, "stop reason", h.ask(auth).StopReason, oracle.StopSatisfied)
	return h
}

func baseText(t *testing.T) string {
	t.Helper()
	text := assert.Must(fs.ReadFile(prompts.FS, "oracle/base.md"))(t)
	return string(text)
}

// noted is a run that takes notes in its fourth request.
func noted(t *testing.T) *harness {
	h := setUp(t, opening("one"), opening("two"), opening("three"), modeltest.Say("NOTES: one.go:3 checks a token."),
		modeltest.Say("A token is checked (`one.go:3`). "+enough()))
	h.env.WindowTokens = 10_000
	h.openLong(2_500)
	h.ask(auth)
	same(t, "requests for notes", h.ofNotes(), []int{4})
	return h
}

func TestReplayWithOtherPromptsListsTheNotesToo(t *testing.T) {
	h := noted(t)
	same(t, "with the run's own prompts", kindsOf(h.replay(replay.Options{})), []replay.DifferenceKind{})
	changed := fstest.MapFS{"oracle/base.md": {Data: []byte(baseText(t) + "\nBe brief. Be very, very brief.\n")}}
	found := h.replay(replay.Options{PastFirst: true, Texts: oracle.ChangedPrompts(changed)})
	leaves := []string{}
	for _, d := range found.Differences {
		s := d.Sent[0]
		leaves = append(leaves, s.Request.Leaf)
		assert.That(t, len(s.Parts) == 1 && s.Parts[0].Name == "base" && s.Parts[0].Would-s.Parts[0].Was == 8 && !s.Build,
			"%s would be sent with %+v", s.Request.Label, s)
		same(t, "tokens of the prompt", s.Would.Tokens-s.Was.Tokens, 8)
	}
	same(t, "what would be sent with another prompt", leaves, []string{"AskModel", "AskModel", "AskModel", "TakeNotes",
		"AskModel"})
	unsent := oracle.ChangedPrompts(fstest.MapFS{"oracle/research.md": {Data: []byte("Not for this question.")}})
	same(t, "a text that is not sent", kindsOf(h.replay(replay.Options{Texts: unsent})), []replay.DifferenceKind{})
}

func TestNotesThatAnotherBuildPromptedAreListedWithoutSegments(t *testing.T) {
	h := noted(t)
	found := h.replayBy(func(a *run.Assistant) {
		now := a.Sends
		a.Sends = func(ctx context.Context, v *run.View, c *run.CompletionRecord) (recorded, composed run.Sent,
			err error) {
			if r, is := c.Value.(agent.TurnReceipt[oracle.Heard]); is && c.Kind == agent.EffectNotes {
				r.Prompt = "of another build"
				other := *c
				other.Value, c = r, &other
			}
			return now(ctx, v, c)
		}
	}, replay.Options{})
	same(t, "differences", kindsOf(found), []replay.DifferenceKind{replay.OtherSending})
	s := found.Differences[0].Sent[0]
	same(t, "leaf", s.Request.Leaf, "TakeNotes")
	same(t, "another build", s.Build, true)
	same(t, "segments that differ", s.Parts, []replay.ChangedPart{})
}

func TestPromptsThatCannotServeAReplayAreRefused(t *testing.T) {
	h := askedHarness(t)
	for name, c := range map[string]struct {
		folder fstest.MapFS
		want   string
	}{
		"an empty file":    {fstest.MapFS{"oracle/base.md": {}}, "the prompt is empty"},
		"a misspelt file":  {fstest.MapFS{"oracle/bass.md": {Data: []byte("x")}}, "replaces no prompt"},
		"another variable": {fstest.MapFS{"oracle/base.md": {Data: []byte("{{nothing}}")}}, "nothing"},
	} {
		_, err := replay.Run(t.Context(), h.engine, owner, h.last.ID,
			replay.Options{Texts: oracle.ChangedPrompts(c.folder)})
		assert.That(t, err != nil && strings.Contains(err.Error(), c.want), "%s: replaying gives %v", name, err)
	}
}

func TestReplayOfAContinuedSessionComposesItsPromptsAnew(t *testing.T) {
	h := askedHarness(t)
	h.script = modeltest.Script(t, modeltest.SayAndCall("", "code_read", lines("auth/tests.go", 1, 2)),
		modeltest.Say("As said (`auth/tests.go:1`). "+enough()))
	h.model = h.script
	h.ask("And how is the auth middleware tested?")
	same(t, "differences", kindsOf(h.replay(replay.Options{})), []replay.DifferenceKind{})
}
