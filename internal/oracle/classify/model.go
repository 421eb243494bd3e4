package classify

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"sync"
)

// Model is a linear classifier. Bias and the rows of Weights have the order of Types.
type Model struct {
	Bias    [typeCount]float64
	Scale   float64 // what a weight of 1 counts
	Weights [Buckets][typeCount]int8
}

//go:embed classify.weights
var weightsFile []byte

// weights are the trained weights; sibyl-eval train writes them.
var weights = sync.OnceValue(func() *Model {
	m, err := Load(weightsFile)
	if err != nil {
		panic(err) // the file is part of the program, and a test reads it
	}
	return m
})

// Load reads the file of a model, compressed by gzip: bias, scale and the rows of weights, with the low byte first.
func Load(file []byte) (*Model, error) {
	m, head := &Model{}, [typeCount + 1]float64{}
	r, err := gzip.NewReader(bytes.NewReader(file))
	if err == nil {
		err = binary.Read(r, binary.LittleEndian, head[:])
	}
	if err != nil {
		return nil, fmt.Errorf("weights of the classifier: %w", err)
	}
	rows, err := io.ReadAll(r)
	if err != nil || len(rows) != Buckets*typeCount {
		return nil, fmt.Errorf("weights of the classifier: %d bytes where %d were expected (error: %w)", len(rows),
			Buckets*typeCount, err)
	}
	m.Scale = head[typeCount]
	copy(m.Bias[:], head[:])
	for i, w := range rows {
		m.Weights[i/typeCount][i%typeCount] = int8(w)
	}
	return m, nil
}

// Probabilities are those of the types, in the order of Types; they add up to 1.
func (m *Model) Probabilities(seen []Sign) []float64 {
	p := m.Bias
	for _, s := range seen {
		for k, w := range m.Weights[s.Bucket] {
			p[k] += float64(m.Scale * float64(w) * s.Count) // rounded, as on every processor
		}
	}
	top, sum := max(p[0], p[1], p[2], p[3], p[4]), 0.0
	for k := range p {
		p[k] = math.Exp(p[k] - top)
		sum += p[k]
	}
	for k := range p {
		p[k] /= sum
	}
	return p[:]
}

// gain is what a sign adds to the score of a type, minus what it adds to the others on average; 0 for an unknown sign.
func (m *Model) gain(s Sign, class int) float64 {
	row, all := m.Weights[s.Bucket], 0.0
	for _, w := range row {
		all += float64(w)
	}
	own := float64(row[class])
	return (own - (all-own)/(typeCount-1)) * m.Scale * s.Count
}

// isFamiliar says whether enough of a text was met in training: a third of all signs of its words, and a third of the
// words themselves or, as these may be misspelt, two thirds of all signs. Some signs that were never met share a bucket
// with one that was.
func isFamiliar(seen []Sign) bool {
	var words, wordsMet, all, met int
	for _, s := range seen {
		if s.from[1] == 0 {
			continue
		}
		is := 0
		if weights().Weights[s.Bucket] != [typeCount]int8{} {
			is = 1
		}
		all, met = all+1, met+is
		if s.role == term {
			words, wordsMet = words+1, wordsMet+is
		}
	}
	return 3*met > all && (3*wordsMet > words || 3*met > 2*all)
}
