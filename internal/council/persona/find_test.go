package persona

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
)

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
