package vault

import (
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"
	"time"

	"sibyl/internal/text/search"
)

// keptForm is the number of the form in which notes are kept, and of how they are taken apart. What has another is not read.
const keptForm = 1

var errKept = errors.New("what was kept is of another form, or damaged")

// encode writes the notes that may be kept, by path, and then their words.
func (s keptState) encode() []byte {
	var paths []string
	for _, p := range slices.Sorted(maps.Keys(s.files)) {
		if f := s.files[p]; f.settled && !f.private {
			paths = append(paths, p)
		}
	}
	w := packer{}
	w.number(keptForm)
	w.number(search.PackForm)
	w.number(uint64(len(paths)))
	entries := make([]search.Entry, len(paths))
	for i, p := range paths {
		f := s.files[p]
		for _, n := range []uint64{uint64(f.stamp.size), uint64(f.stamp.time), f.stamp.number, f.stamp.changed} {
			w.to = binary.LittleEndian.AppendUint64(w.to, n)
		}
		w.note(f.note)
		entries[i] = f.note.words
	}
	return search.Pack(w.to, s.words, entries)
}

// decode reads what encode wrote.
func decode(text []byte) (files map[string]indexed, words search.Lexicon, err error) {
	r := unpacker{from: string(text)}
	if r.number() != keptForm || r.number() != search.PackForm {
		return nil, words, errKept
	}
	n := r.count()
	notes := make([]*note, 0, min(n, maxNotes))
	files = make(map[string]indexed, min(n, maxNotes))
	for range n {
		f := indexed{settled: true, stamp: stamp{int64(r.fixed()), int64(r.fixed()), r.fixed(), r.fixed()}}
		f.note = r.note()
		if r.bad {
			return nil, words, errKept
		}
		notes = append(notes, f.note)
		files[f.note.path] = f
	}
	words, entries, rest, err := search.Unpack(text[len(text)-len(r.from):])
	if err != nil || len(rest) > 0 || len(entries) != len(notes) || len(files) != len(notes) {
		return nil, search.Lexicon{}, errKept
	}
	for i, n := range notes {
		n.words = entries[i]
	}
	return files, words, nil
}

// packer appends values one after the other.
type packer struct{ to []byte }

func (w *packer) number(n uint64) { w.to = binary.AppendUvarint(w.to, n) }
func (w *packer) text(s string)   { w.number(uint64(len(s))); w.to = append(w.to, s...) }

func (w *packer) texts(all []string) {
	w.number(uint64(len(all)))
	for _, s := range all {
		w.text(s)
	}
}

func (w *packer) moment(t time.Time) {
	b, _ := t.MarshalBinary() // fails for a zone of part of a minute, which is read as none
	w.text(string(b))
}

func (w *packer) note(n *note) {
	w.text(n.path)
	w.text(n.title)
	w.text(n.date)
	w.moment(n.at)
	w.texts(n.tags)
	w.texts(n.aliases)
	w.number(uint64(n.lines))
	w.number(uint64(len(n.sections)))
	for _, s := range n.sections {
		w.text(s.heading)
		w.text(s.entry)
		w.moment(s.at)
		for _, v := range []int{s.level, s.start, s.end} {
			w.number(uint64(v))
		}
	}
	w.number(uint64(len(n.links)))
	for _, l := range n.links {
		w.texts([]string{l.target, l.heading, l.text})
		line := uint64(l.line) << 1
		if l.embed {
			line |= 1
		}
		w.number(line)
	}
}

// unpacker reads what a packer wrote. Once it is bad, it gives nothing more. Its texts are parts of the whole, which stays.
type unpacker struct {
	from string
	bad  bool
}

func (r *unpacker) number() (n uint64) {
	for shift := 0; shift < 64 && len(r.from) > 0; shift += 7 {
		b := r.from[0]
		r.from = r.from[1:]
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n
		}
	}
	r.bad, r.from = true, ""
	return 0
}

// small is a number that an int has room for.
func (r *unpacker) small() int {
	n := r.number()
	if n > math.MaxInt32 {
		r.bad, r.from, n = true, "", 0
	}
	return int(n)
}

// count is how many follow, of at least a byte each.
func (r *unpacker) count() int {
	n := r.number()
	if n > uint64(len(r.from)) {
		r.bad, r.from, n = true, "", 0
	}
	return int(n)
}

func (r *unpacker) fixed() (n uint64) {
	if len(r.from) < 8 {
		r.bad, r.from = true, ""
		return 0
	}
	for i := range 8 {
		n |= uint64(r.from[i]) << (8 * i)
	}
	r.from = r.from[8:]
	return n
}

func (r *unpacker) text() string {
	n := r.count()
	s := r.from[:n]
	r.from = r.from[n:]
	return s
}

func (r *unpacker) texts() []string {
	n := r.count()
	if n == 0 {
		return nil
	}
	all := make([]string, n)
	for i := range all {
		all[i] = r.text()
	}
	return all
}

func (r *unpacker) moment() (t time.Time) {
	if b := r.text(); b != "" && t.UnmarshalBinary([]byte(b)) != nil {
		r.bad = true
	}
	return t
}

func (r *unpacker) note() *note {
	n := &note{path: r.text(), title: r.text(), date: r.text(), at: r.moment(), tags: r.texts(), aliases: r.texts(), lines: r.small()}
	n.sections = make([]section, r.count())
	for i := range n.sections {
		n.sections[i] = section{heading: r.text(), entry: r.text(), at: r.moment(), level: r.small(), start: r.small(), end: r.small()}
	}
	n.links = make([]link, r.count())
	for i := range n.links {
		l := r.texts()
		line := r.number()
		if len(l) != 3 || line>>1 > math.MaxInt32 {
			r.bad = true
			return n
		}
		n.links[i] = link{target: l[0], heading: l[1], text: l[2], line: int(line >> 1), embed: line&1 == 1}
	}
	return n
}
