package scribe_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/media/scribe"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/model/openai"
	"sibyl/internal/model/speech"
)

// A WAV goes to each transcriber over its own wire, in two parts.
func TestEachTranscriberIsGivenWhatItTakes(t *testing.T) {
	path := file(t, "wav", 50, false)
	hosted, plain := scribe.HostedLimits(), scribe.WhisperLimits()
	assert.That(t, hosted.ForLocal().Seconds == plain.Seconds && hosted.Seconds == 0,
		"parts of %d and %d s on this machine, %d elsewhere", plain.Seconds, hosted.ForLocal().Seconds, hosted.Seconds)
	hosted.Bytes, plain.Seconds = 1<<20, 25
	answer := modeltest.Answer{Transcript: model.Transcript{Text: " Hello.", Language: "english",
		Segments: []model.Segment{{End: 1, Text: "Hello."}}}, Repeat: true}
	check := func(what string, c scribe.Config, want string) {
		c.Audio = &room{}
		got, err := newScribe(t, c).Transcribe(t.Context(), path, scribe.Spoken{Language: "en"}, scribe.Listener{})
		assert.That(t, err == nil && got.Text == want && got.Language == "en" && got.Seconds == 50 && len(got.Flags) == 0,
			"%s: %+v, %v", what, got, err)
	}
	server := modeltest.NewServer(t, answer)
	m := openai.New(openai.Config{Provider: "house", Model: "whisper", BaseURL: server.BaseURL})
	defer m.Close()
	check("OpenAI's protocol", scribe.Config{Transcriber: m, Limits: hosted}, "Hello.\n\nHello.")
	r := server.Requests()
	assert.That(t, len(r) == 2 && strings.HasPrefix(r[0].File, "wav ") && r[1].Form.Get("language") == "en",
		"%d requests", len(r))
	local := modeltest.NewServer(t, answer)
	s := speech.NewServer(speech.ServerConfig{BaseURL: local.BaseURL, Local: true})
	defer s.Close()
	check("whisper.cpp", scribe.Config{Transcriber: s, Limits: plain}, "Hello.\n\nHello.")
	r = local.Requests()
	assert.That(t, len(r) == 2 && strings.HasPrefix(r[1].File, "wav 25 "), "%d requests", len(r))
	command, folder := script(t, `head -n 1 "$1" | cut -d ' ' -f 1,2; echo "$2"`)
	check("a command", scribe.Config{Transcriber: command, Limits: plain}, "wav 25 en wav 25 en")
	wantEmpty(t, folder)
}

func TestCommandThatFailsIsNotRepeatedAndShowsNoTemporaryFile(t *testing.T) {
	command, folder := script(t, `echo "can't read $1" >&2; exit 1`)
	s := newScribe(t, scribe.Config{Transcriber: command, Audio: &room{}})
	_, err := s.Transcribe(t.Context(), file(t, "ogg", 1, false), scribe.Spoken{}, scribe.Listener{})
	assert.That(t, model.KindOf(err) == model.Invalid &&
		strings.HasSuffix(err.Error(), "(status 1): can't read audio.ogg"), "got %v", err)
	wantEmpty(t, folder)
}

// script is a command that runs a shell script, which finds the audio as $1 and the language as $2.
func script(t *testing.T, text string) (c *speech.Command, folder string) {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell")
	}
	path, folder := filepath.Join(t.TempDir(), "transcribe"), t.TempDir()
	assert.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return speech.New(speech.Config{Command: []string{"sh", path, "{file}", "{language}"}, Folder: folder}), folder
}

func wantEmpty(t *testing.T, folder string) {
	t.Helper()
	left, err := os.ReadDir(folder)
	assert.That(t, err == nil && len(left) == 0, "left behind: %v, %v", left, err)
}
