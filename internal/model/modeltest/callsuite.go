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

	"sibyl/internal/model"
)

// EmbedderFactory builds an Embedder before a fake provider that gives the Setup's answers. The Subject needs no Model.
type EmbedderFactory func(t *testing.T, s Setup) (model.Embedder, Subject)

// TranscriberFactory builds a Transcriber as EmbedderFactory does an Embedder. It may skip t for an Answer that its transcriber can't give.
type TranscriberFactory func(t *testing.T, s Setup) (model.Transcriber, Subject)

// EmbedderSuite checks what package model promises of every Embedder.
func EmbedderSuite(t *testing.T, build EmbedderFactory) {
	callSuite(t, func(t *testing.T, s Setup) (func(context.Context) error, Subject) {
		e, subject := build(t, s)
		return func(ctx context.Context) error {
			_, _, err := e.Embed(ctx, []string{"canary-text"})
			return err
		}, subject
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
		e, subject := build(t, Setup{Answers: answers})
		got, usage, err := e.Embed(t.Context(), texts)
		if diff := cmp.Diff(want, got); err != nil || diff != "" || usage.InputTokens != 30 {
			t.Errorf("usage %+v, %v (-want +got):\n%s", usage, err, diff)
		}
		for i, text := range texts {
			if !strings.Contains(subject.Sent()[i/64], text) {
				t.Errorf("%s was not sent in request %d", text, i/64)
			}
		}
	})
	t.Run("NoTextsGiveNoVectorsWithoutARequest", func(t *testing.T) {
		e, _ := build(t, Setup{})
		if got, _, err := e.Embed(t.Context(), nil); len(got) != 0 || err != nil {
			t.Errorf("got %v, %v", got, err)
		}
	})
	t.Run("VectorsThatAreMissingOrUnevenAreGarbled", func(t *testing.T) {
		for _, vectors := range [][][]float32{{{1}}, {{1}, {1, 2}}, {{}, {}}, {{1}, {1}, {1}}} {
			e, _ := build(t, Setup{Answers: []Answer{{Vectors: vectors}}})
			if got, _, err := e.Embed(t.Context(), []string{"a", "b"}); model.KindOf(err) != model.Garbled || got != nil {
				t.Errorf("%v for two texts: got %v, %v; want it to be garbled", vectors, got, err)
			}
		}
	})
}

// TranscriberSuite checks what package model promises of every Transcriber.
func TranscriberSuite(t *testing.T, build TranscriberFactory) {
	note := func(content io.Reader) model.Audio {
		return model.Audio{Name: "note.ogg", Content: content, Language: "pt", Prompt: "canary-prompt"}
	}
	callSuite(t, func(t *testing.T, s Setup) (func(context.Context) error, Subject) {
		m, subject := build(t, s)
		return func(ctx context.Context) error {
			_, err := m.Transcribe(ctx, note(strings.NewReader("OggS")))
			return err
		}, subject
	})
	t.Run("AudioIsSentWholeAndItsTextComesBack", func(t *testing.T) {
		said := model.Transcript{Text: " Olá. Adeus.\n", Language: "portuguese", Seconds: 2.5, Segments: []model.Segment{
			{End: 1, Text: "Olá.", Confidence: 0.5}, {Start: 1.5, End: 2.5, Text: "Adeus.", NoSpeech: 0.25},
		}}
		m, subject := build(t, Setup{Answers: []Answer{{Transcript: said}, {}}})
		got, err := m.Transcribe(t.Context(), note(strings.NewReader("OggS\x00canary-audio\xff")))
		want := said
		if want.Text = "Olá. Adeus."; subject.Tells != nil {
			want = subject.Tells(want)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9)); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		for _, part := range []string{"OggS\x00canary-audio\xff", "note.ogg", "canary-prompt", "pt"} {
			if !strings.Contains(subject.Sent()[0], part) {
				t.Errorf("%q was not sent", part)
			}
		}
		if got, err := m.Transcribe(t.Context(), note(strings.NewReader("OggS"))); err != nil || got.Text != "" {
			t.Errorf("silence gave %+v, %v", got, err)
		}
	})
	t.Run("AudioThatCannotBeReadOrIsTooLargeIsNotSent", func(t *testing.T) {
		broken := errors.New("the disk is gone")
		for _, content := range []func(most int64) io.Reader{
			func(int64) io.Reader { return io.MultiReader(strings.NewReader("OggS"), iotest.ErrReader(broken)) },
			func(most int64) io.Reader { return bytes.NewReader(make([]byte, most+1)) },
		} {
			m, subject := build(t, Setup{})
			if _, err := m.Transcribe(t.Context(), note(content(most(subject)))); model.KindOf(err) != model.Invalid || len(subject.Sent()) != 0 {
				t.Errorf("got %v after %d requests; want invalid after none", err, len(subject.Sent()))
			}
		}
	})
	t.Run("OfSeveralAtOnceEachHasItsOwnAudio", func(t *testing.T) {
		const several = 4
		m, subject := build(t, Setup{Answers: []Answer{{Transcript: model.Transcript{Text: "hi"}, Repeat: true}}})
		failures := make(chan error, several)
		for i := range several {
			go func() {
				got, err := m.Transcribe(t.Context(), note(strings.NewReader(fmt.Sprintf("canary-%d.", i))))
				if err == nil && got.Text != "hi" {
					err = fmt.Errorf("got %+v", got)
				}
				failures <- err
			}()
		}
		for range several {
			if err := await(t, failures, "a transcript"); err != nil {
				t.Error(err)
			}
		}
		sent := strings.Join(subject.Sent(), "\n")
		for i := range several {
			if strings.Count(sent, fmt.Sprintf("canary-%d.", i)) != 1 {
				t.Errorf("audio %d was not sent once", i)
			}
		}
	})
}

// most is how many bytes a transcriber takes.
func most(s Subject) int64 {
	if s.MaxAudio > 0 {
		return s.MaxAudio
	}
	return model.MaxAudio
}

// callSuite checks what every call of one request and one whole answer keeps.
func callSuite(t *testing.T, build func(t *testing.T, s Setup) (func(context.Context) error, Subject)) {
	begin := func(t *testing.T, a Answer) (func(context.Context) error, Subject) {
		return build(t, Setup{Answers: []Answer{a}, Key: showCanary})
	}
	failed := func(t *testing.T, err error, kind model.Kind) *model.Error {
		t.Helper()
		var e *model.Error
		if !errors.As(err, &e) || e.Kind != kind || strings.Contains(err.Error(), canaryKey) {
			t.Fatalf("got %v; want an error of kind %s that does not show the key", err, kind)
		}
		return e
	}
	t.Run("FailureHasItsKindAndIsNotRetried", func(t *testing.T) {
		for _, kind := range []model.Kind{
			model.RateLimit, model.Auth, model.ContextLength, model.Timeout, model.Server, model.Refused, model.Invalid,
		} {
			t.Run(string(kind), func(t *testing.T) {
				call, subject := begin(t, Answer{Fail: kind, RetryAfter: 7 * time.Second})
				wait := 7 * time.Second
				if subject.NoRetryAfter {
					wait = 0
				}
				if e := failed(t, call(t.Context()), kind); e.RetryAfter != wait || len(subject.Sent()) != 1 {
					t.Errorf("retry after %v, %d requests; want %v and one", e.RetryAfter, len(subject.Sent()), wait)
				}
			})
		}
	})
	t.Run("BrokenAnswerHasItsKind", func(t *testing.T) {
		for how, kind := range map[Break]model.Kind{Cut: model.Server, Garbage: model.Garbled} {
			call, _ := begin(t, Answer{Break: how})
			_ = failed(t, call(t.Context()), kind)
		}
		call, _ := begin(t, Answer{Raw: &Raw{Body: strings.Repeat(" ", 9<<20)}})
		_ = failed(t, call(t.Context()), model.Garbled)
	})
	t.Run("CancelEndsTheRequest", func(t *testing.T) {
		call, subject := begin(t, Answer{Break: Hang})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan error, 1)
		go func() { done <- call(ctx) }()
		await(t, subject.Hanging, "the request to hang")
		cancel()
		_ = failed(t, await(t, done, "the call to return"), model.Cancelled)
		await(t, subject.Ended, "the request to end")
	})
}
