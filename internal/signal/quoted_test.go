package signal

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
)

func TestQuotedSignalIsLoggedAndNotActedOn(t *testing.T) {
	quoting := 0
	for _, c := range readVectors[vector](t, "signals.json") {
		_, r := Extract(c.Text)
		assert.NoDiff(t, cmp.Diff(c.Mentions, mentions(r)), "%s: mentions", c.Name)
		for _, m := range r.Mentions {
			at := int(m.Offset)
			assert.That(t, strings.HasPrefix(c.Text[at:], m.Raw), "%s: at %d stands %q, not %q", c.Name, at, c.Text[at:], m.Raw)
		}
		quoting += len(r.Mentions)
	}
	assert.That(t, quoting >= 20, "only %d mentions in the vectors", quoting)
}

func mentions(r Result) (all []quoted) {
	for _, m := range r.Mentions {
		all = append(all, quoted{m.Type, m.Form})
	}
	return all
}

func TestMentionsAreBounded(t *testing.T) {
	_, r := Extract(strings.Repeat("> "+needTurn+"\n", 100) + enough)
	assert.That(t, len(r.Mentions) == maxMentions && r.Signal != nil,
		"%d mentions are kept, signal %v", len(r.Mentions), r.Signal)
}

// readVectors returns the cases of a file that docs/vectors.md describes.
func readVectors[V any](t testing.TB, file string) (vectors []V) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(assert.Must(os.ReadFile("../../testdata/vectors/" + file))(t)))
	d.DisallowUnknownFields()
	assert.NoError(t, d.Decode(&vectors))
	return vectors
}

// vector is a case as docs/vectors.md describes it.
type vector struct {
	Name     string   `json:"name"`
	Text     string   `json:"text"`
	Clean    string   `json:"clean"`
	Signal   Type     `json:"signal"`
	Extra    []Type   `json:"extra,omitempty"`
	Problems int      `json:"problems,omitempty"`
	Mentions []quoted `json:"mentions,omitempty"`
}

type quoted struct {
	Type Type `json:"type"`
	Form Form `json:"form"`
}

// extracted is what an extractor says of a vector's text, cut into pieces of so many bytes.
func (v vector) extracted(piece int) vector {
	got := extract(v.Text, piece)
	v = vector{Name: v.Name, Text: v.Text, Clean: got.clean, Problems: len(got.r.Problems), Mentions: mentions(got.r)}
	if got.r.Signal != nil {
		v.Signal = got.r.Signal.Type
	}
	for _, s := range got.r.Extra {
		v.Extra = append(v.Extra, s.Type)
	}
	return v
}

func TestSignalsOfTheVectors(t *testing.T) {
	vectors := readVectors[vector](t, "signals.json")
	for _, v := range vectors {
		for _, size := range []int{MaxHeld, 7, 1} {
			assert.NoDiff(t, cmp.Diff(v, v.extracted(size)), "%s, in pieces of %d bytes", v.Name, size)
		}
	}
	assert.That(t, len(vectors) >= 100, "only %d vectors", len(vectors))
}
