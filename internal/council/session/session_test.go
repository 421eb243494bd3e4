package session

import (
	"errors"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/text/jsonobject"
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

func TestTranscriptIsTakenApartByItsTimes(t *testing.T) {
	s, id := begun(t)
	add(t, s, id, "sound")
	const text = "Über May. Then June. And July."
	assert.Must(s.SaveTranscript(t.Context(), id, Transcript{Sequence: 1, Text: text, By: "w",
		Times: []Time{{0, 0.1}, {11, 2.004}, {5, 3}, {22, 2.1}, {22, 4}}}))(t)
	e := assert.Must(s.Get(t.Context(), id))(t).Audio[0]
	same(t, "times", e.Times, "0=0.1 11=2 22=4")
	same(t, "parts", e.Spoken(text), []Spoken{{"Über May. ", 0.1}, {"Then June. ", 2}, {"And July.", 4}})
	late := AudioEntry{Times: "11=2"}
	same(t, "what comes before the first time", late.Spoken(text),
		[]Spoken{{"Über May. ", 0}, {"Then June. And July.", 2}})
}

func TestTimesThatAreNotOfATextAreNone(t *testing.T) {
	for _, times := range []string{"", "1=0", "0=0 99=1", "0=5 6=1", "6=1 3=2", "x", "0=NaN", "0=0 6=+Inf", "0",
		"-1=0"} {
		e := AudioEntry{Times: times}
		got := e.Spoken("Über May.")
		assert.That(t, got == nil, "%q: %+v", times, got)
	}
	assert.Equalf(t, encodeTimes([]Time{{0, math.NaN()}, {3, math.Inf(-1)}, {4, 1}}), "4=1", "what is no time is kept")
}

func TestDeletingMovesTheWholeFolderAndSaysWhere(t *testing.T) {
	s, id := begun(t)
	ctx := t.Context()
	add(t, s, id, "sound")
	put(t, s.path(id, "by-hand.txt"), "kept")
	before := tree(t, s.path(id))
	where := assert.Must(s.Delete(ctx, id))(t)
	same(t, "where", where, filepath.Join(s.folder, ".trash", id))
	assert.That(t, filepath.IsAbs(where), "%s is not absolute", where)
	same(t, "files in the trash", tree(t, where), before)
	_, err := s.Get(ctx, id)
	assert.That(t, errors.Is(err, ErrNotFound), "the session: %v", err)
	_, err = s.Delete(ctx, id)
	assert.That(t, errors.Is(err, ErrNotFound), "deleted twice: %v", err)
	again := assert.Must(s.New(ctx, "", ""))(t).ID
	same(t, "id that is free again", again, id)
	same(t, "where the second lies", assert.Must(s.Delete(ctx, again))(t), where+".2")
	same(t, "files of the first", tree(t, where), before)
	assert.NoError(t, os.Rename(where, s.path(id)))
	same(t, "moved back", len(assert.Must(s.Get(ctx, id))(t).Audio), 1)
}

func TestADamagedSessionCanBeDeleted(t *testing.T) {
	s := written(t, "{")
	where := assert.Must(s.Delete(t.Context(), exampleID))(t)
	same(t, "what is kept", content(t, filepath.Join(where, metadataFile)), "{")
}

// moves say what each state becomes: when something is added, when something waits again, when all is answered, and
// when a run begins to transcribe.
const moves = `
COLLECTING    COLLECTING    COLLECTING    READY         TRANSCRIBING
TRANSCRIBING  TRANSCRIBING  TRANSCRIBING  TRANSCRIBING  TRANSCRIBING
TRANSCRIBED   COLLECTING    COLLECTING    READY         TRANSCRIBING
READY         COLLECTING    COLLECTING    READY         TRANSCRIBING
INTERRUPTED   COLLECTING    INTERRUPTED   READY         TRANSCRIBING
ERROR         COLLECTING    COLLECTING    ERROR         TRANSCRIBING
PAUSED        COLLECTING    COLLECTING    READY         TRANSCRIBING`

func TestEveryStateBecomesWhatItMust(t *testing.T) {
	s, id := begun(t)
	for row := range strings.Lines(strings.TrimSpace(moves)) {
		cells := strings.Fields(row)
		for i, move := range []func(m *Session){(*Session).markAdded, (*Session).markWaiting, (*Session).markAnswered} {
			m := Session{State: State(cells[0])}
			move(&m)
			same(t, cells[0], m.State, State(cells[i+1]))
		}
		put(t, s.path(id, metadataFile), `{"state":"`+cells[0]+`"}`)
		same(t, cells[0]+", when a run begins", assert.Must(s.BeginTranscribing(t.Context(), id))(t).State, State(cells[4]))
	}
}

func TestTranscribingEndsAsItsRecordingsStand(t *testing.T) {
	for statuses, want := range map[string]State{"": Transcribed, "SUCCESS": Transcribed, "SUCCESS FAILED": Failed,
		"FAILED PENDING": Interrupted} {
		s, id := begun(t)
		for _, from := range []State{Transcribing, Interrupted, Ready} {
			m := Session{ID: id, State: from}
			for _, status := range strings.Fields(statuses) {
				m.Audio = append(m.Audio, AudioEntry{Status: Status(status)})
			}
			put(t, s.path(id, metadataFile), string(assert.Must(jsonobject.Encode(&m))(t)))
			if from == Ready { // which no run transcribes
				want = Ready
			}
			same(t, string(from)+" "+statuses, assert.Must(s.EndTranscribing(t.Context(), id))(t).State, want)
		}
	}
}

func TestAStateThatIsNotKnownStopsNobodyFromSpeaking(t *testing.T) {
	s := written(t, `{"state":"PAUSED"}`)
	ctx := t.Context()
	same(t, "repaired",
		[]any{assert.Must(s.Repair(ctx, exampleID))(t).Changed, assert.Must(s.Get(ctx, exampleID))(t).State},
		[]any{true, Collecting})
	put(t, s.path(exampleID, metadataFile), `{"state":"PAUSED"}`)
	assert.Must(s.AddText(ctx, exampleID, "words"))(t)
	assert.Must(s.SaveResponse(ctx, exampleID, holding(answer("op", "an answer"), "t1")))(t)
	same(t, "state", assert.Must(s.Get(ctx, exampleID))(t).State, Ready)
}

func TestAnsweringWaitsForWhatIsPending(t *testing.T) {
	s, id := begun(t)
	ctx := t.Context()
	assert.Must(s.AddText(ctx, id, "words"))(t)
	add(t, s, id, "sound")
	assert.Must(s.SaveResponse(ctx, id, holding(answer("1", "one"), "t1")))(t)
	same(t, "state while audio waits", assert.Must(s.Get(ctx, id))(t).State, Collecting)
	assert.Must(s.SaveTranscript(ctx, id, Transcript{Sequence: 2, Text: "heard"}))(t)
	assert.Must(s.SaveResponse(ctx, id, holding(answer("2", "two"), "t1")))(t)
	same(t, "state when what was heard since is in no answer", assert.Must(s.Get(ctx, id))(t).State, Collecting)
	assert.Must(s.SaveResponse(ctx, id, holding(answer("3", "three"), "t1", "t2")))(t)
	same(t, "state when all is answered", assert.Must(s.Get(ctx, id))(t).State, Ready)
}

// holding is an answer whose context held these entries.
func holding(r Response, entries ...string) Response {
	r.Context.Entries = entries
	return r
}
