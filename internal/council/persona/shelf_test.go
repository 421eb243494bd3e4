package persona

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
)

// put writes a file that looks as if it had been there for long.
func put(t testing.TB, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	assert.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	age(t, file, time.Hour)
	return file
}

func age(t testing.TB, file string, by time.Duration) {
	t.Helper()
	then := time.Now().Add(-by)
	assert.NoError(t, os.Chtimes(file, then, then))
}

// folder is a folder by its path without links.
func folder(t testing.TB) string {
	t.Helper()
	dir := assert.Must(filepath.EvalSymlinks(t.TempDir()))(t)
	return dir
}

func list(t testing.TB, s *Shelf) Listing {
	t.Helper()
	l := assert.Must(s.List(context.Background()))(t)
	return l
}

func namesOf(l Listing) (names []string) {
	for _, p := range l.Oracles {
		names = append(names, p.Name)
	}
	return names
}

func link(t *testing.T, to, from string) {
	t.Helper()
	if err := os.Symlink(to, from); err != nil {
		t.Skip("this system has no links:", err)
	}
}

func TestListTakesTheMarkdownFilesOfTheTopLevel(t *testing.T) {
	dir := folder(t)
	put(t, dir, "b.md", "# Zoe")
	put(t, dir, "c.MD", "# Álvaro")
	for _, other := range []string{"README.md", "readme.md", ".hidden.md", "note.txt", "md"} {
		put(t, dir, other, "# No")
	}
	assert.NoError(t, os.Mkdir(filepath.Join(dir, "deep"), 0o755))
	put(t, filepath.Join(dir, "deep"), "d.md", "# No")
	l := list(t, New(Config{Dir: dir}))
	assert.Same(t, []string{"Álvaro", "Zoe"}, namesOf(l))
	assert.That(t, len(l.Skipped) == 0, "skipped: %v", l.Skipped)
	p := l.Oracles[1]
	assert.That(t, p.File == filepath.Join(dir, "b.md") && p.ID == idOf(p.File), "%+v", p)
}

func TestListSkipsWhatCannotBeUsedWithItsReason(t *testing.T) {
	dir := folder(t)
	put(t, dir, "good.md", "# Good")
	put(t, dir, "utf16.md", "\xff\xfe#\x00")
	put(t, dir, "empty.md", "")
	assert.NoError(t, os.Mkdir(filepath.Join(dir, "folder.md"), 0o755))
	link(t, filepath.Join(dir, "nowhere"), filepath.Join(dir, "dangling.md"))
	link(t, "circle.md", filepath.Join(dir, "circle.md"))
	l := list(t, New(Config{Dir: dir}))
	assert.Same(t, []string{"Good"}, namesOf(l))
	var got []string
	for _, s := range l.Skipped {
		reason, _, _ := strings.Cut(s.Reason, ";")
		got = append(got, filepath.Base(s.File)+": "+reason)
	}
	want := []string{"circle.md: it cannot be read: too many levels of symbolic links",
		"dangling.md: it does not exist: it was removed, or is a dangling link",
		"empty.md: it is empty", "folder.md: it is a folder", "utf16.md: it is UTF-16"}
	diff := cmp.Diff(want[1:], got[1:])
	assert.That(t, diff == "" && strings.HasPrefix(got[0], "circle.md: it cannot be read"), "%v %v", diff, got[0])
}

func TestTwoLinksToOneFileAreOneOracle(t *testing.T) {
	dir, other := folder(t), folder(t)
	file := put(t, dir, "real.md", "No title.")
	outside := put(t, other, "outside.txt", "# Outside")
	link(t, file, filepath.Join(dir, "a-link.md"))
	link(t, outside, filepath.Join(dir, "one.md"))
	link(t, outside, filepath.Join(dir, "two.md"))
	way := filepath.Join(folder(t), "way")
	link(t, dir, way)
	l := list(t, New(Config{Dir: way}))
	diff := cmp.Diff([]string{"Outside", "real"}, namesOf(l))
	assert.Require(t, diff == "", "%v", diff)
	assert.That(t, l.Oracles[0].File == outside && l.Oracles[1].File == file && l.Oracles[1].ID == idOf(file),
		"files: %s, %s", l.Oracles[0].File, l.Oracles[1].File)
}

func TestListTakesAThousandFilesAtMostAndSaysSo(t *testing.T) {
	dir := folder(t)
	for i := range MaxFiles + 2 {
		put(t, dir, fmt.Sprintf("%04d.md", i), fmt.Sprintf("# O%04d", i))
	}
	l := list(t, New(Config{Dir: dir}))
	assert.That(t, len(l.Oracles) == MaxFiles && l.Oracles[MaxFiles-1].Name == "O0999", "%d oracles", len(l.Oracles))
	assert.That(t, len(l.Skipped) == 1 &&
		l.Skipped[0].Reason == "2 of its files are left out, from 1000.md on: the folder has more than 1000",
		"skipped: %v", l.Skipped)
}

func TestAMissingFolderIsAnErrorThatNamesTheSetting(t *testing.T) {
	_, err := New(Config{Dir: filepath.Join(folder(t), "nowhere")}).List(context.Background())
	assert.That(t, errors.Is(err, fs.ErrNotExist) && strings.Contains(err.Error(), "ORACLES_DIR"), "error = %v", err)
	_, err = New(Config{Dir: put(t, folder(t), "file", "x")}).List(context.Background())
	assert.That(t, err != nil, "a file is taken for a folder")
}

func TestAListingIsRememberedForItsTime(t *testing.T) {
	dir := folder(t)
	file := put(t, dir, "a.md", "# One")
	now := time.Date(2025, 12, 20, 10, 0, 0, 0, time.UTC)
	s := New(Config{Dir: dir, TTL: 10 * time.Second, Now: func() time.Time { return now }})
	expect := func(when, want string) {
		t.Helper()
		assert.Equalf(t, strings.Join(namesOf(list(t, s)), ", "), want, "%s", when)
	}
	expect("at first", "One")
	put(t, dir, "a.md", "# Two")
	expect("within the time", "One")
	now = now.Add(10 * time.Second)
	expect("after it", "Two")
	assert.NoError(t, os.Remove(file))
	now = now.Add(-time.Hour)
	expect("when the clock was put back", "")
}

func TestTwoOraclesOfOneNameAreWarnedOf(t *testing.T) {
	dir := folder(t)
	put(t, dir, "a.md", "# Cético")
	put(t, dir, "b.md", "# CETICO")
	put(t, dir, "c.md", "# Other")
	s := New(Config{Dir: dir})
	for range 2 { // the warnings do not grow
		l := list(t, s)
		for i, other := range []string{"b.md", "a.md"} {
			w := l.Oracles[i].Warnings
			assert.That(t, len(w) == 1 && strings.HasPrefix(w[0], other+" has the same name"), "%s: %q", l.Oracles[i].File, w)
		}
		w := l.Oracles[2].Warnings
		assert.That(t, len(w) == 0, "other: %q", w)
	}
}

// What all oracles are asked about may come first: their prompts then begin alike.
func TestOracleMayBeginWithTheContext(t *testing.T) {
	p := assert.Must(parse("{{CONTEXT}}\n\n# Ada\n\nYou are Ada.\n", "/ada.md", "x.md", "{{CONTEXT}}"))(t)
	assert.That(t, p.Name == "Ada" && p.About == "You are Ada." && p.Mode == InPlace && len(p.Warnings) == 0,
		"it is read as %+v", p)
}

func TestOracleIsTellingOfItselfByItsFirstSentence(t *testing.T) {
	for content, want := range map[string]string{
		"# Ada\n\nYou are Dr. Ada, who\ndoubts. You ask.\n":     "You are Dr. Ada, who doubts.",
		"# Ada\n## Who\n{{CONTEXT}}\n\nAsk first! Then go.":     "Ask first!",
		"No title, and one line":                                "No title, and one line",
		"# Ada\n\n{{CONTEXT}}\n":                                "",
		"# Ada\nBefore the placeholder.\n{{CONTEXT}}\nAfter it": "Before the placeholder.",
	} {
		assert.Equalf(t, (&Persona{Content: content, Placeholder: "{{CONTEXT}}"}).about(), want, "%q is about", content)
	}
}

// councils are the built-in oracles by language; in each row those who think alike.
func councils() map[string][]string {
	return map[string][]string{
		"pt": {"Cético", "Visionário", "Otimista", "Pragmático", "Historiador", "Advogado do Diabo", "Ouvinte",
			"Filósofo"},
		"en": {"Skeptic", "Visionary", "Optimist", "Pragmatist", "Historian", "Devil’s Advocate", "Listener",
			"Philosopher"},
		"de": {"Skeptiker", "Visionär", "Mutmacher", "Pragmatiker", "Historiker", "Advocatus Diaboli", "Zuhörer",
			"Philosoph"},
	}
}

func TestBuiltInOraclesLoadWithoutAWarning(t *testing.T) {
	l := list(t, New(Config{Placeholder: "<<OTHER>>"})) // which is for files of a person
	assert.That(t, len(l.Skipped) == 0, "skipped: %v", l.Skipped)
	slugs := map[string]bool{}
	for _, p := range l.Oracles {
		assert.That(t, len(p.Warnings) == 0 && p.Mode == InPlace && p.Placeholder == "{{CONTEXT}}",
			"%s: %s, %q", p.File, p.Mode, p.Warnings)
		assert.That(t, !slugs[p.Slug], "%s: another oracle has the slug %s", p.File, p.Slug)
		slugs[p.Slug] = true
		assert.That(t, p.File == "/prompts/oracles/"+strings.TrimPrefix(p.File, "/prompts/oracles/") &&
			strings.Trim(p.File, "abcdefghijklmnopqrstuvwxyz-/.") == "",
			"%s is no path of lower-case ASCII below /prompts/oracles", p.File)
		before, _, _ := strings.Cut(p.Content, p.Placeholder)
		assert.That(t, strings.HasPrefix(before[strings.LastIndex(before, "\n#")+1:], "## ") &&
			strings.HasSuffix(before, "\n\n"), "%s: the context has no section of its own", p.File)
	}
}

func TestBuiltInOraclesHaveCounterpartsInEachLanguage(t *testing.T) {
	s := New(Config{})
	of := map[string][]string{}
	for _, p := range list(t, s).Oracles {
		of[p.Language] = append(of[p.Language], p.Name)
	}
	for language, names := range councils() {
		slices.Sort(of[language])
		want := slices.Sorted(slices.Values(names))
		assert.That(t, slices.Equal(of[language], want), "%s: %q, want %q", language, of[language], want)
	}
}

func TestTheSkepticIsTheOneOfTheDataModelWordForWord(t *testing.T) {
	p := assert.Must(find(New(Config{}), "cetico"))(t)
	const want = `# Cético

Você é um pensador cético e rigoroso. Seu papel é desafiar as ideias apresentadas, identificar falhas lógicas, questionar premissas não fundamentadas e exigir evidências.

## Contexto do Usuário

{{CONTEXT}}

## Instruções

Analise o contexto acima e forneça um feedback crítico e construtivo. Identifique:
1. Premissas questionáveis
2. Lacunas no raciocínio
3. Possíveis contra-argumentos
4. Sugestões de refinamento

Seja direto mas respeitoso. Seu objetivo é fortalecer o pensamento, não desencorajá-lo.
`
	assert.That(t, p.Content == want, "it holds:\n%s", p.Content)
}

func TestTitleIsTheTextOfAHeadingOfLevelOne(t *testing.T) {
	for line, want := range map[string]string{
		"# Cético":                     "Cético",
		"#\tTab ":                      "Tab",
		"   # Indented":                "Indented",
		"# Closed ##":                  "Closed",
		"# C#":                         "C#",
		"# **Bold** and *slanted*":     "Bold and slanted",
		"# __A__ _b_ `c*d*`":           "A b c*d*",
		"# 2 * 3 * 4 snake_case":       "2 * 3 * 4 snake_case",
		"# [The Link](http://x.y) &c.": "The Link &c.",
		"# A &amp; B \\*c\\*":          "A & B *c*",
		"# 1. First things":            "1. First things",
		"# > quoted - list":            "> quoted - list",
		"# 🔮 Oráculo":                  "🔮 Oráculo",
		"# a\u202eb\x1b[31mc":          "ab[31mc",
		"# x\u00a0 y":                  "x y",
		"#":                            "",
		"# ##":                         "",
		"#hashtag":                     "",
		"## Level two":                 "",
		"    # code":                   "",
		"text":                         "",
		"":                             "",
	} {
		assert.Equalf(t, title(line), want, "%q", line)
	}
	got := title("# " + strings.Repeat("ã", 5000))
	assert.That(t, utf8.RuneCountInString(got) == maxName && strings.HasSuffix(got, "…"),
		"a long title gives %d characters", utf8.RuneCountInString(got))
}

func TestSlug(t *testing.T) {
	for name, want := range map[string]string{
		"Cético": "cetico", "Advogado do Diabo": "advogado-do-diabo", "Devil’s Advocate": "devils-advocate",
		"Devil's Advocate": "devils-advocate",
		"  Zuhörer!  ":     "zuhorer", "Straße & Größe": "strasse-grosse", "Łódź Ærø": "lodz-aero",
		"../../etc/passwd": "etc-passwd", "C:\\x": "c-x",
		"Ⅳ ﬁne": "iv-fine", "a\x00b\n": "a-b", "🔮": "oraculo", "神谕": "oraculo", "": "oraculo", "---": "oraculo",
		strings.Repeat("x", 300):    strings.Repeat("x", maxSlug),
		strings.Repeat("word ", 60): strings.TrimSuffix(strings.Repeat("word-", 9), "-"),
	} {
		assert.Equalf(t, Slug(name), want, "%q", name)
	}
}

func FuzzTitle(f *testing.F) {
	for _, line := range []string{"# Cético", "# **a** [b](c)", "# \\*", "# `", "# &#0;&#x110000;", "# ![", "# <b>",
		"# \xff"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		line, _, _ = strings.Cut(line, "\n")
		got := title(line)
		assert.That(t, !strings.ContainsAny(got, "\r\n\x00\x1b") && got == strings.TrimSpace(got) &&
			utf8.RuneCountInString(got) <= maxName, "%q gives the name %q", line, got)
		slug := Slug(got)
		assert.That(t, len(slug) != 0 && len(slug) <= maxSlug &&
			strings.Trim(slug, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" && !strings.Contains(slug, "--"),
			"%q gives the slug %q", got, slug)
		written := heading(got, DefaultPlaceholder)
		assert.That(t, checkName(got) != nil || (title("# "+written) == got && !strings.Contains(written, commentOpens)),
			"%q is written as %q and read as %q", got, written, title("# "+written))
	})
}

// shelfOf is a shelf with an oracle of each name, in files a.md, b.md and so on.
func shelfOf(t *testing.T, names ...string) (s *Shelf, files []string) {
	t.Helper()
	dir := folder(t)
	for i, name := range names {
		files = append(files, put(t, dir, string(rune('a'+i))+".md", "# "+name))
	}
	return New(Config{Dir: dir, TTL: time.Hour}), files
}

func find(s *Shelf, name string) (Persona, error) { return s.Find(context.Background(), name) }

func TestFindTakesIDNameSlugAndBeginning(t *testing.T) {
	s, files := shelfOf(t, "Cético", "Advogado do Diabo", "Zuhörer", "Ana", "Anabela", "C#", "🔮", "Straße")
	for asked, want := range map[string]string{
		"cético": "Cético", "cetico": "Cético", "CÉTICO": "Cético", "Ce\u0301tico": "Cético", " cético ": "Cético",
		"cet": "Cético", "Cé": "Cético",
		"advogado-do-diabo": "Advogado do Diabo", "Advogado  do diabo": "Advogado do Diabo",
		"advogado-do": "Advogado do Diabo", "ADV": "Advogado do Diabo",
		"zuhorer": "Zuhörer", "zuhoerer": "Zuhörer", "Zuhoe": "Zuhörer", "ana": "Ana", "anab": "Anabela", "c#": "C#",
		"c": "C#", "🔮": "🔮", "strasse": "Straße",
		idOf(files[0]): "Cético", strings.ToUpper(idOf(files[2])): "Zuhörer", idOf(files[4])[:7]: "Anabela",
	} {
		p, err := find(s, asked)
		assert.That(t, err == nil && p.Name == want, "%q: %q, %v; want %s", asked, p.Name, err, want)
	}
}

func TestFindTakesANameBeforeASlug(t *testing.T) {
	s, _ := shelfOf(t, "C X", "c-x")
	for asked, want := range map[string]string{"c x": "C X", "C-X": "c-x"} {
		p, err := find(s, asked)
		assert.That(t, err == nil && p.Name == want, "%q: %q, %v; want %s", asked, p.Name, err, want)
	}
}

func TestFindSaysWhatMayBeMeant(t *testing.T) {
	s, files := shelfOf(t, "Otimista", "Otimizador", "Cético", "Cetico")
	for asked, want := range map[string]string{
		"otim": "“otim” may be several oracles: Otimista (a.md, id " + idOf(files[0]) + "), Otimizador (b.md, id " +
			idOf(files[1]) + ")",
		"Cético": "“Cético” may be several oracles: Cético (c.md, id " + idOf(files[2]) + "), Cetico (d.md, id " +
			idOf(files[3]) + ")",
	} {
		_, err := find(s, asked)
		assert.That(t, errors.Is(err, ErrAmbiguous) && err.Error() == want, "%q: %v\nwant %s", asked, err, want)
	}
}

func TestFindNamesTheNearestFirst(t *testing.T) {
	s, _ := shelfOf(t, "Historiador", "Otimista", "Cético")
	_, err := find(s, "otimsita")
	assert.That(t, errors.Is(err, ErrNotFound) &&
		err.Error() == "no oracle is called “otimsita”; available: Otimista, Cético, Historiador", "error = %v", err)
	e, is := errors.AsType[*FindError](err)
	assert.That(t, is && e.Candidates[0].Name == "Otimista", "error = %+v", e)
	_, err = find(s, " \t")
	assert.That(t, err != nil && strings.HasPrefix(err.Error(), "no oracle is given; available: "), "error = %v", err)
	_, err = find(New(Config{Dir: folder(t)}), "x")
	assert.That(t, err != nil && strings.HasPrefix(err.Error(), "there are no oracles yet"), "error = %v", err)
	many, _ := shelfOf(t, strings.Fields("Aa Bb Cc Dd Ee Ff Gg Hh Ii Jj")...)
	_, err = find(many, strings.Repeat("very long ", 1000))
	assert.That(t, err != nil && strings.HasSuffix(err.Error(), " and 2 more") && len(err.Error()) <= 400,
		"error = %v", err)
}

func TestFindGivesWhatTheFileHoldsWithinTheTimeOfAListing(t *testing.T) {
	s, files := shelfOf(t, "Ana", "Bea")
	list(t, s)
	put(t, s.config.Dir, "a.md", "# Ana\n\nchanged {{CONTEXT}}")
	age(t, files[0], time.Minute)
	if p, err := find(s, "ana"); err != nil || p.Content != "# Ana\n\nchanged {{CONTEXT}}" || p.Mode != InPlace {
		t.Errorf("%q, %v", p.Content, err)
	}
	put(t, s.config.Dir, "c.md", "# Caio")
	p, err := find(s, "caio")
	assert.That(t, err == nil && p.Name == "Caio", "a new file: %q, %v", p.Name, err)
	put(t, s.config.Dir, "b.md", "")
	_, err = find(s, "bea")
	assert.That(t, errors.Is(err, ErrNotFound), "a file that was emptied: %v", err)
	assert.NoError(t, os.Rename(files[0], files[0]+".moved.md"))
	p, err = find(s, "ana")
	assert.That(t, err == nil && p.File == files[0]+".moved.md", "a file that was moved: %q, %v", p.File, err)
}

func TestAListingBelongsToWhoAskedForIt(t *testing.T) {
	s := New(Config{})
	l := list(t, s)
	l.Oracles[0].Name, l.Oracles[0].Warnings = "changed", append(l.Oracles[0].Warnings, "changed")
	if again := list(t, s); again.Oracles[0].Name == "changed" || len(again.Oracles[0].Warnings) > 0 {
		t.Error("a listing that was given out changes the next")
	}
}
