package inquiry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/files"
	"sibyl/internal/inquiry"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/inquiry/witness"
	"sibyl/internal/media/document"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/run/replay"
	"sibyl/internal/schema"
	"sibyl/internal/service/servicetest"
	"sibyl/trees"
)

func TestWhatDetectiveAndWitnessWereSentIsToldPartByPart(t *testing.T) {
	h := newHouse(t)
	h.talks = true
	tries := 0
	h.asks = func(n int, _ model.Request) modeltest.Turn {
		if tries++; tries == 2 {
			return ask(questions[0]) // again
		}
		return ask(questions[n-1])
	}
	p := h.process("p", h.journal)
	p.inquire(options())
	again := slices.IndexFunc(h.sent, func(req model.Request) bool {
		return req.Purpose == asking && answered(req) == 1
	})
	same(t, "messages with the question that was put again", len(h.sent[again+1].Messages), 3)
	// the next one has all of it
	servicetest.ToldAsSent(t, p.service, ada, h.rows(), slices.Delete(h.sent, again, again+1))
}

// A page has the passages as they were when the witness quoted them, whatever has become of the documents; of one with
// a secret in it, it has the hash.
func TestEvidenceHasThePassagesThatWereQuoted(t *testing.T) {
	h := newHouse(t)
	documents := []record.Document{{Name: "a.txt", Hash: hashOf("a"), Pages: 1, Chunks: 2}}
	h.opens = func() ([]record.Document, error) { return documents, nil }
	passages := []string{"It rained. Fact 1 holds. The river rose.", "The door has the code " + secret +
		". Fact 2 holds."}
	h.says = func(_ context.Context, _ string, n int) (witness.Answer, error) {
		at := min(n, 2) - 1
		c := witness.Citation{Citation: record.Citation{Document: "a.txt", Hash: hashOf("a"), Page: 1, Chunk: at,
			ChunkHash: files.Hash([]byte(passages[at])), Quote: fmt.Sprintf("Fact %d holds.", at+1)},
			Passage: passages[at]}
		return witness.Answer{Text: c.Quote, Citations: []witness.Citation{c}, By: "documents"}, nil
	}
	p := h.process("one", h.journal)
	o := options()
	o.Witness = schema.Folder{Path: "reports"}
	r := p.begin(bridge, o)
	_, s := p.wait(r)
	p.ended(s, record.Completed, record.Satisfied, 3)
	page := assert.Must(p.desk.Evidence(t.Context(), assert.Must(p.journal.Run(t.Context(), ada, r.ID))(t), s))(t)
	contains(t, string(page), "It rained. <mark>Fact 1 holds.</mark> The river rose.", files.Hash([]byte(passages[1])))
	lacks(t, string(page), "The door has", secret)
	source := record.Source{Hash: hashOf("a")}
	for n, text := range passages {
		source.Chunks = append(source.Chunks, document.Chunk{Page: 1, Index: n, Text: text,
			Hash: files.Hash([]byte(text))})
	}
	report := record.Verify(page, func(string) (record.Source, error) { return source, nil })
	for _, c := range report.Checks {
		same(t, c.Name, c.Outcome, record.Holds)
	}
}

func TestNotesOfAnEarlierBuildAreRead(t *testing.T) {
	for _, kept := range []string{`{"notes":["down"]}`, `{"notes":[{"why":"down"}]}`} {
		var r inquiry.AnswerReceipt
		var e inquiry.AnswerHeard
		if err := errors.Join(json.Unmarshal([]byte(kept), &r), json.Unmarshal([]byte(kept), &e)); err != nil ||
			len(r.Notes) != 1 || r.Notes[0].Text != "down" || len(e.Notes) != 1 || e.Notes[0].Text != "down" {
			t.Errorf("%s: %+v, %+v, %v", kept, r.Notes, e.Notes, err)
		}
	}
}

func TestWhatLeavesTheMachineIsSaidBeforeTheFirstQuestion(t *testing.T) {
	for _, c := range []struct {
		opened inquiry.WitnessOpened
		want   string
	}{
		{inquiry.WitnessOpened{Name: "papers"}, "The witness is papers"},
		{inquiry.WitnessOpened{Name: "papers", Embeddings: "ollama:nomic"},
			"The witness is papers. The passages are also searched by meaning, with ollama:nomic"},
		{inquiry.WitnessOpened{Name: "papers", Embeddings: "openai:small", Away: true},
			"The witness is papers. All passages and the questions are sent to openai:small, which is not on " +
				"your machines, to search by meaning"},
		{inquiry.WitnessOpened{Name: "papers", Model: "openai:det"},
			"The witness is papers. openai:det is given the passages that are found for " +
				"each question, and chooses the quotations"},
	} {
		same(t, "line", c.opened.Story().Text, c.want)
	}
}

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

func TestExaminationThatDoesNotFitIsCutOnceAndToldAsItWasSent(t *testing.T) {
	h := newHouse(t)
	h.talks = true
	var taken []model.Request
	// The detective takes four long answers, the witness two exchanges. Of what is too much, half is enough.
	h.room = func(req model.Request) int {
		if req.Purpose == witness.Purpose {
			return 2*300 + 100
		}
		return len(req.System)/model.BytesPerToken + 4*330
	}
	h.takes = func(req model.Request) { taken = append(taken, req) }
	h.testifies = strings.Repeat("The bridge stood on its two piers. ", 33)
	const pairs = 10 // more than twice what there is room for
	h.analyses = func(n int, _ model.Request) modeltest.Turn { return after(n, pairs) }
	p := h.process("p", h.journal)
	r := p.begin(bridge, options())
	_, s := p.wait(r)
	p.ended(s, record.Completed, record.Satisfied, pairs)
	for purpose, requests := range map[string]int{asking: pairs, analysing: pairs, summing: 1, witness.Purpose: pairs} {
		all := h.requests(purpose)
		n := 0
		for _, req := range taken {
			if req.Purpose == purpose {
				n++
			}
		}
		assert.That(t, n == requests && len(all) <= n+n/2, "%s: %d requests, of which %d were taken; want %d",
			purpose, len(all), n, requests)
	}
	servicetest.ToldAsSent(t, p.service, ada, h.rows(), taken)
	for _, req := range h.requests(analysing) {
		contains(t, req.Messages[0].Text, bridge, fmt.Sprintf("Answer %d: Fact", answered(req)), questions[0])
	}
	told := assert.Must(p.service.Explain(t.Context(), ada, r.ID))(t)
	contains(t, fmt.Sprint(told), "the model’s window has no room for them")
	cut := 0
	for _, e := range s.AuditTrail {
		if strings.Contains(e.Reason, "the model’s window has no room for them") {
			cut++
		}
	}
	same(t, "entries in the audit trail", cut, 1)
}
