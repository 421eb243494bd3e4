package eval

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	evaldata "sibyl/eval"
	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/oracle"
)

func TestTranscriptsAreManyAndOfManyKinds(t *testing.T) {
	all := assert.Must(LoadTranscripts(evaldata.Files, evaldata.Misbehaving))(t)
	kinds, scripts := map[string]bool{}, map[string]string{}
	for _, tr := range all {
		kinds[tr.Kind] = true
		script := assert.Must(json.Marshal(tr.Script))(t)
		twin := scripts[string(script)]
		assert.That(t, twin == "", "%s says the same as %s", tr.ID, twin)
		scripts[string(script)] = tr.ID
	}
	assert.That(t, len(all) >= 36 && len(kinds) >= 10, "%d transcripts of %d kinds", len(all), len(kinds))
}

func TestScriptIsPlayedTurnByTurn(t *testing.T) {
	var tr Transcript
	assert.NoError(t, json.Unmarshal(
		[]byte(`{"id":"x","script":[{"text":"a{{turn}} "},{"text":"b","text_times":3,"text_end":"!","repeat":2},
		{"calls":[{"name":"t","args":"{{turn}}","times":2}],"repeat":"forever"}]}`), &tr))
	call := func(id, args string) model.ToolCall { return model.ToolCall{ID: id, Name: "t", Arguments: args} }
	want := []model.Response{
		{Text: "a1 ", Finish: model.FinishStop},
		{Text: "bbb!", Finish: model.FinishStop},
		{Text: "bbb!", Finish: model.FinishStop},
		{ToolCalls: []model.ToolCall{call("call_4_1", "4"), call("call_4_2", "4")}, Finish: model.FinishTools},
		{ToolCalls: []model.ToolCall{call("call_5_1", "5"), call("call_5_2", "5")}, Finish: model.FinishTools},
	}
	for i, w := range want {
		assert.NoDiff(t, cmp.Diff(w, tr.Turn(i+1)), "turn %d", i+1)
	}
	tr.Script = tr.Script[:2]
	assert.NoDiff(t, cmp.Diff(model.Response{Finish: model.FinishStop}, tr.Turn(4)), "after the end of the script")
}

func TestPlayerStreamsWhatItSays(t *testing.T) {
	tr := Transcript{ID: "x", Script: []ScriptTurn{{Text: "grüße ", TextTimes: 100}, {Text: "end"}}}
	p := NewPlayer(tr)
	var streamed strings.Builder
	emit := func(d model.Delta) error { streamed.WriteString(d.Text); return nil }
	first, err := p.Chat(t.Context(), model.Request{}, emit)
	assert.That(t, err == nil && streamed.String() == first.Text && first.Text == strings.Repeat("grüße ", 100) &&
		first.Model == "transcript:x", "streamed %d bytes of %d, %v", streamed.Len(), len(first.Text), err)
	stopped := errors.New("stop")
	second, err := p.Chat(t.Context(), model.Request{}, func(model.Delta) error { return stopped })
	assert.That(t, errors.Is(err, stopped) && second.Text == "",
		"the stop of a reader came back as %v, after %q", err, second.Text)
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
	diff := cmp.Diff(want, s.Why)
	assert.That(t, diff == "" && !s.Met && !s.WithinBudget, "%v %v %v", diff, s.Met, s.WithinBudget)
	tr.Expect.Answered = false
	s = ScoreTranscript(tr, good)
	assert.That(t, !s.Met, "words were shown that should not be an answer, and it passes")
}
