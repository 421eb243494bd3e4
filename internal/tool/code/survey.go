package code

import (
	"bytes"
	"cmp"
	"context"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sibyl/internal/text/search"
)

// survey is what a walk over a whole root found, for one state of the index. What is in it never changes.
type survey struct {
	generation uint64
	changes    uint64 // of which the system had told before
	began      time.Time

	held     []*heldFile  // files whose words are in the index, by path
	places   []heldPlace  // where these are
	unread   [][]seenFile // the others, by folder
	binary   []string     // paths of files that need not be read to know that they are
	skipped  Skipped
	relisted int
	lowPaths func() string    // paths of held in lower case, each in a line
	paths    func() pathLines // and as they are
}

// seenFile is a file as it was seen in a walk.
type seenFile struct {
	path  string
	info  fs.FileInfo
	known *fileMemory // nil: nothing
}

// heldFile is a file whose words are in the index.
type heldFile struct {
	seenFile
	generation uint64           // of the index in which its place is known
	ranks      [2]atomic.Uint64 // rankOfPath without and with tests, as bits, once it was asked for
}

// heldPlace is what is asked of every file that is held.
type heldPlace struct {
	segment, text uint32
	size          int64
}

// rankOfFile is rankOfPath of a file.
func (s *lookup) rankOfFile(f *tally) float64 {
	if f.place == nil {
		return rankOfPath(f.path, s.query.tests)
	}
	kept := &f.place.ranks[bit(s.query.tests)]
	if bits := kept.Load(); bits != 0 {
		return math.Float64frombits(bits)
	}
	rank := rankOfPath(f.path, s.query.tests)
	kept.Store(math.Float64bits(rank))
	return rank
}

// inPath is termsInPath of a file.
func (s *lookup) inPath(f *tally) []float64 {
	if f.paths != nil {
		return f.paths
	}
	return s.termsInPath(f.path)
}

// pathLines are the paths of the files that are held, taken apart so that a folder stands there once for the files that follow it.
type pathLines struct {
	text  []byte  // a line for each folder and each name, without its ending; padded
	files []int32 // by line: the number of the file; folderLine where it is that of a folder
}

const folderLine = -1

func pathLinesOf(files []*heldFile) pathLines {
	var p pathLines
	folder := ""
	for i, f := range files {
		dir, name := path.Split(f.path)
		if dir != folder {
			folder, p.text, p.files = dir, append(append(p.text, dir...), '\n'), append(p.files, folderLine)
		}
		p.text, p.files = append(append(p.text, strings.TrimSuffix(name, path.Ext(name))...), '\n'), append(p.files, int32(i))
	}
	p.text = append(p.text, make([]byte, search.Padding)...)[:len(p.text)]
	return p
}

// inPaths is what paths say of the files that are held, by their number.
type inPaths struct {
	terms  [][]float64     // termsInPath, where it is not nothing
	hinted map[int]float64 // how well the best hint fits
}

// countPaths looks for the terms and hints in the paths of all files.
func (s *lookup) countPaths(there *survey) inPaths {
	in := inPaths{make([][]float64, len(there.held)), s.countHints(there)}
	lines, line, at := there.paths(), 0, 0
	var row []float64 // of the line
	settle := func() {
		if row == nil {
			return
		}
		if n := lines.files[line]; n != folderLine {
			in.terms[n] = row
			return
		}
		for _, n := range lines.files[line+1:] {
			if n == folderLine {
				break
			}
			in.terms[n] = row
		}
	}
	s.finder.find(lines.text, func(m match) {
		if ends := bytes.Count(lines.text[at:m.start], []byte{'\n'}); ends > 0 {
			settle()
			line, row = line+ends, nil
		}
		at = m.start
		if row == nil {
			row = make([]float64, len(s.query.terms))
			if n := lines.files[line]; n != folderLine {
				copy(row, in.terms[n])
			}
		}
		row[m.term] = max(row[m.term], float64(m.strength)/float64(exactMatch))
	})
	settle()
	return in
}

// trustedFor is how long a survey holds if the system tells of no change: some changes, such as those by another machine, go untold.
const trustedFor = time.Minute

// state is what a look at a root needs of its index.
type state struct {
	generation uint64
	texts      map[uint32]int // how many each segment has
	known      *memory
}

func (x *indexed) stateOf(k Kept) state { return state{k.Generation(), k.Texts(), x.memory(k)} }

// survey looks at what there is, or recalls it where the system would have told of a change. What is recalled is renewed behind the searches.
func (x *indexed) survey(ctx context.Context, k Kept) (*survey, error) {
	changes, told := x.watch.changes(ctx)
	last := x.trusted(k.Generation(), changes, told)
	if last == nil {
		x.looking.Lock()
		defer x.looking.Unlock()
		if last = x.trusted(k.Generation(), changes, told); last == nil { // else another search has looked meanwhile
			return x.look(ctx, x.stateOf(k), changes, told)
		}
	}
	if time.Since(last.began) > trustedFor/2 {
		x.renew()
	}
	return last, nil
}

// trusted is the last survey, if it is one of this generation and nothing changed since; else nil.
func (x *indexed) trusted(generation, changes uint64, told bool) *survey {
	x.mu.Lock()
	defer x.mu.Unlock()
	if last := x.last; told && last != nil && last.generation == generation && last.changes == changes && time.Since(last.began) < trustedFor {
		return last
	}
	return nil
}

// renew looks at what there is behind the searches, and has at hand what they need, so that the next one need not.
func (x *indexed) renew() {
	if !x.renewing.CompareAndSwap(false, true) {
		return
	}
	x.work.Go(func() {
		defer x.renewing.Store(false)
		changes, told := x.watch.changes(x.ctx)
		var s state
		err := x.index.Read(x.ctx, func(k Kept) error {
			s = x.stateOf(k)
			return k.Load()
		})
		if err != nil || !told {
			return // the next search finds out
		}
		x.looking.Lock()
		defer x.looking.Unlock()
		found, err := x.look(x.ctx, s, changes, told)
		if err != nil {
			return
		}
		found.lowPaths()
		found.paths()
		if found.relisted >= relistedWorth {
			x.build.want()
		}
	})
}

// look walks over the root, by what the index knows of it. One call at a time does so.
func (x *indexed) look(ctx context.Context, s state, changes uint64, told bool) (*survey, error) {
	learned := newLearned(s.known)
	learned.watch = x.watch
	there := &survey{generation: s.generation, changes: changes, began: learned.began}
	if err := there.walk(ctx, x.root, s.texts, learned); err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.generation == s.generation {
		x.known = learned.memory()
	}
	if told && !x.watch.hasFailed() {
		x.last = there
		first := *there
		there.relisted = 0 // which is learnt once
		return &first, nil
	}
	return there, nil
}

func (v *survey) walk(ctx context.Context, r *Root, texts map[uint32]int, learned *learned) (err error) {
	var mu sync.Mutex
	var unread []seenFile
	v.skipped, err = r.walkKnowing(untimed(ctx), ".", learned, func(f *found) {
		seen := seenFile{path: f.path, info: f.info, known: f.known}
		mu.Lock()
		defer mu.Unlock()
		switch {
		case f.known != nil && f.known.kind == held && int(f.known.text) < texts[f.known.segment]:
			v.held = append(v.held, &heldFile{seenFile: seen, generation: v.generation})
		case f.known != nil && f.known.kind == noText:
			v.binary = append(v.binary, f.path)
		default:
			unread = append(unread, seen)
		}
	})
	if err != nil {
		return err
	}
	slices.SortFunc(v.held, func(a, b *heldFile) int { return strings.Compare(a.path, b.path) })
	v.places = make([]heldPlace, len(v.held))
	for i, f := range v.held {
		v.places[i] = heldPlace{f.known.segment, f.known.text, f.info.Size()}
	}
	slices.SortFunc(unread, func(a, b seenFile) int {
		return cmp.Or(strings.Compare(path.Dir(a.path), path.Dir(b.path)), strings.Compare(a.path, b.path))
	})
	for len(unread) > 0 {
		n := 1
		for n < len(unread) && n < batch && path.Dir(unread[n].path) == path.Dir(unread[0].path) {
			n++
		}
		v.unread, unread = append(v.unread, unread[:n]), unread[n:]
	}
	v.relisted = learned.relisted
	v.lowPaths = sync.OnceValue(func() string {
		var b strings.Builder
		for _, f := range v.held {
			b.WriteString(strings.ToLower(f.path))
			b.WriteByte('\n')
		}
		return b.String()
	})
	v.paths = sync.OnceValue(func() pathLines { return pathLinesOf(v.held) })
	return nil
}

// hintOfFile is hintFactor of a file.
func (s *lookup) hintOfFile(f *tally) float64 {
	if f.place != nil {
		return 1 + hintBonus*f.hinted
	}
	return s.hintFactor(f.path)
}

// countHints notes which hints name something that is in scope, and gives how well the best of them fits a file that is held, by its number.
func (s *lookup) countHints(there *survey) map[int]float64 {
	s.hintSeen = make([]bool, len(s.query.hints))
	fits := map[int]float64{}
	for i, hint := range s.query.hints {
		there.eachHeld(hint, func(n int) {
			if fit := hintFit(hint, there.held[n].path); fit > 0 {
				fits[n] = max(fits[n], fit)
				s.hintSeen[i] = s.hintSeen[i] || s.scope.holds(there.held[n].path)
			}
		})
		for _, some := range there.unread {
			s.hintSeen[i] = s.hintSeen[i] || slices.ContainsFunc(some, func(f seenFile) bool { return hintFit(hint, f.path) > 0 && s.scope.holds(f.path) })
		}
	}
	return fits
}

// eachHeld gives the files that are held in whose path, in lower case, a text is: those that it fits as a hint, and others.
func (v *survey) eachHeld(text string, give func(n int)) {
	low, line := v.lowPaths(), 0
	for at := 0; text != ""; {
		i := strings.Index(low[at:], text)
		if i < 0 {
			return
		}
		line += strings.Count(low[at:at+i], "\n")
		at += i
		give(line)
		next := strings.IndexByte(low[at:], '\n')
		at, line = at+next+1, line+1
	}
}

// isEverything says that a scope leaves nothing out.
func (sc *scope) isEverything() bool {
	return sc.start == "." && sc.glob == "" && sc.lang == nil && sc.end == ""
}
