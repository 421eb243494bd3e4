package telemetry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/server/telemetry"
)

func TestModelThatIsWatchedAnswersAsItWould(t *testing.T) {
	tel := telemetryOf(t, telemetry.Config{})
	turn := modeltest.Say("one two").AndCall("code_read", called)
	plain := modeltest.Script(t, turn, turn, turn, modeltest.Fail(model.Auth)).As("ollama:llama3.1:8b", true)
	watched := tel.Model(modeltest.Script(t, turn, turn, turn, modeltest.Fail(model.Auth)).
		As("ollama:llama3.1:8b", true))
	assert.That(t, watched.ID() == plain.ID() && watched.Local(), "it is %s, local %t", watched.ID(), watched.Local())
	gone := errors.New("the receiver has gone")
	for name, listen := range map[string]func(heard *[]model.Delta) func(model.Delta) error{
		"nobody listens": func(*[]model.Delta) func(model.Delta) error { return nil },
		"somebody listens": func(heard *[]model.Delta) func(model.Delta) error {
			return func(d model.Delta) error {
				*heard = append(*heard, d)
				return nil
			}
		},
		"the receiver goes": func(*[]model.Delta) func(model.Delta) error {
			return func(model.Delta) error { return gone }
		},
	} {
		var want, got []model.Delta
		wantResp, wantErr := plain.Chat(t.Context(), model.Request{}, listen(&want))
		gotResp, err := watched.Chat(t.Context(), model.Request{}, listen(&got))
		diff := cmp.Diff(wantResp, gotResp) + cmp.Diff(want, got)
		assert.That(t, diff == "" && fmt.Sprint(err) == fmt.Sprint(wantErr) &&
			errors.Is(err, gone) == errors.Is(wantErr, gone), "%s: %s error %v, not %v", name, diff, err, wantErr)
	}
	_, err := watched.Chat(t.Context(), model.Request{}, nil)
	assert.That(t, model.KindOf(err) == model.Auth, "the error is %v", err)
}

func TestModelsThatThereAreNotHaveNoSeries(t *testing.T) {
	var lines bytes.Buffer
	tel := telemetryOf(t, telemetry.Config{Log: telemetry.Logger(&lines, slog.LevelInfo, nil)})
	for i := range 20 {
		m := tel.Model(modeltest.Script(t, modeltest.Fail(model.Invalid)).As(fmt.Sprintf("openai:none-%d", i), false))
		_, err := m.Chat(t.Context(), model.Request{}, nil)
		assert.Require(t, err != nil, "it answered")
	}
	text := string(scraped(t, tel))
	compare(t, series(t, []byte(text)),
		map[string]float64{"sibyl_model_errors_total{kind=invalid provider=openai}": 20})
	assert.That(t, !strings.Contains(text, "none-"), "a model that there is not has a series in\n%s", text)
	n := strings.Count(lines.String(), `"msg":"a model did not answer"`)
	assert.That(t, n == 20 && !strings.Contains(lines.String(), "scripted failure"), "%d lines in\n%s", n, lines.String())
}

func TestRequestThatIsWithdrawnIsNotLogged(t *testing.T) {
	var lines bytes.Buffer
	tel := telemetryOf(t, telemetry.Config{Log: telemetry.Logger(&lines, slog.LevelInfo, nil)})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := tel.Model(modeltest.Script(t)).Chat(ctx, model.Request{}, nil)
	assert.That(t, model.KindOf(err) == model.Cancelled, "the error is %v", err)
	assert.That(t, lines.Len() == 0, "the log is %s", lines.String())
}
