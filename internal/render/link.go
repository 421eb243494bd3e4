package render

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// maxLink is the maximum length of a link's address; terminals ignore longer ones.
const maxLink = 2000

// patterns find web addresses and places in files: any within a text, place a text that is one as a whole.
var patterns = sync.OnceValue(func() (p struct{ any, place *regexp.Regexp }) {
	const file = `[^\s:"'()<>\[\]{}|` + "`" + `]+`
	p.any = regexp.MustCompile(`https?://[^\s<>"` + "`" + `]+|` + file + `:[0-9]{1,7}(?:-[0-9]{1,7})?`)
	p.place = regexp.MustCompile(`^(` + file + `)(?::([0-9]{1,7})(?:-[0-9]{1,7})?)?$`)
	return p
})

// addressSpan returns the span that shows an address, with a link if it is one of the web.
func (l layout) addressSpan(text string, k style) span {
	return span{text, k | underlined, l.webLink(text)}
}

// webLink returns the link for an address of http or https; "" for others, or without Links.
func (l layout) webLink(address string) string {
	u, err := url.Parse(address)
	if !l.Links || err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return terminalLink(u.String())
}

// terminalLink returns a link if terminals accept it (printable ASCII, not too long), else "".
func terminalLink(href string) string {
	if len(href) > maxLink || strings.ContainsFunc(href, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return href
}

// withLinks adds links to the addresses and places in spans.
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

// linkedPlace adds a link to a span that as a whole is an address, or a place that Cite knows.
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

// splitAtLinks splits a span at the addresses and known places in it, and adds their links.
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

// trimSentenceEnd removes from an address the punctuation that belongs to the sentence around it.
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
