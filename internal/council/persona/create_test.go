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

	"sibyl/internal/behaviour/assert"
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
			assert.That(t, filepath.Dir(file) == dir && filepath.Base(file) == Slug(name)+".md", "%q is made at %s", name, file)
			l := list(t, s)
			assert.Require(t, len(l.Oracles) == 1 && len(l.Skipped) == 0, "%q: %+v", name, l)
			p := l.Oracles[0]
			assert.That(t, p.Name == name && len(p.Warnings) == 0 && p.Mode == InPlace && !strings.Contains(p.Content, "<!--"),
				"%q is read as %q, %s, warnings %q:\n%s", name, p.Name, p.Mode, p.Warnings, p.Content)
			assert.That(t, p.Language == language, "%q in %q is in %q", name, language, p.Language)
		}
	}
}

func TestCreateExplainsTheFileInComments(t *testing.T) {
	s := New(Config{Dir: folder(t)})
	for language, word := range map[string]string{"pt": "São retirados", "en": "taken out before",
		"de": "werden entfernt"} {
		file := assert.Must(create(s, "Oracle "+language, language))(t)
		data := assert.Must(os.ReadFile(file))(t)
		text := string(data)
		assert.That(t, strings.Count(text, "<!--") >= 5 && strings.Contains(strings.ToLower(text), strings.ToLower(word)) &&
			!strings.Contains(text, "@"), "%s:\n%s", language, text)
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
		file, err := create(s, name, "pt")
		assert.That(t, err != nil && strings.Contains(err.Error(), want), "%q: %s, %v; want %s", name, file, err, want)
	}
	for file, want := range map[string]string{"cetico.md": "# Other name", "x.md": "# Otimista", "empty.md": ""} {
		data, err := os.ReadFile(filepath.Join(dir, file))
		assert.That(t, err == nil && string(data) == want, "%s holds %q, %v", file, data, err)
	}
	entries, err := os.ReadDir(dir)
	assert.That(t, err == nil && len(entries) == 3, "the folder holds %v, %v", entries, err)
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
	assert.That(t, len(made) == 1, "%d of them made the file", len(made))
}

func TestCreateWithoutAFolderNamesTheSetting(t *testing.T) {
	_, err := create(New(Config{}), "X", "pt")
	assert.That(t, err != nil && strings.Contains(err.Error(), "set ORACLES_DIR to a folder of your own"),
		"error = %v", err)
}

func TestCreateRefusesALanguageWithoutATemplate(t *testing.T) {
	dir := filepath.Join(folder(t), "new")
	for _, language := range []string{"", "fr", "../template/pt"} {
		_, err := create(New(Config{Dir: dir}), "X", language)
		assert.That(t, err != nil && strings.Contains(err.Error(), "use en, pt or de"), "%q: error = %v", language, err)
	}
	_, err := os.Stat(dir)
	assert.That(t, errors.Is(err, fs.ErrNotExist), "the folder was made: %v", err)
}

func TestCreateInAFolderThatTakesNoFilesIsAnError(t *testing.T) {
	file := put(t, folder(t), "file", "x")
	_, err := create(New(Config{Dir: filepath.Join(file, "below")}), "X", "pt")
	assert.That(t, err != nil && strings.Contains(err.Error(), "ORACLES_DIR"), "error = %v", err)
	assert.ErrorIs(t, writeNew(filepath.Join(folder(t), "nowhere", "x.md"), "x"), fs.ErrNotExist)
}
