package vault

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/text/search"
	"sibyl/internal/tool"
)

// wordsOf are a vocabulary: the first ones are frequent, as in a language.
func wordsOf(seed uint64, most int) func() string {
	r := rand.New(rand.NewPCG(seed, 1))
	zipf := rand.NewZipf(r, 1.1, 4, uint64(most-1))
	return func() string { return fmt.Sprintf("w%xo", zipf.Uint64()*7919%104729) }
}

// writeVault writes notes of about 4 KB with front matter, headings, links and tags, all of them changed long ago.
// Every hundredth names a zebra.
func writeVault(t testing.TB, dir string, count int) {
	t.Helper()
	word := wordsOf(1, 6000)
	for i := range count {
		var b strings.Builder
		fmt.Fprintf(&b, "---\ntitle: %s %d\ntags: [%s]\n---\n# %s\n\n", word(), i, word(), word())
		for b.Len() < 4000 {
			fmt.Fprintf(&b, "## %s\n\n", word())
			for range 60 {
				b.WriteString(word() + " ")
			}
			fmt.Fprintf(&b, "[[note%d]] #%s.\n\n", (i*31+7)%count, word())
		}
		if i%100 == 1 {
			b.WriteString("The striped zebra eats.\n")
		}
		name := filepath.Join(dir, fmt.Sprintf("area%d", i%40), fmt.Sprintf("note%d.md", i))
		writeFile(t, name, b.String())
		assert.NoError(t, os.Chtimes(name, noon, noon))
	}
}

// Whether a note is parsed depends on a look at its bytes: what that misses is never found.
func TestANoteThatHoldsAWordIsNeverPassedOver(t *testing.T) {
	parts := []string{"---\n", "title: ", "aliases: [", "]", "tags: ", "\"", "caf\\u00e9", "\\", "café", "cafe\u0301", "CAFÉS", "\n", "# ",
		" ", "#", "[[", "]]", "会议", "½", "\ufeff", "```\n", "zebra", "|", "  - ", "\xff", "\r\n", "\x00"}
	rapid.Check(t, func(t *rapid.T) {
		raw := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 30).Draw(t, "note"), "")
		name := rapid.SampledFrom([]string{"a.md", "Café.md", "会议.md"}).Draw(t, "name")
		for _, query := range []string{"cafe", "zebra", "会议", "2"} {
			f := search.NewQuery(query).Finder()
			d := parseNote(name, []byte(raw), false)
			assert.Require(t, !f.Count(searchDocument(d)).Found() || mayHold(f, name, []byte(raw)),
				"%q is in %s: %q", query, name, raw)
		}
	})
}

func TestOnlyNotesThatMayHoldAWordAreCounted(t *testing.T) {
	dir := folder(t, map[string]string{"log.md": "x"})
	writeVault(t, dir, 300)
	v := open(t, dir)
	s, err := v.look(t.Context())
	assert.NoError(t, err)
	notes, others, _, err := v.count(t.Context(), s, search.NewQuestion("zebra"), scope{places: s.places})
	assert.That(t, err == nil && len(notes) == 3 && others.Documents == 298 && others.Sections >= 298 &&
		others.Bytes >= 298*3000, "%d counted, others %+v, %v", len(notes), others, err)
}

// The hits are those of a count of every note, also in their scores but for the usual length, which is estimated.
func TestScanFindsWhatACountOfAllNotesFinds(t *testing.T) {
	dir := t.TempDir()
	writeVault(t, dir, 120)
	v := open(t, dir)
	s, err := v.look(t.Context())
	assert.NoError(t, err)
	word := wordsOf(2, 6000)
	for range 30 {
		q := search.NewQuestion(word() + " " + word() + " " + word() + " zebra")
		places := func(hits []hit) (list []string) {
			for _, h := range hits[:min(len(hits), 10)] {
				list = append(list, fmt.Sprint(h.note.path, " ", h.section))
			}
			return list
		}
		in := scope{places: s.places}
		notes, others, _, err := v.count(t.Context(), s, q, in)
		assert.NoError(t, err)
		var every []*counted
		finder := q.Finder()
		err = v.eachDocument(t, s.places, func(d *document) { every = append(every, in.countIn(d, finder)) })
		assert.NoError(t, err)
		got, want := places(rank(q, notes, others, perNote, in)), places(rank(q, every, search.Others{}, perNote, in))
		assert.Same(t, want, got)
	}
}

// eachDocument parses all notes.
func (v *Vault) eachDocument(t *testing.T, places []place, use func(*document)) error {
	for _, at := range places {
		d, _, _, err := v.readContent(t.Context(), at.path)
		if err != nil {
			return err
		}
		use(d)
	}
	return nil
}

func TestWhatIsKeptOfANoteIsBounded(t *testing.T) {
	links := strings.Builder{}
	for i := range 5000 {
		fmt.Fprintf(&links, "[[n%d]] #t%d\n", i, i)
	}
	dir := folder(t, map[string]string{"many.md": links.String(), "few.md": "[[a]] #b", "n4999.md": "x"})
	for _, name := range []string{"many.md", "few.md", "n4999.md"} {
		assert.NoError(t, os.Chtimes(filepath.Join(dir, name), noon, noon))
	}
	v := open(t, dir)
	read := mustCall(t, v, "vault_read", object{"path": "n4999.md"})
	wantTexts(t, read, "Linked from (1):\n- many.md:5000 many\n")
	known := v.names.all()
	assert.That(t, len(known["many.md"].hashes) <= mostHashes && len(known["few.md"].hashes) >= 2 &&
		known["many.md"].info != nil, "%d and %d hashes are kept", len(known["many.md"].hashes), len(known["few.md"].hashes))
	tagged := cited(mustCall(t, v, "vault_list", object{"tag": "t4999"}))
	assert.That(t, len(tagged) <= 1, "%v", tagged)
}

// Calls that wait at the same time share a survey, and one that comes later sees what was changed before it.
func TestASurveyIsNeverOlderThanTheCall(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "x"})
	v := open(t, dir)
	for i := range 20 {
		name := fmt.Sprintf("new%d.md", i)
		writeFile(t, filepath.Join(dir, name), "x")
		done := make(chan error)
		for range 4 {
			go func() {
				_, err := toolNamed(v, "vault_read").Call(t.Context(), tool.Call{Args: encode(t, object{"path": name})})
				done <- err
			}()
		}
		for range 4 {
			err := <-done
			assert.That(t, err == nil, "%v", err)
		}
	}
}

// BenchmarkVaultSearch is a first and a later search of 20,000 notes of 4 KB, and what opens a hit.
func BenchmarkVaultSearch(b *testing.B) {
	dir := b.TempDir()
	writeVault(b, dir, 20_000)
	search := object{"query": "What does the striped zebra eat?"}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			v := open(b, dir)
			assert.Require(b, mustCall(b, v, "vault_search", search).Items != 0, "nothing found")
		}
	})
	v := open(b, dir)
	hit := mustCall(b, v, "vault_search", search).Refs[0].Path
	b.Run("later", func(b *testing.B) {
		for b.Loop() {
			mustCall(b, v, "vault_search", search)
		}
	})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			mustCall(b, v, "vault_read", object{"path": hit})
		}
	})
}

func TestPlainFrontMatterIsReadAsYAMLReadsIt(t *testing.T) {
	check := func(t interface{ Errorf(string, ...any) }, lines []string) (isPlain bool) {
		fields, isPlain := plainFields(lines)
		if want, warning := decodeYAML(strings.Join(lines, "\n")); isPlain && (warning != "" || !cmp.Equal(want, fields)) {
			t.Errorf("%q: %v, %s%s", lines, fields, cmp.Diff(want, fields), warning)
		}
		return isPlain
	}
	for block, want := range map[string]bool{
		"title: A plan\ndate: 2025-01-02\ntags: [a, b/c]\naliases:\n  - One\n  - Größe 2": true,
		"done:\nat: 12:30\nlink: https://a.example/x":                                     true,
		"tags:\n- a\n- b\ntitle: Why (not)":                                               true,
		"title: 'A'":                                                                      false, "a: b: c": false, "a: b\n  c": false, "a: null": false, "a: ~": false, "a: [b": false,
		"a:\n  b: c": false, "a: b #c": false, "a: &b c": false, "- a": false, "": false, "a: []": false,
		"a:\n  - b\n    - c": false, "a:\n  - b\n c: d": false,
	} {
		assert.That(t, check(t, strings.Split(block, "\n")) == want, "%q is plain: %v", block, !want)
	}
	pieces := []string{"a", "b1", "true", "null", "Null", "-", " ", "  ", ": ", ":", "\n", "\n- ", "\n  - ", ", ", "[",
		"]",
		"é", "'", "#", "12", "_", ".", "/", "+", "(", "<<", "\t", "?", "title: ", "\ntags: ", "\nx:"}
	rapid.Check(t, func(t *rapid.T) {
		block := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 12).Draw(t, "block"), "")
		check(t, strings.Split(block, "\n"))
	})
}
