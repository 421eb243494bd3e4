package index

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"sync"
)

// errDamaged says that a piece of the file is not what was written.
var errDamaged = errors.New("the index is damaged")

const sumLength = 4

var sums = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// sealed is a piece with a sum behind it, of the piece and of what it is kept under.
func sealed(under string, piece []byte) []byte {
	return binary.LittleEndian.AppendUint32(piece, sumOf(under, piece))
}

func sumOf(under string, piece []byte) uint32 {
	return crc32.Update(crc32.Checksum([]byte(under), sums()), sums(), piece)
}

// unsealed is a piece without its sum.
func unsealed(under string, stored []byte) ([]byte, error) {
	n := len(stored) - sumLength
	if n < 0 || sumOf(under, stored[:n]) != binary.LittleEndian.Uint32(stored[n:]) {
		return nil, errDamaged
	}
	return stored[:n:n], nil
}

// row is what a piece is kept under in a table.
func row(table string, id int64) string {
	return table + string(binary.LittleEndian.AppendUint64(nil, uint64(id)))
}

// A list says in which texts a word stands: for each the distance from the text before, and how often, which is 1 mostly.

// appendPlace adds a text to a list.
func appendPlace(list []byte, distance, count uint32) []byte {
	if count == 1 {
		return binary.AppendUvarint(list, uint64(distance)<<1)
	}
	return binary.AppendUvarint(binary.AppendUvarint(list, uint64(distance)<<1|1), uint64(count))
}

// eachPlace goes through a list.
func eachPlace(list []byte, emit func(text, count uint32)) error {
	text := uint32(0)
	for len(list) > 0 {
		head, n := binary.Uvarint(list)
		if n <= 0 {
			return errDamaged
		}
		list = list[n:]
		count := uint64(1)
		if head&1 != 0 {
			if count, n = binary.Uvarint(list); n <= 0 {
				return errDamaged
			}
			list = list[n:]
		}
		text += uint32(head >> 1)
		emit(text, uint32(count))
	}
	return nil
}

// packed puts the lists of neighbouring words into one piece: their lengths, and then the lists.
func packed(lists [][]byte) []byte {
	var piece []byte
	for _, l := range lists {
		piece = binary.AppendUvarint(piece, uint64(len(l)))
	}
	for _, l := range lists {
		piece = append(piece, l...)
	}
	return piece
}

// listing is a piece that packed has made, taken apart.
type listing struct {
	piece []byte
	ends  [perPiece + 1]int // where the lists begin, and where the last one ends
}

// open takes a piece with so many lists apart.
func (l *listing) open(piece []byte, lists int) error {
	rest, at := piece, 0
	for i := range lists {
		length, n := binary.Uvarint(rest)
		if n <= 0 || length > uint64(len(piece)) {
			return errDamaged
		}
		l.ends[i], at, rest = at, at+int(length), rest[n:]
	}
	if at > len(rest) {
		return errDamaged
	}
	l.piece, l.ends[lists] = rest, at
	return nil
}

// list is one of the lists.
func (l *listing) list(i int) []byte { return l.piece[l.ends[i]:l.ends[i+1]:l.ends[i+1]] }
