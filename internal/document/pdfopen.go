package document

import (
	"bytes"
	"errors"
	"io"

	"github.com/ledongthuc/pdf"
)

// maxContent is how many bytes the contents of a page have when they are unpacked, with the drawings in it, each as often as it is drawn.
const maxContent = 32 << 20

// errOpen says that a string is not closed: the library would look for its end for ever.
var errOpen = errors.New("a string in hexadecimal has no end")

// checked gives the length of a content, and panics if it is not to be given to the library: it is too long, or has a string without an end.
func checked(content pdf.Value) int {
	var all bytes.Buffer
	whole := true
	take := func(v pdf.Value) {
		if v.Kind() != pdf.Stream || !whole {
			return
		}
		n, err := io.Copy(&all, io.LimitReader(v.Reader(), maxContent+1))
		if n > maxContent || all.Len() > maxContent {
			panic(refuse(TooLarge, "a page of it holds more than %d MB; split it", maxContent>>20))
		}
		whole = err == nil // the library stops at the error too, with what it has by then
	}
	if content.Kind() == pdf.Array {
		for i := range content.Len() {
			take(content.Index(i))
		}
	} else {
		take(content)
	}
	if whole && isOpen(all.Bytes()) {
		panic(errOpen)
	}
	return all.Len()
}

// isOpen says whether a content ends within a string in hexadecimal, as the library takes contents apart.
func isOpen(content []byte) bool {
	for i := 0; i < len(content); i++ {
		switch content[i] {
		case '%':
			for i < len(content) && content[i] != '\n' && content[i] != '\r' {
				i++
			}
		case '(':
			i = closed(content, i)
		case '<':
			if i+1 < len(content) && content[i+1] == '<' {
				i++
				continue
			}
			end := bytes.IndexByte(content[i:], '>')
			if end < 0 {
				return true
			}
			i += end
		}
	}
	return false
}

// closed is where the string ends that begins at a place.
func closed(content []byte, at int) int {
	depth := 0
	for ; at < len(content); at++ {
		switch content[at] {
		case '\\':
			at++
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 {
			break
		}
	}
	return at
}
