package oracle_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/model"
	"sibyl/internal/oracle"
	"sibyl/internal/oracle/prompt"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
	"sibyl/internal/store/teststore"
	"sibyl/internal/tool"
	"sibyl/prompts"
)

// beginning is what a question begins in, with a model that is like info.
func beginning(
	t *testing.T, info func(ctx context.Context) model.Info, openTools func() error, specs ...tool.Spec,
) *assistant.Assistant {
	t.Helper()
	registry := assert.Must(prompt.Load(prompts.FS))(t)
	return oracle.Describe(nil, oracle.Surroundings{Store: teststore.Empty(t), Prompts: func() (*prompt.Set, error) {
		return registry, nil
	}, LearnKeys: func(context.Context, oracle.Env) {},
		Choose:     func(context.Context, string) (string, error) { return "house:m", nil },
		Known:      func(ctx context.Context, _ string) model.Info { return info(ctx) },
		ReportForm: func(string) model.ReportForm { return model.ReportTool },
		Tools: func(context.Context, oracle.Env) (*tool.Set, func(), error) {
			var all []tool.Tool
			for _, spec := range specs {
				all = append(all, tool.New(spec, func(context.Context, tool.Call, struct{}) (tool.Result, error) {
					return tool.Result{}, nil
				}))
			}
			return tool.NewSet(all...), func() {}, openTools()
		}})
}

func TestQuestionBeginsWithWhatItsModelIsLike(t *testing.T) {
	asked, opened := make(chan struct{}), make(chan struct{})
	s := beginning(t, func(context.Context) model.Info {
		close(asked)
		<-opened
		return model.Info{Window: 32_768, BareCalls: true}
	}, func() error {
		<-asked // the model is asked for beside the opening of tools
		close(opened)
		return nil
	})
	spec := assert.Must(s.Begin(t.Context(), assistant.Request{Owner: "me", Words: "What is a mutex?",
		Options: oracle.Options{MaxTurns: 3}}))(t)
	env, _ := spec.Env.(oracle.Env)
	assert.That(t, env.WindowTokens == 32_768 && env.BareCalls && env.ReportTool, "began with %+v", env)
}

func TestToolsThatCannotBeOpenedEndTheLookAtTheModel(t *testing.T) {
	ended := make(chan struct{})
	broken := errors.New("no such folder")
	s := beginning(t, func(ctx context.Context) model.Info {
		<-ctx.Done()
		close(ended)
		return model.Info{}
	}, func() error { return broken })
	_, err := s.Begin(t.Context(), assistant.Request{Owner: "me", Words: "What is a mutex?",
		Options: oracle.Options{MaxTurns: 3}})
	assert.That(t, errors.Is(err, broken), "got %v", err)
	<-ended
}

func TestQuestionMayBeAskedWithoutToolsThatWrite(t *testing.T) {
	for _, readOnly := range []bool{false, true} {
		s := beginning(t, func(context.Context) model.Info { return model.Info{} }, func() error { return nil },
			tool.Spec{Name: "vault_read", Source: tool.Vault, Effect: tool.Repeatable}, tool.Spec{Name: "vault_write",
				Source: tool.Vault, Effect: tool.Once})
		spec := assert.Must(s.Begin(t.Context(), assistant.Request{Owner: "me", Words: "Write a note about mutexes",
			Relayed: readOnly, Options: oracle.Options{MaxTurns: 3}}))(t)
		var names []string
		for _, fact := range spec.Given.(oracle.Given).Tools {
			names = append(names, fact.Name)
		}
		assert.That(t, slices.Contains(names, "vault_write") != readOnly && slices.Contains(names, "vault_read"),
			"read only %v: the run has %v", readOnly, names)
	}
}

func TestWhatIsAskedOfThePersonIsToldApart(t *testing.T) {
	for name, c := range map[string]struct {
		outcome string
		held    int
		asks    bool
	}{
		"nothing":       {`{"stop_reason":"satisfied"}`, 0, false},
		"a question":    {`{"stop_reason":"needs_user"}`, 0, true},
		"a held call":   {`{"stop_reason":"needs_user","waiting":[{"tool":"vault_write","arguments":"{}","why":"a page asked"}]}`, 1, false},
		"calls, and it": {`{"stop_reason":"needs_user","asked":true,"waiting":[{"tool":"a","arguments":"{}"},{"tool":"b","arguments":"{}"}]}`, 2, true},
	} {
		s, err := beginning(t, func(context.Context) model.Info { return model.Info{} }, nil).Show([]byte(c.outcome))
		assert.That(t, err == nil && len(s.Waiting) == c.held && s.Asks == c.asks && len(s.Warnings) == 0,
			"%s: %+v, %v, %q, %v", name, s.Waiting, s.Asks, s.Warnings, err)
		for n, w := range s.Waiting {
			want := fmt.Sprintf("yes %d", n+1)
			assert.That(t, w.Yes == want, "%s: call %d is allowed by %q, want %q", name, n+1, w.Yes, want)
		}
	}
}

// A page words each warning in the language of who reads it, by its code and its values.
func TestEachWarningHasACodeThatSaysTheSame(t *testing.T) {
	a := oracle.Answer{StopReason: oracle.StopPartial, Model: "a:b", Blocker: "no key", Suggestions: []string{"set one",
		"wait"}, Unsupported: []string{"x.go:1"},
		Writes: &agent.Writes{Asked: 7, Done: 5, Failed: 2, Notes: true,
			Missing: []agent.Unwritten{{Target: "a.md", Fate: agent.WriteFailed, Why: "it is a folder"}}}}
	said := bt.Both(a.Writes.Why(), bt.Because("a part is left out"))
	a.Caveat, a.CaveatCode = said.Text, said.Coded
	a.Notices = []agent.Notice{{Severity: agent.Info, Text: "nothing to worry about"},
		{Severity: agent.Warning, Text: "a server says so"}}
	outcome, err := json.Marshal(a)
	assert.NoError(t, err)
	described := oracle.Describe(&run.Assistant{}, oracle.Surroundings{})
	shown := assert.Must(described.Show(outcome))(t)
	want := []string{"not the whole answer: 2 of 7 notes were not written: a.md (it is a folder); and 1 more. a part " +
		"is left out", "what blocked it: no key",
		"what would help: set one; wait", "cited, but not read: x.go:1", "a server says so"}
	if diff := cmp.Diff(want, shown.Warnings); diff != "" || len(shown.WarningCodes) != len(want) {
		t.Errorf("%d codes; the warnings (-want +got):\n%s", len(shown.WarningCodes), diff)
	}
	all := append(described.Reasons, bt.TwoSentences)
	var word func(w bt.Why) string
	word = func(w bt.Why) string {
		at := slices.IndexFunc(all, func(r bt.Reason) bool { return r.Code() == w.Code })
		if at < 0 {
			return w.Text
		}
		template := all[at].Template()
		for name, value := range w.Values {
			template = strings.ReplaceAll(template, "{"+name+"}", word(value))
		}
		return template
	}
	for n, code := range shown.WarningCodes {
		got := word(bt.Why{Text: "no code", Coded: code})
		assert.That(t, got == want[n] || (code.Code == "" && n >= 4), "the code of “%s” says “%s”", want[n], got)
	}
	a.CaveatCode = bt.Coded{} // as a build before this one has kept it
	outcome, _ = json.Marshal(a)
	shown, err = described.Show(outcome)
	assert.That(t, err == nil && shown.Warnings[0] == want[0] && shown.WarningCodes[0].Values["why"].Code == "",
		"an answer of before: %v, %v, %v", shown.Warnings, shown.WarningCodes, err)
}

func TestServersThatWereLeftOutAreReadAsEarlierBuildsRecordedThem(t *testing.T) {
	now := oracle.ServerStarts.With("tracker")
	recorded := assert.Must(json.Marshal(oracle.Env{LeftOut: []bt.Why{now}}))(t)
	for line, want := range map[string]bt.Why{
		string(recorded): now,
		`{"left_out": ["The tools of tracker are left out."], "date": "2025-10-05"}`: bt.Because(
			"The tools of tracker are left out."),
	} {
		var env oracle.Env
		assert.NoError(t, json.Unmarshal([]byte(line), &env))
		assert.NoDiff(t, cmp.Diff([]bt.Why{want}, []bt.Why(env.LeftOut)), "%s (-want +got)", line)
	}
}
