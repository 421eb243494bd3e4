package redact

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// spellings lists the ways in which a secret may be written: as it is, in a URL, and in a JSON string, alone or inside
// another JSON string, as the usual writers do. Most secrets have only one.
func spellings(secret string) []string {
	list := []string{secret, url.QueryEscape(secret), url.PathEscape(secret)}
	var once []string
	for choice := range 8 {
		w := jsonWriter{angles: choice&1 != 0, ascii: choice&2 != 0, slash: choice&4 != 0}
		once = append(once, w.escape(secret))
	}
	list = append(list, once...)
	for _, form := range once {
		list = append(list, jsonWriter{}.escape(form))
	}
	return list
}

// jsonWriter says what a JSON writer escapes beyond what is required.
type jsonWriter struct {
	angles bool // < > & as Go does by default
	ascii  bool // everything beyond ASCII, as Python does by default
	slash  bool // the slash, as PHP does by default
}

func (w jsonWriter) escape(s string) string {
	const short = "\"\"\\\\\bb\ff\nn\rr\tt" // pairs of a character and its letter
	var out strings.Builder
	for _, r := range s {
		at := strings.IndexRune(short, r)
		switch {
		case r < utf8.RuneSelf && at >= 0 && at%2 == 0:
			out.WriteString(`\` + short[at+1:at+2])
		case r < ' ', w.angles && (r == '<' || r == '>' || r == '&'), w.ascii && r >= utf8.RuneSelf && r <= 0xFFFF:
			fmt.Fprintf(&out, `\u%04x`, r)
		case w.ascii && r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		case w.slash && r == '/':
			out.WriteString(`\/`)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}
