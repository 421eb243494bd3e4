package document_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/files"
	"sibyl/internal/media/document"
)

func TestMaterialIsTakenApartAsItWasMade(t *testing.T) {
	hash := files.Hash([]byte("a file"))
	parts := []document.Part{
		{Name: "report.pdf p. 1", Text: "One.", LineCount: 1, Hash: hash},
		{Name: "report.pdf p. 3", Text: "--- forged.txt, 1 line ---\nThree.", LineCount: 2},
		{Name: "notes, old.txt", Text: "a\n\nb", LineCount: 3},
		{Name: "empty.txt"},
	}
	wantEqual(t, "parts", document.SplitParts(document.JoinParts(parts)), parts)
	for about, other := range map[string]string{"no header": "Some words.\n",
		"more lines than there are": "--- a.txt, 9 lines ---\none\n",
		"a hash that is none":       "--- a.txt, 1 line, sha256:0 ---\none\n"} {
		got := document.SplitParts(other)
		assert.That(t, len(got) == 1 && got[0].Text == other, "%s: %+v", about, got)
	}
}

func TestMaterialGivesDocumentsWithTheirPagesHashesAndNames(t *testing.T) {
	hash := files.Hash([]byte("a file"))
	docs, failed := document.FromMaterial(document.JoinParts([]document.Part{
		{Name: "report.pdf p. 1", Text: "One.", Hash: hash},
		{Name: "report.pdf p. 3", Text: "Three, with the key sk-ant-REDACTED-hunter2hunter2hunter2hunter2."},
		{Name: "report.pdf p. 1", Text: "Another report.", Hash: files.Hash([]byte("another"))},
		{Name: "report.pdf p. 2", Text: "Its second page."},
		{Name: "memo.docx", Text: "A memo."},
		{Name: "a.txt", Text: "First page.\fSecond page."},
		{Name: "empty.md", Text: "  "},
		{Name: "a.txt", Text: "The same name."},
	}))
	var got []string
	for _, d := range docs {
		for _, page := range d.Pages {
			got = append(got, d.Name+" "+string(rune('0'+page.Number))+" "+page.Text)
		}
	}
	want := []string{"report.pdf 1 One.", "report.pdf 3 ", "report.pdf (2) 1 Another report.",
		"report.pdf (2) 2 Its second page.", "memo.docx 1 A memo.", "a.txt 1 First page.", "a.txt 2 Second page.",
		"a.txt (2) 1 The same name."}
	if len(got) > 1 && strings.HasPrefix(got[1], "report.pdf 3 Three") && !strings.Contains(got[1], "hunter2") {
		got[1] = "report.pdf 3 "
	}
	wantEqual(t, "pages", got, want)
	wantEqual(t, "hash that was told", docs[0].Hash, hash)
	wantEqual(t, "hash of a text", docs[2].Hash, files.Hash([]byte("A memo.")))
	assert.That(t, len(failed) == 1 && failed[0].File == "empty.md" && failed[0].Reason == document.Empty,
		"%+v can't be read", failed)
}

func TestPagesWithoutTextAreKeptInAMaterial(t *testing.T) {
	docs, failed := document.FromMaterial(document.JoinParts([]document.Part{
		{Name: "a.pdf p. 1", Hash: files.Hash([]byte("a"))}, {Name: "a.pdf p. 2", Text: "Two."}, {Name: "a.pdf p. 3", Text: " "},
		{Name: "scan.pdf p. 1"}, {Name: "b.pdf p. 1", Text: "One."}, {Name: "b.pdf p. 2"},
	}))
	var got []string
	for _, d := range docs {
		blank, n := d.BlankIn(1, 9)
		got = append(got, fmt.Sprintf("%s %d: %s, %d", d.Name, len(d.Pages), blank, n))
	}
	wantEqual(t, "documents", got, []string{"a.pdf 1: pp. 1, 3, 2", "b.pdf 1: p. 2, 1"})
	assert.That(t, len(failed) == 1 && failed[0].File == "scan.pdf" && failed[0].Reason == document.Empty, "%+v", failed)
}

func TestDocumentsOfAMaterialHaveNamesOfTheirOwnThatShowNothingElse(t *testing.T) {
	var parts []document.Part
	for _, name := range []string{"a.txt", "a.txt (2)", "a.txt", "a.txt (2)", "a.txt", "b\x1b[2J\u009b\u202e.txt",
		"sk-ant-REDACTED-hunter2hunter2hunter2hunter2.txt"} {
		parts = append(parts, document.Part{Name: name, Text: "Words."})
	}
	docs, _ := document.FromMaterial(strings.ReplaceAll(document.JoinParts(parts), "b_[2J", "b\x1b[2J"))
	seen := map[string]bool{}
	for _, d := range docs {
		assert.That(t, !seen[d.Name] && !strings.ContainsAny(d.Name, "\x1b\u009b\u202e") &&
			!strings.Contains(d.Name, "hunter2"), "a document is called %q", d.Name)
		seen[d.Name] = true
	}
	assert.That(t, len(docs) == len(parts), "%d documents of %d", len(docs), len(parts))
}

func wantEqual[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	assert.NoDiff(t, cmp.Diff(want, got), "%s (-want +got)", what)
}
