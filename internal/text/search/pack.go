package search

import (
	"encoding/binary"
	"errors"
	"math"
)

// PackForm is the number of the form that Pack writes, and of how texts are taken apart for it: what has another is made anew.
const PackForm = 1

var errPacked = errors.New("what is packed is damaged")

// Pack appends entries of one lexicon, with the words that stand in them, so that Unpack gives the same again.
func Pack(to []byte, view View, entries []Entry) []byte {
	numbers := make([]uint32, len(view.words)) // from 1; 0: not met yet
	var used []uint32
	weights := map[float32]int{}
	var each []float32
	for _, e := range entries {
		for _, p := range e.postings {
			if numbers[p.word] == 0 {
				used = append(used, p.word)
				numbers[p.word] = uint32(len(used))
			}
			if _, known := weights[p.weight]; !known {
				weights[p.weight] = len(each)
				each = append(each, p.weight)
			}
		}
	}
	to = binary.AppendUvarint(to, uint64(len(used)))
	for _, id := range used {
		w := view.words[id]
		to = append(binary.AppendUvarint(to, uint64(len(w.text))), w.text...)
		to = append(binary.AppendUvarint(to, uint64(len(w.stem))), w.stem...)
	}
	to = binary.AppendUvarint(to, uint64(len(each)))
	for _, w := range each {
		to = binary.LittleEndian.AppendUint32(to, math.Float32bits(w))
	}
	to = binary.AppendUvarint(to, uint64(len(entries)))
	for _, e := range entries {
		to = binary.AppendUvarint(to, uint64(len(e.lengths)))
		for _, n := range e.lengths {
			to = binary.AppendUvarint(to, uint64(n))
		}
		to = binary.AppendUvarint(to, uint64(len(e.postings)))
		for _, p := range e.postings {
			to = binary.AppendUvarint(to, uint64(numbers[p.word]-1))
			to = binary.AppendUvarint(to, uint64(p.section+1)) // that of the whole is -1
			to = binary.AppendUvarint(to, uint64(p.count))
			to = binary.AppendUvarint(to, uint64(weights[p.weight]))
		}
	}
	return to
}

// Unpack gives a lexicon and its entries, and what stands behind them.
func Unpack(from []byte) (l Lexicon, entries []Entry, rest []byte, err error) {
	r := unpacker{from: from}
	n := r.count(2)
	l = Lexicon{ids: make(map[string]uint32, n), words: make([]word, 0, n)}
	for range n {
		w := word{r.text(), r.text()}
		l.ids[w.text] = uint32(len(l.words))
		l.words = append(l.words, w)
	}
	weights := make([]float32, r.count(4))
	for i := range weights {
		if len(r.from) < 4 {
			return Lexicon{}, nil, nil, errPacked
		}
		weights[i] = math.Float32frombits(binary.LittleEndian.Uint32(r.from))
		r.from = r.from[4:]
	}
	entries = make([]Entry, r.count(2))
	for i := range entries {
		e := Entry{lengths: make([]int, r.count(1))}
		for k := range e.lengths {
			e.lengths[k] = int(r.number(math.MaxInt32))
		}
		e.postings = make([]posting, r.count(4))
		for k := range e.postings {
			p := &e.postings[k]
			p.word = uint32(r.below(len(l.words)))
			p.section = int32(r.below(len(e.lengths)+1)) - 1
			p.count = uint16(r.number(math.MaxUint16))
			if w := r.below(len(weights)); !r.bad {
				p.weight = weights[w]
			}
		}
		entries[i] = e
	}
	if r.bad {
		return Lexicon{}, nil, nil, errPacked
	}
	return l, entries, r.from, nil
}

// unpacker reads what Pack wrote. Once it is bad, it gives nothing more.
type unpacker struct {
	from []byte
	bad  bool
}

func (r *unpacker) number(most uint64) uint64 {
	n, size := binary.Uvarint(r.from)
	if size <= 0 || n > most || r.bad {
		r.bad, r.from = true, nil
		return 0
	}
	r.from = r.from[size:]
	return n
}

// below gives a number below a bound.
func (r *unpacker) below(bound int) int {
	if bound == 0 {
		r.bad = true
		return 0
	}
	return int(r.number(uint64(bound - 1)))
}

// count gives how many follow that take so many bytes each at least.
func (r *unpacker) count(least int) int { return int(r.number(uint64(len(r.from) / least))) }

func (r *unpacker) text() string {
	n := r.count(1)
	if n > len(r.from) {
		r.bad, r.from = true, nil
		return ""
	}
	text := string(r.from[:n])
	r.from = r.from[n:]
	return text
}
