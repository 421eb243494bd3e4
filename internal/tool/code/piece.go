package code

import (
	"bytes"
	"io/fs"
	"iter"
	"slices"
	"unicode/utf8"

	"sibyl/internal/media/document"
	"sibyl/internal/text/search"
)

const (
	maxPiece   = 2 << 20  // bytes of a file that are in memory at a time
	maxDecoded = 16 << 20 // bytes of a file in UTF-16, which is decoded as a whole
)

// piece is a part of a file that ends with a line; search.Padding bytes follow its text. A small file is one piece.
type piece struct {
	pieceSpot
	text []byte
	lead []byte // what stands before it, for the secrets that begin there
	tail []byte
	raw  []byte // the whole file as it is, if this is all of it
}

// pieceSpot is where a piece is in its file.
type pieceSpot struct {
	offset int64
	lines  int // before it
	size   int
}

// eachPiece opens a file that was checked before, and calls visit with its pieces. buf is used again.
func (r *Root) eachPiece(at string, seen fs.FileInfo, buf *[]byte, visit func(iter.Seq[piece])) (err error) {
	f, size, err := openText(r.root, at, seen, maxScanned)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	read := func(offset, most int64) (content []byte, err error) {
		content, *buf, err = readInto(f, offset, int(min(most, size-offset)), *buf)
		return content, err
	}
	begin, err := read(0, min(size, maxPiece+bytesAround))
	if err != nil {
		return err
	}
	if isWide(begin) || size <= maxPiece {
		if size > maxDecoded {
			return errLarge
		}
		raw := begin
		if int64(len(begin)) < size {
			if raw, err = read(0, size); err != nil {
				return err
			}
		}
		text, err := decode(at, raw)
		if err != nil {
			return err
		}
		visit(func(yield func(piece) bool) { yield(piece{text: text, raw: raw}) })
		return nil
	}
	if _, err := decode(at, begin[:sniffBytes]); err != nil {
		return err
	}
	visit(func(yield func(piece) bool) {
		next := pieceSpot{}
		for next.offset < size {
			lead := min(next.offset, bytesAround)
			var around []byte
			if around, err = read(next.offset-lead, lead+maxPiece+bytesAround); err != nil || int64(len(around)) <= lead {
				return
			}
			rest := around[lead:]
			n := len(rest)
			if n > maxPiece {
				if n = bytes.LastIndexByte(rest[:maxPiece], '\n') + 1; n == 0 {
					n = maxPiece
				}
			}
			next.size = n
			lines := bytes.Count(rest[:n], []byte("\n"))
			if !yield(newPiece(next, around[:lead], rest[:n], rest[n:])) {
				return
			}
			next.offset, next.lines = next.offset+int64(n), next.lines+lines
		}
	})
	return err
}

// newPiece decodes a piece and what is around it.
func newPiece(at pieceSpot, lead, text, tail []byte) piece {
	p := piece{pieceSpot: at, lead: lead, text: text, tail: tail}
	if at.offset == 0 {
		p.text = bytes.TrimPrefix(text, []byte(mark))
	}
	if !isUTF8(p.text) {
		p.lead, p.text, p.tail = fromWindows(lead), withPadding(fromWindows(p.text)), fromWindows(tail)
	}
	return p
}

// source is the piece as a source, without its secrets.
func (p piece) source(at string) *source {
	s := newSource(at, p.withoutSecrets())
	s.before = p.lines
	return s
}

// withoutSecrets removes the secrets of a piece, also those that begin before it or end behind it. The number of lines
// stays, and search.Padding follows.
func (p piece) withoutSecrets() []byte {
	if len(p.lead)+len(p.tail) == 0 {
		return withoutSecrets(p.text)
	}
	whole := slices.Concat(p.lead, p.text, p.tail)
	clean := withoutSecrets(whole)
	if len(clean) == len(whole) && bytes.Equal(clean, whole) {
		return p.text
	}
	from, lines := bytes.Count(p.lead, []byte("\n")), bytes.Count(p.text, []byte("\n"))
	parts := bytes.SplitAfter(clean, []byte("\n"))
	if from+lines > len(parts) {
		return withPadding(nil) // it can't be told what belongs to the piece
	}
	if lines == 0 || !bytes.HasSuffix(p.text, []byte("\n")) {
		lines++
	}
	return withPadding(bytes.Join(parts[from:min(from+lines, len(parts))], nil))
}

// pieceOf reads a piece of a file again.
func (r *Root) pieceOf(clean string, at pieceSpot) (*source, error) {
	if at.offset == 0 && at.size == 0 {
		s, _, err := r.source(clean)
		return s, err
	}
	place, err := r.locate(clean)
	if err != nil {
		return nil, err
	}
	defer place.close()
	f, size, err := openText(place.parent, place.info.Name(), place.info, maxScanned)
	if err != nil {
		return nil, ioError(clean, err)
	}
	defer func() { _ = f.Close() }() // opened for reading only
	lead := min(at.offset, bytesAround)
	most := min(lead+int64(at.size)+bytesAround, max(size-at.offset+lead, 0))
	around, _, err := readInto(f, at.offset-lead, int(most), nil)
	if err != nil {
		return nil, ioError(clean, err)
	}
	lead = min(lead, int64(len(around)))
	rest := around[lead:]
	n := min(at.size, len(rest))
	return newPiece(at, around[:lead], rest[:n], rest[n:]).source(clean), nil
}

const mark = "\uFEFF"

// isWide says whether a text begins with the mark of UTF-16.
func isWide(text []byte) bool {
	return bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff"))
}

// looksWide says whether every second byte of a beginning is mostly NUL, as in UTF-16 without its mark.
func looksWide(begin []byte) bool {
	var zero, other [2]int
	for i, c := range begin {
		if c == 0 {
			zero[i%2]++
		} else {
			other[i%2]++
		}
	}
	return zero[0] > 4*other[0] && other[1] > 4*zero[1] || zero[1] > 4*other[1] && other[0] > 4*zero[0]
}

// isUTF8 says whether a text is UTF-8, perhaps with a few bytes that are damaged.
func isUTF8(text []byte) bool {
	if utf8.Valid(text) {
		return true
	}
	whole, broken := 0, 0
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && size == 1:
			broken++
		case size > 1:
			whole++
		}
		text = text[size:]
	}
	return broken <= whole
}

// decode returns the text of a file as notes are decoded, followed by search.Padding zero bytes: UTF-8, UTF-16 with its
// mark, or Windows-1252. What is none of them is binary, or in an encoding that is not known.
func decode(at string, raw []byte) ([]byte, error) {
	if !isWide(raw) {
		if bytes.IndexByte(raw[:min(len(raw), sniffBytes)], 0) >= 0 {
			if languageOf(at, nil) != languages().unknown || looksWide(raw[:min(len(raw), sniffBytes)]) {
				return nil, errEncoding
			}
			return nil, errBinary
		}
		if raw = bytes.TrimPrefix(raw, []byte(mark)); isUTF8(raw) {
			return raw, nil
		}
		return withPadding(fromWindows(raw)), nil
	}
	text, err := document.DecodeText(at, raw)
	if err != nil {
		return nil, errEncoding
	}
	return withPadding([]byte(text)), nil
}

// fromWindows decodes Windows-1252; what can't be decoded stays as it is.
func fromWindows(raw []byte) []byte {
	text, err := document.DecodeText("", raw)
	if err != nil {
		return raw
	}
	return []byte(text)
}

// withPadding returns a text that search.Padding zero bytes follow.
func withPadding(text []byte) []byte {
	return append(slices.Clip(text), make([]byte, search.Padding)...)[:len(text)]
}
