package api_test

import (
	"context"
	"path/filepath"
	"testing"

	"sibyl/internal/api"
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
	if a.status != 201 || first.Transcription == nil || a.header.Get("Location") != "/api/runs/"+
		first.Transcription.Run || first.Waits != "" {
		t.Fatalf("%d %v %+v", a.status, a.header, first)
	}
	same(t, "first", <-entered, "001_audio.ogg")
	if h.get(upload(s.ID, "", "audio/ogg", "OggS two"), &second); second.Transcription == nil ||
		second.Transcription.Run != first.Transcription.Run {
		t.Errorf("the run that goes on takes it in, too: %+v", second)
	}
	var begun api.Begun
	again := question{method: "POST", path: at + "/transcription", body: map[string]any{}}
	if a := h.get(again, &begun); a.status != 202 || begun.Run != first.Transcription.Run {
		t.Errorf("asked for: %d %+v", a.status, begun)
	}
	again.body = map[string]any{"again": true}
	h.refused("asked for anew, while it goes on", again, 409, "claimed")
	close(release)
	if r := h.ended("", first.Transcription.Run); r.Status != journal.Done || r.State != "transcribed" {
		t.Errorf("%+v", r)
	}
	for seq, want := range map[string]string{"1": "words of 001_audio.ogg", "2": "words of 002_audio.ogg"} {
		var said api.CouncilTranscript
		if h.get(question{path: at + "/entries/" + seq + "/transcript"}, &said); said.Text != want {
			t.Errorf("%s: %+v", seq, said)
		}
		same(t, "when it is said", said.Spoken, []session.Spoken{{Text: want, Seconds: 1.5}})
	}
	if h.get(question{path: at}, &s); s.State != session.Transcribed {
		t.Errorf("%+v", s)
	}
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
	if a := h.get(upload(s.ID, "", "audio/ogg", "OggS"), &added); a.status != 201 || added.Transcription != nil ||
		added.Waits == "" || added.WaitsKind != "too_many_runs" || added.Entry.Status != session.Pending {
		t.Errorf("%d %+v", a.status, added)
	}
}
