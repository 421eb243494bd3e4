package modeltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
)

// EmbedderSuite checks what package model promises of every Embedder.
func EmbedderSuite(t *testing.T, build func(testing.TB, *Setup) model.Embedder) {
	callSuite(t, build, func(ctx context.Context, e model.Embedder) error {
		_, _, err := e.Embed(ctx, []string{"canary-text"})
		return err
	})
	t.Run("VectorsAreInTheOrderOfTheirTexts", func(t *testing.T) {
		answers := make([]Answer, 3)
		var texts []string
		var want [][]float32
		for i := range 150 { // more than one request holds
			texts, want = append(texts, fmt.Sprintf("canary-%d.", i)), append(want, []float32{float32(i), 0.5})
		}
		for i, n := range []int{64, 64, 22} {
			answers[i] = Answer{Vectors: want[64*i : 64*i+n], Usage: model.Usage{InputTokens: 10}}
		}
		e, s := startSetup(t, build, Setup{}, answers...)
		got, usage, err := e.Embed(t.Context(), texts)
		if diff := cmp.Diff(want, got); err != nil || diff != "" || usage.InputTokens != 30 {
			t.Errorf("usage %+v, %v (-want +got):\n%s", usage, err, diff)
		}
		for i, text := range texts {
			assert.That(t, strings.Contains(s.server.Requests()[i/64].Body, text), "%s was not sent in request %d", text, i/64)
		}
		got, _, err = e.Embed(t.Context(), nil)
		assert.That(t, len(got) == 0 && err == nil && len(s.server.Requests()) == 3, "for no texts got %v, %v", got, err)
	})
	t.Run("VectorsThatAreMissingOrUnevenAreGarbled", func(t *testing.T) {
		for _, vectors := range [][][]float32{{{1}}, {{1}, {1, 2}}, {{}, {}}, {{1}, {1}, {1}}} {
			e, _ := startSetup(t, build, Setup{}, Answer{Vectors: vectors})
			got, _, err := e.Embed(t.Context(), []string{"a", "b"})
			assert.That(t, model.KindOf(err) == model.Garbled && got == nil,
				"%v for two texts: got %v, %v; want it to be garbled", vectors, got, err)
		}
	})
}

// TranscriberSuite checks what package model promises of every Transcriber that asks a server.
func TranscriberSuite(t *testing.T, build func(testing.TB, *Setup) model.Transcriber) {
	note := func(content io.Reader) model.Audio {
		return model.Audio{Name: "note.ogg", Content: content, Language: "pt", Prompt: "canary-prompt"}
	}
	callSuite(t, build, func(ctx context.Context, m model.Transcriber) error {
		_, err := m.Transcribe(ctx, note(strings.NewReader("OggS")))
		return err
	})
	t.Run("AudioIsSentWholeAndItsTextComesBack", func(t *testing.T) {
		said := model.Transcript{Text: " Olá. Adeus.\n", Language: "portuguese", Seconds: 2.5,
			Segments: []model.Segment{
				{End: 1, Text: "Olá.", Confidence: 0.5}, {Start: 1.5, End: 2.5, Text: "Adeus.", NoSpeech: 0.25},
			}}
		m, s := startSetup(t, build, Setup{}, Answer{Transcript: said}, Answer{})
		got, err := m.Transcribe(t.Context(), note(strings.NewReader("OggS\x00canary-audio\xff")))
		said.Text = "Olá. Adeus."
		diff := cmp.Diff(said, got, cmpopts.EquateApprox(0, 1e-9))
		assert.That(t, err == nil && diff == "", "%v (-want +got):\n%s", err, diff)
		assert.Contains(t, "what was sent", s.server.Last().Body,
			"OggS\x00canary-audio\xff", "note.ogg", "canary-prompt", "pt")
		got, err = m.Transcribe(t.Context(), note(strings.NewReader("OggS")))
		assert.That(t, err == nil && got.Text == "", "silence gave %+v, %v", got, err)
	})
	t.Run("AudioThatCannotBeReadOrIsTooLargeIsNotSent", func(t *testing.T) {
		for _, content := range []io.Reader{
			io.MultiReader(strings.NewReader("OggS"), iotest.ErrReader(errors.New("the disk is gone"))),
			bytes.NewReader(make([]byte, model.MaxAudio+1)),
		} {
			m, s := startSetup(t, build, Setup{})
			_, err := m.Transcribe(t.Context(), note(content))
			assert.That(t, model.KindOf(err) == model.Invalid && len(s.server.Requests()) == 0,
				"got %v after %d requests; want invalid after none", err, len(s.server.Requests()))
		}
	})
}

// callSuite checks what every call of one request and one whole answer keeps.
func callSuite[M any](t *testing.T, build func(testing.TB, *Setup) M, call func(context.Context, M) error) {
	for _, kind := range []model.Kind{model.RateLimit, model.Auth, model.ContextLength, model.Timeout, model.Server,
		model.Invalid} {
		t.Run("FailureHasItsKindAndIsNotRetried/"+string(kind), func(t *testing.T) {
			m, s := startSetup(t, build, Setup{}, Answer{Fail: kind, RetryAfter: 7 * time.Second})
			e := wantFailure(t, call(t.Context(), m), nil, kind, "")
			assert.That(t, e.RetryAfter == 7*time.Second && len(s.server.Requests()) == 1,
				"retry after %v, %d requests; want 7s and one", e.RetryAfter, len(s.server.Requests()))
		})
	}
	t.Run("BrokenAnswerHasItsKind", func(t *testing.T) {
		for kind, answer := range map[model.Kind][]Answer{model.Server: {{Break: Cut}},
			model.Garbled: {{Break: Garbage}, {Raw: &Raw{Body: strings.Repeat(" ", 9<<20)}}}} {
			for _, a := range answer {
				m, _ := startSetup(t, build, Setup{}, a)
				_ = wantFailure(t, call(t.Context(), m), nil, kind, "")
			}
		}
	})
	t.Run("CancelEndsTheRequest", func(t *testing.T) {
		m, s := startSetup(t, build, Setup{}, Answer{Break: Hang})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan error, 1)
		go func() { done <- call(ctx, m) }()
		await(t, s.hanging(), "the request to hang")
		cancel()
		_ = wantFailure(t, await(t, done, "the call to return"), nil, model.Cancelled, "")
		s.awaitEnded(t)
	})
}
