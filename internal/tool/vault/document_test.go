package vault

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/text/markdown/markdowntest"
	"sibyl/internal/text/search"
)

func unexported() cmp.Option { return cmp.AllowUnexported(link{}, frontMatter{}) }

func TestFrontMatter(t *testing.T) {
	tests := []struct {
		name, text string
		want       frontMatter
	}{
		{"all fields", "---\ntitle: Cache\ntags: [a, '#b', p/q]\naliases:\n  - Cash\ndate: 2025-10-05\n---\nx",
			frontMatter{
				end: 7, title: "Cache", date: "2025-10-05", at: time.Date(2025, 10, 5, 0, 0, 0, 0, time.UTC),
				tags: []string{"a", "b", "p/q"}, aliases: []string{"Cash"},
				fields: map[string]any{"title": "Cache", "tags": []any{"a", "#b", "p/q"}, "aliases": []any{"Cash"},
					"date": "2025-10-05"},
			}},
		{"tags and alias as text", "---\ntags: '#a, b c'\nalias: One Name, Two\n---", frontMatter{
			end: 4, tags: []string{"a", "b", "c"}, aliases: []string{"One Name", "Two"},
			fields: map[string]any{"tags": "#a, b c", "alias": "One Name, Two"},
		}},
		{"numbers keep their spelling", "---\nid: 007\nn: 1e3\nok: yes\nnone: ~\n---", frontMatter{
			end: 6, fields: map[string]any{"id": "007", "n": "1e3", "ok": "yes", "none": nil},
		}},
		{"date with a time", "---\ndate: 2025-10-05 14:30\n---", frontMatter{
			end: 3, date: "2025-10-05 14:30", at: time.Date(2025, 10, 5, 14, 30, 0, 0, time.UTC),
			fields: map[string]any{"date": "2025-10-05 14:30"},
		}},
		{"date nobody can read", "---\ndate: last week\n---", frontMatter{end: 3, date: "last week",
			fields: map[string]any{"date": "last week"}}},
		{"empty block", "---\n---\nx", frontMatter{end: 2}},
		{"ended by dots", "---\ntitle: x\n...\n", frontMatter{end: 3, title: "x",
			fields: map[string]any{"title": "x"}}},
		{"none", "text\n---\nx", frontMatter{}},
		{"rule within the text", "\n---\ntitle: x\n---\n", frontMatter{}},
		{"broken YAML", "---\ntitle: [x\n---\ntext",
			frontMatter{end: 3, warning: "the front matter is not valid YAML"}},
		{"list instead of fields", "---\n- a\n---\n",
			frontMatter{end: 3, warning: "the front matter is not a list of `name: value`"}},
		{"not closed", "---\ntitle: x\n", frontMatter{warning: "the front matter is not closed"}},
		{"too long", "---\n" + strings.Repeat("a: b\n", maxFront/5+1) + "---\n",
			frontMatter{warning: "the front matter is longer than 64 KiB"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := parseFront(splitLines(test.text))
			assert.That(t, strings.HasPrefix(got.warning, test.want.warning) && (got.warning == "") == (test.want.warning == ""),
				"warning %q, want %q", got.warning, test.want.warning)
			got.warning = test.want.warning
			assert.Same(t, test.want, got, unexported())
		})
	}
}

func TestAliasBombInFrontMatterIsCut(t *testing.T) {
	bomb := "---\na: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c <= 'i'; c++ {
		ref := "*" + string(c-1)
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat(ref+", ", 9) + ref + "]\n"
	}
	d := parseNote("a.md", []byte(bomb+"---\ntext\n"), false)
	assert.That(t, len(d.warnings) == 1 && (strings.Contains(d.warnings[0], "more than 2000 values") ||
		strings.Contains(d.warnings[0], "not valid YAML")), "warnings %q", d.warnings)
	assert.That(t, len(d.sections) == 1 && d.sections[0].start == len(d.lines), "the text was lost: %+v", d.sections)
}

// In the text, the sections of a note stand behind it: their lines, and their headings. Its last line has no end.
func TestSections(t *testing.T) {
	files := assert.Must(txtar.ParseFile("testdata/sections.txtar"))(t).Files
	assert.That(t, len(files) >= 18, "only %d notes", len(files)/2)
	for pair := range slices.Chunk(files, 2) {
		got := ""
		for _, s := range parseNote("a.md", []byte(strings.TrimSuffix(string(pair[0].Data), "\n")), false).sections {
			got += strings.TrimSpace(fmt.Sprintf("%d-%d %s %s", s.start, s.end, strings.Repeat("#", s.level), s.heading)) + "\n"
		}
		assert.NoDiff(t, cmp.Diff(string(pair[1].Data), got), "%s", pair[0].Name)
	}
}

func TestLinksAndTags(t *testing.T) {
	tests := []struct {
		name, text string
		links      []link
		tags       []string
	}{
		{"forms", "[[a]] [[b|text]] [[c#h]] [[d#h|text]] [[#h]] ![[e.png]]", []link{
			{target: "a", line: 1}, {target: "b", line: 1}, {target: "c", heading: "h", line: 1},
			{target: "d", heading: "h", line: 1}, {heading: "h", line: 1},
			{target: "e.png", line: 1},
		}, nil},
		{"bar in a table", `| [[a\|text]] |`, []link{{target: "a", line: 1}}, nil},
		{"not closed", "[[a\nb]] [[c", nil, nil},
		{"the inner one counts", "[[a [[b]] [[[c]]", []link{{target: "b", line: 1}, {target: "c", line: 1}}, nil},
		{"code is none", "`[[a]] #x` ``[[b]] ` #y`` [[c]]\n```\n[[d]] #z\n```", []link{{target: "c", line: 1}}, nil},
		{"open code span is text", "` [[a]] `` #x", []link{{target: "a", line: 1}}, []string{"x"}},
		{"escaped", `\[[a]] \#x`, nil, nil},
		{"tags", "#a x#b #c/d, #12 #x1 #ção-á_ #a ##no", nil, []string{"a", "c/d", "x1", "ção-á_"}},
		{"heading's tag", "# Title #t", nil, []string{"t"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := parseNote("a.md", []byte(test.text), false)
			assert.Same(t, test.links, d.links, unexported())
			assert.Same(t, test.tags, d.tags)
		})
	}
}

func TestNamedSectionHoldsItsSubsections(t *testing.T) {
	d := parseNote("a.md", []byte("# A\n## B\nx\n### C\ny\n## D: é\n# E\n## B\nz\n"), false)
	tests := []struct {
		heading    string
		start, end int
	}{
		{"B", 2, 5}, {"b", 2, 5}, {"A", 1, 6}, {"E#B", 8, 9}, {"A#B#C", 4, 5}, {"D: e\u0301", 6, 6}, {"d e", 6, 6},
		{"A#E", 0, 0}, {"none", 0, 0}, {"", 0, 0},
	}
	for _, test := range tests {
		s, found := d.sectionUnder(test.heading)
		assert.That(t, found == (test.start > 0) && (!found || (s.start == test.start && s.end == test.end)),
			"%q: %d-%d %v, want %d-%d", test.heading, s.start, s.end, found, test.start, test.end)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"---\ntitle: x\ntags: [a]\n---\n# H\n[[a|b]] #t\n```\n", "---\n&a [*a]\n---\n", "[[[[[[", "````` ``` `",
		"\xff\xfe#\x00", "---\n? [a]\n: b\n---",
		"## 2025-10-05T14:30:22Z t-0123456789abcdef T\n\ntext\n", "| [[a\\|b]] |",
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, raw []byte, thread bool) {
		p := "a.md"
		if thread {
			p = "threads/a.md"
		}
		d := parseNote(p, raw, false)
		last := d.front.end
		for _, s := range d.sections {
			assert.Require(t, s.start > last && s.end >= s.start && s.end <= len(d.lines),
				"sections overlap or leave the note: %+v of %d lines", d.sections, len(d.lines))
			last = s.end
		}
		for _, l := range d.links {
			assert.Require(t, l.line >= 1 && l.line <= len(d.lines) && utf8.ValidString(l.target+l.heading), "link %+v", l)
		}
		search.NewQuery("a note").Finder().Count(searchDocument(d))
	})
}

// What a note says may come from a stranger: whoever opens the note loads and runs nothing of it.
func TestNothingThatIsWrittenIntoANoteIsLive(t *testing.T) {
	v := vaultOf(t, map[string]string{"mine.md": "# Mine\n\n![holiday](https://photos.example/1.jpg)\n"})
	for i, text := range markdowntest.Texts() {
		if i%10 > 0 { // each write is synced
			continue
		}
		name := object{"path": "n.md", "mode": "create", "content": text}
		if i > 0 {
			name["mode"] = "append"
		}
		mustCallOnce(t, v, "vault_write", fmt.Sprint("key-", i), name)
	}
	markdowntest.Check(t, "notes", content(t, mustCall(t, v, "vault_read", object{"path": "n.md"})))
	read := mustCall(t, v, "vault_read", object{"path": "mine.md"})
	own := "# Ours\n\n![holiday](https://photos.example/1.jpg)"
	mustCallOnce(t, v, "vault_write", "mine", object{"path": "mine.md", "mode": "replace", "content": own,
		"base_hash": read.Refs[0].Hash})
	got := content(t, mustCall(t, v, "vault_read", object{"path": "mine.md"}))
	assert.That(t, got == own+"\n", "a picture of the person's own became %q", got)
}

func TestTitleComesFromFrontMatterThenHeadingThenName(t *testing.T) {
	for text, want := range map[string]string{
		"---\ntitle: Front\n---\n# Head": "Front",
		"## Sub\n# Head\n# Other":        "Head",
		"text":                           "Some note",
	} {
		assert.Equalf(t, parseNote("x/Some note.md", []byte(text), false).title, want, "%q: title", text)
	}
}
