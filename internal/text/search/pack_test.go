package search

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func packedDocuments() []Document {
	return []Document{
		{Fields: []Field{{3, []string{"Caching at Lisbon"}}, {2.5, []string{"work/caches"}}}, Sections: []Section{{"", []string{"We cache what is read. Cached pages expire."}}, {"Größe", []string{"Zwei Häuser", "HTTPServer readAll"}}}},
		{Sections: []Section{{"Empty", nil}}},
		{},
	}
}

func packed() ([]byte, Lexicon, []Entry) {
	var l Lexicon
	l.Add(Count(Document{Sections: []Section{{"", []string{"words that nobody has any more"}}}}))
	var entries []Entry
	for _, d := range packedDocuments() {
		entries = append(entries, l.Add(Count(d)))
	}
	return Pack(nil, l.View(), entries), l, entries
}

func TestWhatIsPackedIsFoundAsBefore(t *testing.T) {
	text, before, entries := packed()
	after, again, rest, err := Unpack(append(text, "behind"...))
	if err != nil || string(rest) != "behind" || after.Size() >= before.Size() {
		t.Fatalf("%v, %q is left, %d words", err, rest, after.Size())
	}
	first := func(a, b Hit) int { return a.Document - b.Document }
	for _, question := range []string{"caching", "lisbon cache", "häuser", "http server", "nobody"} {
		q := NewQuestion(question)
		if diff := cmp.Diff(before.View().Rank(q, entries, 9, first), after.View().Rank(q, again, 9, first)); diff != "" {
			t.Errorf("%s: %s", question, diff)
		}
	}
	known := after.Size()
	if more := after.Add(Count(packedDocuments()[0])); len(more.postings) == 0 || after.Size() != known {
		t.Errorf("%d words after the same were added to %d", after.Size(), known)
	}
}

func TestDamagedPackIsAnErrorAndNoPanic(t *testing.T) {
	text, _, _ := packed()
	for n := range text {
		if _, _, rest, err := Unpack(text[:n]); err == nil {
			t.Fatalf("%d of %d bytes are enough, %q is left", n, len(text), rest)
		}
		damaged := append([]byte{}, text...)
		damaged[n] ^= 0xff
		_, entries, _, err := Unpack(damaged)
		if err == nil && len(entries) > len(text) {
			t.Fatalf("%d entries", len(entries))
		}
	}
}

// packedSum is that of what is packed in this form, as hex.
const packedSum = "b5f0fc0e379b917d"

func TestAFormOfThePackIsNamed(t *testing.T) {
	text, _, _ := packed()
	sum := sha256.Sum256(append(text, PackForm))
	if got := hex.EncodeToString(sum[:8]); got != packedSum {
		t.Errorf("texts are taken apart otherwise than in form %d: raise PackForm, and set packedSum to %q", PackForm, got)
	}
}
