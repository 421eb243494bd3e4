package eval

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	evaldata "sibyl/eval"
	"sibyl/internal/agent"
	"sibyl/internal/model"
	"sibyl/internal/oracle"
)

func TestTranscriptsAreManyAndOfManyKinds(t *testing.T) {
	all, err := LoadTranscripts(evaldata.Files, evaldata.Misbehaving)
	if err != nil {
		t.Fatal(err)
	}
	kinds, scripts := map[string]bool{}, map[string]string{}
	for _, tr := range all {
		kinds[tr.Kind] = true
		script, err := json.Marshal(tr.Script)
		if err != nil {
			t.Fatal(err)
		}
		if twin := scripts[string(script)]; twin != "" {
			t.Errorf("%s says the same as %s", tr.ID, twin)
		}
		scripts[string(script)] = tr.ID
	}
	if len(all) < 36 || len(kinds) < 10 {
		t.Errorf("%d transcripts of %d kinds", len(all), len(kinds))
	}
}

func TestScriptIsPlayedTurnByTurn(t *testing.T) {
	var tr Transcript
	if err := json.Unmarshal(
		[]byte(`{"id":"x","script":[{"text":"a{{turn}} "},{"text":"b","text_times":3,"text_end":"!","repeat":2},
		{"calls":[{"name":"t","args":"{{turn}}","times":2}],"repeat":"forever"}]}`), &tr); err != nil {
		t.Fatal(err)
	}
	call := func(id, args string) model.ToolCall { return model.ToolCall{ID: id, Name: "t", Arguments: args} }
	want := []model.Response{
		{Text: "a1 ", Finish: model.FinishStop},
		{Text: "bbb!", Finish: model.FinishStop},
		{Text: "bbb!", Finish: model.FinishStop},
		{ToolCalls: []model.ToolCall{call("call_4_1", "4"), call("call_4_2", "4")}, Finish: model.FinishTools},
		{ToolCalls: []model.ToolCall{call("call_5_1", "5"), call("call_5_2", "5")}, Finish: model.FinishTools},
	}
	for i, w := range want {
		if diff := cmp.Diff(w, tr.Turn(i+1)); diff != "" {
			t.Errorf("turn %d: %s", i+1, diff)
		}
	}
	tr.Script = tr.Script[:2]
	if diff := cmp.Diff(model.Response{Finish: model.FinishStop}, tr.Turn(4)); diff != "" {
		t.Errorf("after the end of the script: %s", diff)
	}
}

func TestPlayerStreamsWhatItSays(t *testing.T) {
	tr := Transcript{ID: "x", Script: []ScriptTurn{{Text: "grüße ", TextTimes: 100}, {Text: "end"}}}
	p := NewPlayer(tr)
	var streamed strings.Builder
	emit := func(d model.Delta) error { streamed.WriteString(d.Text); return nil }
	first, err := p.Chat(t.Context(), model.Request{}, emit)
	if err != nil || streamed.String() != first.Text || first.Text != strings.Repeat("grüße ", 100) ||
		first.Model != "transcript:x" {
		t.Errorf("streamed %d bytes of %d, %v", streamed.Len(), len(first.Text), err)
	}
	stopped := errors.New("stop")
	second, err := p.Chat(t.Context(), model.Request{}, func(model.Delta) error { return stopped })
	if !errors.Is(err, stopped) || second.Text != "" {
		t.Errorf("the stop of a reader came back as %v, after %q", err, second.Text)
	}
}

func TestTranscriptScoreSaysWhatWasNotAsExpected(t *testing.T) {
	tr := Transcript{ID: "x", Kind: "loop", Script: []ScriptTurn{{Text: "my own words, and what follows them\n<signal>",
		Repeat: Forever}},
		Expect: Expectation{StopReasons: []string{"stuck", "loop"}, MaxTurns: 5, Answered: true,
			Refused: []string{"vault_write"}}}
	good := oracle.Answer{StopReason: "stuck", Turns: 5, MaxTurns: 30, Answer: "my own words, and what follows them",
		ToolCalls: []agent.ToolUse{{Name: "vault_write", Refused: "no"}}}
	if s := ScoreTranscript(tr, good); !s.Met || !s.Answered || !s.WithinBudget {
		t.Errorf("as expected, but: %+v", s)
	}
	bad := oracle.Answer{ToolCalls: []agent.ToolUse{{Name: "vault_write"}}, StopReason: "budget",
		Turns: 30, MaxTurns: 30,
		Answer: "I have no answer. <signal type=x>"}
	want := []string{"ended budget, not stuck or loop", "30 turns, at most 5 expected",
		"the model's words were not shown", "vault_write was performed", "markup of a signal is shown"}
	s := ScoreTranscript(tr, bad)
	if diff := cmp.Diff(want, s.Why); diff != "" || s.Met || s.WithinBudget {
		t.Error(diff, s.Met, s.WithinBudget)
	}
	tr.Expect.Answered = false
	if s := ScoreTranscript(tr, good); s.Met {
		t.Error("words were shown that should not be an answer, and it passes")
	}
}
