// Package jsonappend appends JSON to a slice of bytes without reflection. It imports the standard library alone.
//
// It gives the very bytes that encoding/json gives, its escapes for HTML and for broken UTF-8 included.
package jsonappend

import "unicode/utf8"

const hexDigits = "0123456789abcdef"

// String appends s as a JSON string.
func String(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0 // of what is not appended yet
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			switch {
			case r == utf8.RuneError && size == 1:
				b = append(append(b, s[from:i]...), `\ufffd`...)
				from = i + size
			case r == '\u2028' || r == '\u2029': // which no script may hold
				b = append(append(b, s[from:i]...), `\u202`...)
				b = append(b, hexDigits[r&0xf])
				from = i + size
			}
			i += size
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&' {
			i++
			continue
		}
		b = append(b, s[from:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\b':
			b = append(b, '\\', 'b')
		case '\f':
			b = append(b, '\\', 'f')
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
		}
		i++
		from = i
	}
	return append(append(b, s[from:]...), '"')
}
