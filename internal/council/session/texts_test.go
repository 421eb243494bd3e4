package session

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"testing"
)

func TestTextsOfASessionThatWasReadNeedItsMetadataNoMore(t *testing.T) {
	s, id := begun(t)
	must(s.AddText(t.Context(), id, "Said."))(t)
	must(s.SaveResponse(t.Context(), id, answer("op", "Answered.")))(t)
	m := must(s.Get(t.Context(), id))(t)
	if err := os.Rename(s.path(id, metadataFile), s.path(id, "aside")); err != nil {
		t.Fatal(err)
	}
	same(t, "transcript", must(s.TranscriptOf(t.Context(), id, m.Audio[0]))(t), "Said.")
	same(t, "answer", must(s.ResponseOf(t.Context(), id, m.Answers[0]))(t), "Answered.")
	m.Audio[0].Transcript, m.Answers[0].File = "../../secret.txt", "002_none.txt"
	if _, err := s.TranscriptOf(t.Context(), id, m.Audio[0]); err == nil {
		t.Error("a name leads out of the session's folder")
	}
	if _, err := s.ResponseOf(t.Context(), id, m.Answers[0]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there gives %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.TranscriptOf(ctx, id, m.Audio[0]); !errors.Is(err, context.Canceled) {
		t.Errorf("reading for nobody gives %v", err)
	}
}
