package code

import (
	"encoding/binary"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"sibyl/internal/files"
)

// memory is what is known of a root's folders and files from an earlier walk. What is in it never changes.
type memory struct {
	folders map[string]*folderMemory // by path
	plan    *plan                    // by which they were walked over; nil: nothing was yet
}

// folderMemory is a folder as it was listed. While its stamp and that of the ignore rules hold, the same names are in it.
type folderMemory struct {
	stamp, rules uint64
	ignores      bool // a .gitignore is in it
	skipped      Skipped
	folders      []string // those that were entered, by name
	files        []fileMemory
}

// fileMemory is a file as it was read. While its stamp holds, its content is the same.
type fileMemory struct {
	name          string
	stamp         uint64
	size          int64
	kind          fileKind
	segment, text uint32 // where the index holds it
}

// fileKind says what is known of a file.
type fileKind uint8

const (
	unread   fileKind = iota // nothing
	held                     // its words and its outline are in the index
	noText                   // it is binary
	withheld                 // a secret is in it, so that it is read anew each time, and none of it is kept
	kinds
)

// settledAfter is how old a change must be for the next one to show in a stamp: file systems keep times as coarse as two seconds.
const settledAfter = 2 * time.Second

// stampOf sums up what shows that a file or folder changed. It is never 0.
func stampOf(info fs.FileInfo) uint64 {
	number, changed := files.Identity(info)
	return mixed(uint64(info.Size()), uint64(info.ModTime().UnixNano()), number, changed) | 1
}

// mixed is a sum of numbers in their order.
func mixed(numbers ...uint64) uint64 {
	sum := uint64(14695981039346656037)
	for _, n := range numbers {
		sum = (sum ^ n) * 0x9e3779b97f4a7c15
		sum ^= sum >> 29
	}
	return sum
}

// settledStamp is the stamp of what is seen at a time, or 0, which no stamp is, while a change might not show in it.
func settledStamp(info fs.FileInfo, now time.Time) uint64 {
	if now.Sub(info.ModTime()) < settledAfter {
		return 0
	}
	return stampOf(info)
}

func (m *memory) folder(at string) *folderMemory {
	if m == nil {
		return nil
	}
	return m.folders[at]
}

// file finds what is known of a file; nil if it is another one by now.
func (f *folderMemory) file(info fs.FileInfo) *fileMemory {
	if f == nil {
		return nil
	}
	i, found := slices.BinarySearchFunc(f.files, info.Name(), func(f fileMemory, name string) int { return strings.Compare(f.name, name) })
	if !found || f.files[i].stamp != stampOf(info) {
		return nil
	}
	return &f.files[i]
}

// isHeld says for every text of the index whether a file needs it.
func (m *memory) isHeld() func(segment, text uint32) bool {
	type place struct{ segment, text uint32 }
	needed := map[place]bool{}
	for _, folder := range m.folders {
		for _, f := range folder.files {
			if f.kind == held {
				needed[place{f.segment, f.text}] = true
			}
		}
	}
	return func(segment, text uint32) bool { return needed[place{segment, text}] }
}

// catalogueForm is the first byte of an encoded memory. It is raised whenever a file would be indexed otherwise than before: another outline, other words,
// another form of either.
const catalogueForm = 3

// encode writes a memory down.
func (m *memory) encode() []byte {
	paths := make([]string, 0, len(m.folders))
	for at := range m.folders {
		paths = append(paths, at)
	}
	slices.Sort(paths)
	out := packer{catalogueForm}
	m.plan.encode(&out)
	out.number(uint64(len(paths)))
	for _, at := range paths {
		f := m.folders[at]
		out.text(at)
		out.fixed(f.stamp)
		out.fixed(f.rules)
		out.texts(f.folders)
		out.number(uint64(len(f.files))<<1 | bit(f.ignores))
		for i := range f.files {
			file := &f.files[i]
			out.text(file.name)
			out.fixed(file.stamp)
			out.number(uint64(file.size)*uint64(kinds) + uint64(file.kind))
			if file.kind == held {
				out.number(uint64(file.segment))
				out.number(uint64(file.text))
			}
		}
		for _, n := range []int{f.skipped.Secret, f.skipped.Links, f.skipped.Unreadable} {
			out.number(uint64(n))
		}
	}
	return out
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// decodeMemory reads a memory; what is of another form knows nothing.
func decodeMemory(text []byte) *memory {
	m := &memory{folders: map[string]*folderMemory{}}
	if len(text) == 0 || text[0] != catalogueForm {
		return m
	}
	in := unpacker{rest: string(text[1:])}
	m.plan = decodePlan(&in)
	for range in.count() {
		at := in.text()
		f := &folderMemory{stamp: in.fixed(), rules: in.fixed(), folders: in.texts()}
		n := in.number()
		f.ignores = n&1 == 1
		f.files = make([]fileMemory, in.within(n>>1))
		for i := range f.files {
			file := fileMemory{name: in.text(), stamp: in.fixed()}
			size := in.number()
			file.size, file.kind = int64(size/uint64(kinds)), fileKind(size%uint64(kinds))
			if file.kind == held {
				file.segment, file.text = uint32(in.number()), uint32(in.number())
			}
			f.files[i] = file
		}
		f.skipped = Skipped{Secret: int(in.number()), Links: int(in.number()), Unreadable: int(in.number())}
		m.folders[at] = f
	}
	if in.bad || in.rest != "" {
		return &memory{folders: map[string]*folderMemory{}}
	}
	return m
}

// encode writes a plan down.
func (p *plan) encode(out *packer) {
	if p == nil {
		p = &plan{hasty: true} // which is none to go by
	}
	out.number(uint64(max(0, p.made.Unix()))<<1 | bit(p.hasty))
	out.number(uint64(p.seen))
	out.texts(p.tops)
	out.texts(slices.Sorted(maps.Keys(p.out)))
}

// decodePlan reads a plan.
func decodePlan(in *unpacker) *plan {
	made := in.number()
	p := &plan{made: time.Unix(int64(made>>1), 0), hasty: made&1 == 1, seen: int(in.number()), tops: in.texts(), out: map[string]bool{}}
	for _, at := range in.texts() {
		p.out[at] = true
	}
	return p
}

// packer writes numbers and texts.
type packer []byte

func (p *packer) number(n uint64) { *p = binary.AppendUvarint(*p, n) }

func (p *packer) fixed(n uint64) { *p = binary.LittleEndian.AppendUint64(*p, n) }

func (p *packer) text(s string) {
	p.number(uint64(len(s)))
	*p = append(*p, s...)
}

func (p *packer) texts(all []string) {
	p.number(uint64(len(all)))
	for _, s := range all {
		p.text(s)
	}
}

// unpacker reads what a packer wrote. Once something is wrong, bad is set and it gives nothing.
type unpacker struct {
	rest string
	bad  bool
}

func (u *unpacker) number() (n uint64) {
	for i := 0; i < len(u.rest) && i < binary.MaxVarintLen64; i++ {
		c := u.rest[i]
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			u.rest = u.rest[i+1:]
			return n
		}
	}
	u.rest, u.bad = "", true
	return 0
}

// within is a number of things that may be there: each takes a byte at least.
func (u *unpacker) within(n uint64) int {
	if n > uint64(len(u.rest)) {
		u.rest, u.bad = "", true
		return 0
	}
	return int(n)
}

func (u *unpacker) count() int { return u.within(u.number()) }

func (u *unpacker) cut(n int) string {
	if n > len(u.rest) {
		u.rest, u.bad = "", true
		return ""
	}
	out := u.rest[:n]
	u.rest = u.rest[n:]
	return out
}

func (u *unpacker) text() string { return u.cut(u.count()) }

func (u *unpacker) texts() []string {
	all := make([]string, u.count())
	for i := range all {
		all[i] = u.text()
	}
	return all
}

func (u *unpacker) fixed() uint64 {
	s := u.cut(8)
	if s == "" {
		return 0
	}
	return binary.LittleEndian.Uint64([]byte(s))
}
