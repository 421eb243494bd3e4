package session

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/redact"
)

func TestATranscriptIsKeptOnce(t *testing.T) {
	s, id := begun(t)
	ctx := t.Context()
	s.c.Probe = nil
	add(t, s, id, "x")
	ghost := Flag{Kind: "ghost", Text: "Thanks for watching", Start: 1, End: 2}
	first := Transcript{Sequence: 1, Text: "words", By: "whisper", Language: "pt", Seconds: 3, Flags: []Flag{ghost}}
	e := assert.Must(s.SaveTranscript(ctx, id, first))(t)
	same(t, "entry", []any{e.Status, e.Transcript, e.By, e.Heard, *e.Seconds, e.Attempts, e.Flags[0].Text},
		[]any{Success, "001_audio.txt", "whisper", "pt", 3, 1, "Thanks for watching"})
	before := tree(t, s.path(id))
	assert.Must(s.SaveTranscript(ctx, id, first))(t)
	assert.Must(s.SaveTranscript(ctx, id, Transcript{Sequence: 1, Text: "other words", By: "other"}))(t)
	assert.Must(s.FailTranscript(ctx, id, 1, bt.Because("too late")))(t)
	same(t, "files", tree(t, s.path(id)), before)
	_, err := s.SaveTranscript(ctx, id, Transcript{Sequence: 2})
	assert.That(t, errors.Is(err, ErrNotFound), "an entry that there is not: %v", err)
}

func TestSecretIsInNoFileOfASession(t *testing.T) {
	s, id := begun(t)
	const secret, known = "Xq7Lm2vR9zTb4", "grey-harbour-lantern"
	s.c.Redact = func(text string) string { return strings.ReplaceAll(redact.Text(text), known, redact.Mark) }
	s.c.Probe = nil
	ctx, said := t.Context(), "password="+secret+" and "+known
	_, err := s.AddAudio(ctx, id, known+".wav", strings.NewReader("sound"))
	assert.NoError(t, err)
	heard := "First this. " + said + ". Then that."
	e := assert.Must(s.SaveTranscript(ctx, id, Transcript{Sequence: 1, Text: heard, Flags: []Flag{{Kind: "ghost", Text: said}},
		Times: []Time{{0, 0}, {12, 1}, {strings.Index(heard, "and"), 2}, {strings.Index(heard, "Then"), 3}}}))(t)
	text := assert.Must(s.TranscriptOf(ctx, id, e))(t)
	same(t, "the passages", e.Spoken(text), []Spoken{{"First this. ", 0},
		{strings.TrimSuffix(strings.TrimPrefix(text, "First this. "), "Then that."), 1}, {"Then that.", 3}})
	add(t, s, id, "another sound")
	assert.Must(s.FailTranscript(ctx, id, 2, bt.Because("the key "+known+" is refused")))(t)
	assert.Must(s.AddText(ctx, id, said))(t)
	first := assert.Must(s.AddAudio(ctx, id, "notes.txt", strings.NewReader("my "+said)))(t)
	again := assert.Must(s.AddAudio(ctx, id, "notes.txt", strings.NewReader("my "+said)))(t)
	assert.That(t, again.Same == first.Entry.Sequence, "the same file again is entry %+v", again)
	assert.Must(s.Rename(ctx, id, said, ByPerson))(t)
	assert.Must(s.SaveResponse(ctx, id, answer("op", said)))(t)
	other := assert.Must(s.New(ctx, said, ""))(t)
	for _, folder := range []string{id, other.ID} {
		for name, text := range tree(t, s.path(folder)) {
			assert.Lacks(t, name, text, secret, known)
		}
	}
	wantWhole(t, s, id)
}

func TestATranscriptThatFailsCanBeTriedAgain(t *testing.T) {
	s, id := begun(t)
	ctx := t.Context()
	add(t, s, id, "sound 1")
	add(t, s, id, "sound 2")
	assert.Must(s.BeginTranscribing(ctx, id))(t)
	assert.Must(s.SaveTranscript(ctx, id, Transcript{Sequence: 2, Text: "two"}))(t)
	e := assert.Must(s.FailTranscript(ctx, id, 1, bt.Because("the endpoint\nsaid 503")))(t)
	same(t, "failed", []any{e.Status, e.Error, e.Attempts}, []any{Failure, "the endpoint said 503", 1})
	before := tree(t, s.path(id))
	assert.Must(s.FailTranscript(ctx, id, 1, bt.Because("the endpoint said 503")))(t)
	same(t, "files after the same again", tree(t, s.path(id)), before)
	same(t, "state", assert.Must(s.EndTranscribing(ctx, id))(t).State, Failed)
	m := assert.Must(s.Retry(ctx, id))(t)
	same(t, "again", []any{m.State, m.Audio[0].Status, m.Audio[0].Error, m.Audio[1].Status},
		[]any{Collecting, Pending, "", Success})
	before = tree(t, s.path(id))
	assert.Must(s.Retry(ctx, id))(t)
	same(t, "files when there is nothing to try", tree(t, s.path(id)), before)
	same(t, "attempts", assert.Must(s.SaveTranscript(ctx, id, Transcript{Sequence: 1, Text: "one"}))(t).Attempts, 2)
	wantWhole(t, s, id)
}

func TestARecordingIsTranscribedAnewAndKeepsWhatItHasUntilThen(t *testing.T) {
	s, id := begun(t)
	ctx := t.Context()
	add(t, s, id, "sound")
	assert.Must(s.BeginTranscribing(ctx, id))(t)
	first := assert.Must(s.SaveTranscript(ctx, id, Transcript{Sequence: 1, Text: "their words", By: "a"}))(t)
	assert.Must(s.EndTranscribing(ctx, id))(t)
	m := assert.Must(s.Anew(ctx, id, 1, first.Attempts))(t)
	same(t, "waits", []any{m.State, m.Audio[0].Status}, []any{Collecting, Pending})
	same(t, "text meanwhile", assert.Must(s.Transcript(ctx, id, 1))(t), "their words")
	wantWhole(t, s, id)
	failed := assert.Must(s.FailTranscript(ctx, id, 1, bt.Because("too loud")))(t)
	same(t, "after a failure", []any{failed.Status, failed.Error, failed.By, failed.Attempts},
		[]any{Success, "too loud", "a", 2})
	same(t, "asked for with what was known before",
		assert.Must(s.Anew(ctx, id, 1, first.Attempts))(t).Audio[0].Status, Success)
	assert.Must(s.Anew(ctx, id, 1, failed.Attempts))(t)
	second := assert.Must(s.SaveTranscript(ctx, id, Transcript{Sequence: 1, Text: "there are words", By: "b"}))(t)
	same(t, "after another", []any{second.Status, second.Error, second.By, second.Transcript, second.Attempts},
		[]any{Success, "", "b", first.Transcript, 3})
	same(t, "text", assert.Must(s.Transcript(ctx, id, 1))(t), "there are words")
	wantWhole(t, s, id)
	assert.Must(s.AddText(ctx, id, "typed"))(t)
	for _, sequence := range []int{2, 3} {
		_, err := s.Anew(ctx, id, sequence, 0)
		assert.That(t, errors.Is(err, ErrNotFound), "entry %d: %v", sequence, err)
	}
}

func TestSilenceIsATranscriptWithoutWords(t *testing.T) {
	s, id := begun(t)
	add(t, s, id, "sound")
	e := assert.Must(s.SaveTranscript(t.Context(), id, Transcript{Sequence: 1, Flags: []Flag{{Kind: "silence"}}}))(t)
	same(t, "status", e.Status, Success)
	same(t, "text", assert.Must(s.Transcript(t.Context(), id, 1))(t), "")
	same(t, "name", wantWhole(t, s, id).Name, "")
}

func TestTheTranscriptOfAnotherEntryIsNotReplaced(t *testing.T) {
	s := written(t, `{"state":"READY","audio_entries":[
		{"sequence":1,"local_filename":"a.ogg","transcription_status":"SUCCESS","transcript_filename":"002_audio.txt"},
		{"sequence":2,"local_filename":"b.ogg","transcription_status":"PENDING"}]}`)
	put(t, s.path(exampleID, transcriptFolder, "002_audio.txt"), "of the first")
	same(t, "file", assert.Must(s.SaveTranscript(t.Context(), exampleID, Transcript{Sequence: 2, Text: "of the second"}))(
		t).Transcript, "002_audio_02.txt")
	same(t, "first", assert.Must(s.Transcript(t.Context(), exampleID, 1))(t), "of the first")
	same(t, "second", assert.Must(s.Transcript(t.Context(), exampleID, 2))(t), "of the second")
}

func TestFilesThatCannotBeReadAreNamed(t *testing.T) {
	s, id := begun(t)
	ctx := t.Context()
	for range 5 {
		assert.Must(s.AddText(ctx, id, "words"))(t)
	}
	put(t, s.path(id, transcriptFolder, "001_audio.txt"), "\xff\xfew\x00")
	put(t, s.path(id, transcriptFolder, "002_audio.txt"), strings.Repeat("x", maxStored+1))
	outside := s.path("secret")
	put(t, outside, "secret")
	for _, gone := range []string{"003_audio.txt", "004_audio.txt", "005_audio.txt"} {
		assert.NoError(t, os.Remove(s.path(id, transcriptFolder, gone)))
	}
	link, folder := s.path(id, transcriptFolder, "004_audio.txt"), s.path(id, transcriptFolder, "005_audio.txt")
	if err := errors.Join(os.Symlink(outside, link), os.Mkdir(folder, 0o700)); err != nil {
		t.Skip("no symbolic links here")
	}
	for sequence, want := range map[int]string{1: "not UTF-8", 2: "larger than 16 MB", 3: "is missing",
		4: "symbolic link", 5: "is not a file"} {
		text, err := s.Transcript(ctx, id, sequence)
		assert.That(t, err != nil && strings.Contains(err.Error(), want) && strings.Contains(err.Error(), "_audio.txt") &&
			errors.Is(err, fs.ErrNotExist) == (sequence == 3), "transcript %d: %q, %v; want “%s”", sequence, text, err, want)
	}
}

func TestNamesOfFilesInMetadataDoNotLeadOutOfTheSession(t *testing.T) {
	for _, name := range []string{"../../secret", "/etc/passwd", "a/b.txt", `a\b.txt`, "..", ".hidden", "a\x00b",
		strings.Repeat("x", 300)} {
		quoted := string(assert.Must(json.Marshal(name))(t))
		s := written(t, `{"state":"READY","audio_entries":[
			{"sequence":1,"local_filename":`+quoted+`,"transcription_status":"SUCCESS","transcript_filename":`+
			quoted+`}],
			"llm_entries":[{"sequence":1,"response_filename":`+quoted+`}]}`)
		put(t, s.path("secret"), "secret")
		ctx := t.Context()
		_, transcript := s.Transcript(ctx, exampleID, 1)
		_, response := s.ResponseText(ctx, exampleID, 1)
		_, _, audio := s.OpenAudio(ctx, exampleID, 1)
		_, where := s.AudioPath(ctx, exampleID, 1)
		for what, err := range map[string]error{"transcript": transcript, "response": response, "audio": audio,
			"path": where} {
			invalid, ok := errors.AsType[*Invalid](err)
			assert.That(t, ok && invalid.Kind == Form, "%s %q: %v", what, name, err)
		}
		texts := maps.Collect(s.Texts(ctx, assert.Must(s.Get(ctx, exampleID))(t)))
		assert.That(t, len(texts) == 0, "%q is read: %+v", name, texts)
		report := assert.Must(s.Repair(ctx, exampleID))(t)
		same(t, "findings", len(report.Findings), 4) // its session_id is missing, too
	}
}

func TestAnAnswerIsKeptOncePerOperation(t *testing.T) {
	s, id := begun(t)
	ctx := t.Context()
	assert.Must(s.AddText(ctx, id, "words"))(t)
	r := answer("run/7", "I doubt it.")
	r.CreatedAt = noon.In(time.FixedZone("", 3600))
	first := assert.Must(s.SaveResponse(ctx, id, r))(t)
	before := tree(t, s.path(id))
	r.Text = "changed"
	same(t, "again", assert.Must(s.SaveResponse(ctx, id, r))(t), first)
	same(t, "files", tree(t, s.path(id)), before)
	got := content(t, s.path(id, metadataFile))
	assert.That(t, strings.Contains(got, `"created_at": "2025-12-20T10:30:00Z",`), "the time is not in UTC:\n%s", got)
	r.Operation = "run/8"
	same(t, "another with the same slug", assert.Must(s.SaveResponse(ctx, id, r))(t).File, "002_cetico.txt")
	for range 2 {
		r.Operation = ""
		assert.Must(s.SaveResponse(ctx, id, r))(t)
	}
	same(t, "answers", len(wantWhole(t, s, id).Answers), 4)
	e, found, err := s.FindResponse(ctx, id, "run/8")
	assert.That(t, e.Sequence == 2 && found && err == nil, "%+v, %v, %v", e, found, err)
	for _, none := range []string{"run/9", ""} {
		_, found, err := s.FindResponse(ctx, id, none)
		assert.That(t, !found && err == nil, "operation %q: %v, %v", none, found, err)
	}
}

func TestSlugsFromOutsideBecomeNamesOfFiles(t *testing.T) {
	for slug, want := range map[string]string{
		"cetico": "cetico", "../../x": "x", "🔮": "oraculo", "": "oraculo", "Já Vi": "j--vi",
		strings.Repeat("a", 300): strings.Repeat("a", 80),
		"a.txt/..":               "a-txt", "-": "oraculo",
	} {
		s, id := begun(t)
		r := answer("op", "x")
		r.Slug = slug
		same(t, slug, assert.Must(s.SaveResponse(t.Context(), id, r))(t).File, "001_"+want+".txt")
		wantWhole(t, s, id)
	}
}

func TestAnAnswerThatBreaksARuleIsRefused(t *testing.T) {
	s, id := begun(t)
	before := tree(t, s.path(id))
	minus := -1
	for name, breaks := range map[string]func(r *Response){
		"no text":       func(r *Response) { r.Text = " \n" },
		"no name":       func(r *Response) { r.OracleName = " " },
		"short id":      func(r *Response) { r.OracleID = "abc" },
		"counts":        func(r *Response) { r.Context.Transcripts = -1 },
		"tokens":        func(r *Response) { r.Context.TokensEstimate = &minus },
		"far too large": func(r *Response) { r.Text = strings.Repeat("x", maxStored+1) },
	} {
		r := answer("op", "text")
		breaks(&r)
		_, err := s.SaveResponse(t.Context(), id, r)
		_, ok := errors.AsType[*Invalid](err)
		assert.That(t, ok, "%s: %v", name, err)
	}
	same(t, "files", tree(t, s.path(id)), before)
}
