package vault

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	doc "sibyl/internal/media/document"
	"sibyl/internal/media/document/documenttest"
	"sibyl/internal/tool"
)

// readingVault is a vault with these files that knows PDFs and DOCX. They were changed long ago.
func readingVault(t *testing.T, all map[string][]byte) *Vault {
	t.Helper()
	dir := t.TempDir()
	for name, content := range all {
		name = filepath.Join(dir, filepath.FromSlash(name))
		assert.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		assert.NoError(t, os.WriteFile(name, content, 0o600))
		old := time.Now().Add(-time.Hour)
		assert.NoError(t, os.Chtimes(name, old, old))
	}
	documents := doc.NewReader(documenttest.Compiled(t))
	v := assert.Must(Open(dir, nil, documents))(t)
	t.Cleanup(func() { _ = v.Close(); documents.Close() })
	return v
}

// papers are documents beside a note.
func papers(t *testing.T) map[string][]byte {
	return map[string][]byte{
		"bridge.md": []byte("# Bridge\n\nSee [[report.pdf]].\n"),
		"papers/report.pdf": documenttest.PDF(true, []string{"Report on the bridge"},
			[]string{"The zanzibar bearing was", "replaced in 2019."}, nil, []string{"Costs: 12 EUR"}),
		"memo.docx":   documenttest.DOCX(t, documenttest.Para("A memo of the quagga."), nil),
		"locked.pdf":  documenttest.Locked(),
		"cut.docx":    []byte("PK\x03\x04 and no more"),
		".hidden.pdf": documenttest.PDF(true, []string{"zanzibar"}),
	}
}

func TestSearchFindsWordsOnAPageOfADocument(t *testing.T) {
	v := readingVault(t, papers(t))
	res, err := callTool(t, v, "vault_search", "key", `{"query":"zanzibar bearing"}`)
	assert.Require(t, err == nil && len(res.Refs) == 1, "%+v, %v", res, err)
	if ref := res.Refs[0]; ref.String() != "papers/report.pdf p. 2" || ref.Opened ||
		!strings.Contains(res.Text, "1. papers/report.pdf p. 2  report\n   The zanzibar bearing was") {
		t.Errorf("%+v in %s", res.Refs, res.Text)
	}
	for _, want := range []string{"locked.pdf: it is protected with a password", "cut.docx: it can't be unpacked"} {
		assert.That(t, strings.Count(res.Text, want) == 1, "%q is not told once: %s", want, res.Text)
	}
	res, err = callTool(t, v, "vault_search", "key", `{"query":"quagga"}`)
	assert.That(t, err == nil && len(res.Refs) == 1 && res.Refs[0].String() == "memo.docx:1" &&
		strings.Contains(res.Text, "locked.pdf"), "the second search: %+v, %v", res, err)
}

func TestDocumentIsReadByItsPages(t *testing.T) {
	v := readingVault(t, papers(t))
	for args, want := range map[string]struct{ cite, text, lacks string }{
		`{"path":"papers/report.pdf","start":2,"end":2}`: {"papers/report.pdf p. 2",
			"Pages: 2-2 of 4\n\nPage 2, cited as papers/report.pdf p. 2\n    The zanzibar bearing was replaced in 2019.\n", "Costs"},
		`{"note":"report","start":2}`: {"papers/report.pdf p. 2, papers/report.pdf p. 4",
			"Page 4, cited as papers/report.pdf p. 4\n    Costs: 12 EUR\n", "Report on"},
		`{"note":"[[report.pdf]]"}`: {"papers/report.pdf pp. 1-2, papers/report.pdf p. 4",
			"Linked from (1):\n- bridge.md:3 Bridge", "Hash:"},
		`{"path":"memo.docx"}`: {"memo.docx:1", "    1  A memo of the quagga.", "Hash:"},
	} {
		res, err := callTool(t, v, "vault_read", "key", args)
		var cites []string
		for _, ref := range res.Refs {
			cites = append(cites, ref.String())
			assert.That(t, ref.Opened && ref.Hash != "", "%s: %+v", args, ref)
		}
		assert.That(t, err == nil && strings.Join(cites, ", ") == want.cite && strings.Contains(res.Text, want.text) && !strings.Contains(res.Text, want.lacks),
			"%s: %+v, %v", args, res, err)
	}
	for args, want := range map[string]string{
		`{"path":"papers/report.pdf","start":3,"end":3}`:        "no text on the pages from 3",
		`{"path":"papers/report.pdf","section":"Costs"}`:        "has pages, and no sections",
		`{"path":"locked.pdf"}`:                                 "locked.pdf: it is protected with a password",
		`{"path":".hidden.pdf"}`:                                "hidden",
		`{"path":"papers/none.pdf"}`:                            "is neither a Markdown note nor a PDF or DOCX",
		`{"path":"papers/report.pdf","start":9007199254740991}`: "no text on the pages",
	} {
		res, err := callTool(t, v, "vault_read", "key", args)
		assert.That(t, err != nil && strings.Contains(err.Error(), want), "%s: %+v, %v, want %q", args, res, err, want)
	}
}

func TestLongPagesAreReadInParts(t *testing.T) {
	line := strings.Repeat("words ", 15)
	var page []string
	for range 50 {
		page = append(page, line)
	}
	v := readingVault(t, map[string][]byte{"long.pdf": documenttest.PDF(true, page, page, page, page, page, page, page,
		page, page, page)})
	res, err := callTool(t, v, "vault_read", "key", `{"path":"long.pdf"}`)
	assert.That(t, err == nil && res.Truncated && res.Refs[0].End < 10 &&
		strings.Contains(res.Text, "of 10; go on with start") && len(res.Text) <= tool.MaxText,
		"%d bytes, %+v, %v", len(res.Text), res.Refs, err)
}

func TestDocumentsAreListedAndNeverWritten(t *testing.T) {
	all := papers(t)
	v := readingVault(t, all)
	res, err := callTool(t, v, "vault_list", "key", `{"recursive":true}`)
	assert.That(t, err == nil && strings.Contains(res.Text,
		"The vault: 1 folder, 1 note and 4 documents.\n- papers/ (0 notes and 1 document)\n") &&
		strings.Contains(res.Text, "papers/report.pdf  report\n"), "%s, %v", res.Text, err)
	for _, args := range []string{`{"path":"papers/report.pdf","mode":"append","content":"x"}`,
		`{"path":"new.docx","mode":"create","content":"x"}`} {
		_, err := callTool(t, v, "vault_write", "key", args)
		assert.That(t, err != nil && strings.Contains(err.Error(), "those are read, and never written"), "%s: %v", args, err)
	}
	for name, content := range all {
		now, err := os.ReadFile(filepath.Join(v.root.Name(), filepath.FromSlash(name)))
		assert.That(t, err == nil && bytes.Equal(now, content), "%s was changed: %v", name, err)
	}
	v = assert.Must(Open(v.root.Name(), nil, nil))(t)
	defer func() { _ = v.Close() }()
	res, err = callTool(t, v, "vault_list", "key", `{}`)
	assert.That(t, err == nil && strings.Contains(res.Text, "1 folder, 1 note.\n"),
		"without a reader: %s, %v", res.Text, err)
}

func TestDocumentIsReadAgainWhenItHasChanged(t *testing.T) {
	v := readingVault(t, papers(t))
	res, err := callTool(t, v, "vault_search", "key", `{"query":"zanzibar"}`)
	assert.Require(t, err == nil && len(res.Refs) == 1, "%+v, %v", res, err)
	name := filepath.Join(v.root.Name(), "papers", "report.pdf")
	assert.NoError(t, os.WriteFile(name, documenttest.PDF(true, nil, nil, []string{"The zanzibar is on the third page"}),
		0o600))
	res, err = callTool(t, v, "vault_search", "key", `{"query":"zanzibar"}`)
	assert.That(t, err == nil && len(res.Refs) == 1 && res.Refs[0].String() == "papers/report.pdf p. 3",
		"changed: %+v, %v", res, err)
	assert.NoError(t, os.Remove(name))
	res, err = callTool(t, v, "vault_search", "key", `{"query":"zanzibar"}`)
	assert.That(t, err == nil && len(res.Refs) == 0, "gone: %+v, %v", res, err)
}

func TestDocumentsBeyondTheBoundAreToldEachTimeAndSearchedOnceTheyFit(t *testing.T) {
	long := strings.Repeat("gnu ", 100)
	v := readingVault(t, map[string][]byte{
		"a.docx": documenttest.DOCX(t, documenttest.Para("A quagga. "+long), nil),
		"b.docx": documenttest.DOCX(t, documenttest.Para("A second quagga. "+long+long), nil),
	})
	const beyond = "b.docx: the documents of the vault hold more than"
	found := func(when string, told int, want ...string) {
		t.Helper()
		res, err := callTool(t, v, "vault_search", "key", `{"query":"quagga"}`)
		var paths []string
		for _, ref := range res.Refs {
			paths = append(paths, ref.Path)
		}
		slices.Sort(paths)
		assert.That(t, err == nil && slices.Equal(paths, want) && strings.Count(res.Text, beyond) == told,
			"%s: %v, %v, in %s", when, paths, err, res.Text)
	}
	v.maxTexts = 1000
	found("at first", 1, "a.docx")
	found("again", 1, "a.docx")
	assert.That(t, v.documentsRead["b.docx"].document == nil, "the text of what is beyond is kept")
	assert.NoError(t, os.Remove(filepath.Join(v.root.Name(), "a.docx")))
	found("the other is gone", 0, "b.docx")
	v.maxTexts = v.documentsRead["b.docx"].bytes - 1
	found("it alone is too much", 1)
	v.maxTexts++
	found("it fits to the byte", 0, "b.docx")
}

func TestSearchDoesNotWaitForAllDocuments(t *testing.T) {
	v := readingVault(t, papers(t))
	v.readTimeout = 0
	res, err := callTool(t, v, "vault_search", "key", `{"query":"bridge"}`)
	assert.That(t, err == nil && len(res.Refs) == 1 && res.Refs[0].Path == "bridge.md" &&
		strings.Contains(res.Text, "4 documents not read yet: search again"), "%+v, %v", res, err)
	v.readTimeout = defaultReadTimeout
	res, err = callTool(t, v, "vault_search", "key", `{"query":"zanzibar"}`)
	assert.That(t, err == nil && len(res.Refs) == 1, "the next search: %+v, %v", res, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = v.readDocuments(ctx, []place{{"new.pdf", v.documentsRead["memo.docx"].info}})
	assert.That(t, err != nil, "a search that is not wanted any more goes on")
}

func TestNothingFoundSaysWhatWasNotLookedAt(t *testing.T) {
	wide := append([]byte("\xff\xfe"), []byte("o\x00k\x00a\x00p\x00i\x00")...)
	v := readingVault(t, map[string][]byte{
		"mixed.pdf":  documenttest.PDF(true, []string{"First"}, nil, nil, nil, []string{"Last"}, nil),
		"scan.pdf":   documenttest.PDF(true, nil, nil),
		"locked.pdf": documenttest.Locked(),
		"large.md":   []byte(strings.Repeat("line of words\n", 400_000)),
		"latin.md":   []byte("gr\xfcn\n"),
		"wide.md":    wide,
	})
	v.noteBytes = 5 << 20
	res := mustCall(t, v, "vault_search", object{"query": "zebra"})
	got := map[tool.Reason]tool.Uncovered{}
	for _, u := range res.Uncovered {
		got[u.Reason] = u
	}
	assert.That(t, res.Items == 0 && strings.Contains(res.Text, "Nothing found"), "%s", res.Text)
	for reason, want := range map[tool.Reason]string{
		tool.NoText: "mixed.pdf pp. 2-4, 6|scan.pdf: it holds pictures", tool.IsLarge: "large.md, after 5 MB",
		tool.Encoding: "latin.md", tool.Unreadable: "locked.pdf: it is protected",
	} {
		names := strings.Join(got[reason].Names, "|")
		for part := range strings.SplitSeq(want, "|") {
			assert.That(t, strings.Contains(names, part) && strings.Contains(res.Text, part), "%s: no %q in %s; %s", reason, part, names, res.Text)
		}
	}
	assert.That(t, got[tool.NoText].Count == 5, "%+v", got[tool.NoText])
	res = mustCall(t, v, "vault_search", object{"query": "okapi"})
	assert.That(t, res.Items == 1 && res.Refs[0].Path == "wide.md", "UTF-16 is not found: %s", res.Text)
	v.noteBytes = maxNote
	writeFile(t, filepath.Join(v.root.Name(), "large.md"), strings.Repeat("line of words\n", 400_000)+"quokka at the end\n")
	res = mustCall(t, v, "vault_search", object{"query": "quokka"})
	assert.That(t, res.Items == 1 && res.Refs[0].Path == "large.md", "beyond 4 MB nothing is found: %s", res.Text)
}
