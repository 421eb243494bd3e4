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

	"sibyl/internal/files"
	"sibyl/internal/tool"
)

func TestReadGivesLinesFrontMatterLinksAndHash(t *testing.T) {
	text := "---\ntitle: Cache design\ntags: [infra]\naliases: [Caching]\ndate: 2025-01-02\nowner: Ada\n---\n# Why\nSee [[Redis#Setup|redis]] and [[gone]].\n"
	v := vaultOf(t, map[string]string{
		"projects/cache.md": text, "redis.md": "[[caching]] x\n\n![[CACHE DESIGN]]\n", "other.md": "[[projects/cache.md#Why]]", "self.md": "[[self]]",
	})
	res := do(t, v, "vault_read", object{"path": "projects/cache.md"})
	hash := files.Hash([]byte(text))
	want := ReadData{
		Path: "projects/cache.md", Title: "Cache design", Hash: hash, Lines: 9, Start: 1, End: 9, Content: text,
		FrontMatter: map[string]any{"title": "Cache design", "tags": []any{"infra"}, "aliases": []any{"Caching"}, "date": "2025-01-02", "owner": "Ada"},
		Tags:        []string{"infra"}, Aliases: []string{"Caching"}, Date: "2025-01-02",
		Links: []Link{{Target: "Redis", Heading: "Setup", Text: "redis", Line: 9, Path: "redis.md"}, {Target: "gone", Line: 9}}, LinkCount: 2,
		Backlinks: []Backlink{{"other.md", "other", 1}, {"redis.md", "redis", 1}, {"redis.md", "redis", 3}}, BacklinkCount: 3,
	}
	if diff := cmp.Diff(want, dataOf[ReadData](t, res)); diff != "" {
		t.Error(diff)
	}
	ref := tool.Ref{Source: tool.Vault, Path: "projects/cache.md", Title: "Cache design", Start: 1, End: 9, Hash: hash, Opened: true}
	if diff := cmp.Diff([]tool.Ref{ref}, res.Refs); diff != "" {
		t.Error(diff)
	}
	for _, line := range []string{"Hash: " + hash, "    8  # Why", "Lines: 1-9 of 9", "[[gone]] -> (no such note)", "- redis.md:3 redis"} {
		if !strings.Contains(res.Text, line) {
			t.Errorf("the text lacks %q:\n%s", line, res.Text)
		}
	}
}

func TestReadFindsTheNoteThatIsMeant(t *testing.T) {
	v := vaultOf(t, map[string]string{
		"a/Topic.md": "---\naliases: [Thema]\n---\n", "b/Topic.md": "# Title of b", "U\u0301nico.md": "x", "threads/log.md": "x",
		"c/case.md": "x", "c/Case.md": "x", "two.md": "# Same", "three.md": "# Same", "name.md": "# First", "x.md": "# name", "UP.MD": "x",
		"A B.md": "---\ntitle: 'What/How'\n---\n",
	})
	tests := []struct{ by, value, want string }{
		{"note", "Thema", "a/Topic.md"}, {"note", "thema", "a/Topic.md"}, {"note", "a/topic", "a/Topic.md"}, {"note", "/a/Topic.md", "a/Topic.md"},
		{"note", "[[b/Topic|shown]]", "b/Topic.md"}, {"note", "title of B", "b/Topic.md"}, {"note", "ÚNICO", "U\u0301nico.md"}, {"note", "log", "threads/log.md"},
		{"note", "case", "c/case.md"}, {"note", "Case", "c/Case.md"}, {"note", "name", "name.md"}, {"note", "what/how", "A B.md"}, {"note", "up", "UP.MD"},
		{"path", "b/Topic.md", "b/Topic.md"}, {"path", "b/topic", "b/Topic.md"}, {"path", "único.md", "U\u0301nico.md"}, {"path", "c/Case.md", "c/Case.md"},
	}
	for _, test := range tests {
		t.Run(test.by+" "+test.value, func(t *testing.T) {
			if got := dataOf[ReadData](t, do(t, v, "vault_read", object{test.by: test.value})).Path; got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
	ambiguous := []struct {
		by, value string
		says      []string
	}{
		{"note", "Topic", []string{"2 notes", "a/Topic.md", "b/Topic.md"}}, {"note", "same", []string{"three.md, two.md"}},
		{"note", "CASE", []string{"c/Case.md, c/case.md"}}, {"path", "c/CASE.md", []string{"c/Case.md, c/case.md", "exact spelling"}},
	}
	for _, test := range ambiguous {
		_, err := try(t, v, "vault_read", "", object{test.by: test.value})
		wantError(t, err, tool.InvalidArgs, test.says...)
	}
	for by, value := range map[string]string{"note": "Topics", "path": "c/topics.md"} {
		_, err := try(t, v, "vault_read", "", object{by: value})
		wantError(t, err, tool.NotFound, "similar: a/Topic.md, b/Topic.md", "vault_search")
	}
}

func TestLinkPrefersTheSameFolderThenTheExactSpelling(t *testing.T) {
	v := vaultOf(t, map[string]string{
		"a/topic.md": "x", "b/topic.md": "x", "a/from.md": "[[topic]] [[../b/topic]]", "from.md": "[[topic]] [[b/topic]] [[pic.png]]",
		"c/case.md": "x", "c/Case.md": "x", "case from.md": "[[Case]] [[case]] [[CASE]]",
	})
	links := func(p string) (paths []string) {
		for _, l := range dataOf[ReadData](t, do(t, v, "vault_read", object{"path": p})).Links {
			paths = append(paths, fmt.Sprint(l.Path, l.Ambiguous))
		}
		return paths
	}
	if diff := cmp.Diff([]string{"a/topic.mdfalse", "b/topic.mdfalse"}, links("a/from.md")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"true", "b/topic.mdfalse", "false"}, links("from.md")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"c/Case.mdfalse", "c/case.mdfalse", "true"}, links("case from.md")); diff != "" {
		t.Error(diff)
	}
}

func TestReadSectionAndLines(t *testing.T) {
	v := vaultOf(t, map[string]string{"a.md": "intro\n# One\nx\n## Sub\ny\n# Two\nz\n", "none.md": "text"})
	tests := []struct {
		name          string
		args          object
		heading, want string
	}{
		{"section", object{"path": "a.md", "section": "one"}, "One", "# One\nx\n## Sub\ny\n"},
		{"link with a heading", object{"note": "[[a#Two|shown]]"}, "Two", "# Two\nz\n"},
		{"lines win over the link's heading", object{"note": "a#Two", "start": 1, "end": 1}, "", "intro\n"},
		{"lines", object{"path": "a.md", "start": 3, "end": 4}, "", "x\n## Sub\n"},
		{"to the end", object{"path": "a.md", "start": 6}, "", "# Two\nz\n"},
		{"beyond the end", object{"path": "a.md", "start": 7, "end": 99}, "", "z\n"},
		{"from the beginning", object{"path": "a.md", "end": 1}, "", "intro\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			data := dataOf[ReadData](t, do(t, v, "vault_read", test.args))
			if data.Content != test.want || data.Heading != test.heading {
				t.Errorf("got %q under %q, want %q under %q", data.Content, data.Heading, test.want, test.heading)
			}
		})
	}
	_, err := try(t, v, "vault_read", "", object{"path": "a.md", "section": "Three"})
	wantError(t, err, tool.NotFound, "One; Sub; Two")
	_, err = try(t, v, "vault_read", "", object{"path": "none.md", "section": "Three"})
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
		if calls > 20 {
			t.Fatal("reading does not get on")
		}
		res := do(t, v, "vault_read", object{"path": "a.md", "start": start})
		data := dataOf[ReadData](t, res)
		if len(res.Text) > tool.MaxText || res.Truncated != (data.End < 3000) || res.Refs[0].End != data.End {
			t.Fatalf("%d bytes, lines %d-%d, truncated %v", len(res.Text), data.Start, data.End, res.Truncated)
		}
		if data.End < 3000 && !strings.Contains(res.Text, fmt.Sprintf("go on with start %d", data.End+1)) {
			t.Fatal("the text does not say how to go on")
		}
		read.WriteString(data.Content)
		start = data.End + 1
	}
	if read.String() != text.String() {
		t.Error("the parts are not the whole")
	}
}

func TestHugeNoteIsReadInPart(t *testing.T) {
	dir := folder(t, nil)
	name := filepath.Join(dir, "huge.md")
	writeFile(t, name, "# Huge zebra\n"+strings.Repeat(strings.Repeat("x", 99)+"\n", 60_000))
	if err := os.Truncate(name, 50<<20); err != nil { // the rest is a hole
		t.Fatal(err)
	}
	v := open(t, dir)
	res := do(t, v, "vault_read", object{"path": "huge.md"})
	data := dataOf[ReadData](t, res)
	if data.Hash != "" || res.Refs[0].Hash != "" || !res.Truncated || len(res.Text) > tool.MaxText || !strings.Contains(res.Text, "larger than 4 MiB") {
		t.Errorf("hash %q, truncated %v, %d bytes", data.Hash, res.Truncated, len(res.Text))
	}
	if data.Lines != (maxNote-len("# Huge zebra\n"))/100+1 {
		t.Errorf("%d lines", data.Lines)
	}
	_, err := try(t, v, "vault_read", "", object{"path": "huge.md", "start": 59_000})
	wantError(t, err, tool.TooLarge, fmt.Sprintf("lines 1-%d can be read", data.Lines))
	for i, args := range []object{
		{"path": "huge.md", "mode": "append", "content": "x"}, {"path": "huge.md", "mode": "replace", "content": "x", "base_hash": files.Hash(nil)},
	} {
		_, err := try(t, v, "vault_write", fmt.Sprint(i), args)
		wantError(t, err, tool.TooLarge)
	}
	if diff := cmp.Diff([]string{"huge.md:1-" + fmt.Sprint(data.Lines)}, foundBy(t, v, object{"query": "zebra"})); diff != "" {
		t.Error(diff)
	}
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
			res := do(t, vaultOf(t, map[string]string{"a.md": test.text}), "vault_read", object{"path": "a.md"})
			data := dataOf[ReadData](t, res)
			if data.Content != test.content || data.Hash != files.Hash([]byte(test.text)) {
				t.Errorf("content %q, hash %s", data.Content, data.Hash)
			}
			if !strings.Contains(strings.Join(data.Warnings, ";"), test.warning) || (len(data.Warnings) > 0) != (test.warning != "") {
				t.Errorf("warnings %q, want %q", data.Warnings, test.warning)
			}
			if !strings.Contains(res.Text, test.warning) {
				t.Errorf("the text hides the warning: %s", res.Text)
			}
		})
	}
}

func TestLongLineAndManyLinksStayWithinTheBound(t *testing.T) {
	files := map[string]string{"a.md": "[[b]] " + strings.Repeat("y", 200_000) + "\n" + strings.Repeat("[["+strings.Repeat("c", 300)+"]]\n", 500)}
	for i := range 100 {
		files[fmt.Sprintf("%s%03d.md", strings.Repeat("n", 150), i)] = "# " + strings.Repeat("T", 300) + "\n[[a]]"
	}
	res := do(t, vaultOf(t, files), "vault_read", object{"path": "a.md"})
	data := dataOf[ReadData](t, res)
	if len(res.Text) > tool.MaxText || !res.Truncated || len(data.Links) != mostRelated || data.LinkCount != 501 || len(data.Backlinks) != mostRelated || data.BacklinkCount != 100 {
		t.Errorf("%d bytes, truncated %v, %d of %d links, %d of %d backlinks", len(res.Text), res.Truncated, len(data.Links), data.LinkCount, len(data.Backlinks), data.BacklinkCount)
	}
	if !strings.Contains(res.Text, "Linked from (100)") {
		t.Error("the backlinks were cut off the text")
	}
}

func TestListFolders(t *testing.T) {
	v := vaultOf(t, map[string]string{
		"b.md": "---\ntitle: B\ntags: [x/y]\ndate: 2025-01-01\n---\n", "a.md": "#x\n", "sub/c.md": "", "sub/deep/d.md": "#x", "sub-2/e.md": "", "empty/note.txt": "",
	})
	for name, test := range map[string]struct {
		args    object
		folders []FolderInfo
		notes   []NoteInfo
		total   int
		cut     bool
	}{
		"root": {object{}, []FolderInfo{{"empty", 0}, {"sub", 2}, {"sub-2", 1}}, []NoteInfo{
			{Path: "a.md", Title: "a", Tags: []string{"x"}, Lines: 1}, {Path: "b.md", Title: "B", Date: "2025-01-01", Tags: []string{"x/y"}, Lines: 5},
		}, 2, false},
		"folder":     {object{"folder": "sub"}, []FolderInfo{{"sub/deep", 1}}, []NoteInfo{{Path: "sub/c.md", Title: "c"}}, 1, false},
		"recursive":  {object{"folder": "sub", "recursive": true}, []FolderInfo{{"sub/deep", 1}}, []NoteInfo{{Path: "sub/c.md", Title: "c"}, {Path: "sub/deep/d.md", Title: "d", Tags: []string{"x"}, Lines: 1}}, 2, false},
		"tag":        {object{"tag": "x/y"}, []FolderInfo{{"empty", 0}, {"sub", 2}, {"sub-2", 1}}, []NoteInfo{{Path: "b.md", Title: "B", Date: "2025-01-01", Tags: []string{"x/y"}, Lines: 5}}, 1, false},
		"first page": {object{"folder": "sub", "recursive": true, "limit": 1}, []FolderInfo{{"sub/deep", 1}}, []NoteInfo{{Path: "sub/c.md", Title: "c"}}, 2, true},
		"last page":  {object{"folder": "sub", "recursive": true, "limit": 1, "from": 2}, []FolderInfo{{"sub/deep", 1}}, []NoteInfo{{Path: "sub/deep/d.md", Title: "d", Tags: []string{"x"}, Lines: 1}}, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			res := do(t, v, "vault_list", test.args)
			want := ListData{Folder: ".", Folders: test.folders, Notes: test.notes, Total: test.total}
			if f, given := test.args["folder"]; given {
				want.Folder = f.(string)
			}
			if diff := cmp.Diff(want, dataOf[ListData](t, res)); diff != "" {
				t.Error(diff)
			}
			if res.Truncated != test.cut || res.Items != len(test.notes) || strings.Contains(res.Text, "go on with from") != test.cut {
				t.Errorf("%+v", res)
			}
		})
	}
	_, err := try(t, v, "vault_list", "", object{"folder": "sub/none"})
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
		if calls > 20 {
			t.Fatal("listing does not get on")
		}
		res := do(t, v, "vault_list", object{"from": from, "limit": 500})
		if len(res.Text) > tool.MaxText || len(res.Refs) != res.Items {
			t.Fatalf("%d bytes, %d refs of %d", len(res.Text), len(res.Refs), res.Items)
		}
		for _, n := range dataOf[ListData](t, res).Notes {
			seen = append(seen, n.Path)
		}
		from += res.Items
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(files)), seen); diff != "" {
		t.Error(diff)
	}
}
