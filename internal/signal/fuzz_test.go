package signal

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
)

// FuzzExtractSplitsAnywhere: wherever a stream is cut, the same is shown and found, the work is in proportion, and what
// is not shown was found.
func FuzzExtractSplitsAnywhere(f *testing.F) {
	for _, c := range all(f) {
		f.Add(c.Text, 3)
	}
	for _, part := range hostileTexts {
		f.Add(strings.Repeat(part, 9)+needTurn, 7)
	}
	f.Fuzz(func(t *testing.T, text string, seed int) {
		x := extract(text, 1+seed&15).x
		assert.Require(t, x.work <= mostWork*int64(len(text))+freeWork, "%d bytes were looked at for %d", x.work, len(text))
		at := seed
		if at < 0 || at > len(text) {
			at = len(text) / 2
		}
		sameInPieces(t, text, text[:at], text[at:])
		sameInPieces(t, text, anyPieces(text, seed)...)
		clean, r := Extract(text)
		assert.Require(t, markup.MatchString(text) || clean == text, "a text without a signal changed: %q -> %q", text, clean)
		nothingIsLost(t, text, clean, r)
		isSound(t, text, r)
	})
}

// anyPieces cuts a text into pieces of all sizes, empty ones among them.
func anyPieces(text string, seed int) (pieces []string) {
	r := rand.New(rand.NewPCG(uint64(seed), 0))
	for text != "" {
		n := min(len(text), r.IntN([]int{2, 9, 300, 9000}[r.IntN(4)]))
		pieces = append(pieces, text[:n])
		text = text[n:]
	}
	return pieces
}

// nothingIsLost wants all that is shown to be in the text, in its order, and what is not to be as much as was found at
// most.
func nothingIsLost(t *testing.T, text, clean string, r Result) {
	t.Helper()
	rest := text
	for i := range len(clean) {
		at := strings.IndexByte(rest, clean[i])
		assert.Require(t, at >= 0, "%q shows what is not in %q", clean, text)
		rest = rest[at+1:]
	}
	found := len(r.Extra) + len(r.Problems) + len(r.Mentions)
	if r.Signal != nil {
		found++
	}
	switch lost := len(text) - len(clean); {
	// not all of it is told
	case len(r.Extra) == maxFound, len(r.Problems) == maxFound, len(r.Mentions) == maxMentions:
	case lost > found*MaxHeld, lost > 0 && found == 0:
		t.Fatalf("%d bytes are lost of %q, and %+v was found", lost, text, r)
	}
}

// isSound wants signals to keep their promises, also read back from JSON, and what is quoted of a text to be in it.
func isSound(t *testing.T, text string, r Result) {
	t.Helper()
	signals := slices.Clone(r.Extra)
	if r.Signal != nil {
		signals = append(signals, *r.Signal)
	}
	for _, s := range signals {
		spec, known := specOf(s.Type)
		assert.Require(t, known && (s.Confidence >= 0 && s.Confidence <= 1) && strings.Contains(text, s.RawXML), "%+v", s)
		for _, f := range spec.Fields {
			if v, there := s.Fields[f.Name]; f.Required && !there || there && v.Kind != f.Kind {
				t.Fatalf("%s has the field %s: %v, %+v", s.Type, f.Name, there, v)
			}
		}
	}
	for _, p := range r.Problems {
		quotes(t, text, p.Raw, p.Offset)
	}
	for _, m := range r.Mentions {
		quotes(t, text, m.Raw, m.Offset)
	}
	if !utf8.ValidString(text) {
		return // JSON holds no such bytes
	}
	data := assert.Must(json.Marshal(r))(t)
	var back Result
	err := json.Unmarshal(data, &back)
	assert.Require(t, err == nil, "%v in %s", err, data)
	d := cmp.Diff(r, back)
	assert.Require(t, d == "", "read from JSON: %s", d)
}

// quotes wants a quotation to stand in the text near where it is said to.
func quotes(t *testing.T, text, raw string, offset int64) {
	t.Helper()
	assert.Require(t, offset >= 0 && offset <= int64(len(text)) && (!utf8.ValidString(text) ||
		strings.Contains(text[offset:min(len(text), int(offset)+2*MaxHeld)], raw)),
		"%q is said to stand at %d of %q", raw, offset, text)
}

func FuzzNeutralise(f *testing.F) {
	for _, c := range all(f) {
		f.Add(c.Text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		inert := Neutralise(text)
		if clean, r := Extract(inert); clean != inert || r.Signal != nil || r.Problems != nil || r.Mentions != nil {
			t.Fatalf("%q still holds a signal", inert)
		}
		again := Neutralise(inert)
		assert.Require(t, again == inert, "twice: %q -> %q", inert, again)
		assert.Require(t, len(inert) <= len("&#123;")*len(text), "%d bytes became %d", len(text), len(inert))
	})
}
