package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// decodeArguments decodes the arguments of a call, a JSON object. Numbers stay as they are written.
func decodeArguments(arguments string) (args map[string]any, err error) {
	d := json.NewDecoder(strings.NewReader(arguments))
	d.UseNumber()
	err = d.Decode(&args)
	return args, err
}

// repeatedName finds a name that an object in a JSON text has twice: one reader may use the first value, another the
// last. "" for none, and for text that is not JSON.
func repeatedName(text string) string {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	type level struct {
		names map[string]bool // nil: a list
		value bool            // a name was read, its value is next
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

// digestOfCall identifies a call by tool and arguments, however their JSON is written.
func digestOfCall(name, arguments string) string {
	if args, err := decodeArguments(arguments); err == nil && args != nil {
		if canonical, err := json.Marshal(args); err == nil {
			arguments = string(canonical)
		}
	}
	return Digest(name, " ", arguments)
}

// How many characters without a shape may follow each other. Longer gaps are shown as a count, since they would push
// the rest out of sight.
const (
	mostBlanks  = 40
	mostLines   = 3
	mostAccents = 2 // on one letter
)

// escapeUnseen returns a text in which every character can be seen: characters that have no shape, or change how others
// are shown, are written as numbers, and long gaps as counts.
func escapeUnseen(text string) string {
	var b strings.Builder
	marks, runes := 0, []rune(text)
	for at := 0; at < len(runes); at++ {
		r := runes[at]
		if unicode.In(r, unicode.Mn, unicode.Me) {
			marks++
		} else {
			marks = 0
		}
		blanks, ends := leadingGap(runes[at:])
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

// leadingGap counts the blanks and the line ends that a text begins with.
func leadingGap(text []rune) (blanks, ends int) {
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

// escapeAddress writes everything but visible ASCII in an address as numbers.
func escapeAddress(address string) string {
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
