package session

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
)

// full is a store with a session that has something of everything.
func full(t testing.TB) (*Store, string) {
	t.Helper()
	s, id := begun(t)
	ctx := t.Context()
	add(t, s, id, "sound 1")
	add(t, s, id, "sound 2")
	assert.Must(s.AddText(ctx, id, "typed in"))(t)
	assert.Must(s.SaveTranscript(ctx, id, Transcript{Sequence: 1, Text: "heard", By: "w"}))(t)
	assert.Must(s.SaveResponse(ctx, id, answer("op", "doubts")))(t)
	return s, id
}

// brief is a report in lines.
func brief(r Report) (lines []string) {
	for _, f := range r.Findings {
		lines = append(lines, fmt.Sprintf("%s %s", f.Mend, f.File))
	}
	return lines
}

func repair(t testing.TB, s *Store, id string) []string {
	t.Helper()
	r := assert.Must(s.Repair(t.Context(), id))(t)
	again := assert.Must(s.Repair(t.Context(), id))(t)
	assert.That(t, !again.Changed, "a second repair changes more: %+v", again)
	return brief(r)
}

func TestRepairLeavesAHealthySessionAsItIs(t *testing.T) {
	s, id := full(t)
	for _, metadata := range []string{content(t, s.path(id, metadataFile)),
		strings.Replace(content(t, s.path(id, metadataFile)), "{", `{ "x":   1.0,`, 1)} {
		put(t, s.path(id, metadataFile), metadata)
		before, times := tree(t, s.path(id)), assert.Must(os.Stat(s.path(id, metadataFile)))(t).ModTime()
		r := assert.Must(s.Repair(t.Context(), id))(t)
		same(t, "report", r, Report{})
		same(t, "files", tree(t, s.path(id)), before)
		now := assert.Must(os.Stat(s.path(id, metadataFile)))(t).ModTime()
		assert.That(t, now.Equal(times), "metadata.json was written")
	}
}

func TestRepairTakesInWhatIsThere(t *testing.T) {
	s, id := full(t)
	assert.Must(s.BeginTranscribing(t.Context(), id))(t)
	assert.Must(s.SaveTranscript(t.Context(), id, Transcript{Sequence: 2, Text: "two"}))(t)
	assert.Must(s.EndTranscribing(t.Context(), id))(t)
	put(t, s.path(id, audioFolder, "004_audio.ogg"), "sound 4")
	put(t, s.path(id, audioFolder, "by hand.ogg"), "sound by hand")
	put(t, s.path(id, audioFolder, "001_audio.mp3"), "sound with a sequence that is taken")
	put(t, s.path(id, audioFolder, "005_audio.ogg"), "")
	put(t, s.path(id, audioFolder, ".DS_Store"), "x")
	put(t, s.path(id, transcriptFolder, "004_audio.txt"), "four")
	put(t, s.path(id, transcriptFolder, "009_audio.txt"), "nine")
	put(t, s.path(id, transcriptFolder, "001_audio_02.txt"), "again")
	put(t, s.path(id, transcriptFolder, "notes.txt"), "notes")
	put(t, s.path(id, transcriptFolder, "010_audio.txt"), "\xff")
	put(t, s.path(id, responseFolder, "003_visionario.txt"), "a vision")
	put(t, s.path(id, responseFolder, "001_other.txt"), "another first")
	put(t, s.path(id, responseFolder, "thoughts.txt"), "x")
	assert.NoError(t, os.Mkdir(s.path(id, responseFolder, "folder"), 0o700))
	same(t, "findings", repair(t, s, id), []string{
		"left audio/001_audio.mp3",
		"taken in audio/004_audio.ogg",
		"left audio/005_audio.ogg",
		"left audio/by hand.ogg",
		"left transcripts/001_audio_02.txt",
		"taken in transcripts/004_audio.txt",
		"taken in transcripts/009_audio.txt",
		"left transcripts/010_audio.txt",
		"left transcripts/notes.txt",
		"left llm_responses/001_other.txt",
		"taken in llm_responses/003_visionario.txt",
		"left llm_responses/folder",
		"left llm_responses/thoughts.txt",
	})
	m := assert.Must(s.Get(t.Context(), id))(t)
	var entries []string
	for _, e := range m.Audio {
		entries = append(entries, fmt.Sprint(e.ID(), " ", e.File, " ", e.Transcript, " ", e.Status, " ", e.Original))
	}
	same(t, "entries", entries, []string{
		"t1 001_audio.ogg 001_audio.txt SUCCESS memo.ogg",
		"t2 002_audio.ogg 002_audio.txt SUCCESS memo.ogg",
		"t3  003_audio.txt SUCCESS ",
		"t4 004_audio.ogg 004_audio.txt SUCCESS ",
		"t9  009_audio.txt SUCCESS ",
	})
	same(t, "answer", []any{m.Answers[1].Sequence, m.Answers[1].OracleName, m.Answers[1].File},
		[]any{3, "visionario", "003_visionario.txt"})
	same(t, "state", m.State, Collecting)
}

func TestRepairNamesWhatIsMissingAndDropsNothing(t *testing.T) {
	s, id := full(t)
	before := assert.Must(s.Get(t.Context(), id))(t)
	for _, name := range []string{"audio/001_audio.ogg", "transcripts/003_audio.txt", "llm_responses/001_cetico.txt"} {
		assert.NoError(t, os.Remove(s.path(id, name)))
	}
	same(t, "findings", repair(t, s, id), []string{"missing audio/001_audio.ogg", "missing transcripts/003_audio.txt",
		"missing llm_responses/001_cetico.txt"})
	same(t, "session", assert.Must(s.Get(t.Context(), id))(t), before)
}

func TestRepairRemovesOldTemporaryFilesAlone(t *testing.T) {
	s, id := full(t)
	old := []string{"audio/.upload-X.tmp", "transcripts/.001_audio.txt.X.tmp", ".metadata.json.X.tmp"}
	for _, name := range append(old, "audio/.upload-now.tmp", "audio/.kept") {
		put(t, s.path(id, name), "half")
		at := noon.Add(-2 * time.Hour)
		if strings.Contains(name, "now") {
			at = noon.Add(-time.Hour)
		}
		assert.NoError(t, os.Chtimes(s.path(id, name), at, at))
	}
	same(t, "findings", len(repair(t, s, id)), len(old))
	for name := range tree(t, s.path(id)) {
		assert.That(t, !strings.Contains(name, "X.tmp"), "%s stays", name)
	}
	for _, name := range []string{"audio/.upload-now.tmp", "audio/.kept"} {
		same(t, name, content(t, s.path(id, name)), "half")
	}
}

func TestRepairKeepsAMetadataThatCannotBeReadAndRebuildsIt(t *testing.T) {
	for name, bad := range map[string]string{"no JSON": "{", "empty": "", "too large": strings.Repeat(" ", maxMetadata+
		1), "no session": "[1]"} {
		t.Run(name, func(t *testing.T) {
			s, id := full(t)
			put(t, s.path(id, metadataFile), bad)
			put(t, s.path(id, "metadata.damaged.json"), "an earlier one")
			same(t, "findings", repair(t, s, id), []string{
				"rebuilt metadata.json",
				"taken in audio/001_audio.ogg", "taken in audio/002_audio.ogg",
				"taken in transcripts/001_audio.txt", "taken in transcripts/003_audio.txt",
				"taken in llm_responses/001_cetico.txt",
			})
			assert.That(t, content(t, s.path(id, "metadata.damaged_02.json")) == bad &&
				content(t, s.path(id, "metadata.damaged.json")) == "an earlier one", "what could not be read is not kept")
			m := assert.Must(s.Get(t.Context(), id))(t)
			var entries []string
			for _, e := range m.Audio {
				entries = append(entries, fmt.Sprint(e.ID(), " ", e.File, " ", e.Transcript, " ", e.Status))
			}
			same(t, "entries", entries, []string{"t1 001_audio.ogg 001_audio.txt SUCCESS", "t2 002_audio.ogg  PENDING",
				"t3  003_audio.txt SUCCESS"})
			same(t, "rest", []any{m.State, m.CreatedAt, m.Name, len(m.Answers), m.Preferences.IncludeLLMHistory},
				[]any{Collecting, noon, "heard", 1, true})
			assert.Must(s.SaveResponse(t.Context(), id, answer("op", "doubts")))(t)
			m = assert.Must(s.Get(t.Context(), id))(t)
			same(t, "the answer that its run saves again", []any{len(m.Answers), m.Answers[0].OracleName,
				m.Answers[0].Operation}, []any{1, "Cético", "op"})
			same(t, "problems", assert.Must(s.Check(t.Context(), id, nil))(t), nil)
		})
	}
}

// wantRepaired wants a session whose problems are at most those of answers whose oracle is not known.
func wantRepaired(t testing.TB, s *Store, id string) Session {
	t.Helper()
	for _, problem := range assert.Must(s.Check(t.Context(), id, nil))(t) {
		assert.That(t, strings.Contains(problem, "oracle_id"), "problem after the repair: %s", problem)
	}
	return assert.Must(s.Get(t.Context(), id))(t)
}

func TestRepairTakesBackAReadyThatWasSaidThoughARecordingFailed(t *testing.T) {
	s := written(t, `{"session_id":"`+exampleID+`","state":"READY","audio_entries":[{"sequence":1,"transcription_status":"FAILED"}],`+
		`"llm_entries":[]}`)
	r := assert.Must(s.Repair(t.Context(), exampleID))(t)
	assert.That(t, r.Changed && len(r.Findings) == 1 && r.Findings[0].Mend == Corrected, "it is repaired as %+v", r)
	state := assert.Must(s.Get(t.Context(), exampleID))(t).State
	assert.That(t, state != Ready, "it is still %s", state)
}

func TestRepairRebuildsAMetadataThatIsMissing(t *testing.T) {
	s, id := full(t)
	assert.NoError(t, os.Remove(s.path(id, metadataFile)))
	damaged := new(Damaged)
	assert.That(t, errors.As(errorOf(s.Get(t.Context(), id)), &damaged), "a session without metadata is read")
	same(t, "first finding", repair(t, s, id)[0], "rebuilt metadata.json")
	same(t, "entries", len(wantRepaired(t, s, id).Audio), 3)
	info := assert.Must(os.Stat(s.path(id, metadataFile)))(t)
	same(t, "mode", info.Mode().Perm().String(), "-rw-------")
}

func errorOf[T any](_ T, err error) error { return err }
