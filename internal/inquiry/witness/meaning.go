package witness

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"sibyl/internal/media/document"
	"sibyl/internal/model"
	"sibyl/internal/text"
)

// meaningRanker ranks chunks by their nearness to a question. It embeds them at the first question, and keeps the
// vectors in memory.
type meaningRanker struct {
	embed  model.Embedder
	chunks []document.Chunk

	mu      sync.Mutex
	vectors [][]float32 // of the chunks
	givenUp bool        // the embedder failed: no question tries it again
}

const (
	together  = 64    // texts of a request
	mostBytes = 4_000 // of a text that is embedded
	fused     = 60    // the constant of reciprocal rank fusion
)

var errGivenUp = errors.New("the embedder has failed before")

// rank returns the indices of all chunks, the nearest first. After a failure, unless ctx ended, it gives up.
func (m *meaningRanker) rank(ctx context.Context, question string) ([]int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.givenUp {
		return nil, errGivenUp
	}
	order, err := m.nearest(ctx, question)
	m.givenUp = err != nil && ctx.Err() == nil
	return order, err
}

func (m *meaningRanker) nearest(ctx context.Context, question string) ([]int, error) {
	for len(m.vectors) < len(m.chunks) {
		var texts []string
		for _, c := range m.chunks[len(m.vectors):min(len(m.vectors)+together, len(m.chunks))] {
			texts = append(texts, c.Text)
		}
		vectors, err := m.embedTexts(ctx, texts)
		if err != nil {
			return nil, err
		}
		m.vectors = append(m.vectors, vectors...)
	}
	asked, err := m.embedTexts(ctx, []string{question})
	if err != nil {
		return nil, err
	}
	scores := make([]float64, len(m.vectors))
	for i, v := range m.vectors {
		if len(v) != len(asked[0]) {
			return nil, errors.New("the embedder gave vectors of different lengths")
		}
		scores[i] = 1 + cosine(v, asked[0])
	}
	return rankByScore(scores), nil
}

func (m *meaningRanker) embedTexts(ctx context.Context, texts []string) ([][]float32, error) {
	for i, t := range texts {
		texts[i] = text.Clip(t, mostBytes)
	}
	vectors, _, err := m.embed.Embed(ctx, texts)
	if err == nil && len(vectors) != len(texts) {
		err = fmt.Errorf("the embedder gave %d vectors for %d texts", len(vectors), len(texts))
	}
	return vectors, err
}

// fuse merges rankings by reciprocal rank fusion.
func fuse(count int, rankings ...[]int) []int {
	scores := make([]float64, count)
	for _, ranking := range rankings {
		for place, i := range ranking {
			scores[i] += 1 / float64(fused+place)
		}
	}
	return rankByScore(scores)
}

func cosine(a, b []float32) float64 {
	var product, ofA, ofB float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		product += x * y
		ofA += x * x
		ofB += y * y
	}
	if ofA == 0 || ofB == 0 {
		return 0
	}
	return product / math.Sqrt(ofA*ofB)
}
