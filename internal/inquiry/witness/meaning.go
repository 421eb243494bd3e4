package witness

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"sibyl/internal/document"
	"sibyl/internal/files"
	"sibyl/internal/model"
)

// meaning ranks chunks by how near they are to a question.
type meaning struct {
	embed  model.Embedder
	id     string
	folder string
	room   int64  // bytes
	about  string // a question that says nothing by itself
	chunks []document.Chunk

	mu      sync.Mutex
	vectors [][]float32 // of the chunks, of length 1; nil until they are wanted
	givenUp bool        // it has failed, and is left alone: no question waits for it again
}

const (
	together  = 64      // texts of a request
	mostBytes = 4_000   // of a text that is embedded
	mostCells = 1 << 16 // numbers of a vector
	usualRoom = 512 << 20
)

var (
	errLengths = errors.New("the embedder gave vectors of different lengths")
	errGivenUp = errors.New("the embedder has failed before")
)

func newMeaning(o Options, chunks []document.Chunk) *meaning {
	return &meaning{embed: o.Embed, id: o.EmbedID, folder: o.Cache, room: cmp.Or(o.Room, usualRoom), about: o.Hypothesis, chunks: chunks}
}

// rank gives all chunks, the nearest first. A thin question is understood by what was asked before. After a failure that no context is to blame for it is errGivenUp.
func (m *meaning) rank(ctx context.Context, question string, thin bool, earlier []Exchange) ([]int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.givenUp {
		return nil, errGivenUp
	}
	order, err := m.near(ctx, question, thin, earlier)
	m.givenUp = err != nil && ctx.Err() == nil
	return order, err
}

func (m *meaning) near(ctx context.Context, question string, thin bool, earlier []Exchange) ([]int, error) {
	chunks, err := m.ofChunks(ctx)
	if err != nil {
		return nil, err
	}
	if thin && len(earlier) > 0 {
		question = earlier[len(earlier)-1].Question + " " + question
	} else if thin {
		question = m.about + " " + question
	}
	vectors, _, err := m.embed.Embed(ctx, []string{short(question)})
	if err != nil {
		return nil, err
	}
	if len(vectors) != 1 || len(vectors[0]) != len(chunks[0]) {
		return nil, errLengths
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

// ofChunks gives the vectors of all chunks. Each document is embedded once: what the folder has is read, and what it
// has not is added.
func (m *meaning) ofChunks(ctx context.Context) ([][]float32, error) {
	if m.vectors != nil {
		return m.vectors, nil
	}
	if len(m.chunks) == 0 {
		return nil, errNothing
	}
	root, err := m.open()
	if err != nil {
		return nil, err
	}
	if root != nil {
		defer func() { _ = root.Close() }() // what is written is synced
	}
	all := make([][]float32, len(m.chunks))
	for first := 0; first < len(all); {
		next := first + 1
		for next < len(all) && m.chunks[next].DocumentHash == m.chunks[first].DocumentHash {
			next++
		}
		vectors, err := m.ofDocument(ctx, root, m.chunks[first:next])
		if err != nil {
			return nil, err
		}
		copy(all[first:], vectors)
		first = next
	}
	for _, v := range all {
		if len(v) != len(all[0]) || len(v) == 0 {
			return nil, errLengths
		}
	}
	m.vectors = all
	return all, nil
}

// open opens the folder of the vectors; nil without one.
func (m *meaning) open() (*os.Root, error) {
	if m.folder == "" {
		return nil, nil
	}
	if err := os.MkdirAll(m.folder, 0o700); err != nil {
		return nil, err
	}
	return os.OpenRoot(m.folder)
}

// ofDocument gives the vectors of a document's chunks: those that were kept, or new ones, which are kept then.
func (m *meaning) ofDocument(ctx context.Context, root *os.Root, chunks []document.Chunk) ([][]float32, error) {
	name := m.key(chunks)
	if root != nil {
		f, err := files.Read(root, name, len(chunks)*4*mostCells)
		if vectors := unpack(f.Content, len(chunks)); err == nil && !f.Cut && vectors != nil {
			used := time.Now()
			return vectors, root.Chtimes(name, used, used)
		}
	}
	var all [][]float32
	for len(all) < len(chunks) {
		var texts []string
		for _, c := range chunks[len(all):min(len(all)+together, len(chunks))] {
			texts = append(texts, short(c.Text))
		}
		vectors, _, err := m.embed.Embed(ctx, texts)
		if err == nil && len(vectors) != len(texts) {
			err = fmt.Errorf("the embedder gave %d vectors for %d texts", len(vectors), len(texts))
		}
		if err != nil {
			return nil, err
		}
		for _, v := range vectors {
			if len(v) != len(vectors[0]) || len(v) == 0 || len(v) > mostCells {
				return nil, errLengths
			}
			all = append(all, normal(v))
		}
	}
	if root != nil {
		if err := files.Write(root, name, pack(all), 0o600); err != nil {
			return nil, err
		}
		if err := m.clear(root, name); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// clear keeps the folder within its room: what was not used for the longest time goes, but not what was just written.
func (m *meaning) clear(root *os.Root, written string) error {
	all, err := files.List(root, ".")
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), vectorsEnding) })
	slices.SortStableFunc(all, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	size := int64(0)
	for _, f := range all {
		size += f.Size()
		if size <= m.room || f.Name() == written {
			continue
		}
		if err := root.Remove(f.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) { // another process may have been first
			return err
		}
	}
	return nil
}

const vectorsEnding = ".vectors"

// key names the vectors of chunks: by their texts, and by the model that they were made with.
func (m *meaning) key(chunks []document.Chunk) string {
	var all strings.Builder
	all.WriteString(m.id + "\n")
	for _, c := range chunks {
		all.WriteString(c.Hash + "\n")
	}
	return strings.TrimPrefix(files.Hash([]byte(all.String())), "sha256:") + vectorsEnding
}

// pack writes vectors one after the other, with a checksum in front.
func pack(all [][]float32) []byte {
	var content []byte
	for _, v := range all {
		for _, x := range v {
			content = binary.LittleEndian.AppendUint32(content, math.Float32bits(x))
		}
	}
	return append(binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(content)), content...)
}

// unpack reads so many vectors, or gives nil if the content is not what pack wrote.
func unpack(content []byte, count int) [][]float32 {
	if len(content) <= 4 || (len(content)-4)%(4*count) != 0 || binary.LittleEndian.Uint32(content) != crc32.ChecksumIEEE(content[4:]) {
		return nil
	}
	content = content[4:]
	all := make([][]float32, count)
	for i := range all {
		all[i] = make([]float32, len(content)/4/count)
		for j := range all[i] {
			all[i][j] = math.Float32frombits(binary.LittleEndian.Uint32(content[4*(i*len(all[i])+j):]))
		}
	}
	return all
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
