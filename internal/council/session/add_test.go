package session

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/files"
	"sibyl/internal/media/document"
	"sibyl/internal/media/document/documenttest"
)

// refuses wants an *Invalid of a kind that names the file, and nothing of it in the session.
func refuses(t *testing.T, s *Store, id, name string, from io.Reader, kind Kind) {
	t.Helper()
	before := tree(t, s.path(id))
	_, err := s.AddAudio(t.Context(), id, name, from)
	invalid, ok := errors.AsType[*Invalid](err)
	assert.That(t, ok && invalid.Kind == kind && strings.Contains(err.Error(), name),
		"%s: %v, want it refused as %s", name, err, kind)
	same(t, "files", tree(t, s.path(id)), before)
}

func TestWhatCannotBeTakenInIsRefusedByName(t *testing.T) {
	s, id := begun(t)
	s.c.MaxAudio, s.c.MaxText = 1000, 100
	refuses(t, s, id, "empty.ogg", strings.NewReader(""), Empty)
	refuses(t, s, id, "large.ogg", strings.NewReader("sound"+strings.Repeat("x", 996)), TooLarge)
	refuses(t, s, id, "picture.ogg", strings.NewReader("\x89PNG"), NotAudio)
	refuses(t, s, id, "broken.txt", strings.NewReader("h\x00i\x00"), NotAudio)
	refuses(t, s, id, "words.pdf", strings.NewReader("words"), NotAudio)
	refuses(t, s, id, "blank.txt", strings.NewReader(" \n\t"), Empty)
	refuses(t, s, id, "long.md", strings.NewReader(strings.Repeat("é", 51)), TooLarge)
	_, err := s.AddAudio(t.Context(), id, "picture.ogg", strings.NewReader("\x89PNG"))
	assert.That(t, errors.Is(err, errNoAudio), "%v does not say what the probe said", err)
	add(t, s, id, "sound"+strings.Repeat("x", 995)) // is as large as it may be
	wantWhole(t, s, id)
}

func TestDocumentIsTakenInAsItsText(t *testing.T) {
	s, id := begun(t)
	s.c.Read = document.NewReader(documenttest.Compiled(t)).Read
	docx := string(documenttest.DOCX(t, documenttest.Para("A memo about the bridge.")+documenttest.Para("It stands."),
		nil))
	added := assert.Must(s.AddAudio(t.Context(), id, "memo.docx", strings.NewReader(docx)))(t)
	same(t, "entry", []any{added.Entry.Status, added.Entry.Original, added.Entry.File, added.Entry.Transcript},
		[]any{Success, "memo.docx", "", "001_audio.txt"})
	text := assert.Must(s.Transcript(t.Context(), id, 1))(t)
	same(t, "text", text, "A memo about the bridge.\n\nIt stands.")
	same(t, "the same text again",
		assert.Must(s.AddAudio(t.Context(), id, "copy.txt", strings.NewReader(text)))(t).Same, 1)
	pdf := documenttest.PDF(true, []string{"A page."}, nil, nil, []string{"The end."})
	added = assert.Must(s.AddAudio(t.Context(), id, "mixed.pdf", bytes.NewReader(pdf)))(t)
	same(t, "pages of pictures", added.Entry.Blank, "pp. 2-3")
	before := tree(t, s.path(id))
	for name, content := range map[string]string{"cut.docx": docx[:len(docx)-30], "none.pdf": "words",
		"archive.zip": "PK\x03\x04"} {
		_, err := s.AddAudio(t.Context(), id, name, strings.NewReader(content))
		invalid, ok := errors.AsType[*Invalid](err)
		assert.That(t, ok && invalid.Kind == Unreadable && strings.Contains(err.Error(), "“"+name+"” can't be read: it "),
			"%s: %v", name, err)
	}
	s.c.MaxText = 10
	refuses(t, s, id, "memo2.docx", strings.NewReader(docx), TooLarge)
	same(t, "files", tree(t, s.path(id)), before)
}

func TestWordsThatCannotBeTakenInAreRefused(t *testing.T) {
	s, id := begun(t)
	before := tree(t, s.path(id))
	for text, kind := range map[string]Kind{
		"": Empty, " \n\ufeff": Empty, "\ufeff ": Empty, "a\xff": Form, "a\x00b": Form,
		strings.Repeat("x", 1<<20+1): TooLarge,
	} {
		_, err := s.AddText(t.Context(), id, text)
		invalid, ok := errors.AsType[*Invalid](err)
		assert.That(t, ok && invalid.Kind == kind, "%.20q: %v, want %s", text, err, kind)
	}
	same(t, "files", tree(t, s.path(id)), before)
	assert.Must(s.AddText(t.Context(), id, strings.Repeat("x", 1<<20)))(t)
}

func TestTheContentNamesTheFileAndTheNameIsALabel(t *testing.T) {
	hostile := map[string]string{ // with the label
		"../../etc/passwd":            "passwd",
		`C:\Users\ada\memo.wav`:       "memo.wav",
		"🎙️👩‍💻.ogg":                   "🎙️👩‍💻.ogg",
		"/":                           "",
		"":                            "",
		"a\x00b\nc\x1b[31m.mp3":       "ab c[31m.mp3",
		strings.Repeat("ü", 300):      strings.Repeat("ü", 254) + "…",
		"x." + strings.Repeat("y", 9): "x.yyyyyyyyy",
		"memo\xff.ogg":                "memo\ufffd.ogg",
	}
	for name, want := range hostile {
		s, id := begun(t)
		added := assert.Must(s.AddAudio(t.Context(), id, name, strings.NewReader("sound")))(t)
		same(t, "file", added.Entry.File, "001_audio.ogg")
		same(t, "label", added.Entry.Original, want)
		same(t, "files", names(tree(t, s.path())), []string{".locks/" + id, id + "/audio/001_audio.ogg",
			id + "/metadata.json"})
	}
}

func TestEndingsFollowTheContentBeforeTheName(t *testing.T) {
	s, id := begun(t)
	for i, c := range []struct{ found, name, want string }{
		{"ogg", "a.mp3", "001_audio.ogg"},
		{"", "a.MP3", "002_audio.mp3"},
		{"../x", "a.tar.gz", "003_audio.gz"},
		{"", "noending", "004_audio.bin"},
		{"", "odd.m~a", "005_audio.bin"},
	} {
		s.c.Probe = func(context.Context, string) (Facts, error) { return Facts{Ending: c.found, Silent: i == 0}, nil }
		added := assert.Must(s.AddAudio(t.Context(), id, c.name, strings.NewReader(strings.Repeat("x", i+1))))(t)
		same(t, "file", added.Entry.File, c.want)
		same(t, "silent", added.Entry.Silent, i == 0)
	}
	s.c.Probe = nil
	same(t, "file that nobody looked at", assert.Must(s.AddAudio(t.Context(), id, "b.flac", strings.NewReader("y")))(
		t).Entry.File, "006_audio.flac")
	refuses(t, s, id, "b.txt", strings.NewReader("\xff"), NotAudio)
}

func TestTheSameContentIsTakenInOnce(t *testing.T) {
	s, id := begun(t)
	ctx := t.Context()
	add(t, s, id, "sound 1")
	assert.Must(s.AddAudio(ctx, id, "notes.md", strings.NewReader("# Notes\nwords")))(t)
	before := tree(t, s.path(id))
	again := assert.Must(s.AddAudio(ctx, id, "other.mp3", strings.NewReader("sound 1")))(t)
	same(t, "audio", []any{again.Same, again.Entry.Original}, []any{1, "memo.ogg"})
	same(t, "text", assert.Must(s.AddAudio(ctx, id, "copy.txt", strings.NewReader("# Notes\nwords")))(t).Same, 2)
	same(t, "files", tree(t, s.path(id)), before)
	same(t, "words typed in twice", assert.Must(s.AddText(ctx, id, "# Notes\nwords"))(t).Sequence, 3)
	assert.NoError(t, os.Remove(s.path(id, audioFolder, "001_audio.ogg")))
	same(t, "what had lost its file",
		assert.Must(s.AddAudio(ctx, id, "again.ogg", strings.NewReader("sound 1")))(t).Same, 1)
	wantWhole(t, s, id)
}

func TestAudioWithoutAChecksumIsComparedByItsContent(t *testing.T) {
	s := written(t, `{"state":"READY","audio_entries":[{"sequence":7,"local_filename":"007_audio.ogg","file_size_bytes":7,"transcription_status":"PENDING"}]}`)
	put(t, s.path(exampleID, audioFolder, "007_audio.ogg"), "sound 1")
	same(t, "same as", add(t, s, exampleID, "sound 1").Same, 7)
	same(t, "another", add(t, s, exampleID, "sound 2").Entry.Sequence, 8)
}

func TestATextFileIsAnEntryWithoutAudio(t *testing.T) {
	s, id := begun(t)
	added := assert.Must(s.AddAudio(t.Context(), id, "dir/Notes.MD", strings.NewReader("# Über alles\n\nnachdenken")))(t)
	e := added.Entry
	same(t, "entry", []any{e.File, e.Transcript, e.Status, e.Original, e.Size}, []any{"", "001_audio.txt", Success,
		"Notes.MD", 25})
	m := wantWhole(t, s, id)
	same(t, "name", []string{m.Name, m.NamedBy}, []string{"Über alles nachdenken", ByWords})
	odd := assert.Must(s.AddAudio(t.Context(), id, "odd.txt", strings.NewReader("sound\xff")))(t)
	same(t, "audio that is called a text", odd.Entry.File, "002_audio.ogg")
}

func TestAnUploadThatBreaksOffLeavesNothing(t *testing.T) {
	s, id := begun(t)
	before := tree(t, s.path(id))
	broken := errors.New("connection reset")
	_, err := s.AddAudio(t.Context(), id, "memo.ogg", io.MultiReader(strings.NewReader("sound"),
		iotest.ErrReader(broken)))
	assert.That(t, errors.Is(err, broken) && strings.Contains(err.Error(), "memo.ogg"), "%v", err)
	ctx, cancel := context.WithCancel(t.Context())
	_, err = s.AddAudio(ctx, id, "memo.ogg", readerFunc(func(p []byte) (int, error) {
		cancel()
		return copy(p, "sound"), nil
	}))
	assert.That(t, errors.Is(err, context.Canceled), "cancelled while it arrives: %v", err)
	ctx, cancel = context.WithCancel(t.Context())
	s.c.Probe = func(context.Context, string) (Facts, error) {
		cancel()
		return Facts{}, errNoAudio
	}
	_, err = s.AddAudio(ctx, id, "memo.ogg", strings.NewReader("sound"))
	if invalid := new(Invalid); !errors.Is(err, context.Canceled) || errors.As(err, &invalid) {
		t.Errorf("cancelled while it is looked at: %v", err)
	}
	same(t, "files", tree(t, s.path(id)), before)
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestAChangeWaitsForAnotherOneAndSaysForWhat(t *testing.T) {
	s, id := begun(t)
	assert.Must(s.AddText(t.Context(), id, "words"))(t)
	unlock := assert.Must(files.Lock(t.Context(), assert.Must(s.open(false))(t), lockFolder+"/"+id, time.Minute))(t)
	defer unlock()
	s.c.LockWait = time.Millisecond
	_, err := s.AddAudio(t.Context(), id, "memo.ogg", strings.NewReader("sound"))
	refused, ok := errors.AsType[*files.Error](err)
	assert.That(t, ok && refused.Reason == files.Busy && strings.Contains(err.Error(), "memo.ogg") &&
		strings.Contains(err.Error(), id), "%v", err)
	same(t, "files", names(tree(t, s.path(id))), []string{metadataFile, transcriptFolder + "/001_audio.txt"})
	s.c.LockWait = time.Hour
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	for what, wait := range map[string]func() error{
		"text":     func() error { _, err := s.AddText(ctx, id, "x"); return err },
		"deletion": func() error { _, err := s.Delete(ctx, id); return err },
		"repair":   func() error { _, err := s.Repair(ctx, id); return err },
	} {
		assert.ErrorIsf(t, wait(), context.DeadlineExceeded, "%s", what)
	}
	_, err = s.Get(t.Context(), id)
	assert.That(t, err == nil, "reading waits for a writer: %v", err)
}

func TestSequencesAreNeverThoseOfFilesThatAreThere(t *testing.T) {
	s, id := begun(t)
	put(t, s.path(id, transcriptFolder, "004_audio.txt"), "by hand")
	put(t, s.path(id, responseFolder, "007_cetico.txt"), "by hand")
	same(t, "entry", add(t, s, id, "sound").Entry.Sequence, 5)
	same(t, "answer", assert.Must(s.SaveResponse(t.Context(), id, answer("op", "x")))(t).File, "008_cetico.txt")
	same(t, "the file by hand", content(t, s.path(id, responseFolder, "007_cetico.txt")), "by hand")
}

func TestASessionThatIsFullSaysSoAndStaysAsItIs(t *testing.T) {
	s := written(t, `{"state":"READY","x":"`+strings.Repeat("y", maxMetadata-100)+`"}`)
	before := tree(t, s.path(exampleID))
	_, text := s.AddText(t.Context(), exampleID, "words")
	_, audio := s.AddAudio(t.Context(), exampleID, "memo.ogg", strings.NewReader("sound"))
	for what, err := range map[string]error{"text": text, "audio": audio} {
		invalid, ok := errors.AsType[*Invalid](err)
		assert.That(t, ok && invalid.Kind == TooLarge && strings.Contains(err.Error(), "begin another one"),
			"%s: %v", what, err)
	}
	now := tree(t, s.path(exampleID))
	assert.That(t, len(now) == len(before) && now[metadataFile] == before[metadataFile], "the files are %q", names(now))
}

func TestTextFilesOfWindowsAreReadInTheirEncoding(t *testing.T) {
	s, id := begun(t)
	for name, content := range map[string]string{
		"utf16.txt": "\xff\xfec\x00a\x00f\x00\xe9\x00", "marked.md": "\xef\xbb\xbfcafé", "1252.txt": "caf\xe9",
	} {
		added, err := s.AddAudio(t.Context(), id, name, strings.NewReader(content))
		assert.NoErrorf(t, err, "%s", name)
		same(t, name, assert.Must(s.Transcript(t.Context(), id, added.Entry.Sequence))(t), "café")
	}
}
