package document

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/media/document/documenttest"
)

func TestSameContentIsReadOnce(t *testing.T) {
	r := NewReader("")
	content := documenttest.DOCX(t, documenttest.Para("A memo."), nil)
	first := assert.Must(r.Read(t.Context(), "a.docx", content))(t)
	r.cached.docs[0].Pages = []Page{{Number: 1, Text: "as it is kept"}}
	again, err := r.Read(t.Context(), "b/copy.docx", content)
	assert.That(t, err == nil && again.Name == "b/copy.docx" && again.Hash == first.Hash &&
		again.Text() == "as it is kept", "%+v, %v", again, err)
}

func TestReaderKeepsWhatWasUsedLastWithinItsBound(t *testing.T) {
	var k documentCache
	third := strings.Repeat("x", maxCached/3)
	for _, hash := range []string{"a", "b", "c", "a", "d"} {
		if d := (Document{Hash: hash}); !k.fill(&d) {
			d.Pages = []Page{{Number: 1, Text: third}}
			k.add(d)
		}
	}
	for hash, want := range map[string]bool{"a": true, "b": false, "c": true, "d": true} {
		assert.Equalf(t, k.fill(&Document{Hash: hash}), want, "%s is kept", hash)
	}
	assert.That(t, k.bytes <= maxCached, "%d bytes are kept", k.bytes)
}

func TestReaderGoesOnAfterOneWhoDidNotWait(t *testing.T) {
	r := NewReader(reader(t).cacheFolder)
	defer r.Close()
	content := documenttest.PDF(true, []string{"text"})
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := r.Read(ctx, "a.pdf", content)
	assert.That(t, errors.Is(err, context.DeadlineExceeded), "who does not wait gets %v", err)
	for range 2 { // also once it is closed
		d, err := r.Read(t.Context(), "a.pdf", append(content, ' '))
		assert.That(t, err == nil && d.Text() == "text", "%+v, %v", d, err)
		r.Close()
		r.cached = documentCache{}
	}
}
