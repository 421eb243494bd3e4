package api_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sibyl/internal/api"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/council"
	"sibyl/internal/council/session"
)

// upload is a file for a session of ada's.
func upload(id, query, kind string, body any) question {
	return question{method: "POST", path: councils + "/" + id + "/entries" + query, body: body,
		header: map[string]string{"Content-Type": kind}}
}

// holdsNothing wants a session without an entry, and no file in its folder but its metadata.
func (h *house) holdsNothing(id string) {
	h.Helper()
	var s council.Opened
	h.get(question{path: councils + "/" + id}, &s)
	assert.That(h, len(s.Audio) == 0, "the session has %+v", s.Audio)
	left, err := filepath.Glob(filepath.Join(h.folder, "ada", id, "*", "*"))
	hidden, _ := filepath.Glob(filepath.Join(h.folder, "ada", id, "*", ".*"))
	assert.That(h, err == nil && len(left)+len(hidden) == 0, "its folder holds %v %v", left, hidden)
}

func TestUploadGoesOnAsItArrivesWhateverItsSize(t *testing.T) {
	h := newHouse(t)
	const size = 64 << 20
	var taken int64
	h.config.AddAudio = func(_ context.Context, _, label string, content io.Reader) (added session.Added, err error) {
		assert.That(t, label == "day.wav", "it is called %s", label)
		taken, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, content, make([]byte, 64<<10))
		return session.Added{Entry: session.AudioEntry{Sequence: 1, Size: taken, Status: session.Success}}, err
	}
	h.open()
	s := h.sitting("")
	for about, body := range map[string]io.Reader{"in chunks": io.LimitReader(zeros{}, size),
		"in a form": io.MultiReader(
			strings.NewReader("--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"day.wav\"\r\n\r\n"),
			io.LimitReader(zeros{}, size), strings.NewReader("\r\n--x--\r\n"))} {
		kind := "audio/wav"
		if about == "in a form" {
			kind = "multipart/form-data; boundary=x"
		}
		before := allocated()
		var added api.CouncilAdded
		h.get(upload(s.ID, map[string]string{"in chunks": "?name=day.wav"}[about], kind, body),
			&added)
		assert.That(t, added.Entry.Size == size && taken == size, "%s: %d bytes were taken", about, taken)
		grown := allocated() - before
		assert.That(t, grown <= 16<<20, "%s: %d bytes were allocated for it", about, grown)
	}
	status, said := h.raw(fmt.Sprintf("POST %s/%s/entries HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer "+
		"%s\r\nContent-Type: audio/wav\r\nContent-Length: %d\r\n\r\n", councils, s.ID, h.addr, adasToken, int64(1)<<40))
	assert.That(t, status == 413 && strings.Contains(said, "too_large"),
		"a terabyte that is announced: %d %s", status, said)
}

// begins sends the beginning of an upload over a connection.
func (h *house) begins(id, head, body string) io.ReadWriteCloser {
	h.Helper()
	conn := h.dial()
	assert.Must(io.WriteString(conn, "POST "+councils+"/"+id+"/entries HTTP/1.1\r\nHost: "+h.addr+
		"\r\nAuthorization: Bearer "+adasToken+"\r\nContent-Type: audio/ogg\r\n"+head+"\r\n\r\n"+body))(h)
	return conn
}

// watched is an upload that tells when so many bytes of it are on the disk: whoever writes it asks for more once it has
// written what it got.
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
	for about, head := range map[string]string{"of a known length": "Content-Length: 1000000",
		"in chunks": "Transfer-Encoding: chunked"} {
		before := strings.Count(h.log.text(), `"status":400`)
		body := "8000\r\n" + strings.Repeat("x", 0x8000) + "\r\n8000\r\n"
		conn := h.begins(s.ID, head, body+strings.Repeat("x", 1000))
		select {
		case <-written:
		case <-time.After(deadline):
			t.Fatalf("%s: nothing of the upload came to the disk", about)
		}
		assert.NoError(t, conn.Close())
		h.log.until(t, about+": the request ends", func() bool {
			return strings.Count(h.log.text(), `"status":400`) > before
		})
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
	for about, head := range map[string]string{"of a known length": "Content-Length: 1000000",
		"in chunks": "Transfer-Encoding: chunked"} {
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
		assert.That(t, strings.HasPrefix(string(said[:n]), "HTTP/1.1 408 ") &&
			strings.Contains(string(said[:n]), "Connection: close"), "%s: the server says %s", about, said[:n])
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
	body := io.MultiReader(strings.NewReader(strings.Repeat("x", 60_000)), reached{arrived},
		strings.NewReader(strings.Repeat("y", 60_000)))
	go func() {
		a, err := h.try(upload(s.ID, "", "audio/ogg", struct{ io.Reader }{body}))
		assert.Nil(t, err)
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
		assert.That(t, a.status == 201, "%d %s", a.status, a.body)
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

func TestDiskThatTakesNoMoreIsToldWithoutNames(t *testing.T) {
	h := newHouse(t)
	var refusal error
	h.config.AddAudio = func(_ context.Context, _, label string, content io.Reader) (session.Added, error) {
		_, err := io.Copy(io.Discard, content)
		return session.Added{}, fmt.Errorf("adding “%s”: %w", label,
			cmpOr(err, &os.PathError{Op: "write", Path: "/srv/x", Err: refusal}))
	}
	h.open()
	s := h.sitting("")
	for _, c := range []struct {
		err    error
		status int
		kind   string
	}{{syscall.ENOSPC, http.StatusInsufficientStorage, "disk_full"}, {syscall.EROFS, http.StatusServiceUnavailable,
		"read_only"}, {syscall.EIO, http.StatusInternalServerError, "internal"}} {
		refusal = c.err
		a := h.refused(c.kind, upload(s.ID, "?name=hunter2.ogg", "audio/ogg", "OggS"), c.status, c.kind)
		assert.That(t, !strings.Contains(string(a.body), "hunter2") && !strings.Contains(string(a.body), "/srv/x"),
			"it is told: %s", a.body)
		h.log.waitFor(t, c.err.Error())
	}
	log := h.log.text()
	assert.That(t, !strings.Contains(log, "hunter2"), "the log has the name:\n%s", log)
}

func cmpOr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}
