package api_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sibyl/internal/api"
	"sibyl/internal/council"
	"sibyl/internal/council/session"
)

// upload is a file for a session of ada's.
func upload(id, query, kind string, body any) question {
	return question{method: "POST", path: councils + "/" + id + "/entries" + query, body: body, header: map[string]string{"Content-Type": kind}}
}

// form is the body of a form with these fields in order, each a name, a file name and a content; and its content type.
func form(t *testing.T, fields ...[3]string) (kind, body string) {
	t.Helper()
	b := &bytes.Buffer{}
	w := multipart.NewWriter(b)
	for _, f := range fields {
		create := func() (io.Writer, error) { return w.CreateFormField(f[0]) }
		if f[1] != "" {
			create = func() (io.Writer, error) { return w.CreateFormFile(f[0], f[1]) }
		}
		part, err := create()
		if err == nil {
			_, err = io.WriteString(part, f[2])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), b.String()
}

func TestFileIsAddedAsItIsOrInAFormAndKnownAgain(t *testing.T) {
	h := newHouse(t).open()
	s := h.sitting("")
	kind, body := form(t, [3]string{"note", "", "before it"}, [3]string{"file", "walk.webm", "\x1aE\xdf\xa3 of a browser"}, [3]string{"after", "", "it"})
	named := upload(s.ID, "", "audio/ogg", "OggS named by its header")
	named.header["Content-Disposition"] = `attachment; filename*=UTF-8''%C3%BCber%20mir.ogg`
	for i, c := range []struct {
		q                    question
		file, original, text string
	}{
		{upload(s.ID, "?name=memo.ogg", "audio/ogg", "OggS one"), "001_audio.ogg", "memo.ogg", ""},
		{upload(s.ID, "", "audio/mpeg", "ID3 two"), "002_audio.mp3", "recording.mp3", ""},
		{upload(s.ID, "?name=..%2f..%2fetc%2fpasswd.flac", "application/octet-stream", "fLaC three"), "003_audio.flac", "passwd.flac", ""},
		{upload(s.ID, "", kind, body), "004_audio.webm", "walk.webm", ""},
		{named, "005_audio.ogg", "über mir.ogg", ""},
		{upload(s.ID, "?name=notes.txt", "text/plain; charset=utf-8", "What I thought."), "", "notes.txt", "What I thought."},
		{upload(s.ID, "?name=notes", "text/markdown", "# What I wrote\n"), "", "notes.md", "# What I wrote\n"},
		{upload(s.ID, "?name=notes.log", "text/plain", "What I noted."), "", "notes.log.txt", "What I noted."},
		{upload(s.ID, "", "audio/x-wav", struct{ io.Reader }{strings.NewReader("RIFF of no known length")}), "009_audio.wav", "recording.wav", ""},
	} {
		var added api.CouncilAdded
		a := h.get(c.q, &added)
		e := added.Entry
		if a.status != 201 || e.Sequence != i+1 || e.File != c.file || e.Original != c.original || added.Same != 0 {
			t.Errorf("%d %+v; want %+v", a.status, added, c)
		}
		if recorded := c.file != ""; recorded != (added.Waits != "") || added.Transcription != nil || a.header.Get("Location") != "" || strings.Contains(added.Waits, "/etc") {
			t.Errorf("%s: %+v", c.original, added)
		}
		if c.text != "" {
			var said api.CouncilTranscript
			if h.get(question{path: fmt.Sprintf("%s/%s/entries/%d/transcript", councils, s.ID, e.Sequence)}, &said); said.Text != c.text {
				t.Errorf("%s holds %q", c.original, said.Text)
			}
		}
	}
	var again api.CouncilAdded
	if a := h.get(upload(s.ID, "?name=copy.ogg", "audio/ogg", "OggS one"), &again); a.status != 200 || again.Same != 1 || again.Entry.Original != "memo.ogg" {
		t.Errorf("the same again: %d %+v", a.status, again)
	}
	if h.get(question{path: councils + "/" + s.ID}, &s); len(s.Audio) != 9 {
		t.Errorf("the session has %d entries", len(s.Audio))
	}
}

func TestWhatCannotBeAddedIsRefusedAndLeavesNothing(t *testing.T) {
	h := newHouse(t)
	h.config.Limits.Upload = 100_000
	h.open()
	s := h.sitting("")
	none, empty := form(t, [3]string{"other", "a.ogg", "OggS"})
	whole, body := form(t, [3]string{"file", "a.ogg", strings.Repeat("OggS", 1000)})
	long := strings.Repeat("x", 100_001)
	zipped := upload(s.ID, "", "audio/ogg", "OggS")
	zipped.header["Content-Encoding"] = "gzip"
	h.refuses(refusals{
		"a page":                     {upload(s.ID, "", "text/html", "<p>hunter2"), 415, "not_audio"},
		"no type":                    {upload(s.ID, "", "", "OggS"), 415, "not_audio"},
		"a type that is none":        {upload(s.ID, "", "audio", "OggS"), 415, "not_audio"},
		"a picture":                  {upload(s.ID, "?name=hunter2.ogg", "image/png", "x"), 415, "not_audio"},
		"compressed":                 {zipped, 415, "not_audio"},
		"nothing":                    {upload(s.ID, "?name=hunter2.ogg", "audio/ogg", ""), 400, "invalid_request"},
		"a text that is none":        {upload(s.ID, "?name=hunter2.txt", "text/plain", "\xff\xfe\x00"), 415, "not_audio"},
		"a byte too many":            {upload(s.ID, "?name=hunter2.ogg", "audio/ogg", long), 413, "too_large"},
		"a byte too many, in chunks": {upload(s.ID, "?name=hunter2.ogg", "audio/ogg", struct{ io.Reader }{strings.NewReader(long)}), 413, "too_large"},
		"a form without a file":      {upload(s.ID, "", none, empty), 400, "invalid_request"},
		"a form that is none":        {upload(s.ID, "", "multipart/form-data; boundary=x", "hunter2"), 400, "invalid_request"},
		"a form without a boundary":  {upload(s.ID, "", "multipart/form-data", body), 400, "invalid_request"},
		"half a form":                {upload(s.ID, "", whole, body[:len(body)/2]), 400, "broken_body"},
		"another parameter":          {upload(s.ID, "?path=/etc/hunter2", "audio/ogg", "OggS"), 400, "invalid_request"},
		"no words":                   {upload(s.ID, "", "application/json", `{"text":" "}`), 400, "invalid_request"},
		"words that are none":        {upload(s.ID, "", "application/json", `{"text":7}`), 400, "invalid_request"},
		"what is no JSON":            {upload(s.ID, "", "application/json", `hunter2`), 400, "invalid_request"},
		"another property":           {upload(s.ID, "", "application/json", `{"hunter2":"x"}`), 400, "invalid_request"},
		"too many words":             {upload(s.ID, "", "application/json", `{"text":"`+strings.Repeat("x", 64<<10)+`"}`), 413, "too_large"},
		"a null in words":            {upload(s.ID, "", "application/json", `{"text":"a\u0000b"}`), 400, "invalid_request"},
	}, "hunter2")
	h.holdsNothing(s.ID)
	if log := h.log.text(); strings.Contains(log, "hunter2") {
		t.Errorf("the log repeats what was sent:\n%s", log)
	}
}

// holdsNothing wants a session without an entry, and no file in its folder but its metadata.
func (h *house) holdsNothing(id string) {
	h.Helper()
	var s council.Opened
	if h.get(question{path: councils + "/" + id}, &s); len(s.Audio) != 0 {
		h.Errorf("the session has %+v", s.Audio)
	}
	left, err := filepath.Glob(filepath.Join(h.folder, "ada", id, "*", "*"))
	hidden, _ := filepath.Glob(filepath.Join(h.folder, "ada", id, "*", ".*"))
	if err != nil || len(left)+len(hidden) != 0 {
		h.Errorf("its folder holds %v %v", left, hidden)
	}
}

func TestUploadGoesOnAsItArrivesWhateverItsSize(t *testing.T) {
	h := newHouse(t)
	const size = 300 << 20
	var taken int64
	h.config.AddAudio = func(_ context.Context, _, label string, content io.Reader) (added session.Added, err error) {
		if label != "day.wav" {
			t.Errorf("it is called %s", label)
		}
		taken, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, content, make([]byte, 64<<10))
		return session.Added{Entry: session.AudioEntry{Sequence: 1, Size: taken, Status: session.Success}}, err
	}
	h.open()
	s := h.sitting("")
	for about, body := range map[string]io.Reader{"in chunks": io.LimitReader(zeros{}, size), "in a form": io.MultiReader(
		strings.NewReader("--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"day.wav\"\r\n\r\n"), io.LimitReader(zeros{}, size), strings.NewReader("\r\n--x--\r\n"))} {
		kind := "audio/wav"
		if about == "in a form" {
			kind = "multipart/form-data; boundary=x"
		}
		before := allocated()
		var added api.CouncilAdded
		if h.get(upload(s.ID, map[string]string{"in chunks": "?name=day.wav"}[about], kind, body), &added); added.Entry.Size != size || taken != size {
			t.Errorf("%s: %d bytes were taken", about, taken)
		}
		if grown := allocated() - before; grown > 16<<20 {
			t.Errorf("%s: %d bytes were allocated for it", about, grown)
		}
	}
	status, said := h.raw(fmt.Sprintf("POST %s/%s/entries HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: audio/wav\r\nContent-Length: %d\r\n\r\n", councils, s.ID, h.addr, adasToken, int64(1)<<40))
	if status != 413 || !strings.Contains(said, "too_large") {
		t.Errorf("a terabyte that is announced: %d %s", status, said)
	}
}

// begins sends the beginning of an upload over a connection.
func (h *house) begins(id, head, body string) io.ReadWriteCloser {
	h.Helper()
	conn := h.dial()
	if _, err := io.WriteString(conn, "POST "+councils+"/"+id+"/entries HTTP/1.1\r\nHost: "+h.addr+"\r\nAuthorization: Bearer "+adasToken+"\r\nContent-Type: audio/ogg\r\n"+head+"\r\n\r\n"+body); err != nil {
		h.Fatal(err)
	}
	return conn
}

// watched is an upload that tells when so many bytes of it are on the disk: whoever writes it asks for more once it has written what it got.
type watched struct {
	io.Reader
	enough  int
	written chan<- struct{}
}

// Read implements io.Reader.
func (w *watched) Read(p []byte) (int, error) {
	if w.enough <= 0 {
		select {
		case w.written <- struct{}{}:
		default:
		}
	}
	n, err := w.Reader.Read(p)
	w.enough -= n
	return n, err
}

func TestClientThatGoesAwayInTheMiddleOfAnUploadLeavesNothing(t *testing.T) {
	h := newHouse(t)
	written := make(chan struct{}, 1)
	h.config.AddAudio = func(ctx context.Context, id, label string, content io.Reader) (session.Added, error) {
		desk, err := h.config.Council.Desk("ada")
		if err != nil {
			return session.Added{}, err
		}
		return desk.AddAudio(ctx, id, label, &watched{content, 0x8000, written})
	}
	h.open()
	s := h.sitting("")
	for about, head := range map[string]string{"of a known length": "Content-Length: 1000000", "in chunks": "Transfer-Encoding: chunked"} {
		before := strings.Count(h.log.text(), `"status":400`)
		body := "8000\r\n" + strings.Repeat("x", 0x8000) + "\r\n8000\r\n"
		conn := h.begins(s.ID, head, body+strings.Repeat("x", 1000))
		select {
		case <-written:
		case <-time.After(deadline):
			t.Fatalf("%s: nothing of the upload came to the disk", about)
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		h.log.until(t, about+": the request ends", func() bool { return strings.Count(h.log.text(), `"status":400`) > before })
		h.holdsNothing(s.ID)
		select {
		case <-written: // of the reads behind the first that told
		default:
		}
	}
	h.get(upload(s.ID, "", "audio/ogg", "OggS"), nil)
}

func TestUploadThatTricklesIsEnded(t *testing.T) {
	h := newHouse(t)
	h.config.Limits.Read = 50 * time.Millisecond
	h.open()
	s := h.sitting("")
	for about, head := range map[string]string{"of a known length": "Content-Length: 1000000", "in chunks": "Transfer-Encoding: chunked"} {
		conn := h.begins(s.ID, head, "1\r\nO\r\n")
		drip, over := make(chan struct{}), make(chan struct{})
		go func() { // a byte again and again, each when the one before was taken in, does not buy more time
			defer close(drip)
			for {
				taken := h.log.news()
				if _, err := io.WriteString(conn, "1\r\ng\r\n"); err != nil {
					return
				}
				select {
				case <-taken:
				case <-over:
					return
				}
			}
		}()
		said := make([]byte, 4096)
		n, _ := io.ReadAtLeast(conn, said, 100)
		if !strings.HasPrefix(string(said[:n]), "HTTP/1.1 408 ") || !strings.Contains(string(said[:n]), "Connection: close") {
			t.Errorf("%s: the server says %s", about, said[:n])
		}
		close(over)
		_ = conn.Close()
		<-drip
	}
	h.holdsNothing(s.ID)
}

func TestUploadWaitsForTheBytesOfItsUserAndLeavesSomeToOthers(t *testing.T) {
	now := newClock()
	h := newHouse(t)
	h.config.Now = func() time.Time { // whoever waits for bytes asks for the time
		h.log.tell()
		return now.Now()
	}
	h.config.Limits.Body, h.config.Limits.Bytes = 1000, 100_000
	h.open()
	s := h.sitting("")
	done := make(chan answer, 1)
	arrived := make(chan struct{})
	body := io.MultiReader(strings.NewReader(strings.Repeat("x", 60_000)), reached{arrived}, strings.NewReader(strings.Repeat("y", 60_000)))
	go func() {
		a, err := h.try(upload(s.ID, "", "audio/ogg", struct{ io.Reader }{body}))
		if err != nil {
			t.Error(err)
		}
		done <- a
	}()
	<-arrived
	h.log.until(t, "it takes what it may", func() bool {
		all, err := os.ReadDir(filepath.Join(h.folder, "ada", s.ID, "audio"))
		if err != nil || len(all) == 0 {
			return false
		}
		info, err := all[0].Info()
		return err == nil && info.Size() >= 60_000
	})
	h.get(question{method: "PATCH", path: councils + "/" + s.ID, body: map[string]any{"name": "meanwhile"}}, nil)
	select {
	case a := <-done:
		t.Fatalf("it did not wait: %d %s", a.status, a.body)
	default:
	}
	now.pass(time.Minute)
	select {
	case a := <-done:
		if a.status != 201 {
			t.Errorf("%d %s", a.status, a.body)
		}
	case <-time.After(deadline):
		t.Fatal("it waits although there are bytes again")
	}
}

// reached is an empty reader that tells that it was reached.
type reached struct{ told chan struct{} }

func (r reached) Read([]byte) (int, error) {
	close(r.told)
	return 0, io.EOF
}

func TestRecordingIsReadInParts(t *testing.T) {
	h := newHouse(t).open()
	s := h.sitting("")
	content := "OggS" + strings.Repeat("\x00", 22) + "0123456789"
	h.get(upload(s.ID, "", "audio/ogg", content), nil)
	at := councils + "/" + s.ID + "/entries/1/audio"
	a := h.get(question{path: at}, nil)
	if string(a.body) != content || a.header.Get("Content-Type") != "audio/ogg" || a.header.Get("Content-Disposition") != "attachment; filename=001_audio.ogg" ||
		a.header.Get("X-Content-Type-Options") != "nosniff" || a.header.Get("Accept-Ranges") != "bytes" {
		t.Errorf("%v %q", a.header, a.body)
	}
	part := question{path: at, header: map[string]string{"Range": "bytes=-4", "If-Range": a.header.Get("ETag")}}
	if p := h.get(part, nil); p.status != 206 || string(p.body) != "6789" || p.header.Get("Content-Range") != fmt.Sprintf("bytes %d-%d/%d", len(content)-4, len(content)-1, len(content)) {
		t.Errorf("a part: %d %v %q", p.status, p.header, p.body)
	}
	part.header["If-Range"] = `"another"`
	if p := h.get(part, nil); p.status != 200 || string(p.body) != content {
		t.Errorf("a part of another: %d %q", p.status, p.body)
	}
	if p := h.ask(question{path: at, header: map[string]string{"Range": "bytes=9999-"}}); p.status != 416 {
		t.Errorf("beyond its end: %d", p.status)
	}
	if p := h.ask(question{path: at, header: map[string]string{"If-None-Match": a.header.Get("ETag")}}); p.status != 304 || len(p.body) != 0 {
		t.Errorf("what is known: %d", p.status)
	}
	for body, kind := range map[string]string{"<html><script>alert(1)</script>": "application/octet-stream", "GIF89a": "application/octet-stream", "fLaC": "audio/flac",
		"ID3": "audio/mpeg", "\xff\xfb\x90": "audio/mpeg", "RIFF\x00\x00\x00\x00WAVEfmt ": "audio/wave", "\x1aE\xdf\xa3": "audio/webm", "\x00\x00\x00\x20ftypM4A \x00\x00\x00\x00": "audio/mp4"} {
		var added api.CouncilAdded
		h.get(upload(s.ID, "?name=page.html.ogg", "audio/ogg", body), &added)
		if a := h.get(question{path: fmt.Sprintf("%s/%s/entries/%d/audio", councils, s.ID, added.Entry.Sequence)}, nil); a.header.Get("Content-Type") != kind || string(a.body) != body {
			t.Errorf("%q is told as %s; want %s", body, a.header.Get("Content-Type"), kind)
		}
	}
	if err := os.Remove(filepath.Join(h.folder, "ada", s.ID, "audio", "001_audio.ogg")); err != nil {
		t.Fatal(err)
	}
	h.refused("a recording that is gone", question{path: at}, 404, "file_missing")
}

func TestDiskThatTakesNoMoreIsToldWithoutNames(t *testing.T) {
	h := newHouse(t)
	var refusal error
	h.config.AddAudio = func(_ context.Context, _, label string, content io.Reader) (session.Added, error) {
		_, err := io.Copy(io.Discard, content)
		return session.Added{}, fmt.Errorf("adding “%s”: %w", label, cmpOr(err, &os.PathError{Op: "write", Path: "/srv/x", Err: refusal}))
	}
	h.open()
	s := h.sitting("")
	for _, c := range []struct {
		err    error
		status int
		kind   string
	}{{syscall.ENOSPC, http.StatusInsufficientStorage, "disk_full"}, {syscall.EROFS, http.StatusServiceUnavailable, "read_only"}, {syscall.EIO, http.StatusInternalServerError, "internal"}} {
		refusal = c.err
		a := h.refused(c.kind, upload(s.ID, "?name=hunter2.ogg", "audio/ogg", "OggS"), c.status, c.kind)
		if strings.Contains(string(a.body), "hunter2") || strings.Contains(string(a.body), "/srv/x") {
			t.Errorf("it is told: %s", a.body)
		}
		h.log.waitFor(t, c.err.Error())
	}
	if log := h.log.text(); strings.Contains(log, "hunter2") {
		t.Errorf("the log has the name:\n%s", log)
	}
}

func cmpOr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}
