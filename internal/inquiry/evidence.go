package inquiry

import (
	"context"
	"errors"
	"maps"

	"sibyl/internal/files"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/journal"
	"sibyl/internal/media/document"
	"sibyl/internal/run"
)

// Evidence makes the evidence page of an inquiry, with the passages that its witness quoted, as they were in the
// documents then. If the journal changed a passage because it redacted a secret, the page shows only its hash.
func (d *Desk) Evidence(ctx context.Context, r journal.Run, s record.Session) ([]byte, error) {
	texts, err := d.citedPassages(ctx, r)
	if err != nil {
		return nil, err
	}
	var chunks []document.Chunk
	for _, pair := range s.Pairs {
		for _, c := range pair.Citations {
			if text := texts[c.ChunkHash]; files.Hash([]byte(text)) == c.ChunkHash {
				chunks = append(chunks, document.Chunk{Document: c.Document, DocumentHash: c.Hash, Page: c.Page,
					Index: c.Chunk, Text: text, Hash: c.ChunkHash})
			}
		}
	}
	return record.Evidence(s, chunks...)
}

// citedPassages returns the texts of the chunks that a run's answers cite, by their hashes; none for a run that this
// build can't read.
func (d *Desk) citedPassages(ctx context.Context, r journal.Run) (map[string]string, error) {
	texts := map[string]string{}
	_, v, err := d.recorded(ctx, r)
	if errors.Is(err, journal.ErrCorrupt) {
		return texts, nil
	}
	if err != nil {
		return nil, err
	}
	for seq, c := range v.Receipts() {
		if c.Kind != EffectAnswer || c.Err != nil {
			continue
		}
		heard, err := run.ResultAt[AnswerReceipt](v, seq)
		if err != nil {
			return nil, err
		}
		maps.Copy(texts, heard.Passages)
	}
	return texts, nil
}
