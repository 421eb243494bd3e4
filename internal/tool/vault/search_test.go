package vault

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/tool"
)

// foundBy lists the hits of a search as path:start-end.
func foundBy(t *testing.T, v *Vault, args object) []string {
	t.Helper()
	return cited(mustCall(t, v, "vault_search", args))
}

// In the text, a search stands behind the notes that it is over: “what it shows: query => the best hits, in their order”.
func TestSearchRanks(t *testing.T) {
	filler := map[string]string{}
	for i := range 8 {
		filler[fmt.Sprintf("filler%d.md", i)] = "other common words"
	}
	files, searches := maps.Clone(filler), 0
	for _, f := range assert.Must(txtar.ParseFile("testdata/search.txtar"))(t).Files {
		if f.Name != "search" {
			files[f.Name] = strings.TrimSuffix(string(f.Data), "\n")
			continue
		}
		name, search, _ := strings.Cut(strings.TrimSpace(string(f.Data)), ": ")
		query, want, _ := strings.Cut(search, " =>")
		found := foundBy(t, vaultOf(t, files), object{"query": query})
		if n := strings.Count(want, ";") + 1; len(found) > n && want != "" { // the best of them
			found = found[:n]
		}
		assert.NoDiff(t, cmp.Diff(strings.TrimSpace(want), strings.Join(found, "; ")), "%s", name)
		files, searches = maps.Clone(filler), searches+1
	}
	assert.That(t, searches >= 17, "only %d searches", searches)
}

func TestSearchScopes(t *testing.T) {
	v := vaultOf(t, map[string]string{
		"a.md": "zebra #project", "sub/b.md": "zebra #Project/Sibyl", "sub/deep/c.md": "zebra a b",
		"subway/d.md": "zebra #projects",
	})
	for name, test := range map[string]struct {
		args object
		want []string
	}{
		"folder with its folders": {object{"query": "zebra", "folder": "sub/"},
			[]string{"sub/b.md:1", "sub/deep/c.md:1"}},
		"tag and those below it": {object{"query": "zebra", "tag": "#project"}, []string{"a.md:1", "sub/b.md:1"}},
		"both": {object{"query": "zebra", "tag": "project/sibyl", "folder": "sub"},
			[]string{"sub/b.md:1"}},
	} {
		t.Run(name, func(t *testing.T) { assert.Same(t, test.want, foundBy(t, v, test.args)) })
	}
	_, err := callTool(t, v, "vault_search", "", object{"query": "zebra", "folder": "none"})
	wantError(t, err, tool.NotFound, "none", "vault_list")
}

// hits are those of a search, without their scores.
func hits(t *testing.T, res tool.Result) []Hit {
	t.Helper()
	var data SearchData
	assert.NoError(t, json.Unmarshal(res.Data, &data))
	for i := range data.Hits {
		data.Hits[i].Score = 0
	}
	return data.Hits
}

func TestSearchHitsAreNotOpenedAndSayWhatWasCut(t *testing.T) {
	v := vaultOf(t, map[string]string{"a.md": "---\ntitle: A\ntags: [t]\ndate: 2025-01-01\n---\n# H\nfirst " +
		"line\nsome zebra here\n", "b.md": "zebra"})
	res := mustCall(t, v, "vault_search", object{"query": "zebra", "limit": 1})
	assert.Same(t, []Hit{{Path: "b.md", Title: "b", Start: 1, End: 1, Snippet: "zebra"}}, hits(t, res))
	assert.That(t, res.Truncated && res.Items == 1 && len(res.Refs) == 1 && !res.Refs[0].Opened && res.Refs[0].Hash == "",
		"%+v", res)
	res = mustCall(t, v, "vault_search", object{"query": "zebra first"})
	want := Hit{Path: "a.md", Title: "A", Heading: "H", Start: 6, End: 8, Snippet: "first line"}
	diff := cmp.Diff(want, hits(t, res)[0])
	assert.That(t, diff == "" && !res.Truncated, "%v %v", diff, res.Truncated)
	wantTexts(t, res, "2 of 2 hits", "1. a.md:6-8  A > H  (2025-01-01)\n   first line\n")
}

func TestSnippetOfALongLineShowsTheWord(t *testing.T) {
	long := strings.Repeat("filler ", 200) + "zebra" + strings.Repeat(" filler", 200)
	v := vaultOf(t, map[string]string{"a.md": long})
	hit := hits(t, mustCall(t, v, "vault_search", object{"query": "zebra"}))[0]
	assert.That(t, strings.Contains(hit.Snippet, "zebra") && len([]rune(hit.Snippet)) <= maxSnippet,
		"snippet %q", hit.Snippet)
}

func TestChangesOnDiskAreSeenAtOnce(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "zebra", "b.md": "lion!"})
	v := open(t, dir)
	steps := []struct {
		name   string
		change func() error
		want   []string
	}{
		{"as found", func() error { return nil }, []string{"a.md:1"}},
		{"same size, same second", func() error {
			return os.WriteFile(filepath.Join(dir, "b.md"), []byte("zebra"), 0o666)
		}, []string{"a.md:1", "b.md:1"}},
		{"removed", func() error { return os.Remove(filepath.Join(dir, "a.md")) }, []string{"b.md:1"}},
		{"renamed", func() error {
			return os.Rename(filepath.Join(dir, "b.md"), filepath.Join(dir, "c.md"))
		}, []string{"c.md:1"}},
		{"replaced by an older file", func() error {
			other := filepath.Join(t.TempDir(), "x")
			writeFile(t, other, "lions")
			if err := os.Chtimes(other, noon, noon); err != nil {
				return err
			}
			return os.Rename(other, filepath.Join(dir, "c.md"))
		}, []string{}},
	}
	for _, step := range steps {
		assert.NoError(t, step.change())
		assert.NoDiff(t, cmp.Diff(step.want, foundBy(t, v, object{"query": "zebra"})), "%s", step.name)
	}
}

func TestWhatCannotBeReadIsNamed(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Log("root reads everything: only the bound on notes is checked")
	}
	dir := folder(t, map[string]string{"a.md": "zebra", "b.md": "zebra", "c.md": "zebra", "locked/d.md": "zebra"})
	v := open(t, dir, func(v *Vault) { v.maxNotes = 2 })
	res := mustCall(t, v, "vault_search", object{"query": "zebra"})
	assert.That(t, res.Items == 2 && strings.Contains(res.Text, "2 notes after the first 2"), "%s", res.Text)
	if os.Geteuid() == 0 {
		return
	}
	assert.NoError(t, os.Chmod(filepath.Join(dir, "locked"), 0))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "locked"), 0o700) })
	res = mustCall(t, open(t, dir), "vault_search", object{"query": "zebra"})
	assert.That(t, strings.Contains(res.Text, "locked: "), "%v", res.Text)
}

// File systems keep times so coarse that two quick changes can carry the same one.
func TestQuickSecondChangeIsSeen(t *testing.T) {
	dir := folder(t, nil)
	v := open(t, dir)
	now := time.Now()
	for _, text := range []string{"lions", "zebra"} {
		name := filepath.Join(dir, "a.md")
		writeFile(t, name, text)
		assert.NoError(t, os.Chtimes(name, now, now))
		got := foundBy(t, v, object{"query": text})
		assert.That(t, len(got) == 1, "%s was not seen", text)
	}
}

func TestUnchangedNotesAreNotReadAgain(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "zebra", "b.md": "lion"})
	for _, name := range []string{"a.md", "b.md"} {
		assert.NoError(t, os.Chtimes(filepath.Join(dir, name), noon, noon))
	}
	v := open(t, dir)
	hashes := func() (first [2]*nameHash) {
		t.Helper()
		_, err := v.survey(t.Context())
		assert.NoError(t, err)
		for i, name := range []string{"a.md", "b.md"} {
			if k := v.names.all()[name]; k.info != nil {
				first[i] = &k.hashes[0]
			}
		}
		return first
	}
	first := hashes()
	writeFile(t, filepath.Join(dir, "b.md"), "tiger")
	if second := hashes(); first[0] == nil || second[0] != first[0] || first[1] == nil || second[1] != nil {
		t.Error("what changed is not what was read again")
	}
	mustCall(t, v, "vault_search", object{"query": "zebra"})
	third := hashes()
	assert.That(t, third[0] == first[0], "a search forgets what is known of an unchanged note")
	assert.NoError(t, os.Remove(filepath.Join(dir, "a.md")))
	hashes()
	assert.That(t, len(v.names.all()) <= 1, "what is gone is kept: %v", v.names.all())
}

func TestManyHitsStayWithinTheBound(t *testing.T) {
	files := map[string]string{}
	for i := range 80 {
		files[fmt.Sprintf("%s/%03d.md", strings.Repeat("f", 180), i)] = "# " + strings.Repeat("title ", 100) + "\n" +
			strings.Repeat("zebra ", 400)
	}
	res := mustCall(t, vaultOf(t, files), "vault_search", object{"query": "zebra", "limit": 50})
	assert.That(t, len(res.Text) <= tool.MaxText && res.Items == 50 && res.Truncated,
		"%d bytes, %d items, truncated %v", len(res.Text), res.Items, res.Truncated)
}
