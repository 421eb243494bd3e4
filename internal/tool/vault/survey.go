package vault

import (
	"bytes"
	"context"
	"hash/crc32"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"sibyl/internal/files"
)

// settledAfter is how old a change must be so that the file's time and size show the next one: some file systems store
// times in steps of two seconds, and hide a second change within one.
const settledAfter = 2 * time.Second

// mostHashes is how many hashes are kept of a note; one with more names counts as having any.
const mostHashes = 200

// nameKind is what a name is to the note that holds it.
type nameKind byte

const (
	ownName  nameKind = iota // its title, an alias, or the name of its file
	linkName                 // a link leads to what has the name
	tagName                  // a tag, or one above it
)

// nameHash stands for a name in a note. Two names may have the same: it says which notes to look at.
type nameHash uint32

func hashOf(kind nameKind, key string) nameHash {
	return nameHash(crc32.ChecksumIEEE(append([]byte{byte(kind)}, key...)))
}

// linkHashes are the hashes of what a name in a link can mean: a title, an alias, or the name of a file.
func linkHashes(kind nameKind, name string) []nameHash {
	name = strings.TrimPrefix(strings.TrimSpace(name), "/")
	return []nameHash{hashOf(kind, nameKey(name)), hashOf(kind, nameKey(noteName(name)))}
}

// hashesOf are the hashes of all names in a note.
func hashesOf(n *note) (hashes []nameHash) {
	hashes = append(hashes, hashOf(ownName, nameKey(noteName(n.path))), hashOf(ownName, nameKey(n.title)))
	for _, alias := range n.aliases {
		hashes = append(hashes, hashOf(ownName, nameKey(alias)))
	}
	for _, tag := range n.tags {
		key := nameKey(tag)
		hashes = append(hashes, hashOf(tagName, key))
		for i := range key {
			if key[i] == '/' {
				hashes = append(hashes, hashOf(tagName, key[:i]))
			}
		}
	}
	for _, l := range n.links {
		hashes = append(hashes, linkHashes(linkName, linkedName(n.path, l))...)
	}
	slices.Sort(hashes)
	return slices.Clip(slices.Compact(hashes))
}

// known is what is kept of a note between calls.
type known struct {
	info            fs.FileInfo // nil if another change would not show in it
	hashes          []nameHash  // sorted; nil if there are more than mostHashes
	sections, bytes int         // of its text
}

// mayHave says whether a note may have a name with one of these hashes.
func (k known) mayHave(wanted map[nameHash]bool) bool {
	return k.hashes == nil || slices.ContainsFunc(k.hashes, func(h nameHash) bool { return wanted[h] })
}

// learn returns what to keep of a note that was read after began. Its secrets need not have been removed: that adds no
// name that is asked for.
func learn(d *document, info fs.FileInfo, began time.Time) known {
	k := known{hashes: hashesOf(noteIn(d)), sections: len(d.sections)}
	if len(k.hashes) > mostHashes {
		k.hashes = nil
	}
	for _, s := range d.sections {
		for _, line := range d.lines[s.start-1 : s.end] {
			k.bytes += len(line)
		}
	}
	if info.ModTime().Before(began.Add(-settledAfter)) {
		k.info = info
	}
	return k
}

// nameCache keeps what is known of the notes, so that unchanged ones are not read again to find a name.
type nameCache struct {
	mu    sync.Mutex
	known map[string]known // by path; never changes
}

func (c *nameCache) all() map[string]known {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known
}

// keep takes over what is known of all notes.
func (c *nameCache) keep(all map[string]known) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known = all
}

func isSameFile(a, b fs.FileInfo) bool {
	return a != nil && os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// survey is a look at a vault that knows the names in its notes.
type survey struct {
	*snapshot
	known map[string]known // by path
}

// surveys lets calls that wait at the same time share a survey.
type surveys struct {
	asked atomic.Int64
	mu    sync.Mutex
	last  *survey
	until int64 // calls up to this one were waiting when the last survey began
}

// survey looks at the vault, and reads the notes that have changed since their names were learnt.
func (v *Vault) survey(ctx context.Context) (*survey, error) {
	call := v.surveys.asked.Add(1)
	v.surveys.mu.Lock()
	defer v.surveys.mu.Unlock()
	if call <= v.surveys.until {
		return v.surveys.last, nil
	}
	until := v.surveys.asked.Load()
	s, err := v.look(ctx)
	if err != nil {
		return nil, err
	}
	began, before, after := time.Now(), v.names.all(), make(map[string]known, len(s.places))
	var changed []place
	for _, at := range s.places {
		switch k := before[at.path]; {
		case at.isDocument():
			after[at.path] = known{hashes: hashesOf(at.unread())}
		case isSameFile(k.info, at.info):
			after[at.path] = k
		default:
			changed = append(changed, at)
		}
	}
	learnt, errs := make([]known, len(changed)), make([]error, len(changed))
	err = v.readEach(ctx, changed, func() visit {
		return func(i int, f files.File, err error) {
			if errs[i] = err; err == nil {
				learnt[i] = learn(parseText(changed[i].path, f.Content, f.Cut), f.Info, began)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for i, at := range changed {
		if errs[i] != nil {
			s.unseen.add(whySkipped(at.path, errs[i]))
		} else {
			after[at.path] = learnt[i]
		}
	}
	s.places = slices.DeleteFunc(s.places, func(at place) bool {
		_, read := after[at.path]
		return !read
	})
	v.names.keep(after)
	v.surveys.last, v.surveys.until = &survey{s, after}, until
	return v.surveys.last, nil
}

// having returns the places whose note may have one of the names.
func (s *survey) having(wanted ...nameHash) (places []place) {
	set := map[nameHash]bool{}
	for _, h := range wanted {
		set[h] = true
	}
	for _, at := range s.places {
		if s.known[at.path].mayHave(set) {
			places = append(places, at)
		}
	}
	return places
}

// tagged returns the places in a folder whose note may have a tag, or one below it.
func (s *survey) tagged(folder, tag string) []place {
	return slices.DeleteFunc(s.having(hashOf(tagName, tagKey(tag))), func(at place) bool {
		return !isUnder(at.path, folder)
	})
}

// visit is called with a note's place in a list, and with its content, which is valid during the call, or why there is
// none.
type visit func(i int, f files.File, err error)

// readBatch is how many notes a goroutine takes at a time.
const readBatch = 64

// readEach reads the notes among places, sorted by path, several at a time. begin makes the visit of one goroutine.
func (v *Vault) readEach(ctx context.Context, places []place, begin func() visit) error {
	var next atomic.Int64
	var all errgroup.Group
	for range min(runtime.GOMAXPROCS(0), len(places)/readBatch+1) {
		all.Go(func() error {
			r := reader{vault: v, visit: begin()}
			defer r.close()
			for ctx.Err() == nil {
				from := int(next.Add(readBatch)) - readBatch
				if from >= len(places) {
					break
				}
				for i := from; i < min(from+readBatch, len(places)); i++ {
					if !places[i].isDocument() {
						r.read(i, places[i].path)
					}
				}
			}
			return ctx.Err()
		})
	}
	return all.Wait()
}

// reader reads notes, those of one folder quickly after each other.
type reader struct {
	vault  *Vault
	visit  visit
	path   string // of folder
	folder *os.Root
	err    error // why there is no folder
	buffer bytes.Buffer
}

func (r *reader) close() {
	if r.folder != nil {
		_ = r.folder.Close() // opened for reading only
	}
	r.folder = nil
}

func (r *reader) read(i int, p string) {
	if in := path.Dir(p); in != r.path {
		r.close()
		r.path = in
		r.folder, r.err = r.vault.root.OpenRoot(in)
	}
	if r.err != nil {
		r.visit(i, files.File{}, r.err)
		return
	}
	most := min(largeNote, r.vault.noteBytes)
	f, err := files.ReadInto(r.folder, path.Base(p), most, &r.buffer)
	if err == nil && f.Cut && most < r.vault.noteBytes { // only one of these is in memory
		r.vault.large <- struct{}{}
		defer func() { <-r.vault.large }()
		f, err = files.Read(r.folder, path.Base(p), r.vault.noteBytes)
	}
	f.Content = decoded(f.Content)
	r.visit(i, f, err)
}

// loadBatch is how many notes eachNote holds at a time.
const loadBatch = 1000

// eachNote reads places, sorted by path, and calls use for each in order. What can't be read any more is left out, and
// of a PDF or DOCX only the name is known.
func (v *Vault) eachNote(ctx context.Context, places []place, use func(*note)) error {
	for some := range slices.Chunk(places, loadBatch) {
		notes := make([]*note, len(some))
		err := v.readEach(ctx, some, func() visit {
			return func(i int, f files.File, err error) {
				if err == nil {
					notes[i] = noteOf(parseNote(some[i].path, f.Content, f.Cut))
				}
			}
		})
		if err != nil {
			return err
		}
		for i, n := range notes {
			switch {
			case some[i].isDocument():
				use(some[i].unread())
			case n != nil:
				use(n)
			}
		}
	}
	return nil
}

// load reads places, sorted by path.
func (v *Vault) load(ctx context.Context, places []place) (notes []*note, err error) {
	err = v.eachNote(ctx, places, func(n *note) { notes = append(notes, n) })
	return notes, err
}
