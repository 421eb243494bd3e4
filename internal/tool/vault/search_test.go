package vault

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/tool"
)

// foundBy lists the hits of a search as path:start-end.
func foundBy(t *testing.T, v *Vault, args object) []string {
	t.Helper()
	return cited(mustCall(t, v, "vault_search", args))
}

func TestSearchRanks(t *testing.T) {
	filler := map[string]string{}
	for i := range 8 {
		filler[fmt.Sprintf("filler%d.md", i)] = "other common words"
	}
	tests := []struct {
		name  string
		files map[string]string
		query string
		want  []string
	}{
		{"title before tag before heading before text", map[string]string{
			"a.md": "caching", "b.md": "# Notes\n## Caching\nx", "c.md": "---\ntags: caching\n---\nx",
			"d.md": "---\ntitle: Caching\n---\nx",
		}, "caching", []string{"d.md:4", "c.md:4", "b.md:2-3", "a.md:1"}},
		{"more terms before fewer", map[string]string{"a.md": "redis redis redis", "b.md": "redis is our cache"},
			"redis cache", []string{"b.md:1", "a.md:1"}},
		{"the whole query before a better place of a part", map[string]string{"a.md": "## Redis",
			"b.md": "---\nuses: redis, cache\n---\nx"}, "redis cache", []string{"b.md:4", "a.md:1"}},
		{"rare terms before common ones", map[string]string{"a.md": "common words", "b.md": "zebra"}, "common zebra",
			[]string{"b.md:1"}},
		{"exact before stem before prefix", map[string]string{"a.md": "caches", "b.md": "cache", "c.md": "cachet"},
			"cache", []string{"b.md:1", "a.md:1", "c.md:1"}},
		{"file name and alias are titles", map[string]string{"zebra plan.md": "x",
			"b.md": "---\naliases: [Zebra]\n---\nx"}, "zebra", []string{"b.md:4", "zebra plan.md:1"}},
		{"other front matter counts", map[string]string{"a.md": "---\nauthor:\n  name: Zora\n---\nx"}, "zora",
			[]string{"a.md:5"}},
		{"accents and case do not matter", map[string]string{"a.md": "A REUNIÃO de hoje"}, "reuniao",
			[]string{"a.md:1"}},
		{"composed and decomposed meet", map[string]string{"a.md": "cafe\u0301"}, "café", []string{"a.md:1"}},
		{"words without spaces", map[string]string{"a.md": "昨天的会议记录", "b.md": "会计"}, "会议", []string{"a.md:1"}},
		{"question words are left out", map[string]string{"a.md": "what did we do", "b.md": "we use a cache"},
			"What did we decide about caching?", []string{"b.md:1"}},
		{"question words alone are looked for", map[string]string{"a.md": "to be or not"}, "to be", []string{"a.md:1"}},
		{"later date on a tie, then path", map[string]string{
			"a.md": "---\ndate: 2024-01-01\n---\nzebra", "b.md": "---\ndate: 2025-01-01\n---\nzebra", "d.md": "zebra",
			"c.md": "zebra",
		}, "zebra", []string{"b.md:4", "a.md:4", "c.md:1", "d.md:1"}},
		{"three sections of a note",
			map[string]string{"a.md": "# a\nzebra zebra\n# b\nzebra\n# c\nzebra\n# d\nzebra\n"}, "zebra",
			[]string{"a.md:1-2", "a.md:3-4", "a.md:5-6"}},
		{"empty note with the title", map[string]string{"zebra.md": ""}, "zebra", []string{"zebra.md"}},
		{"threads by entry", map[string]string{
			"threads/log.md": "## 2025-01-01T00:00:00Z t-0000000000000001 One\n\nzebra\n\n## 2025-01-02T00:00:00Z " +
				"t-0000000000000002\n\nzebra\n",
		}, "zebra", []string{"threads/log.md:5-7", "threads/log.md:1-3"}},
		{"nothing", map[string]string{"a.md": "x"}, "zebra", []string{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			files := map[string]string{}
			for _, some := range []map[string]string{filler, test.files} {
				for name, text := range some {
					files[name] = text
				}
			}
			got := foundBy(t, vaultOf(t, files), object{"query": test.query})
			if len(test.want) > 0 {
				got = got[:min(len(got), len(test.want))]
			}
			assert.Same(t, test.want, got)
		})
	}
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
