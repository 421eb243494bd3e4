package code

import (
	"bytes"
	"cmp"
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"sibyl/internal/text/search"
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

// Kept is one state of an index. While one goroutine uses it, another may ask for what it is: its generation, its catalogue and its texts.
type Kept interface {
	// Generation is another number for each state.
	Generation() uint64
	// Catalogue is what was committed with the state; empty at first.
	Catalogue() []byte
	// Words gives the words, in parts: some of a segment, each with a line feed behind it, with search.Padding zero bytes behind all; first is the number of the
	// first of them in its segment. They stay as they are for as long as the index is open.
	Words(give func(segment uint32, first int, words []byte)) error
	// Load has at hand what readings need, for as long as the index is open.
	Load() error
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

// IndexUse says how a root goes by an index.
type IndexUse struct {
	Index Index
	// Private says that a content may not be kept, beside what looks like a secret in it; nil: there is nothing more.
	Private func(content []byte) bool
	// Folder, if set, is the root's absolute path: the process stays, and has itself told by the system of what changes there.
	Folder string
}

// indexed is a root's index, and what this process knows by it.
type indexed struct {
	index   Index
	private func(content []byte) bool
	root    *Root
	build   *builder
	always  bool // however small the root is

	watch *watch // nil: the system tells nothing

	ctx      context.Context // until it is closed
	cancel   context.CancelFunc
	work     sync.WaitGroup
	renewing atomic.Bool
	looking  sync.Mutex // held by the one that walks over the root

	sources sources

	mu         sync.Mutex
	generation uint64
	known      *memory // of that generation, or newer
	last       *survey // what the last walk found, where the system tells of changes; nil: none
}

// How much a root must have, in one or the other, for an index to be made of it: less is searched as fast without.
const (
	leastFiles = 400
	leastBytes = 4 << 20
)

// UseIndex has searches go by an index, which is built behind them. It is called before the root's tools are. Close closes the index as well.
func (r *Root) UseIndex(use IndexUse) {
	x := &indexed{index: use.Index, private: use.Private, root: r}
	x.ctx, x.cancel = context.WithCancel(context.Background())
	if use.Folder != "" {
		x.watch = newWatch(use.Folder)
	}
	x.build = newBuilder(x)
	if r.indexed = x; x.watch != nil {
		x.renew() // so that the first search need not look
	}
}

// BuildIndex brings the index up to date, however small the root is. It fails where another process does so.
func (r *Root) BuildIndex(ctx context.Context) error { return r.indexed.build.update(ctx) }

func (x *indexed) close() error {
	if x == nil {
		return nil
	}
	x.cancel()
	x.work.Wait()
	x.build.close()
	x.watch.close()
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
func (x *indexed) memory(k Kept) *memory {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.known != nil && x.generation == k.Generation() {
		return x.known
	}
	x.known, x.generation = decodeMemory(k.Catalogue()), k.Generation()
	return x.known
}

// count counts the terms in all files: by the index where it holds a file as it is, else by reading it.
func (s *lookup) count(ctx context.Context) error {
	x := s.root.indexed
	if x == nil || s.regex || s.scope.start != "." { // a part of a root is searched as fast without
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
	err = s.scan(ctx)
	if err == nil && (x.always || s.files >= leastFiles || s.bytes >= leastBytes) {
		x.build.want()
	}
	return err
}

// countKept is count by one state of the index. It says how many files or folders the index should learn.
func (s *lookup) countKept(ctx context.Context, k Kept) (toLearn int, err error) {
	var there *survey
	var paths inPaths
	read := 0
	var look errgroup.Group
	look.Go(func() (err error) {
		if there, err = s.root.indexed.survey(ctx, k); err != nil {
			return err
		}
		s.skipped, paths = there.skipped, s.countPaths(there)
		read, err = s.countUnread(ctx, there)
		return err
	})
	counts, err := s.countWords(ctx, k)
	if err := cmp.Or(look.Wait(), err); err != nil {
		return 0, err
	}
	slices.SortFunc(s.tallies, func(a, b tally) int { return strings.Compare(a.path, b.path) })
	s.tallies = merged(s.countHeld(there, counts, paths), s.tallies)
	return read + there.relisted/relistedWorth, nil
}

// merged puts tallies into one list that are each by path: some of many, to which they are added.
func merged(many, some []tally) []tally {
	at := len(many) - 1
	many = append(many, some...)
	for to := len(many) - 1; len(some) > 0; to-- {
		if last := len(some) - 1; at < 0 || many[at].path < some[last].path {
			many[to], some = some[last], some[:last]
		} else {
			many[to] = many[at]
			at--
		}
	}
	return many
}

// relistedWorth is how many folders that had to be listed are worth a commit.
const relistedWorth = 32

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

// countWords counts the terms in all texts of an index: by segment, in a row of terms for each text.
func (s *lookup) countWords(ctx context.Context, k Kept) (counts map[uint32][]int32, err error) {
	type part struct {
		segment uint32
		words   []foundWord
	}
	var parts []*part
	var crew errgroup.Group
	crew.SetLimit(workers())
	err = k.Words(func(segment uint32, first int, words []byte) {
		p := &part{segment: segment}
		parts = append(parts, p)
		crew.Go(func() error {
			p.words = s.wordsIn(words, first)
			return ctx.Err()
		})
	})
	if err := cmp.Or(crew.Wait(), err); err != nil {
		return nil, err
	}
	bySegment := map[uint32][]foundWord{}
	for _, p := range parts {
		bySegment[p.segment] = append(bySegment[p.segment], p.words...)
	}
	terms, texts := len(s.query.terms), k.Texts()
	counts = map[uint32][]int32{}
	for segment, found := range bySegment {
		rows := make([]int32, texts[segment]*terms)
		numbers := make([]int, len(found))
		for i := range found {
			numbers[i] = found[i].number
		}
		at := 0
		if err := k.Places(segment, numbers, func(word int, text, count uint32) {
			for found[at].number != word {
				at++
			}
			if int(text) < texts[segment] {
				row := rows[int(text)*terms:]
				for _, t := range found[at].terms {
					row[t.term] += t.count * int32(count)
				}
			}
		}); err != nil {
			return nil, err
		}
		counts[segment] = rows
	}
	return counts, nil
}

// countHeld takes the files that the index holds, by the counts that countWords and countPaths give.
func (s *lookup) countHeld(there *survey, counts map[uint32][]int32, paths inPaths) (tallies []tally) {
	for _, at := range there.binary {
		if s.scope.holds(at) {
			s.skipped.Binary++
		}
	}
	terms, everything, nowhere := len(s.query.terms), s.scope.isEverything(), make([]float64, len(s.query.terms))
	tallies = make([]tally, 0, len(there.held))
	for i, p := range there.places {
		if !everything && !s.scope.holds(there.held[i].path) {
			continue
		}
		s.files++
		s.bytes += p.size
		rows := counts[p.segment]
		if at := int(p.text) * terms; at < len(rows) && slices.ContainsFunc(rows[at:at+terms], func(n int32) bool { return n > 0 }) {
			f := there.held[i]
			t := tally{path: f.path, size: int(p.size), terms: rows[at : at+terms], place: f, paths: paths.terms[i], hinted: paths.hinted[i]}
			if t.paths == nil {
				t.paths = nowhere
			}
			tallies = append(tallies, t)
		}
	}
	return tallies
}

// countUnread reads the files that the index does not hold. It says how many of them it should.
func (s *lookup) countUnread(ctx context.Context, there *survey) (toLearn int, err error) {
	var mu sync.Mutex
	var crew errgroup.Group
	crew.SetLimit(workers())
	buffers := sync.Pool{New: func() any { return new([]byte) }}
	for _, some := range there.unread {
		crew.Go(func() error {
			dir, err := s.root.root.OpenRoot(path.Dir(some[0].path))
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				s.skipped.Unreadable += len(some)
				return nil
			}
			defer func() { _ = dir.Close() }() // opened for reading only
			buf := buffers.Get().(*[]byte)
			defer buffers.Put(buf)
			w := &worker{buf: *buf}
			for i := range some {
				f := found{path: some[i].path, info: some[i].info, dir: dir, name: some[i].info.Name(), worker: w, known: some[i].known}
				if ctx.Err() != nil || !s.scope.holds(f.path) || isOver(ctx) {
					continue
				}
				content, ok := f.read()
				if !ok {
					continue
				}
				t := s.tallyOf(f.path, content)
				mu.Lock()
				s.files++
				s.bytes += int64(len(content))
				if t != nil {
					s.tallies = append(s.tallies, *t)
				}
				if f.known == nil || f.known.kind != withheld {
					toLearn++
				}
				mu.Unlock()
			}
			*buf = w.buf
			mu.Lock()
			defer mu.Unlock()
			s.skipped.add(w.skipped)
			return nil
		})
	}
	return toLearn, cmp.Or(crew.Wait(), ctx.Err())
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

// recallOutlines asks the index for what it knows of files, but for those whose outline this process has. What the index has forgotten since is found out anew.
func (s *lookup) recallOutlines(ctx context.Context, files []tally) {
	bySegment := map[uint32][]uint32{}
	places := map[[2]uint32]*heldFile{}
	for _, f := range files {
		if f.place != nil {
			k := f.place.known
			if src := s.root.indexed.sources.get(f.path, k.stamp); src != nil && src.known != nil {
				continue
			}
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
				if p := places[[2]uint32{segment, text}]; p.generation == k.Generation() {
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
