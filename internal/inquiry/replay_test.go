package inquiry_test

import (
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/inquiry"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/run/replay"
	"sibyl/trees"
)

// changed is the tree that is shipped, edited (old, new, old, new …).
func changed(h *house, edits ...string) string {
	h.Helper()
	text := string(assert.Must(assert.Must(trees.Open(""))(h).Get(inquiry.Name))(h).Text)
	for n := 0; n < len(edits); n += 2 {
		assert.Require(h, strings.Contains(text, edits[n]), "the tree has no %q", edits[n])
		text = strings.ReplaceAll(text, edits[n], edits[n+1])
	}
	return text
}

// replayed takes a run through its tree. Nothing may be asked or written.
func (p *process) replayed(id string) *replay.Result {
	p.Helper()
	asked, heard := len(p.sent), len(p.heard)
	_, before := p.file()
	found := assert.Must(p.service.Replay(p.Context(), ada, id, replay.Options{}))(p)
	_, after := p.file()
	same(p, "what was asked for the replay", []int{len(p.sent) - asked, len(p.heard) - heard}, []int{0, 0})
	same(p, "the file after the replay", after, before)
	return found
}

func kindsOf(found *replay.Result) (kinds []replay.DifferenceKind) {
	for _, d := range found.Differences {
		kinds = append(kinds, d.Kind)
	}
	return kinds
}

func TestReplayDecidesAsRecorded(t *testing.T) {
	h := confronting(t)
	p, _, s := h.inquires()
	found := p.replayed(s.Run)
	same(t, "differences", kindsOf(found), nil)
	same(t, "where it ended", found.Reached, replay.ReachedEnd)
}

func TestExplanationTellsTheStepsInWords(t *testing.T) {
	h := confronting(t)
	p, _, s := h.inquires()
	told := assert.Must(p.service.Explain(t.Context(), ada, s.Run))(t)
	text := strings.Join(told.Ending, "\n")
	contains(t, text, "1 of 4 answers could not be judged. Provisional: consistency")
	same(t, "status", s.Status, record.Completed)
}
