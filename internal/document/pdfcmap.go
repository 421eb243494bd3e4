package document

import (
	"encoding/binary"
	"unicode/utf16"

	"github.com/ledongthuc/pdf"
)

const (
	maxRange    = 1 << 16 // codes of a range of a font
	mostLetters = 32      // units of UTF-16 that a code stands for
)

// readLetters reads what a font says of its codes: which letters each is. The library would believe any number that stands before a list.
func (f *font) readLetters(dictionary pdf.Value) {
	table := dictionary.Key("ToUnicode")
	if table.Kind() != pdf.Stream {
		return
	}
	checked(table)
	pdf.Interpret(table, func(stack *pdf.Stack, operator string) {
		args := make([]pdf.Value, stack.Len())
		for i := len(args) - 1; i >= 0; i-- {
			args[i] = stack.Pop()
		}
		switch operator {
		case "endbfchar":
			for i := len(args) % 2; i+1 < len(args); i += 2 {
				f.learn(args[i].RawString(), args[i+1].RawString())
			}
		case "endbfrange":
			for i := len(args) % 3; i+2 < len(args); i += 3 {
				f.learnRange(args[i].RawString(), args[i+1].RawString(), args[i+2])
			}
		case "findresource":
			stack.Push(dictionary) // any will do: “begin” wants one, and nothing is looked up in it
		}
	})
}

// learn takes the letters of a code, in UTF-16.
func (f *font) learn(code, letters string) {
	if f.composite == (len(code) == 2) && len(letters) >= 2 && len(letters) <= 2*mostLetters && len(f.known) < maxKnown {
		f.known[code] = string(utf16.Decode(units(letters)))
	}
}

// learnRange takes the letters of codes that follow each other: a list, or the first.
func (f *font) learnRange(from, to string, letters pdf.Value) {
	first, ok := number(from)
	last, fine := number(to)
	if !ok || !fine || len(from) != len(to) || last-first >= maxRange {
		return
	}
	list := units(letters.RawString())
	if isList := letters.Kind() == pdf.Array; !isList && (len(list) == 0 || len(list) > mostLetters) {
		return
	}
	for code := first; code <= last && f.told < maxTold; code++ {
		f.told++
		said := ""
		if letters.Kind() == pdf.Array {
			said = letters.Index(code - first).RawString()
		} else {
			for i, u := range list {
				if i == len(list)-1 {
					u += uint16(code - first)
				}
				said = string(binary.BigEndian.AppendUint16([]byte(said), u))
			}
		}
		if len(from) == 1 {
			f.learn(string([]byte{byte(code)}), said)
		} else {
			f.learn(string([]byte{byte(code >> 8), byte(code)}), said)
		}
	}
}

// number is a code of one or two bytes.
func number(code string) (int, bool) {
	switch len(code) {
	case 1:
		return int(code[0]), true
	case 2:
		return int(code[0])<<8 | int(code[1]), true
	}
	return 0, false
}

func units(raw string) []uint16 {
	list := make([]uint16, len(raw)/2)
	for i := range list {
		list[i] = uint16(raw[2*i])<<8 | uint16(raw[2*i+1])
	}
	return list
}
