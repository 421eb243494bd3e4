package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// object reads the arguments of a call: one JSON object. Numbers stay as they are written.
func object(arguments string) (args map[string]any, err error) {
	d := json.NewDecoder(strings.NewReader(arguments))
	d.UseNumber()
	err = d.Decode(&args)
	return args, err
}

// twice finds a name that stands twice in an object of a JSON text: of two readers, one may take the first, and the
// other the last. "" for none, and for what is not JSON.
func twice(text string) string {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	type level struct {
		names map[string]bool // nil: a list
		value bool            // a name was read, and its value comes
	}
	var open []level
	for {
		t, err := d.Token()
		if err != nil {
			return ""
		}
		in := len(open) - 1
		if t == json.Delim('}') || t == json.Delim(']') {
			open = open[:in]
			continue
		}
		if in >= 0 && open[in].names != nil && !open[in].value {
			key, _ := t.(string) // names are texts
			if open[in].names[key] {
				return key
			}
			open[in].names[key], open[in].value = true, true
			continue
		}
		if in >= 0 {
			open[in].value = false
		}
		switch t {
		case json.Delim('{'):
			open = append(open, level{names: map[string]bool{}})
		case json.Delim('['):
			open = append(open, level{})
		}
	}
}

// digestOf names a call by its tool and its arguments, however their JSON is written.
func digestOf(name, arguments string) string {
	if args, err := object(arguments); err == nil && args != nil {
		if canonical, err := json.Marshal(args); err == nil {
			arguments = string(canonical)
		}
	}
	return Digest(name, " ", arguments)
}

// How much of a text that shows nothing may stand in a row before it is counted instead: it would push what follows out
// of sight.
const (
	mostBlanks  = 40
	mostLines   = 3
	mostAccents = 2 // on one letter
)

// plain is a text in which every character can be seen: what has no shape of its own, or changes how others are shown,
// is written as its number, and long gaps are counted.
func plain(text string) string {
	var b strings.Builder
	marks, runes := 0, []rune(text)
	for at := 0; at < len(runes); at++ {
		r := runes[at]
		if unicode.In(r, unicode.Mn, unicode.Me) {
			marks++
		} else {
			marks = 0
		}
		blanks, ends := gapOf(runes[at:])
		switch {
		case blanks > mostBlanks || ends > mostLines:
			fmt.Fprintf(&b, "⟨%d blanks, %d ends of lines⟩", blanks, ends)
			at += blanks + ends - 1
		case r == '\n' || r == ' ' || marks <= mostAccents && unicode.IsGraphic(r) &&
			!unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Zs) &&
			!unicode.Is(unicode.Variation_Selector, r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "\\u{%x}", r)
		}
	}
	return b.String()
}

// gapOf counts the blanks and the ends of lines that a text begins with.
func gapOf(text []rune) (blanks, ends int) {
	for _, r := range text {
		switch r {
		case ' ':
			blanks++
		case '\n':
			ends++
		default:
			return blanks, ends
		}
	}
	return blanks, ends
}

// asSent is an address as it is asked for: what is no letter of ASCII is written as its number.
func asSent(address string) string {
	var b strings.Builder
	for _, r := range address {
		if r > ' ' && r < 0x7f {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, "\\u{%x}", r)
	}
	return b.String()
}
