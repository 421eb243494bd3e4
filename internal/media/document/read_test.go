package document

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/media/document/documenttest"
	"sibyl/internal/redact/redacttest"
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

func TestASentenceGoesOnPastALineThatIsMuchShorterThanOthers(t *testing.T) {
	const long = "and goes on in a line which is very much longer than any other line of the " +
		"paragraph, as hands that wrap lines leave it."
	for _, c := range []struct {
		lines []string
		want  []bool
	}{
		{[]string{"A paragraph that somebody wrapped by hand,", long}, []bool{false, true}},
		{[]string{"A sentence that ended here, as a heading does.", long}, []bool{false, false}},
		{[]string{"A heading Without a Full Stop, Forty or More", "And" + long[3:]}, []bool{false, false}},
		{[]string{"The bridge was closed in 1987 because", "of corrosion of its beams."}, []bool{false, true}},
		{[]string{"The bridge of Milford near Derby", "Carol Fisher, engineer"}, []bool{false, false}},
		{[]string{"Bakery", long}, []bool{false, false}},
		{[]string{"A paragraph that somebody wrapped by hand,", "- " + long}, []bool{false, false}},
	} {
		got := ContinuedLines(c.lines)
		assert.That(t, slices.Equal(got, c.want), "%q: %v", c.lines, got)
	}
}

func TestSecretsAreTakenOutBeforeADocumentIsParted(t *testing.T) {
	for _, v := range redacttest.Vectors(t) {
		if strings.ContainsAny(v.Text, "\r\x00") {
			continue
		}
		var lines []string
		for line := range strings.Lines(v.Text) {
			lines = append(lines, documenttest.Para(strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").
				Replace(strings.TrimSuffix(line, "\n"))))
		}
		for name, content := range map[string][]byte{"a.md": []byte(v.Text + "\n"),
			"a.txt":  []byte("Some words before it, as people write.\n" + v.Text + "\n"),
			"a.docx": documenttest.DOCX(t, strings.Join(lines, ""), nil)} {
			d, err := readOne(t, name, content)
			assert.NoErrorf(t, err, "%s: %s", v.Name, name)
			for _, c := range Chunks(d) {
				for _, leak := range v.Leaks(c.Text) {
					t.Errorf("%s in %s: %q is in %q", v.Name, name, leak, c.Text)
				}
			}
		}
	}
}

func TestFileOfSecretsInAFolderIsRefusedAndOneThatIsNamedIsRead(t *testing.T) {
	folder := folderOf(t, map[string][]byte{"credentials.txt": []byte("words"), "report.txt": []byte("words"),
		"deep/passwords.txt": []byte("words")})
	docs, failed, err := reader(t).ReadAll(t.Context(), folder)
	assert.That(t, err == nil && len(docs) == 1 && len(failed) == 2 && failed[0].Reason == Closed &&
		failed[1].File == "deep/passwords.txt", "%d documents, %v, %v", len(docs), failed, err)
	docs, failed, err = reader(t).ReadAll(t.Context(), folder+"/credentials.txt")
	assert.That(t, err == nil && len(docs) == 1, "named: %d documents, %v, %v", len(docs), failed, err)
}

// folderOf makes a folder with these files.
func folderOf(t testing.TB, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		assert.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		assert.NoError(t, os.WriteFile(name, content, 0o600))
	}
	return dir
}

// readOne reads a file with this content.
func readOne(t testing.TB, name string, content []byte) (Document, error) {
	t.Helper()
	return reader(t).Read(t.Context(), name, content)
}

// texts gives the pages of a document as a map.
func texts(d Document) map[int]string {
	m := map[int]string{}
	for _, p := range d.Pages {
		m[p.Number] = p.Text
	}
	return m
}
