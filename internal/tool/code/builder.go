package code

import (
	"cmp"
	"context"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	commitBytes  = 6 << 20         // of the index, after which they are committed
	commitWithin = 3 * time.Second // that the last commit of a build which is stopped may take
)

// builder brings an index up to date behind the searches of a root: one goroutine, that waits while there is a search.
type builder struct {
	x      *indexed
	ctx    context.Context
	cancel context.CancelFunc

	mu       sync.Mutex
	quiet    *sync.Cond // no search is under way, or the builder is to stop
	searches int
	wanted   bool
	running  bool
	work     sync.WaitGroup
}

func newBuilder(x *indexed) *builder {
	b := &builder{x: x}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	b.quiet = sync.NewCond(&b.mu)
	return b
}

// pause keeps the builder waiting until done is called.
func (b *builder) pause() (done func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.searches++
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.searches--
		b.quiet.Broadcast()
	}
}

// rest waits until no search is under way. It fails when the builder is to stop.
func (b *builder) rest() error {
	runtime.Gosched()
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.searches > 0 && b.ctx.Err() == nil {
		b.quiet.Wait()
	}
	return b.ctx.Err()
}

// want has the index brought up to date.
func (b *builder) want() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ctx.Err() != nil {
		return
	}
	b.wanted = true
	if b.running {
		return
	}
	b.running = true
	b.work.Go(b.run)
}

// close stops the builder, which commits what it has.
func (b *builder) close() {
	b.cancel()
	b.mu.Lock()
	b.quiet.Broadcast()
	b.mu.Unlock()
	b.work.Wait()
}

func (b *builder) run() {
	for {
		b.mu.Lock()
		if !b.wanted || b.ctx.Err() != nil {
			b.running = false
			b.mu.Unlock()
			return
		}
		b.wanted = false
		b.mu.Unlock()
		_ = b.update(b.ctx) // whatever keeps it from building: searches read the files
	}
}

// update brings the index up to date. What was done by then is kept when the context ends.
func (b *builder) update(ctx context.Context) error {
	if err := b.rest(); err != nil {
		return err
	}
	return b.x.index.Build(ctx, func(to Builder) error {
		u := &update{builder: b, to: to, own: map[string]bool{}}
		if err := u.look(ctx); err != nil {
			return err
		}
		for i := range u.todo {
			if err := b.rest(); err != nil {
				return u.stop(ctx)
			}
			u.read(&u.todo[i])
			if to.Pending() > commitBytes {
				if err := u.commit(ctx, false); err != nil {
					return err
				}
			}
		}
		return u.commit(ctx, true)
	})
}

// update is a build under way.
type update struct {
	*builder
	to    Builder
	known *memory
	own   map[string]bool // folders of known that nobody else sees
	todo  []toRead
	buf   []byte
	dirty bool // there is something to commit
}

// toRead is a file that is not in the index as it is.
type toRead struct {
	path string
	info fs.FileInfo
}

// look finds what is to be read.
func (u *update) look(ctx context.Context) error {
	var before *memory
	err := u.x.index.Read(ctx, func(k Kept) error {
		before = u.x.memory(k)
		return nil
	})
	if err != nil {
		return err
	}
	known := newLearned(before)
	known.patient = true
	var mu sync.Mutex
	if _, err := u.x.root.walkKnowing(ctx, ".", known, func(f *found) {
		if f.known == nil || f.known.kind == unread {
			mu.Lock()
			defer mu.Unlock()
			u.todo = append(u.todo, toRead{f.path, f.info})
		}
	}); err != nil {
		return err
	}
	u.known, u.dirty = known.memory(), known.relisted > 0
	slices.SortFunc(u.todo, func(a, b toRead) int { return strings.Compare(a.path, b.path) })
	return nil
}

// read adds a file to the index, or notes why it is not there.
func (u *update) read(f *toRead) {
	entry := u.entry(f.path)
	if entry == nil || entry.stamp == 0 || f.info.Size() > maxScanned {
		return // a change of it might go unseen, or it is never searched
	}
	content, err := readHeld(u.x.root, f.path, f.info, entry.stamp, &u.buf)
	switch {
	case err == errBinary: //nolint:errorlint // it is ours, and never wrapped
		entry.kind = noText
	case err != nil:
		return
	case !isSecretFree(content) || u.x.private != nil && u.x.private(content):
		entry.kind = withheld
	default:
		eachWord(content, u.to.Word)
		entry.segment, entry.text = u.to.Text(encodeOutline(outline(newSource(f.path, content))))
		entry.kind = held
	}
	entry.size, u.dirty = f.info.Size(), true
}

// entry is what is known of a file, to be changed.
func (u *update) entry(at string) *fileMemory {
	dir, name := path.Split(at)
	dir = cmp.Or(strings.TrimSuffix(dir, "/"), ".")
	folder := u.known.folders[dir]
	if folder == nil {
		return nil
	}
	if !u.own[dir] {
		mine := *folder
		mine.files = slices.Clone(folder.files)
		folder = &mine
		u.known.folders[dir], u.own[dir] = folder, true
	}
	i, found := slices.BinarySearchFunc(folder.files, name, func(f fileMemory, name string) int { return strings.Compare(f.name, name) })
	if !found {
		return nil
	}
	return &folder.files[i]
}

// stop commits what there is, although the context has ended.
func (u *update) stop(ctx context.Context) error {
	if !u.dirty {
		return ctx.Err()
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitWithin)
	defer cancel()
	return u.to.Commit(late, u.known.encode())
}

// commit writes what there is, and joins segments where it is time.
func (u *update) commit(ctx context.Context, finally bool) error {
	if u.dirty {
		if err := u.to.Commit(ctx, u.known.encode()); err != nil {
			return err
		}
		u.dirty = false
	}
	into, moved, err := u.to.Merge(ctx, finally, u.known.isHeld())
	if err != nil || moved == nil {
		return err
	}
	for at, folder := range u.known.folders {
		mine := *folder
		mine.files = slices.Clone(folder.files)
		for i := range mine.files {
			f := &mine.files[i]
			if numbers := moved[f.segment]; f.kind == held && int(f.text) < len(numbers) {
				f.segment, f.text = into, numbers[f.text]
			}
		}
		u.known.folders[at], u.own[at] = &mine, true
	}
	return u.to.Commit(ctx, u.known.encode())
}

// isSecretFree says that nothing would be taken out of a content before it is shown.
func isSecretFree(content []byte) bool {
	clean := withoutSecrets(content)
	return len(content) == 0 || len(clean) == len(content) && &clean[0] == &content[0]
}
