package vault

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/text/search"
)

// memory is a cache of one process.
type memory struct {
	mu    sync.Mutex
	text  []byte
	saved int
}

func (m *memory) Load(context.Context) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.text == nil {
		return nil, errors.New("nothing is kept")
	}
	return bytes.Clone(m.text), nil
}

func (m *memory) Save(_ context.Context, text []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.text, m.saved = text, m.saved+1
	return nil
}

func (m *memory) Close() error { return nil }

// manyNotes is a folder of notes of many kinds, none of which changed lately.
func manyNotes(t *testing.T) string {
	t.Helper()
	notes := map[string]string{
		"allergies.md":        "---\ntitle: Ana\ntags: [family/health]\naliases: [Anna]\ndate: 2026-01-02T10:00:00+05:30\n---\n# Ana\nShe is allergic to walnuts, see [[Doctors#Dr. Lima|her doctor]].\n",
		"people/doctors.md":   "# Doctors\n## Dr. Lima\nAllergies and asthma. #health\n![[allergies]]\n",
		"threads/move.md":     "What we think.\n\n## 2026-02-03T04:05:06Z 0a1b\nMove to Lisbon?\n\n## 2026-02-04T04:05:06Z 0a1c\nThe rent doubles.\n",
		"empty.md":            "",
		"Größe.md":            "# Größe\nZwei Häuser in Lisbon, caching HTTPServer\n",
		"people/duplicate.md": "# Ana\nAnother Ana, not allergic.\n",
	}
	for i := range leastKept {
		notes[fmt.Sprintf("daily/%03d.md", i)] = fmt.Sprintf("---\ndate: 2025-01-%02d\n---\n# Day %d\nWalnuts %d times. [[Doctors]]\n\n## Evening\nRent and cache, %d.\n", i%28+1, i, i%7, i*i)
	}
	dir := folder(t, notes)
	for name := range notes {
		age(t, filepath.Join(dir, filepath.FromSlash(name)), time.Hour)
	}
	return dir
}

// age sets the time of a file back.
func age(t *testing.T, name string, by time.Duration) {
	t.Helper()
	then := time.Now().Add(-by)
	if err := os.Chtimes(name, then, then); err != nil {
		t.Fatal(err)
	}
}

// answers are what a vault gives for questions of many kinds.
func answers(t *testing.T, v *Vault) (all []string) {
	t.Helper()
	for _, call := range []struct {
		tool string
		args object
	}{
		{"vault_search", object{"query": "What is Ana allergic to?"}}, {"vault_search", object{"query": "rent lisbon", "limit": 50}}, {"vault_search", object{"query": "häuser"}},
		{"vault_search", object{"query": "walnuts", "limit": 50}}, {"vault_search", object{"query": "asthma", "tag": "health"}}, {"vault_search", object{"query": "walnuts", "folder": "people"}},
		{"vault_list", object{"recursive": true, "limit": 500}}, {"vault_list", object{"tag": "family"}}, {"vault_read", object{"name": "Anna"}}, {"vault_read", object{"path": "people/doctors.md"}},
		{"thread_list", object{}}, {"thread_read", object{"thread": "move"}},
	} {
		res, err := try(t, v, call.tool, "", call.args)
		all = append(all, fmt.Sprintf("%s %v: %v\n%s\n%s", call.tool, call.args, err, res.Text, res.Data))
	}
	return all
}

// cached opens a vault over a cache, and says how many notes were read of it when it was asked.
func cached(t *testing.T, dir string, m *memory, private func([]byte) bool) (all []string, read int) {
	t.Helper()
	v, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	v.UseCache(m, func(content []byte) bool {
		mu.Lock()
		defer mu.Unlock()
		read++
		return private != nil && private(content)
	})
	all = answers(t, v)
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	return all, read
}

func TestKeptIndexChangesNoResult(t *testing.T) {
	dir, m := manyNotes(t), &memory{}
	same := func(when string, wantRead int) {
		t.Helper()
		want := answers(t, open(t, dir))
		got, read := cached(t, dir, m, nil)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", when, diff)
		}
		if read != wantRead {
			t.Errorf("%s: %d notes were read, want %d", when, read, wantRead)
		}
	}
	same("at first", leastKept+6)
	same("kept", 0)
	writeFile(t, filepath.Join(dir, "allergies.md"), "# Ana\nShe is allergic to peanuts.\n")
	writeFile(t, filepath.Join(dir, "new.md"), "# New\nWalnuts again.\n")
	for _, name := range []string{"allergies.md", "new.md"} {
		age(t, filepath.Join(dir, name), 30*time.Minute)
	}
	if err := os.Remove(filepath.Join(dir, "people", "duplicate.md")); err != nil {
		t.Fatal(err)
	}
	same("with changes", 2)
	for n := 0; n < len(m.text); n += 1 + len(m.text)/8 {
		m.text = m.text[:n]
		same("cut off", leastKept+6)
	}
	if m.saved < 5 {
		t.Errorf("it was kept %d times", m.saved)
	}
}

func TestNothingIsKeptOfANoteThatIsPrivateOrHasJustChanged(t *testing.T) {
	dir, m := manyNotes(t), &memory{}
	writeFile(t, filepath.Join(dir, "fresh.md"), "freshlywritten")
	cached(t, dir, m, func(content []byte) bool { return bytes.Contains(content, []byte("allergic")) })
	for _, word := range []string{"walnuts,", "family/health", "duplicate", "fresh"} {
		if bytes.Contains(m.text, []byte(word)) {
			t.Errorf("%q is kept", word)
		}
	}
	if !bytes.Contains(m.text, []byte("daily/007.md")) {
		t.Error("nothing is kept")
	}
}

func TestFewNotesAreNotKept(t *testing.T) {
	m := &memory{}
	cached(t, folder(t, map[string]string{"a.md": "one"}), m, nil)
	if m.saved > 0 {
		t.Error("they are")
	}
}

func TestDamagedIndexIsAsIfThereWereNone(t *testing.T) {
	dir, m := manyNotes(t), &memory{}
	cached(t, dir, m, nil)
	text := m.text
	for n := 0; n < len(text); n += 1 + len(text)/200 {
		damaged := bytes.Clone(text)
		damaged[n] ^= 0xff
		_, _, _ = decode(damaged) // it may pass for another one: the store checks sums
	}
}

// keptSum is that of what is kept in this form, as hex.
const keptSum = "42d34fa774914323"

func TestAFormOfWhatIsKeptIsNamed(t *testing.T) {
	sum := sha256.New()
	for _, text := range []string{"---\ntitle: A\ntags: [x/y]\nkind: z\n---\n# H\n[[L#h|t]] #tag\n", "## 2026-02-03T04:05:06Z 0a1b\nMove?\n"} {
		for _, at := range []string{"a.md", "threads/b.md"} {
			d := parse(at, []byte(text), false)
			var l search.Lexicon
			n := &note{path: d.path, title: d.title, date: d.front.date, at: d.front.at, tags: d.tags, aliases: d.front.aliases, lines: len(d.lines), sections: d.sections, links: d.links}
			n.words = l.Add(search.Count(searchable(d)))
			state := keptState{files: map[string]indexed{at: {note: n, settled: true}}, words: l.View()}
			_, _ = sum.Write(state.encode()) // a hash never fails to write
		}
	}
	if got := hex.EncodeToString(sum.Sum(nil))[:16]; got != keptSum {
		t.Errorf("notes are kept otherwise than in form %d: raise keptForm, and set keptSum to %q", keptForm, got)
	}
}
