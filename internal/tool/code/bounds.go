package code

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sibyl/internal/tool"
)

// What is searched of a folder at most. What is over one of them is left out, whole folders at a time, and said.
const (
	mostFiles = 200_000
	mostBytes = 1 << 30 // of files that are searched at all
)

// How long a call looks for what there is, where that is not known, and then reads. What is not read by then is left out, and said.
const (
	drawTime = 4 * time.Second
	readTime = 12 * time.Second // with the former
)

// plannedFor is how long it is taken for granted which folders are left out.
const plannedFor = time.Minute

// plannedAgain is how long it is where an index was built by a plan.
const plannedAgain = 24 * time.Hour

// plan says which folders of a root are not entered, since all together would be too much.
type plan struct {
	made  time.Time
	out   map[string]bool // by path; empty: all is searched
	tops  []string        // the folders directly below in which these lie
	seen  int             // files that are searched
	hasty bool            // there was no time to look further
}

// planner keeps the plans of a root, by where they start.
type planner struct {
	mu    sync.Mutex
	plans map[string]*plan

	files int // 0: mostFiles
	bytes int64
	time  time.Duration // 0: readTime
}

// span is the time that a call has for reading.
type span struct {
	until time.Time
	over  atomic.Bool // something was left out for want of time
}

type spanKey struct{}

// isOver says that the time of the call that a context belongs to is over, for somebody who leaves something out then.
func isOver(ctx context.Context) bool {
	s, ok := ctx.Value(spanKey{}).(*span)
	if !ok || s == nil || time.Now().Before(s.until) {
		return false
	}
	s.over.Store(true)
	return true
}

// plan settles what is searched at and below start. A root is not looked at where an index knows what of it is searched.
func (r *Root) plan(ctx context.Context, start string, known *learned) (*plan, error) {
	p := &r.planner
	patient := known != nil && known.patient
	if kept := p.kept(start, patient); kept != nil {
		return kept, nil
	}
	most, bytes := p.bounds()
	if known != nil {
		if before := known.before.planned(most, bytes, patient); before != nil {
			p.keep(".", before)
			return before, nil
		}
	}
	made := &plan{made: time.Now()}
	switch {
	case p.files == 0 && r.hasFew(ctx, start): // however large they are, the time for reading is bound enough
	default:
		var late time.Time
		if !patient {
			late = made.made.Add(drawTime)
		}
		if err := r.draw(ctx, start, made, late, most, bytes); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p.keep(start, made)
	return made, nil
}

// kept is a plan that still holds for start; nil: there is none. Who is patient wants one that was not made in haste.
func (p *planner) kept(start string, patient bool) *plan {
	p.mu.Lock()
	defer p.mu.Unlock()
	if whole := p.plans["."]; whole != nil && len(whole.out) == 0 && time.Since(whole.made) < plannedFor {
		return whole
	}
	if kept := p.plans[start]; kept != nil && time.Since(kept.made) < plannedFor && !(patient && kept.hasty) {
		return kept
	}
	return nil
}

func (p *planner) keep(start string, made *plan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.plans == nil || len(p.plans) >= 100 {
		p.plans = map[string]*plan{}
	}
	p.plans[start] = made
}

func (p *planner) bounds() (files int, bytes int64) {
	if p.files > 0 {
		return p.files, p.bytes
	}
	return mostFiles, mostBytes
}

// fewFiles is a number of files of which it is not asked how large they are: the time for reading is bound enough.
const fewFiles = 20_000

// hasFew says that there are few files at and below start, without a look at any of them.
func (r *Root) hasFew(ctx context.Context, start string) bool {
	room := fewFiles
	return takes(ctx, r.root, start, &room, 0)
}

// takes counts what is at and below a folder off the room that there is, and says whether there was enough.
func takes(ctx context.Context, parent *os.Root, name string, room *int, depth int) bool {
	root, err := parent.OpenRoot(name)
	if err != nil {
		return ctx.Err() == nil // the walk counts it
	}
	defer func() { _ = root.Close() }() // opened for reading only
	f, err := root.Open(".")
	if err != nil {
		return ctx.Err() == nil
	}
	entries, _ := f.ReadDir(-1) // as many as are to be had
	_ = f.Close()               // opened for reading only
	if *room -= len(entries); *room < 0 || depth > maxDepth || ctx.Err() != nil {
		return false
	}
	for _, e := range entries {
		if e.IsDir() && e.Name() != ".git" && !takes(ctx, root, e.Name(), room, depth+1) {
			return false
		}
	}
	return true
}

// planned is the plan by which a root was indexed, if it still holds; else nil. One that leaves nothing out does while there is room for a sixteenth more. One that
// leaves something out does for a day, but for who is patient: an index that is brought up to date is so by another.
func (m *memory) planned(files int, bytes int64, patient bool) *plan {
	if m == nil || m.plan == nil || m.plan.hasty {
		return nil
	}
	if len(m.plan.out) > 0 {
		if patient || time.Since(m.plan.made) > plannedAgain {
			return nil
		}
		return m.plan
	}
	files, bytes = files-files/16, bytes-bytes/16
	for _, folder := range m.folders {
		for i := range folder.files {
			if f := &folder.files[i]; f.size <= maxScanned {
				files--
				bytes -= f.size
			}
		}
	}
	if files < 0 || bytes < 0 {
		return nil
	}
	return &plan{made: time.Now()}
}

// lacks says that a plan is worth keeping, since it leaves something out and there is none to go by.
func (m *memory) lacks(p *plan) bool {
	return len(p.out) > 0 && (m == nil || m.plan == nil || m.plan.hasty || p.made.Sub(m.plan.made) > plannedAgain)
}

// untimed is a context without the time of its call: what is kept for later calls must be whole.
func untimed(ctx context.Context) context.Context {
	return context.WithValue(ctx, spanKey{}, (*span)(nil))
}

// branch is a folder directly below the start of a plan, with what was found in it so far.
type branch struct {
	name    string
	hidden  bool
	waiting []job // folders that are not looked into yet, those of less depth first
	files   int
}

// draw makes a plan: it looks into one folder after the other, each time one of the folder directly below the start in which the fewest files were found so
// far, hidden ones last, until there is no room for more, or it is late. So no large folder keeps the others out, and equal folders give equal plans.
func (r *Root) draw(ctx context.Context, start string, made *plan, late time.Time, files int, bytes int64) error {
	at, err := r.locate(start)
	if err != nil || !at.info.IsDir() {
		at.close()
		return err
	}
	defer at.close()
	w := &walker{ctx: ctx}
	me := &hand{&worker{}}
	first := job{info: at.info, path: start, ignores: at.ignores}
	n, size, below := r.glance(w, me, &first)
	made.seen = n
	files, bytes = files-n, bytes-size
	var branches []*branch
	for _, j := range below {
		name := path.Base(j.path)
		branches = append(branches, &branch{name: name, hidden: strings.HasPrefix(name, "."), waiting: []job{j}})
	}
	for ctx.Err() == nil {
		b := leastSeen(branches)
		if b == nil {
			return nil
		}
		j := b.waiting[0]
		n, size, below := r.glance(w, me, &j)
		if made.hasty = !late.IsZero() && time.Now().After(late); made.hasty || n > files || size > bytes {
			break
		}
		b.waiting = append(b.waiting[1:], below...)
		b.files += n
		made.seen += n
		files, bytes = files-n, bytes-size
	}
	made.out = map[string]bool{}
	for _, b := range branches {
		for _, j := range b.waiting {
			made.out[j.path] = true
		}
		if len(b.waiting) > 0 {
			made.tops = append(made.tops, b.name)
		}
	}
	return ctx.Err()
}

// leastSeen is the branch to look into next; nil: there is nothing more. They are by name, which decides between equal ones.
func leastSeen(branches []*branch) (least *branch) {
	for _, b := range branches {
		if len(b.waiting) > 0 && (least == nil || least.hidden && !b.hidden || least.hidden == b.hidden && b.files < least.files) {
			least = b
		}
	}
	return least
}

// glance lists a folder: how many files in it are searched, how much that is, and the folders below it.
func (r *Root) glance(w *walker, me *hand, j *job) (files int, bytes int64, below []job) {
	root, err := r.root.OpenRoot(j.path)
	if err != nil {
		return 0, 0, nil // the walk counts it
	}
	defer func() { _ = root.Close() }() // opened for reading only
	if j.crosses(root) {
		return 0, 0, nil
	}
	entries, err := list(root)
	if err != nil {
		return 0, 0, nil
	}
	if slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == ignoreFile }) {
		w.rules(root, j)
	}
	regular, below := w.part(me, root, *j, entries)
	for _, info := range regular {
		if info.Size() <= maxScanned {
			files++
			bytes += info.Size()
		}
	}
	return files, bytes, below
}

func (p *plan) leavesOut(folder string) bool { return p != nil && p.out[folder] }

// mostTops bounds how many folders a note names.
const mostTops = 4

// note says in a sentence what was left out, and what helps; "" where nothing was.
func (p *plan) note() string {
	if p == nil || len(p.out) == 0 {
		return ""
	}
	tops := slices.Clone(p.tops)
	more := ""
	if rest := len(tops) - mostTops; rest > 0 {
		tops, more = tops[:mostTops], fmt.Sprintf(" and %d more", rest)
	}
	for i := range tops {
		tops[i] = printable(tops[i], maxShort)
	}
	return fmt.Sprintf("This folder has too many files to search at once: %d were searched, and not all below %s%s. Name the folder that you mean, as with --in.",
		p.seen, strings.Join(tops, ", "), more)
}

// noted has a tool say what its walks have left out.
type noted struct {
	tool.Tool
	root *Root
}

// Call calls the tool.
func (n noted) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	p := &n.root.planner
	limit := &span{until: time.Now().Add(cmp.Or(p.time, readTime))}
	res, err := n.Tool.Call(context.WithValue(ctx, spanKey{}, limit), call)
	if err != nil {
		return res, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	res.Beside = p.plans["."].note()
	if res.Beside == "" && limit.over.Load() {
		res.Beside = "Not all files could be read in time, and only the others were searched. Name the folder that you mean, as with --in, or ask again."
	}
	if res.Beside != "" {
		res.Text += res.Beside + "\n"
	}
	return res, nil
}
