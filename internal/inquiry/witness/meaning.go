package witness

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"sibyl/internal/files"
	"sibyl/internal/model"
)

// meaning ranks chunks by how near they are to a question.
type meaning struct {
	embed  model.Embedder
	id     string
	folder string
	corpus *corpus

	mu      sync.Mutex
	vectors [][]float32 // of the chunks, of length 1; nil until they are wanted
}

const (
	together  = 64      // texts of a request
	mostBytes = 4_000   // of a text that is embedded
	mostCells = 1 << 16 // numbers of a vector
)

func newMeaning(o Options, c *corpus) *meaning {
	return &meaning{embed: o.Embed, id: o.EmbedID, folder: o.Cache, corpus: c}
}

// rank gives all chunks, the nearest first.
func (m *meaning) rank(ctx context.Context, question string, q asked, earlier []Exchange) ([]int, error) {
	chunks, err := m.ofChunks(ctx)
	if err != nil {
		return nil, err
	}
	if q.thin && len(earlier) > 0 {
		question = earlier[len(earlier)-1].Question + " " + question
	} else if q.thin {
		question = m.corpus.hypothesis + " " + question
	}
	vectors, _, err := m.embed.Embed(ctx, []string{short(question)})
	if err != nil {
		return nil, err
	}
	if len(vectors) != 1 || len(vectors[0]) != len(chunks[0]) {
		return nil, errors.New("the embedder gave vectors of different lengths")
	}
	asked := normal(vectors[0])
	near := make([]float64, len(chunks))
	order := make([]int, len(chunks))
	for i, v := range chunks {
		order[i] = i
		for j := range v {
			near[i] += float64(v[j]) * float64(asked[j])
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(near[b], near[a]) })
	return order, nil
}

// ofChunks gives the vectors of all chunks. Each text is embedded once: what the folder has is read, and what it has not is added.
func (m *meaning) ofChunks(ctx context.Context) ([][]float32, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.vectors != nil {
		return m.vectors, nil
	}
	if len(m.corpus.chunks) == 0 {
		return nil, errNothing
	}
	known, err := m.known()
	if err != nil {
		return nil, err
	}
	var texts, keys []string
	for _, c := range m.corpus.chunks {
		if key := m.key(c.Hash); known[key] == nil && !slices.Contains(keys, key) {
			texts, keys = append(texts, short(c.Text)), append(keys, key)
		}
	}
	for len(texts) > 0 {
		n := min(together, len(texts))
		vectors, _, err := m.embed.Embed(ctx, texts[:n])
		if err == nil && len(vectors) != n {
			err = fmt.Errorf("the embedder gave %d vectors for %d texts", len(vectors), n)
		}
		if err != nil {
			return nil, err
		}
		for i, v := range vectors {
			known[keys[i]] = normal(v)
			if err := m.keep(keys[i], known[keys[i]]); err != nil {
				return nil, err
			}
		}
		texts, keys = texts[n:], keys[n:]
	}
	all := make([][]float32, len(m.corpus.chunks))
	for i, c := range m.corpus.chunks {
		all[i] = known[m.key(c.Hash)]
		if len(all[i]) != len(all[0]) {
			return nil, errors.New("the embedder gave vectors of different lengths")
		}
	}
	m.vectors = all
	return all, nil
}

// key names a vector: by the text and by the model that it was made with.
func (m *meaning) key(hash string) string {
	return strings.TrimPrefix(files.Hash([]byte(m.id+"\n"+hash)), "sha256:")
}

// known reads the vectors that the folder has for these chunks. One that can't be read is made anew.
func (m *meaning) known() (map[string][]float32, error) {
	known := map[string][]float32{}
	if m.folder == "" {
		return known, nil
	}
	if err := os.MkdirAll(m.folder, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(m.folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // opened for reading only
	for _, c := range m.corpus.chunks {
		key := m.key(c.Hash)
		f, err := files.Read(root, key, 4*mostCells)
		if err != nil || f.Cut || len(f.Content) == 0 || len(f.Content)%4 != 0 {
			continue
		}
		v := make([]float32, len(f.Content)/4)
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(f.Content[4*i:]))
		}
		known[key] = v
	}
	return known, nil
}

// keep writes a vector into the folder.
func (m *meaning) keep(key string, v []float32) error {
	if m.folder == "" {
		return nil
	}
	content := make([]byte, 0, 4*len(v))
	for _, x := range v {
		content = binary.LittleEndian.AppendUint32(content, math.Float32bits(x))
	}
	return files.Replace(filepath.Join(m.folder, key), content, 0o600)
}

// normal gives a vector the length 1.
func normal(v []float32) []float32 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return v
	}
	unit := make([]float32, len(v))
	for i, x := range v {
		unit[i] = float32(float64(x) / math.Sqrt(sum))
	}
	return unit
}

// short keeps the beginning of a text that an embedder takes.
func short(text string) string {
	if len(text) <= mostBytes {
		return text
	}
	return strings.ToValidUTF8(text[:mostBytes], "")
}
