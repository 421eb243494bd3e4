package scribe_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/media/audio"
	"sibyl/internal/media/scribe"
	"sibyl/internal/model"
)

// room is an audio room whose files say in their first line what they are: format, seconds and silence. A machine
// without programs splits WAV, and converts nothing.
type room struct {
	programs  bool
	converted []string // formats
}

// bytes are how many a second of each format takes.
func bytes(format string) float64 {
	return map[string]float64{"wav": 32_000, "flac": 20_000, "ogg": 4_000, "m4a": 16_000, "mp3": 16_000,
		"webm": 4_000}[format]
}

// record writes a file of the room.
func record(path, format string, seconds float64, silent bool) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s %g %t\n", format, seconds, silent)
	return errors.Join(err, f.Truncate(max(100, int64(seconds*bytes(format)))), f.Close())
}

func (r *room) Probe(ctx context.Context, file string) (info audio.Info, err error) {
	if err := ctx.Err(); err != nil {
		return info, err
	}
	f, err := os.Open(file)
	if err != nil {
		return info, err
	}
	defer func() { _ = f.Close() }()
	var seconds float64
	var silent bool
	if _, err := fmt.Fscanf(f, "%s %g %t\n", &info.Format, &seconds, &silent); err != nil {
		return info, fmt.Errorf("%s is no audio", file)
	}
	if info.Format != "mp3" { // as without ffprobe
		info.Seconds, info.Silent = &seconds, &silent
	}
	return info, nil
}

func (r *room) Convert(ctx context.Context, file, out string) error {
	if !r.programs {
		return fmt.Errorf("converting %s to %s wants ffmpeg, which is not there", file, out)
	}
	var format string
	var seconds float64
	var silent bool
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if _, err := fmt.Fscanf(f, "%s %g %t\n", &format, &seconds, &silent); err != nil {
		return err
	}
	format = strings.TrimPrefix(filepath.Ext(out), ".")
	r.converted = append(r.converted, format)
	return errors.Join(ctx.Err(), record(out, format, seconds, silent))
}

// Split gives parts of which every third is silent, if there are as many.
func (r *room) Split(ctx context.Context, file, folder string, seconds int) (parts []audio.Part, err error) {
	info, err := r.Probe(ctx, file)
	if err != nil {
		return nil, err
	}
	if !r.programs && info.Format != "wav" {
		return nil, fmt.Errorf("cutting %s wants ffmpeg, which is not there", file)
	}
	for start := 0.0; start < *info.Seconds; start += float64(seconds) {
		p := audio.Part{File: filepath.Join(folder, fmt.Sprintf("%03d.%s", len(parts), info.Format)), Start: start,
			Seconds: min(float64(seconds), *info.Seconds-start)}
		if err := record(p.File, info.Format, p.Seconds, len(parts)%3 == 2); err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// heard is what a transcriber was sent.
type heard struct {
	name, language, first string // the first line of the audio
	size                  int64
}

// player is a transcriber that plays its part, and keeps what it was sent.
type player struct {
	part func(ctx context.Context, call int) (model.Transcript, error)

	mu    sync.Mutex
	calls []heard
}

func (p *player) Transcribe(ctx context.Context, sent model.Audio) (model.Transcript, error) {
	content := bufio.NewReader(sent.Content)
	first, err := content.ReadString('\n')
	size, readErr := io.Copy(io.Discard, content)
	if err = errors.Join(err, readErr); err != nil {
		return model.Transcript{}, &model.Error{Kind: model.Invalid, Message: err.Error(), Err: err}
	}
	p.mu.Lock()
	p.calls = append(p.calls, heard{sent.Name, sent.Language, strings.TrimSpace(first), int64(len(first)) + size})
	call := len(p.calls)
	p.mu.Unlock()
	return p.part(ctx, call)
}

func (p *player) names() (all []string) {
	for _, c := range p.calls {
		all = append(all, c.name)
	}
	return all
}

// newPlayer plays transcripts in turn.
func newPlayer(said ...model.Transcript) *player {
	return &player{part: func(_ context.Context, call int) (model.Transcript, error) {
		if call > len(said) {
			return model.Transcript{}, &model.Error{Kind: model.Invalid, Message: "nothing is left to say"}
		}
		return said[call-1], nil
	}}
}

// file makes an audio file of the room, and a Scribe with a folder of its own that has to be empty at the end.
func file(t *testing.T, format string, seconds float64, silent bool) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "001_audio."+format)
	assert.NoError(t, record(path, format, seconds, silent))
	return path
}

func newScribe(t *testing.T, c scribe.Config) *scribe.Scribe {
	t.Helper()
	c.Folder, c.By = t.TempDir(), "house:whisper"
	t.Cleanup(func() {
		left, err := os.ReadDir(c.Folder)
		assert.That(t, err == nil && len(left) == 0, "left behind: %v, %v", left, err)
	})
	return scribe.New(c)
}

// wantRefusal checks that an error is one of ours, holds these words, and no path of this machine.
func wantRefusal(t *testing.T, err error, words ...string) {
	t.Helper()
	var failed *model.Error
	assert.Require(t, errors.As(err, &failed) && failed.Kind == model.Invalid, "got %#v; want it to be invalid", err)
	assert.Contains(t, "the error", err.Error(), words...)
	for e := err; e != nil; e = errors.Unwrap(e) {
		assert.That(t, !strings.Contains(e.Error(), os.TempDir()) && !strings.Contains(e.Error(), "sibyl-audio"),
			"%v shows a path", e)
	}
}

func wantEqual(t *testing.T, what string, got, want []string) {
	t.Helper()
	assert.That(t, slices.Equal(got, want), "%s: %q; want %q", what, got, want)
}
