package session

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestASessionFromTheFirstWordsToTheAnswer(t *testing.T) {
	s, id := begun(t)
	ctx := t.Context()
	same(t, "id", id, "2025-12-20_10-30-00")
	added := add(t, s, id, "sound one")
	same(t, "file", added.Entry.File, "001_audio.ogg")
	text := assert.Must(s.AddText(ctx, id, "and this is typed in"))(t)
	same(t, "file of what was typed in", text.Transcript, "002_audio.txt")
	assert.Must(s.BeginTranscribing(ctx, id))(t)
	assert.Must(s.SaveTranscript(ctx, id, Transcript{Sequence: 1, Text: "words that were heard",
		By: "whisper", Language: "en"}))(t)
	same(t, "state when all is transcribed", assert.Must(s.EndTranscribing(ctx, id))(t).State, Transcribed)
	saved := assert.Must(s.SaveResponse(ctx, id, holding(answer("op", "I doubt it."), "t1", "t2")))(t)
	same(t, "file of the answer", saved.File, "001_cetico.txt")
	m := wantWhole(t, s, id)
	same(t, "state", m.State, Ready)
	same(t, "name", m.Name, "and this is typed in")
	same(t, "transcript", assert.Must(s.Transcript(ctx, id, 1))(t), "words that were heard")
	same(t, "typed in", assert.Must(s.Transcript(ctx, id, 2))(t), "and this is typed in")
	same(t, "answer", assert.Must(s.ResponseText(ctx, id, 1))(t), "I doubt it.")
	file, entry, err := s.OpenAudio(ctx, id, 1)
	assert.NoError(t, err)
	defer func() { _ = file.Close() }()
	same(t, "seconds", *entry.Seconds, 1.5)
	path, err := s.AudioPath(ctx, id, 1)
	assert.That(t, err == nil && content(t, path) == "sound one", "%s, %v", path, err)
	_, _, err = s.OpenAudio(ctx, id, 2)
	assert.That(t, errors.Is(err, ErrNotFound), "audio of what was typed in: %v", err)
	_, err = s.Transcript(ctx, id, 9)
	assert.That(t, errors.Is(err, ErrNotFound) && !errors.Is(err, fs.ErrNotExist), "an entry that there is not: %v", err)
	texts := maps.Collect(s.Texts(ctx, assert.Must(s.Get(ctx, id))(t)))
	said := slices.ContainsFunc(slices.Collect(maps.Keys(texts)), func(p Place) bool {
		return p.ID == "t1" && strings.Contains(texts[p], "words that were heard")
	})
	assert.That(t, said, "%+v", texts)
}
