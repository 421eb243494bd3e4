package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
)

// disk is what a machine has of some folders when it fails: a file by its name, a folder as nil.
type disk map[string][]byte

// op is one change of a disk. Until it is synced, a machine that fails may have it, or not.
type op struct {
	call   osCall
	file   int // the file whose content it changes; -1: it changes names
	named  int // the file that gets a name, whether or not its earlier one is there; folderNumber: none does
	folder string
	synced int // the call after which it is durable; the number of calls: none is
	begins int // the number of its call
}

// history is the changes of a disk that a process made, in order, from what was there before.
type history struct {
	before disk
	ops    []op
	calls  int
	points []int                      // the calls before which the machine may fail in another state than before
	whole  map[string]map[string]bool // the contents that a name had when it was given, or was synced
}

// diskOf reads folders.
func diskOf(t *testing.T, folders ...string) disk {
	t.Helper()
	d := disk{}
	for _, folder := range folders {
		assert.NoError(t, filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				d[name] = nil
			} else if err == nil {
				content, readErr := os.ReadFile(name)
				d[name], err = append([]byte{}, content...), readErr
			}
			return err
		}))
	}
	return d
}

// written puts a disk in the place of the folders.
func (d disk) written(t *testing.T, folders ...string) {
	t.Helper()
	for _, folder := range folders {
		assert.NoError(t, errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o700)))
	}
	for _, name := range slices.Sorted(maps.Keys(d)) {
		var err error
		if d[name] == nil {
			err = os.MkdirAll(name, 0o700)
		} else {
			err = errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, d[name], 0o700))
		}
		assert.NoError(t, err)
	}
}

// sum tells disks apart.
func (d disk) sum() string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(d)) {
		fmt.Fprintf(h, "%q %v %d\n", name, d[name] == nil, len(d[name]))
		h.Write(d[name])
	}
	return string(h.Sum(nil))
}

// playing applies changes to a disk. Names are of files, which several names may be of.
type playing struct {
	names   map[string]int // a folder's is folderNumber
	content map[int][]byte
}

const folderNumber = -1

func (d disk) play() *playing {
	p := &playing{names: map[string]int{}, content: map[int][]byte{}}
	for i, name := range slices.Sorted(maps.Keys(d)) {
		p.names[name] = folderNumber
		if d[name] != nil {
			p.names[name], p.content[i] = i, slices.Clone(d[name])
		}
	}
	return p
}

// disk is what there is. What memory alone holds is left out.
func (p *playing) disk() disk {
	d := disk{}
	for name, file := range p.names {
		switch {
		case strings.HasSuffix(name, "-shm"):
		case file == folderNumber:
			d[name] = nil
		default:
			d[name] = append([]byte{}, p.content[file]...)
		}
	}
	return d
}

// do applies a change; one whose file is not there, because what made it is missing, changes nothing.
func (p *playing) do(o op, size int) {
	c := o.call
	switch c.Call {
	case "open", "openat":
		if c.Flags&syscall.O_TRUNC != 0 {
			p.content[o.file] = []byte{}
		}
		if _, there := p.names[c.Path]; !there {
			p.names[c.Path] = o.file
		}
	case "write", "pwrite64":
		content, data := p.content[o.file], c.Data[:size]
		if grown := int(c.Offset) + len(data); grown > len(content) {
			content = append(content, make([]byte, grown-len(content))...)
		}
		copy(content[c.Offset:], data)
		p.content[o.file] = content
	case "ftruncate":
		content := p.content[o.file]
		if n := int(c.Offset); n <= len(content) {
			p.content[o.file] = content[:n:n]
		} else {
			p.content[o.file] = append(content, make([]byte, n-len(content))...)
		}
	case "mkdir", "mkdirat":
		p.names[c.Path] = folderNumber
	case "unlink", "rmdir", "unlinkat":
		delete(p.names, c.Path)
	case "link", "linkat":
		p.names[c.To] = o.named
	default:
		if p.rename(c.Path, c.To); o.named != folderNumber {
			p.names[c.To] = o.named
		}
	}
}

func (p *playing) rename(from, to string) {
	for name, file := range maps.Clone(p.names) {
		if rest, below := strings.CutPrefix(name, from); below && (rest == "" || rest[0] == '/') {
			delete(p.names, name)
			p.names[to+rest] = file
		}
	}
}

// historyOf is what calls changed.
func historyOf(before disk, calls []osCall) *history {
	h := &history{before: before, calls: len(calls), whole: map[string]map[string]bool{}}
	now := before.play()
	for name, content := range before {
		h.have(name, content)
	}
	next := len(before) + 1
	for i, c := range calls {
		if c.Result < 0 || c.Path == "network" {
			continue
		}
		o := op{call: c, file: -1, named: folderNumber, synced: len(calls), begins: i, folder: filepath.Dir(c.Path)}
		file, there := now.names[c.Path]
		switch c.Call {
		case "open", "openat":
			if truncates := c.Flags&syscall.O_TRUNC != 0; c.Flags&syscall.O_CREAT == 0 || there && !truncates {
				continue
			}
			if o.file = file; !there {
				o.file = next
				next++
			}
		case "write", "pwrite64", "ftruncate":
			if !there || c.Call != "ftruncate" && len(c.Data) == 0 {
				continue
			}
			o.file = file
		case "rename", "link", "renameat", "renameat2", "linkat":
			o.folder, o.named = filepath.Dir(c.To), file
		case "mkdir", "mkdirat", "unlink", "rmdir", "unlinkat":
		case "fsync", "fdatasync":
			h.sync(c.Path, file, there, i)
			h.points = append(h.points, i+1)
			if there && file != folderNumber {
				h.have(c.Path, now.content[file])
			}
			continue
		default:
			continue
		}
		now.do(o, len(c.Data))
		h.ops, h.points = append(h.ops, o), append(h.points, i+1)
		if c.To != "" {
			for name, file := range now.names {
				h.have(name, now.content[file])
			}
		}
	}
	for name, file := range now.names {
		h.have(name, now.content[file])
	}
	return h
}

func (h *history) have(name string, content []byte) {
	if h.whole[name] == nil {
		h.whole[name] = map[string]bool{}
	}
	h.whole[name][string(content)] = true
}

// sync makes the changes of a file's content durable, or those of the names in a folder.
func (h *history) sync(name string, file int, there bool, call int) {
	for i, o := range h.ops {
		isName := o.opens() && o.call.Flags&syscall.O_TRUNC == 0 || o.file < 0
		if o.synced == h.calls && (isName && o.folder == name || !isName && there && o.file == file) {
			h.ops[i].synced = call
		}
	}
}

// names says whether a change is one of names.
func (o op) names() bool { return o.file < 0 || o.opens() }

func (o op) opens() bool { return o.call.Call == "open" || o.call.Call == "openat" }

// after is a disk as a machine that fails may leave it: the changes before a call, of which those that are not durable
// are there if kept says so.
func (h *history) after(call int, kept func(n int, o op) (size int, there bool)) disk {
	p := h.before.play()
	for n, o := range h.ops {
		if o.begins >= call {
			break
		}
		size, there := len(o.call.Data), true
		if o.synced >= call {
			size, there = kept(n, o)
		}
		if there {
			p.do(o, size)
		}
	}
	return p.disk()
}

// crash is a disk after a failure, and how it came about.
type crash struct {
	disk disk
	how  string
	last bool // nothing was done after it: all that was said to be done must be there
}

// crashes are the disks that a failure of the machine may leave: at every change, with all, none, the names alone or
// the contents alone of what is not durable, with one change missing, and with the last write cut in half.
func (h *history) crashes() (all []crash) {
	seen := map[string]bool{}
	for _, call := range append(slices.Clone(h.points), h.calls) {
		n := 0 // the changes that have been made
		for n < len(h.ops) && h.ops[n].begins < call {
			n++
		}
		last := call == h.calls
		add := func(how string, kept func(n int, o op) (int, bool)) {
			d := h.after(call, kept)
			if key := d.sum() + fmt.Sprint(last); !seen[key] {
				seen[key] = true
				all = append(all, crash{d, fmt.Sprintf("before call %d of %d, with %s", call, h.calls, how), last})
			}
		}
		add("all", func(_ int, o op) (int, bool) { return len(o.call.Data), true })
		add("what was synced", func(int, op) (int, bool) { return 0, false })
		add("names without contents", func(_ int, o op) (int, bool) { return 0, o.names() })
		add("contents without names", func(_ int, o op) (int, bool) { return len(o.call.Data), !o.names() })
		add("half of the last write", func(i int, o op) (int, bool) {
			if i == n-1 {
				return len(o.call.Data) / 2, true
			}
			return len(o.call.Data), true
		})
		for missing := max(0, n-8); missing < n; missing++ {
			add(fmt.Sprintf("all but %s %s", h.ops[missing].call.Call, h.ops[missing].call.Path),
				func(i int, o op) (int, bool) { return len(o.call.Data), i != missing })
		}
	}
	return all
}

// torn names the files of a disk that hold neither what they held before nor what they were to hold. The database mends
// its own; names with a dot are nobody's to read.
func (h *history) torn(d disk, folders ...string) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(d)) {
		rel := name
		for _, folder := range folders {
			rel = strings.TrimPrefix(rel, folder)
		}
		if d[name] != nil && !isLock(rel) && !strings.Contains(rel, "/.") && !strings.Contains(rel, "sibyl.db") &&
			!h.whole[name][string(d[name])] {
			all = append(all, fmt.Sprintf("%s holds %q", rel, d[name][:min(len(d[name]), 80)]))
		}
	}
	return all
}

// isLock says whether a file is the lock by which a process is known, which is empty. Where the name of one is lost
// with the machine, its leases are waited for; here they are found as after a kill, so that nothing has to wait.
func isLock(name string) bool { return strings.Contains(name, "/processes/") }

// withLocks puts the locks back that any of the disks has.
func withLocks(all []crash) {
	locks := map[string]bool{}
	for _, c := range all {
		for name := range c.disk {
			if isLock(name) {
				locks[name] = true
			}
		}
	}
	for _, c := range all {
		for name := range locks {
			c.disk[name] = []byte{}
		}
	}
}

// TestMachineThatFailsLeavesTheOldOrTheNewTextAndWhatWasSaidToBeDone lets the machine fail at every change of the disk
// that a run of each assistant makes, with what was not synced lost, in part or in another order: no reader finds a
// torn file, what was said to be done is there, and who goes on has it once.
func TestMachineThatFailsLeavesTheOldOrTheNewTextAndWhatWasSaidToBeDone(t *testing.T) {
	needs.All(t, "many processes")
	t.Parallel()
	for name, d := range ordeals() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := d.begin(t)
			before := diskOf(t, s.data, s.vault)
			o, calls := s.watch(t, faultPlan{Data: true}, d.args(s)...)
			h := historyOf(before, calls)
			h.agrees(t, diskOf(t, s.data, s.vault))
			all := h.crashes()
			for _, c := range all {
				for _, torn := range h.torn(c.disk, s.data, s.vault) {
					t.Errorf("%s: %s", c.how, torn)
				}
			}
			t.Logf("%d changes, %d disks", len(h.ops), len(all))
			withLocks(all)
			first := slices.IndexFunc(all, func(c crash) bool { return c.last })
			some := append(spread(all[:first], needs.Most(math.MaxInt, 4)), spread(all[first:], needs.Most(math.MaxInt, 2))...)
			for _, c := range some {
				c.disk.written(t, s.data, s.vault)
				s.server.forget()
				gone := outcome{code: -1}
				if c.last {
					gone = o
				}
				d.goesOn(t, s, gone)
				assert.Require(t, !t.Failed(), "the machine failed %s", c.how)
			}
		})
	}
}

// agrees wants the calls to tell all that was changed, else nothing is proven.
func (h *history) agrees(t *testing.T, now disk) {
	t.Helper()
	told := h.after(h.calls, func(_ int, o op) (int, bool) { return len(o.call.Data), true })
	for name, content := range now {
		// which another program writes
		got, there := told[name]
		assert.That(t, strings.HasSuffix(name, "-shm") || filepath.Base(name) == "witness.log" || (there &&
			bytes.Equal(got, content)), "the calls do not tell of %s: %d bytes, and there are %d", name, len(got), len(content))
	}
	for name := range told {
		_, there := now[name]
		assert.That(t, there, "the calls tell of %s, which is gone", name)
	}
}

// forget has the server count anew.
func (p *played) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.turns)
}

// TestWriteThatIsNotSyncedIsFoundTorn is the control: without a sync, or with it in the wrong place, the harness
// notices.
func TestWriteThatIsNotSyncedIsFoundTorn(t *testing.T) {
	const name, temp = "/x/note", "/x/.note.tmp"
	before := disk{"/x": nil, name: []byte("old")}
	create := osCall{Call: "openat", Path: temp, Flags: syscall.O_CREAT, Result: 3}
	write := osCall{Call: "write", Path: temp, Data: []byte("the new text"), Result: 12}
	rename := osCall{Call: "renameat", Path: temp, To: name}
	sync, syncFolder := osCall{Call: "fsync", Path: temp}, osCall{Call: "fsync", Path: "/x"}
	for what, c := range map[string]struct {
		calls      []osCall
		torn, lost bool
	}{
		"synced":             {[]osCall{create, write, sync, rename, syncFolder}, false, false},
		"folder not synced":  {[]osCall{create, write, sync, rename}, false, true},
		"content not synced": {[]osCall{create, write, rename, syncFolder}, true, true},
		"content synced too late": {[]osCall{create, write, rename, syncFolder, {Call: "fsync", Path: name}}, true,
			false},
		"written in place": {[]osCall{{Call: "openat", Path: name, Flags: syscall.O_TRUNC | syscall.O_CREAT,
			Result: 3}, {Call: "write", Path: name, Data: write.Data, Result: 12}}, true, true},
	} {
		h := historyOf(before, c.calls)
		torn, lost := false, false
		for _, crash := range h.crashes() {
			torn = torn || len(h.torn(crash.disk, "/x")) > 0
			lost = lost || crash.last && string(crash.disk[name]) != string(write.Data)
		}
		assert.That(t, torn == c.torn && lost == c.lost, "%s: torn %v, lost %v", what, torn, lost)
	}
}
