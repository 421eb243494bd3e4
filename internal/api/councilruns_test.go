package api_test

import (
	"context"
	"path/filepath"
	"testing"

	"sibyl/internal/api"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/council/session"
	"sibyl/internal/journal"
)

func TestRecordingIsWrittenDownInTheBackground(t *testing.T) {
	h := withCouncil(t)
	entered, release := make(chan string, 4), make(chan struct{})
	h.transcribe = func(ctx context.Context, file string) (string, error) {
		entered <- filepath.Base(file)
		select {
		case <-release:
			return "words of " + filepath.Base(file), nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	h.open()
	s := h.sitting("")
	at := councils + "/" + s.ID
	var first, second api.CouncilAdded
	a := h.get(upload(s.ID, "", "audio/ogg", "OggS one"), &first)
	assert.Require(t, a.status == 201 && first.Transcription != nil &&
		a.header.Get("Location") == "/api/runs/"+first.Transcription.Run && first.Waits == "",
		"%d %v %+v", a.status, a.header, first)
	same(t, "first", <-entered, "001_audio.ogg")
	h.get(upload(s.ID, "", "audio/ogg", "OggS two"), &second)
	assert.That(t, second.Transcription != nil && second.Transcription.Run == first.Transcription.Run,
		"the run that goes on takes it in, too: %+v", second)
	var begun api.Begun
	again := question{method: "POST", path: at + "/transcription", body: map[string]any{}}
	a = h.get(again, &begun)
	assert.That(t, a.status == 202 && begun.Run == first.Transcription.Run, "asked for: %d %+v", a.status, begun)
	again.body = map[string]any{"again": true}
	h.refused("asked for anew, while it goes on", again, 409, "claimed")
	close(release)
	r := h.ended("", first.Transcription.Run)
	assert.That(t, r.Status == journal.Done && r.State == "transcribed", "%+v", r)
	for seq, want := range map[string]string{"1": "words of 001_audio.ogg", "2": "words of 002_audio.ogg"} {
		var said api.CouncilTranscript
		h.get(question{path: at + "/entries/" + seq + "/transcript"}, &said)
		assert.That(t, said.Text == want, "%s: %+v", seq, said)
		same(t, "when it is said", said.Spoken, []session.Spoken{{Text: want, Seconds: 1.5}})
	}
	h.get(question{path: at}, &s)
	assert.That(t, s.State == session.Transcribed, "%+v", s)
}

func TestRecordingIsAddedAlsoWhereItsUserHasNoRoomForARun(t *testing.T) {
	h := withCouncil(t)
	h.transcribe = func(context.Context, string) (string, error) { return "words", nil }
	h.config.Limits.Runs = 1
	h.open()
	s := h.sitting("")
	defer h.holds("bob")()
	h.begin("", "Tea?")
	var added api.CouncilAdded
	a := h.get(upload(s.ID, "", "audio/ogg", "OggS"), &added)
	assert.That(t, a.status == 201 && added.Transcription == nil && added.Waits != "" &&
		added.WaitsKind == "too_many_runs" && added.Entry.Status == session.Pending, "%d %+v", a.status, added)
}
