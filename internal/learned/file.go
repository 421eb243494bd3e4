package learned

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/bits"
)

const (
	magic        = "learned\x01" // the last byte is the version of the form
	longestClass = 64
)

var little = binary.LittleEndian

// Bytes is the file of a model, which Load reads: numbers have their low byte first.
//
//	8 bytes   "learned" and the version, 1
//	1 byte    size: features are hashed to 1<<size buckets
//	1 byte    how many classes
//	each      1 byte of length and the name
//	32 bytes  fingerprint of the training set
//	8 bytes   temperature
//	each      16 bytes: bias and scale of a class
//	…         a bit for each bucket: whether it has weights
//	…         a byte for each class of each bucket that has weights
//	4 bytes   CRC-32 of all before
func (m *Model) Bytes() []byte {
	b := append([]byte(magic), byte(m.size), byte(len(m.classes)))
	for _, c := range m.classes {
		b = append(append(b, byte(len(c))), c...)
	}
	b = append(b, m.trained[:]...)
	b = little.AppendUint64(b, math.Float64bits(m.temperature))
	for k := range m.classes {
		b = little.AppendUint64(b, math.Float64bits(m.bias[k]))
		b = little.AppendUint64(b, math.Float64bits(m.scale[k]))
	}
	for _, w := range m.present {
		b = little.AppendUint64(b, w)
	}
	for _, w := range m.weights {
		b = append(b, byte(w))
	}
	return little.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// Load reads the file of a model. An error says what is wrong with it.
func Load(file []byte) (*Model, error) {
	m, err := load(file)
	if err != nil {
		return nil, fmt.Errorf("weights of a learned classifier: %w", err)
	}
	return m, nil
}

func load(file []byte) (*Model, error) {
	if len(file) < len(magic) || string(file[:len(magic)]) != magic {
		return nil, errors.New("the file does not begin as such a file of version 1 does")
	}
	end := len(file) - 4
	if end < len(magic) || crc32.ChecksumIEEE(file[:end]) != little.Uint32(file[end:]) {
		return nil, errors.New("the file is damaged: its checksum is another")
	}
	r := reader{rest: file[len(magic):end]}
	m := &Model{size: int(r.byte())}
	classes := int(r.byte())
	if r.short || m.size < 1 || m.size > largestSize || classes < 2 || classes > mostClasses {
		return nil, fmt.Errorf("%d classes of size %d: out of bounds", classes, m.size)
	}
	for range classes {
		m.classes = append(m.classes, string(r.take(int(r.byte()))))
	}
	copy(m.trained[:], r.take(fingerprint))
	m.temperature = r.float()
	for range classes {
		m.bias = append(m.bias, r.float())
		m.scale = append(m.scale, r.float())
	}
	for range words(m.size) {
		m.present = append(m.present, r.uint64())
		if r.short {
			return nil, errors.New("the file is too short")
		}
	}
	rows := m.count()
	if m.size < 6 && m.present[0]>>(1<<m.size) != 0 || len(r.rest) != rows*classes {
		return nil, fmt.Errorf("%d bytes of weights for %d buckets and %d classes", len(r.rest), rows, classes)
	}
	if r.wrong || !(m.temperature > 0) {
		return nil, errors.New("a weight is no number, or the temperature not above 0")
	}
	m.weights = make([]int8, len(r.rest))
	for i, w := range r.rest {
		m.weights[i] = int8(w)
	}
	return m, nil
}

// count notes how many buckets with weights come before each word, and gives their number.
func (m *Model) count() int {
	m.before = make([]uint32, len(m.present))
	n := 0
	for i, w := range m.present {
		m.before[i] = uint32(n)
		n += bits.OnesCount64(w)
	}
	return n
}

// reader takes a file apart. It gives zeros behind the end.
type reader struct {
	rest  []byte
	short bool // it was read behind the end
	wrong bool // a number is none
}

func (r *reader) take(n int) []byte {
	if n > len(r.rest) {
		r.rest, r.short = nil, true
		return make([]byte, n)
	}
	out := r.rest[:n]
	r.rest = r.rest[n:]
	return out
}

func (r *reader) byte() byte     { return r.take(1)[0] }
func (r *reader) uint64() uint64 { return little.Uint64(r.take(8)) }

func (r *reader) float() float64 {
	x := math.Float64frombits(r.uint64())
	r.wrong = r.wrong || math.IsNaN(x) || math.IsInf(x, 0)
	return x
}
