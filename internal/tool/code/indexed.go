package code

import (
	"bytes"
	"context"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"sibyl/internal/search"
)

// Index keeps what was read of a root between calls and between processes: the words of its files, how often they stand there, and where its definitions
// are. It may lose everything at any time. It is safe for concurrent use.
type Index interface {
	// Read has one state of it used, during the call. An error that is none of use's says that there is nothing to use.
	Read(ctx context.Context, use func(Kept) error) error
	// Build has something added to it. It fails where another process does so.
	Build(ctx context.Context, add func(Builder) error) error
	Close() error
}

// Kept is one state of an index.
type Kept interface {
	// Generation is another number for each state.
	Generation() uint64
	// Catalogue is what was committed with the state; empty at first.
	Catalogue() []byte
	// Parts and Part give the words: some of a segment, each with a line feed behind it, with search.Padding zero bytes behind all; first is the number of the
	// first of them in its segment.
	Parts() int
	Part(i int) (segment uint32, first int, words []byte)
	// Texts says how many texts each segment has.
	Texts() map[uint32]int
	// Places says in which texts words stand, given by their numbers in ascending order, and how often.
	Places(segment uint32, words []int, emit func(word int, text, count uint32)) error
	// Notes gives what was noted on texts, in no order.
	Notes(segment uint32, texts []uint32, note func(text uint32, note []byte)) error
}

// Builder adds to an index.
type Builder interface {
	// Word counts a word of a text, and Text ends it, with a note.
	Word(word []byte)
	Text(note []byte) (segment, text uint32)
	// Pending is about how many bytes are to be committed.
	Pending() int
	Commit(ctx context.Context, catalogue []byte) error
	// Merge joins segments, if it is time for that, with the next commit.
	Merge(ctx context.Context, finally bool, live func(segment, text uint32) bool) (into uint32, moved map[uint32][]uint32, err error)
}

// indexed is a root's index, and what this process knows by it.
type indexed struct {
	index Index
	root  *Root
	build *builder

	mu         sync.Mutex
	generation uint64
	known      *memory // of that generation, or newer
}

// UseIndex has searches go by an index, which is built behind them. It is called before the root's tools are. Close closes the index as well.
func (r *Root) UseIndex(x Index) {
	r.indexed = &indexed{index: x, root: r}
	r.indexed.build = newBuilder(r.indexed)
}

func (x *indexed) close() error {
	if x == nil {
		return nil
	}
	x.build.close()
	return x.index.Close()
}

// searching keeps the building of the index away until the function that it gives is called.
func (x *indexed) searching() (done func()) {
	if x == nil {
		return func() {}
	}
	return x.build.pause()
}

// memory is what an index knows, with what this process has learnt since.
func (x *indexed) memory(k Kept) (*memory, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.known != nil && x.generation == k.Generation() {
		return x.known, nil
	}
	known, err := decodeMemory(k.Catalogue())
	if err != nil {
		return nil, err
	}
	x.known, x.generation = known, k.Generation()
	return known, nil
}

// learn takes over what a walk of the whole root has learnt.
func (x *indexed) learn(generation uint64, known *memory) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.generation == generation {
		x.known = known
	}
}

// heldFile is a file whose words are in the index.
type heldFile struct {
	found
	generation uint64
}

// count counts the terms in all files: by the index where it holds a file as it is, else by reading it.
func (s *lookup) count(ctx context.Context) error {
	x := s.root.indexed
	if x == nil || s.regex {
		return s.scan(ctx)
	}
	found := *s
	toRead := 0
	err := x.index.Read(ctx, func(k Kept) (err error) {
		toRead, err = found.countKept(ctx, k)
		return err
	})
	if err == nil {
		*s = found
		if toRead > 0 {
			x.build.want()
		}
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	x.build.want()
	return s.scan(ctx)
}

// countKept is count by one state of the index. It says how many files or folders the index should learn.
func (s *lookup) countKept(ctx context.Context, k Kept) (toRead int, err error) {
	known, err := s.root.indexed.memory(k)
	if err != nil {
		return 0, err
	}
	words := make([][]foundWord, k.Parts())
	var crew errgroup.Group
	crew.SetLimit(workers())
	for i := range words {
		crew.Go(func() error {
			_, first, text := k.Part(i)
			words[i] = s.wordsIn(text, first)
			return ctx.Err()
		})
	}
	h := newHoldings(k, len(s.query.terms))
	learned := newLearned(known, s.scope.start)
	read, err := s.visitAll(ctx, learned, h)
	if err := firstOf(err, crew.Wait()); err != nil {
		return 0, err
	}
	if learned.whole {
		s.root.indexed.learn(k.Generation(), learned.memory())
	}
	if err := h.count(k, words); err != nil {
		return 0, err
	}
	s.tallies = append(s.tallies, h.tallies()...)
	slices.SortFunc(s.tallies, func(a, b tally) int { return strings.Compare(a.path, b.path) })
	return read + learned.relisted/relistedWorth, nil
}

// relistedWorth is how many folders that had to be listed are worth a commit.
const relistedWorth = 32

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// foundWord is a word of the index in which terms were found.
type foundWord struct {
	number int
	terms  []termCount
}

type termCount struct {
	term  int
	count int32 // in tenths of a full match
}

// wordsIn finds the words that hold a term. They stand in lines; first is the number of the first.
func (s *lookup) wordsIn(text []byte, first int) (words []foundWord) {
	at := 0
	s.finder.find(text, func(m match) {
		first += bytes.Count(text[at:m.start], []byte{'\n'})
		at = m.start
		if len(words) == 0 || words[len(words)-1].number != first {
			words = append(words, foundWord{number: first})
		}
		w := &words[len(words)-1]
		for i := range w.terms {
			if w.terms[i].term == m.term {
				w.terms[i].count += int32(m.strength)
				return
			}
		}
		w.terms = append(w.terms, termCount{m.term, int32(m.strength)})
	})
	return words
}

// visitAll walks over the files in scope: those that the index holds are gathered in h, the others are read. It says how many should be in the index.
func (s *lookup) visitAll(ctx context.Context, known *learned, h *holdings) (read int, err error) {
	var mu sync.Mutex
	s.hintSeen = make([]bool, len(s.query.hints))
	skipped, err := s.root.walkKnowing(ctx, s.scope.start, known, func(f *found) {
		if !s.scope.holds(f.path) {
			return
		}
		if f.known != nil {
			switch f.known.kind {
			case held:
				mu.Lock()
				defer mu.Unlock()
				s.seen(f.path, f.info.Size())
				h.add(f)
				return
			case noText:
				f.worker.skipped.Binary++
				return
			}
		}
		content, ok := f.read()
		if !ok {
			return
		}
		t := s.tallyOf(f.path, content)
		mu.Lock()
		defer mu.Unlock()
		s.seen(f.path, int64(len(content)))
		if t != nil {
			s.tallies = append(s.tallies, *t)
		}
		if f.known == nil || f.known.kind != withheld {
			read++
		}
	})
	s.skipped = skipped
	return read, err
}

// seen counts a file that was searched.
func (s *lookup) seen(at string, size int64) {
	s.files++
	s.bytes += size
	for i, hint := range s.query.hints {
		s.hintSeen[i] = s.hintSeen[i] || hintFit(hint, at) > 0
	}
}

// tallyOf counts the terms in a content; nil if there are none.
func (s *lookup) tallyOf(at string, content []byte) *tally {
	counts, any := make([]int32, len(s.query.terms)), false
	s.finder.find(content, func(m match) {
		counts[m.term] += int32(m.strength)
		any = true
	})
	if !any {
		return nil
	}
	return &tally{path: at, size: len(content), terms: counts}
}

// holdings are the files of a search that the index holds, with the terms in them.
type holdings struct {
	generation uint64
	terms      int
	files      []heldFile
	bySegment  map[uint32][]int32 // by text: which of the files it is, from 1
	counts     []int32            // by file and term
}

func newHoldings(k Kept, terms int) *holdings {
	h := &holdings{generation: k.Generation(), terms: terms, bySegment: map[uint32][]int32{}}
	for segment, texts := range k.Texts() {
		h.bySegment[segment] = make([]int32, texts)
	}
	return h
}

func (h *holdings) add(f *found) {
	texts := h.bySegment[f.known.segment]
	if int(f.known.text) >= len(texts) {
		return // a catalogue of another index: nothing is counted for it
	}
	h.files = append(h.files, heldFile{*f, h.generation})
	texts[f.known.text] = int32(len(h.files))
}

// count adds up the words by the places that the index has for them. Words are by part.
func (h *holdings) count(k Kept, words [][]foundWord) error {
	h.counts = make([]int32, len(h.files)*h.terms)
	bySegment := map[uint32][]foundWord{}
	for i, some := range words {
		segment, _, _ := k.Part(i)
		bySegment[segment] = append(bySegment[segment], some...)
	}
	for segment, found := range bySegment {
		numbers := make([]int, len(found))
		for i := range found {
			numbers[i] = found[i].number
		}
		texts, at := h.bySegment[segment], 0
		err := k.Places(segment, numbers, func(word int, text, count uint32) {
			for found[at].number != word {
				at++
			}
			if int(text) >= len(texts) || texts[text] == 0 {
				return
			}
			row := h.counts[int(texts[text]-1)*h.terms:]
			for _, t := range found[at].terms {
				row[t.term] += t.count * int32(count)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (h *holdings) tallies() (all []tally) {
	for i := range h.files {
		row := h.counts[i*h.terms : (i+1)*h.terms]
		if slices.ContainsFunc(row, func(n int32) bool { return n > 0 }) {
			f := &h.files[i]
			all = append(all, tally{path: f.path, size: int(f.info.Size()), terms: row, place: f})
		}
	}
	return all
}

// recallOutlines asks the index for what it knows of files. What it has forgotten since is found out anew.
func (s *lookup) recallOutlines(ctx context.Context, files []tally) {
	bySegment := map[uint32][]uint32{}
	places := map[[2]uint32]*heldFile{}
	for _, f := range files {
		if f.place != nil {
			k := f.place.known
			bySegment[k.segment] = append(bySegment[k.segment], k.text)
			places[[2]uint32{k.segment, k.text}] = f.place
		}
	}
	s.outlines = map[*heldFile][]definition{}
	if len(places) == 0 {
		return
	}
	_ = s.root.indexed.index.Read(ctx, func(k Kept) error { // else they are found out anew
		for segment, texts := range bySegment {
			err := k.Notes(segment, texts, func(text uint32, note []byte) {
				if p := places[[2]uint32{segment, text}]; p != nil && p.generation == k.Generation() {
					if defs, ok := decodeOutline(note); ok {
						s.outlines[p] = defs
					}
				}
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// open reads one of the best files again.
func (s *lookup) open(file *tally) (*source, error) {
	if p := file.place; p != nil {
		if content, err := readHeld(s.root, p.path, p.info, p.known.stamp, new([]byte)); err == nil {
			src := newSource(p.path, content) // no secret is in what the index holds
			src.known = s.outlines[p]
			return src, nil
		}
	}
	content, err := s.root.content(file.path)
	if err != nil {
		return nil, err
	}
	return newSource(file.path, content), nil
}

// readHeld reads a file that was seen in a walk. It fails if it changed since, by its stamp.
func readHeld(r *Root, at string, seen fs.FileInfo, stamp uint64, buf *[]byte) ([]byte, error) {
	f, info, err := openRegular(r.root, at, seen)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	if stampOf(info) != stamp {
		return nil, errChanged
	}
	return readText(f, info, buf)
}

// eachWord gives the words of a content as the index keeps them: letters and digits, joined by single underscores or hyphens. What a scanner finds lies
// within one of them, and what it finds there does not depend on what is around.
func eachWord(content []byte, emit func(word []byte)) {
	isJoint := func(c byte) bool { return c == '_' || c == '-' }
	for i := 0; i < len(content); {
		if !search.IsWord(content[i]) {
			i++
			continue
		}
		end := i + 1
		for end < len(content) && (search.IsWord(content[end]) || isJoint(content[end]) && end+1 < len(content) && search.IsWord(content[end+1])) {
			end++
		}
		emit(content[i:end])
		i = end
	}
}
