package code

import (
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// learned is what a walk of a whole root goes by, and what it learns: of folders that did not change since, it only looks at what is in them, without listing them.
type learned struct {
	before  *memory
	began   time.Time
	watch   *watch // which is to see the folders; nil: none is
	patient bool   // nobody waits for the walk: it is looked at all that there is room for, however long that takes
	plan    *plan  // by which it is walked

	mu       sync.Mutex
	after    map[string]*folderMemory
	relisted int // folders that had to be listed
}

func newLearned(before *memory) *learned {
	return &learned{before: before, began: time.Now(), after: map[string]*folderMemory{}}
}

func (l *learned) folder(at string) *folderMemory {
	if l == nil {
		return nil
	}
	return l.before.folder(at)
}

// memory is what is known after the walk.
func (l *learned) memory() *memory { return &memory{folders: l.after, plan: l.plan} }

// unsure is the sum of ignore rules while a change of them might go unseen. No other sum is even, but for 0, that of none.
const unsure = 2

// rules loads the ignore rules that a folder adds, and gives the sum of all that hold in it.
func (w *walker) rules(root *os.Root, j *job) uint64 {
	below := j.path
	if below == "." {
		below = ""
	}
	j.ignores = loadIgnores(root, below, j.ignores)
	if w.learned == nil {
		return 0
	}
	info, err := root.Lstat(ignoreFile)
	if err != nil || j.rules == unsure || settledStamp(info, w.learned.began) == 0 {
		j.rules = unsure
	} else {
		j.rules = mixed(j.rules, stampOf(info)) | 1
	}
	return j.rules
}

// recall gives what is in a folder by what is known of it: not ok if that does not hold any more.
func (w *walker) recall(me *hand, root *os.Root, j *job) (c contents, ok bool) {
	if w.learned == nil {
		return c, false
	}
	known := w.learned.folder(j.path)
	if known == nil || known.stamp != stampOf(j.info) {
		return c, false
	}
	here := *j
	if known.ignores {
		w.rules(root, &here)
	}
	if known.rules != here.rules || here.rules == unsure {
		return c, false
	}
	c.files = make([]entry, len(known.files))
	for i := range known.files {
		f := &known.files[i]
		info, err := root.Lstat(f.name)
		if err != nil || !info.Mode().IsRegular() {
			return c, false
		}
		if c.files[i].info = info; f.stamp == stampOf(info) {
			c.files[i].known = f
		}
	}
	for _, name := range known.folders {
		info, err := root.Lstat(name)
		if err != nil || !info.IsDir() {
			return c, false
		}
		c.folders = append(c.folders, job{parent: root, info: info, path: path.Join(j.path, name), depth: j.depth + 1, ignores: here.ignores, rules: here.rules, device: deviceOf(j.info)})
	}
	*j = here
	me.skipped.add(known.skipped)
	w.learned.keep(j.path, known.renewed(c.files, w.learned.began), false)
	return c, true
}

// learn keeps what a folder was found to hold.
func (w *walker) learn(j *job, c *contents, ignores bool, rules uint64, skipped Skipped) {
	if w.learned == nil {
		return
	}
	f := &folderMemory{stamp: settledStamp(j.info, w.learned.began), rules: rules, ignores: ignores, skipped: skipped}
	for _, folder := range c.folders {
		f.folders = append(f.folders, path.Base(folder.path))
	}
	f.files = make([]fileMemory, len(c.files))
	for i, e := range c.files {
		f.files[i] = e.memory(w.learned.began)
	}
	w.learned.keep(j.path, f, true)
}

func (l *learned) keep(at string, f *folderMemory, relisted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.after[at] = f
	if relisted {
		l.relisted++
	}
}

// memory is what is known of a file as it is.
func (e entry) memory(now time.Time) fileMemory {
	if e.known != nil {
		return *e.known
	}
	return fileMemory{name: strings.Clone(e.info.Name()), stamp: settledStamp(e.info, now), size: e.info.Size()}
}

// renewed is a folder with the files as they are, in the order in which it has them.
func (f *folderMemory) renewed(files []entry, now time.Time) *folderMemory {
	if !slices.ContainsFunc(files, func(e entry) bool { return e.known == nil }) {
		return f
	}
	next := *f
	next.files = make([]fileMemory, len(files))
	for i, e := range files {
		next.files[i] = e.memory(now)
	}
	return &next
}
