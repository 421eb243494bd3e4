package vault

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/files"
	"sibyl/internal/tool"
)

func TestReadGivesLinesFrontMatterLinksAndHash(t *testing.T) {
	text := "---\ntitle: Cache design\ntags: [infra]\naliases: [Caching]\ndate: 2025-01-02\nowner: Ada\n---\n# " +
		"Why\nSee [[Redis#Setup|redis]] and [[gone]].\n"
	v := vaultOf(t, map[string]string{
		"projects/cache.md": text, "redis.md": "[[caching]] x\n\n![[CACHE DESIGN]]\n",
		"other.md": "[[projects/cache.md#Why]]", "self.md": "[[self]]",
	})
	res := mustCall(t, v, "vault_read", object{"path": "projects/cache.md"})
	hash := files.Hash([]byte(text))
	ref := tool.Ref{Source: tool.Vault, Path: "projects/cache.md", Title: "Cache design",
		Start: 1, End: 9, Hash: hash, Opened: true}
	assert.Same(t, []tool.Ref{ref}, res.Refs)
	got := content(t, res)
	assert.That(t, got == text, "content %q", got)
	wantTexts(t, res, "Title: Cache design\nDate: 2025-01-02\nTags: infra\nAliases: Caching\nHash: "+hash+
		"\nLines: 1-9 of 9\n",
		"    8  # Why", "Links (2):\n- line 9: [[Redis#Setup]] -> redis.md\n- line 9: [[gone]] -> (no such note)\n",
		"Linked from (3):\n- other.md:1 other\n- redis.md:1 redis\n- redis.md:3 redis\n")
}

func TestReadFindsTheNoteThatIsMeant(t *testing.T) {
	v := vaultOf(t, map[string]string{
		"a/Topic.md": "---\naliases: [Thema]\n---\n", "b/Topic.md": "# Title of b", "U\u0301nico.md": "x",
		"threads/log.md": "x",
		"c/case.md":      "x", "c/Case.md": "x", "two.md": "# Same", "three.md": "# Same", "name.md": "# First",
		"x.md": "# name", "UP.MD": "x",
		"A B.md": "---\ntitle: 'What/How'\n---\n",
	})
	tests := []struct{ by, value, want string }{
		{"note", "Thema", "a/Topic.md"}, {"note", "thema", "a/Topic.md"}, {"note", "a/topic", "a/Topic.md"},
		{"note", "/a/Topic.md", "a/Topic.md"},
		{"note", "[[b/Topic|shown]]", "b/Topic.md"}, {"note", "title of B", "b/Topic.md"},
		{"note", "ÚNICO", "U\u0301nico.md"}, {"note", "log", "threads/log.md"},
		{"note", "case", "c/case.md"}, {"note", "Case", "c/Case.md"}, {"note", "name", "name.md"},
		{"note", "what/how", "A B.md"}, {"note", "up", "UP.MD"},
		{"path", "b/Topic.md", "b/Topic.md"}, {"path", "b/topic", "b/Topic.md"}, {"path", "único.md", "U\u0301nico.md"},
		{"path", "c/Case.md", "c/Case.md"},
	}
	for _, test := range tests {
		t.Run(test.by+" "+test.value, func(t *testing.T) {
			assert.Equal(t, mustCall(t, v, "vault_read", object{test.by: test.value}).Refs[0].Path, test.want)
		})
	}
	ambiguous := []struct {
		by, value string
		says      []string
	}{
		{"note", "Topic", []string{"2 notes", "a/Topic.md", "b/Topic.md"}},
		{"note", "same", []string{"three.md, two.md"}},
		{"note", "CASE", []string{"c/Case.md, c/case.md"}},
		{"path", "c/CASE.md", []string{"c/Case.md, c/case.md", "exact spelling"}},
	}
	for _, test := range ambiguous {
		_, err := callTool(t, v, "vault_read", "", object{test.by: test.value})
		wantError(t, err, tool.InvalidArgs, test.says...)
	}
	for by, value := range map[string]string{"note": "Topics", "path": "c/topics.md"} {
		_, err := callTool(t, v, "vault_read", "", object{by: value})
		wantError(t, err, tool.NotFound, "similar: a/Topic.md, b/Topic.md", "vault_search")
	}
}

func TestLinkPrefersTheSameFolderThenTheExactSpelling(t *testing.T) {
	v := vaultOf(t, map[string]string{
		"a/topic.md": "x", "b/topic.md": "x", "a/from.md": "[[topic]] [[../b/topic]]",
		"from.md":   "[[topic]] [[b/topic]] [[pic.png]]",
		"c/case.md": "x", "c/Case.md": "x", "case from.md": "[[Case]] [[case]] [[CASE]]",
	})
	for p, want := range map[string]string{
		"a/from.md":    "[[topic]] -> a/topic.md, [[../b/topic]] -> b/topic.md",
		"from.md":      "[[topic]] -> (several notes have this name), [[b/topic]] -> b/topic.md, [[pic.png]] -> (not a note)",
		"case from.md": "[[Case]] -> c/Case.md, [[case]] -> c/case.md, [[CASE]] -> (several notes have this name)",
	} {
		wantTexts(t, mustCall(t, v, "vault_read", object{"path": p}), "- line 1: "+strings.ReplaceAll(want, ", ",
			"\n- line 1: ")+"\n")
	}
}

func TestReadSectionAndLines(t *testing.T) {
	v := vaultOf(t, map[string]string{"a.md": "intro\n# One\nx\n## Sub\ny\n# Two\nz\n", "none.md": "text"})
	tests := []struct {
		name string
		args object
		want string
	}{
		{"section", object{"path": "a.md", "section": "one"}, "# One\nx\n## Sub\ny\n"},
		{"link with a heading", object{"note": "[[a#Two|shown]]"}, "# Two\nz\n"},
		{"lines win over the link's heading", object{"note": "a#Two", "start": 1, "end": 1}, "intro\n"},
		{"lines", object{"path": "a.md", "start": 3, "end": 4}, "x\n## Sub\n"},
		{"to the end", object{"path": "a.md", "start": 6}, "# Two\nz\n"},
		{"beyond the end", object{"path": "a.md", "start": 7, "end": 99}, "z\n"},
		{"from the beginning", object{"path": "a.md", "end": 1}, "intro\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, content(t, mustCall(t, v, "vault_read", test.args)), test.want)
		})
	}
	_, err := callTool(t, v, "vault_read", "", object{"path": "a.md", "section": "Three"})
	wantError(t, err, tool.NotFound, "One; Sub; Two")
	_, err = callTool(t, v, "vault_read", "", object{"path": "none.md", "section": "Three"})
	wantError(t, err, tool.NotFound, "no headings")
}

func TestReadGoesOnWhereItStopped(t *testing.T) {
	var text strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&text, "line %d %s\n", i+1, strings.Repeat("x", i%60))
	}
	v := vaultOf(t, map[string]string{"a.md": text.String()})
	var read strings.Builder
	for start, calls := 1, 0; start <= 3000; calls++ {
		assert.Require(t, calls <= 20, "reading does not get on")
		res := mustCall(t, v, "vault_read", object{"path": "a.md", "start": start})
		end := res.Refs[0].End
		assert.Require(t, len(res.Text) <= tool.MaxText && res.Truncated == (end < 3000),
			"%d bytes, to line %d, truncated %v", len(res.Text), end, res.Truncated)
		assert.Require(t, end >= 3000 || strings.Contains(res.Text, fmt.Sprintf("go on with start %d", end+1)),
			"the text does not say how to go on")
		read.WriteString(content(t, res))
		start = end + 1
	}
	assert.That(t, read.String() == text.String(), "the parts are not the whole")
}

func TestHugeNoteIsReadInPart(t *testing.T) {
	const most = 4 << 20
	dir := folder(t, nil)
	name := filepath.Join(dir, "huge.md")
	writeFile(t, name, "# Huge zebra\n"+strings.Repeat(strings.Repeat("x", 99)+"\n", 60_000))
	if err := os.Truncate(name, 50<<20); err != nil { // the rest is a hole
		t.Fatal(err)
	}
	v := open(t, dir)
	v.noteBytes = most
	res := mustCall(t, v, "vault_read", object{"path": "huge.md"})
	assert.That(t, res.Refs[0].Hash == "" && res.Truncated && len(res.Text) <= tool.MaxText &&
		strings.Contains(res.Text, "larger than 4 MiB"),
		"%+v, truncated %v, %d bytes", res.Refs[0], res.Truncated, len(res.Text))
	const lines = (most-len("# Huge zebra\n"))/100 + 1
	wantTexts(t, res, fmt.Sprintf(" of %d; go on", lines))
	_, err := callTool(t, v, "vault_read", "", object{"path": "huge.md", "start": 59_000})
	wantError(t, err, tool.TooLarge, fmt.Sprintf("lines 1-%d can be read", lines))
	for i, args := range []object{
		{"path": "huge.md", "mode": "append", "content": "x"}, {"path": "huge.md", "mode": "replace", "content": "x",
			"base_hash": files.Hash(nil)},
	} {
		_, err := callTool(t, v, "vault_write", fmt.Sprint(i), args)
		wantError(t, err, tool.TooLarge)
	}
	assert.Same(t, []string{"huge.md:1-" + fmt.Sprint(lines)}, foundBy(t, v, object{"query": "zebra"}))
}

func TestOddNotesAreReadable(t *testing.T) {
	for name, test := range map[string]struct{ text, content, warning string }{
		"empty":               {"", "", ""},
		"CRLF":                {"# A\r\nx\r\n", "# A\nx\n", ""},
		"invalid UTF-8":       {"bad \xff\n", "bad \ufffd\n", "not valid UTF-8"},
		"broken front matter": {"---\na: [\n---\nx\n", "---\na: [\n---\nx\n", "not valid YAML"},
		"no last line end":    {"x", "x\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			res := mustCall(t, vaultOf(t, map[string]string{"a.md": test.text}), "vault_read", object{"path": "a.md"})
			if got := content(t, res); got != test.content || res.Refs[0].Hash != files.Hash([]byte(test.text)) {
				t.Errorf("content %q of %+v", got, res.Refs[0])
			}
			assert.That(t, strings.Contains(res.Text, test.warning) &&
				strings.Contains(res.Text, "Warning: ") == (test.warning != ""),
				"it does not warn of %q: %s", test.warning, res.Text)
		})
	}
}

func TestLongLineAndManyLinksStayWithinTheBound(t *testing.T) {
	files := map[string]string{"a.md": "[[b]] " + strings.Repeat("y", 200_000) + "\n" +
		strings.Repeat("[["+strings.Repeat("c", 300)+"]]\n", 500)}
	for i := range 100 {
		files[fmt.Sprintf("%s%03d.md", strings.Repeat("n", 150), i)] = "# " + strings.Repeat("T", 300) + "\n[[a]]"
	}
	res := mustCall(t, vaultOf(t, files), "vault_read", object{"path": "a.md"})
	links := strings.Count(res.Text, "\n- ")
	assert.That(t, len(res.Text) <= tool.MaxText && res.Truncated && links <= 2*maxRelated,
		"%d bytes, truncated %v, %d links", len(res.Text), res.Truncated, links)
	wantTexts(t, res, "Links (501)", "Linked from (100)")
}

func TestListFolders(t *testing.T) {
	v := vaultOf(t, map[string]string{
		"b.md": "---\ntitle: B\ntags: [x/y]\ndate: 2025-01-01\n---\n", "a.md": "#x\n", "sub/c.md": "",
		"sub/deep/d.md": "#x", "sub-2/e.md": "", "empty/note.txt": "",
	})
	const folders = "- empty/ (0 notes)\n- sub/ (2 notes)\n- sub-2/ (1 note)\n"
	for name, test := range map[string]struct {
		args object
		want string
	}{
		"root": {object{}, "The vault: 3 folders, 2 notes.\n" + folders +
			"1. a.md  a  #x\n2. b.md  B  (2025-01-01)  #x/y\n"},
		"folder": {object{"folder": "sub"}, "sub: 1 folder, 1 note.\n- sub/deep/ (1 note)\n1. sub/c.md  c\n"},
		"recursive": {object{"folder": "sub", "recursive": true},
			"sub: 1 folder, 2 notes.\n- sub/deep/ (1 note)\n1. sub/c.md  c\n2. sub/deep/d.md  d  #x\n"},
		"tag": {object{"tag": "x/y"}, "The vault: 3 folders, 1 note.\n" + folders +
			"1. b.md  B  (2025-01-01)  #x/y\n"},
		"first page": {object{"folder": "sub", "recursive": true, "limit": 1},
			"sub: 1 folder, 2 notes.\n- sub/deep/ (1 note)\n1. sub/c.md  c\n1 more; go on with from 2.\n"},
		"last page": {object{"folder": "sub", "recursive": true, "limit": 1, "from": 2},
			"sub: 1 folder, 2 notes.\n- sub/deep/ (1 note)\n2. sub/deep/d.md  d  #x\n"},
	} {
		t.Run(name, func(t *testing.T) {
			res := mustCall(t, v, "vault_list", test.args)
			diff := cmp.Diff(test.want, res.Text)
			assert.That(t, diff == "" && res.Truncated == strings.Contains(test.want, "more") && res.Items == len(res.Refs),
				"%s%+v", diff, res)
		})
	}
	_, err := callTool(t, v, "vault_list", "", object{"folder": "sub/none"})
	wantError(t, err, tool.NotFound, "sub/none")
}

func TestLongListStaysWithinTheBoundAndLosesNothing(t *testing.T) {
	files := map[string]string{}
	for i := range 600 {
		files[fmt.Sprintf("%s%03d.md", strings.Repeat("n", 150), i)] = "# " + strings.Repeat("T", 250)
	}
	v := vaultOf(t, files)
	seen := []string{}
	for from, calls := 1, 0; from <= 600; calls++ {
		assert.Require(t, calls <= 20, "listing does not get on")
		res := mustCall(t, v, "vault_list", object{"from": from, "limit": 500})
		assert.Require(t, len(res.Text) <= tool.MaxText && len(res.Refs) == res.Items,
			"%d bytes, %d refs of %d", len(res.Text), len(res.Refs), res.Items)
		seen = append(seen, cited(res)...)
		from += res.Items
	}
	assert.Same(t, slices.Sorted(maps.Keys(files)), seen)
}
