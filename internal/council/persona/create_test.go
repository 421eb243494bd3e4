package persona

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func create(s *Shelf, name, language string) (string, error) {
	return s.Create(context.Background(), name, language)
}

func TestCreateMakesAFileThatIsAnOracleAtOnce(t *testing.T) {
	for _, name := range []string{"Minha Tia", "Cético", "C# *guru* & <co> [x](y) `z` \\ #", "🔮", "#hash", "1. One",
		"a&amp;b", "../../x", "<!-- x", "a <<HERE>> b", strings.Repeat("ã", maxName)} {
		for _, language := range []string{"pt", "en", "de"} {
			dir := filepath.Join(folder(t), "not", "there", "yet")
			s := New(Config{Dir: dir, TTL: time.Hour, Placeholder: "<<HERE>>"})
			file, err := create(s, name, language)
			if err != nil {
				t.Errorf("%q: %v", name, err)
				continue
			}
			if filepath.Dir(file) != dir || filepath.Base(file) != Slug(name)+".md" {
				t.Errorf("%q is made at %s", name, file)
			}
			l := list(t, s)
			if len(l.Oracles) != 1 || len(l.Skipped) != 0 {
				t.Fatalf("%q: %+v", name, l)
			}
			p := l.Oracles[0]
			if p.Name != name || len(p.Warnings) != 0 || p.Mode != InPlace || strings.Contains(p.Content, "<!--") {
				t.Errorf("%q is read as %q, %s, warnings %q:\n%s", name, p.Name, p.Mode, p.Warnings, p.Content)
			}
			if p.Language != language {
				t.Errorf("%q in %q is in %q", name, language, p.Language)
			}
		}
	}
}

func TestCreateExplainsTheFileInComments(t *testing.T) {
	s := New(Config{Dir: folder(t)})
	for language, word := range map[string]string{"pt": "São retirados", "en": "taken out before",
		"de": "werden entfernt"} {
		file := must(create(s, "Oracle "+language, language))(t)
		data := must(os.ReadFile(file))(t)
		if text := string(data); strings.Count(text, "<!--") < 5 || !strings.Contains(strings.ToLower(text),
			strings.ToLower(word)) || strings.Contains(text, "@") {
			t.Errorf("%s:\n%s", language, text)
		}
	}
}

func TestCreateReplacesNothing(t *testing.T) {
	dir := folder(t)
	s := New(Config{Dir: dir, TTL: time.Hour})
	put(t, dir, "cetico.md", "# Other name")
	put(t, dir, "x.md", "# Otimista")
	put(t, dir, "empty.md", "")
	for name, want := range map[string]string{
		"Cético":                 "cetico.md already exists and is not replaced; choose another name",
		"otimista":               "there is already an oracle “Otimista”: " + filepath.Join(dir, "x.md"),
		"Empty":                  "empty.md already exists",
		"Readme":                 "no oracle can be called “Readme”: the file name readme.md has another meaning",
		"":                       "the name of an oracle is empty",
		"\u202e ":                "the name of an oracle is empty",
		"a\nb":                   "the name of an oracle is one line of text",
		"a\xff":                  "the name of an oracle is one line of text",
		strings.Repeat("x", 300): "the name of an oracle has at most 120 characters; this one has 300",
	} {
		if file, err := create(s, name, "pt"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %s, %v; want %s", name, file, err, want)
		}
	}
	for file, want := range map[string]string{"cetico.md": "# Other name", "x.md": "# Otimista", "empty.md": ""} {
		if data, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(data) != want {
			t.Errorf("%s holds %q, %v", file, data, err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 3 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}

func TestOfSeveralShelvesOneCreatesAFile(t *testing.T) {
	dir := folder(t)
	var all sync.WaitGroup
	made := make(chan string, 8)
	for range cap(made) {
		all.Go(func() {
			if file, err := create(New(Config{Dir: dir}), "Same", "en"); err == nil {
				made <- file
			}
		})
	}
	all.Wait()
	if len(made) != 1 {
		t.Errorf("%d of them made the file", len(made))
	}
}

func TestCreateWithoutAFolderNamesTheSetting(t *testing.T) {
	if _, err := create(New(Config{}), "X", "pt"); err == nil ||
		!strings.Contains(err.Error(), "set ORACLES_DIR to a folder of your own") {
		t.Errorf("error = %v", err)
	}
}

func TestCreateRefusesALanguageWithoutATemplate(t *testing.T) {
	dir := filepath.Join(folder(t), "new")
	for _, language := range []string{"", "fr", "../template/pt"} {
		if _, err := create(New(Config{Dir: dir}), "X", language); err == nil ||
			!strings.Contains(err.Error(), "use en, pt or de") {
			t.Errorf("%q: error = %v", language, err)
		}
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder was made: %v", err)
	}
}

func TestCreateInAFolderThatTakesNoFilesIsAnError(t *testing.T) {
	file := put(t, folder(t), "file", "x")
	if _, err := create(New(Config{Dir: filepath.Join(file, "below")}), "X", "pt"); err == nil ||
		!strings.Contains(err.Error(), "ORACLES_DIR") {
		t.Errorf("error = %v", err)
	}
	if err := writeNew(filepath.Join(folder(t), "nowhere", "x.md"), "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error = %v", err)
	}
}
