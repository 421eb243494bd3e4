package render

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// maxLink is how long an address of a link may be: terminals drop longer ones.
const maxLink = 2000

// patterns find addresses and places in a text.
var patterns = sync.OnceValue(func() (p struct{ any, place *regexp.Regexp }) {
	const file = `[^\s:"'()<>\[\]{}|` + "`" + `]+`
	p.any = regexp.MustCompile(`https?://[^\s<>"` + "`" + `]+|` + file + `:[0-9]{1,7}(?:-[0-9]{1,7})?`)
	p.place = regexp.MustCompile(`^(` + file + `)(?::([0-9]{1,7})(?:-[0-9]{1,7})?)?$`)
	return p
})

// addressSpan is the span that shows an address of the web.
func (l layout) addressSpan(text string, k style) span {
	return span{text, k | underlined, l.webLink(text)}
}

// webLink is what an address of the web links to; "" for others.
func (l layout) webLink(address string) string {
	u, err := url.Parse(address)
	if !l.Links || err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return terminalLink(u.String())
}

// terminalLink is a link if terminals accept it, else "".
func terminalLink(href string) string {
	if len(href) > maxLink || strings.ContainsFunc(href, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return href
}

// withLinks adds links to the addresses and places that spans name.
func (l layout) withLinks(spans []span) (all []span) {
	for _, s := range spans {
		switch {
		case s.href != "" || s.text == "\n":
			all = append(all, s)
		case s.style&cyan != 0 || s.style&underlined != 0:
			all = append(all, l.linkedPlace(s))
		default:
			all = append(all, l.splitAtLinks(s)...)
		}
	}
	return all
}

// linkedPlace adds a link to a span that is an address or a place as a whole.
func (l layout) linkedPlace(s span) span {
	if s.href = l.webLink(s.text); s.href != "" || !l.Links || l.Cite == nil {
		return s
	}
	found := patterns().place.FindStringSubmatch(s.text)
	if found == nil {
		return s
	}
	line, _ := strconv.Atoi(found[2]) // "" is 0
	s.href = terminalLink(l.Cite(found[1], line))
	return s
}

// splitAtLinks splits a text at the addresses and places in it.
func (l layout) splitAtLinks(s span) (all []span) {
	at := 0
	if !strings.Contains(s.text, ":") {
		return []span{s}
	}
	for _, found := range patterns().any.FindAllStringIndex(s.text, -1) {
		piece := s
		piece.text = s.text[found[0]:found[1]]
		if strings.HasPrefix(piece.text, "http://") || strings.HasPrefix(piece.text, "https://") {
			piece = l.addressSpan(trimSentenceEnd(piece.text), s.style)
		} else if piece = l.linkedPlace(piece); piece.href == "" {
			continue
		}
		before := s
		before.text = s.text[at:found[0]]
		all = append(all, before, piece)
		at = found[0] + len(piece.text)
	}
	s.text = s.text[at:]
	return append(all, s)
}

// trimSentenceEnd is an address without what ends the sentence around it.
func trimSentenceEnd(address string) string {
	for {
		short := strings.TrimRight(address, ".,;:!?'’”*_")
		if strings.HasSuffix(short, ")") && strings.Count(short, ")") > strings.Count(short, "(") {
			short = strings.TrimSuffix(short, ")")
		}
		if short == address {
			return address
		}
		address = short
	}
}
