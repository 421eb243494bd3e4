package inquiry_test

import (
	"context"
	"fmt"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/files"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/inquiry/witness"
	"sibyl/internal/media/document"
	"sibyl/internal/schema"
)

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
