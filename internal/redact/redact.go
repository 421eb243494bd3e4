// Package redact takes secrets out of text before it is kept or shown.
//
// It knows three kinds: given secrets, wherever they are, also escaped as in JSON (once or twice) or in a URL; tokens
// with a known shape, such as an OpenAI key, a JSON web token or a PEM private key; and values with the name or at the
// place of a secret, as in password=… or scheme://user:password@host, if they do not look like words. docs/vectors.md
// describes published examples of each.
//
// Guarantees:
//   - A JSON text stays a JSON text. Where replacing the secret alone would break it, the whole string or number that
//     holds the secret is replaced.
//   - Text without a secret is returned as it is, without a copy.
//   - The time is linear in the size of the text.
//   - A Redactor finds the same secrets as long as it lives, and is safe for concurrent use.
//
// It is a net, not a wall: a secret that was cut in pieces, encrypted or encoded otherwise passes through.
package redact

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"unsafe"
)

// Mark replaces a secret.
const Mark = "[redacted]"

// MinSecret is the shortest secret that is searched for, in bytes: a shorter one would also be found in ordinary words.
const MinSecret = 8

// Redactor replaces secrets with Mark. Its zero value replaces nothing.
type Redactor struct {
	first   triples       // the three bytes that needles begin with
	needles [256][]needle // by first byte
}

// triples is a set of three bytes each, as a hash table without keys: a few that were not added count as members.
type triples [1 << 16 / 64]uint64

func (s *triples) add(a, b, c byte) {
	at := bitOf(a, b, c)
	s[at>>6] |= 1 << (at & 63)
}

func (s *triples) has(a, b, c byte) bool {
	at := bitOf(a, b, c)
	return s[at>>6]&(1<<(at&63)) != 0
}

// bitOf is the bit of three bytes in the table.
func bitOf(a, b, c byte) uint16 {
	return uint16((uint32(a) | uint32(b)<<8 | uint32(c)<<16) * 0x9E3779B1 >> 16)
}

// finder finds the secret to which the word at i belongs, at or after from; -1: there is none.
type finder func(t string, from, i int) (start, end int)

// needle is a word of at least three bytes that indicates a secret, or a whole secret.
type needle struct {
	word string
	find finder // nil: the word is the whole secret
}

// base is the Redactor without given secrets.
var base = sync.OnceValue(func() *Redactor {
	r := &Redactor{}
	addRules(r.add)
	for _, p := range places() {
		find := p.finder()
		for keyword := range strings.SplitSeq(p.keywords, "|") {
			r.add(keyword, find)
		}
	}
	for name := range strings.SplitSeq(nameWords, "|") {
		for _, spelling := range []string{name, strings.ToUpper(name), strings.ToUpper(name[:1]) + name[1:]} {
			r.add(spelling, findNamed)
		}
	}
	for word, find := range keyFinders {
		r.add(word, find)
	}
	for i, all := range r.needles {
		r.needles[i] = slices.Clip(all) // others add to copies
	}
	return r
})

// New makes a Redactor for the given secrets and all known shapes. Secrets shorter than MinSecret are left out.
func New(secrets ...string) *Redactor {
	r := *base()
	for _, secret := range secrets {
		if len(secret) < MinSecret {
			continue
		}
		for _, form := range spellings(secret) {
			r.add(form, nil)
		}
	}
	return &r
}

func (r *Redactor) add(word string, find finder) {
	all := &r.needles[word[0]]
	if find == nil && slices.ContainsFunc(*all, func(n needle) bool { return n.word == word && n.find == nil }) {
		return
	}
	r.first.add(word[0], word[1], word[2])
	*all = append(*all, needle{word, find})
}

// Bytes returns b with every secret replaced by Mark. Without a secret it returns b itself. It never changes b.
func (r *Redactor) Bytes(b []byte) []byte {
	all := r.spans(stringView(b))
	if len(all) == 0 {
		return b
	}
	out := replace(b, all, false)
	if json.Valid(b) && !json.Valid(out) {
		return r.redactLiterals(b, all)
	}
	return out
}

// String is Bytes for a string.
func (r *Redactor) String(s string) string {
	if start, _ := r.find(s, 0); start < 0 {
		return s
	}
	return string(r.Bytes([]byte(s)))
}

// Lines is Bytes for text that will be numbered, quoted or cut by lines: it keeps the number of lines. A secret of
// several lines leaves a Mark on each.
func (r *Redactor) Lines(b []byte) []byte {
	all := r.spans(stringView(b))
	if len(all) == 0 {
		return b
	}
	return replace(b, all, true)
}

// Lines removes secrets with a known shape, name or place, and keeps the number of lines. A tool calls it on what it
// read before it adds anything: a number before each line would break the shape of a key, and a cut that of a token.
func Lines(b []byte) []byte { return base().Lines(b) }

// Text is Lines for a string.
func Text(s string) string {
	r := base()
	if start, _ := r.find(s, 0); start < 0 {
		return s
	}
	return string(r.Lines([]byte(s)))
}

// stringView is b as a string, valid as long as b does not change.
func stringView(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// span is the place of a secret in a text.
type span struct{ start, end int }

// spans are the places of all secrets in t, in order.
func (r *Redactor) spans(t string) (all []span) {
	for from := 0; ; {
		start, end := r.find(t, from)
		if start < 0 {
			return all
		}
		all = append(all, span{start, end})
		from = end
	}
}

// replace builds the redacted copy of b. With lines, each line of a secret keeps its line break.
func replace(b []byte, all []span, lines bool) []byte {
	out := make([]byte, 0, len(b)+len(Mark))
	from := 0
	for _, s := range all {
		out = append(append(out, b[from:s.start]...), Mark...)
		for range bytes.Count(b[s.start:s.end], []byte("\n")) {
			if lines {
				out = append(append(out, '\n'), Mark...)
			}
		}
		from = s.end
	}
	return append(out, b[from:]...)
}

// redactLiterals redacts each string and number of a JSON text by itself. One that would not be valid then becomes Mark
// as a whole.
func (r *Redactor) redactLiterals(b []byte, all []span) []byte {
	out := make([]byte, 0, len(b)+len(Mark))
	for i := 0; i < len(b); {
		end := literalEnd(b, i)
		literal := b[i:end]
		for len(all) > 0 && all[0].end <= i {
			all = all[1:]
		}
		var within []span
		for _, s := range all {
			if s.start >= end {
				break
			}
			if s.start < i || s.end > end { // it crosses a border of JSON: this literal is searched again by itself
				within = r.spans(stringView(literal))
				break
			}
			within = append(within, span{s.start - i, s.end - i})
		}
		i = end
		if len(within) == 0 {
			out = append(out, literal...)
			continue
		}
		clean := replace(literal, within, false)
		if literal[0] != '"' || !json.Valid(clean) {
			clean = []byte(`"` + Mark + `"`)
		}
		out = append(out, clean...)
	}
	return out
}

// literalEnd is the end of the string, number, word or single sign that begins at i in a JSON text.
func literalEnd(b []byte, i int) int {
	if b[i] == '"' {
		for i++; b[i] != '"'; i++ {
			if b[i] == '\\' {
				i++
			}
		}
		return i + 1
	}
	end := i
	for end < len(b) && (isAlnum(b[end]) || b[end] == '.' || b[end] == '-' || b[end] == '+') {
		end++
	}
	return max(end, i+1)
}

// find returns the first secret in t at or after from, or -1. Secrets that overlap count as one.
func (r *Redactor) find(t string, from int) (start, end int) {
	for i := from; i+2 < len(t); i++ {
		if !r.first.has(t[i], t[i+1], t[i+2]) {
			continue
		}
		start, end = r.longestAt(t, from, i)
		for j := start + 1; start >= 0 && j < end && j+2 < len(t); j++ {
			if r.first.has(t[j], t[j+1], t[j+2]) {
				end = max(end, r.knownSecretEnd(t, j))
			}
		}
		if start >= 0 {
			return start, end
		}
	}
	return -1, -1
}

// longestAt returns the longest secret to which a word at i belongs, or -1.
func (r *Redactor) longestAt(t string, from, i int) (start, end int) {
	start, end = -1, -1
	for _, n := range r.needles[t[i]] {
		if n.word[1] != t[i+1] || !strings.HasPrefix(t[i:], n.word) {
			continue
		}
		begin, to := i, i+len(n.word)
		if n.find != nil {
			begin, to = n.find(t, from, i)
		}
		if begin >= from && to > end {
			start, end = begin, to
		}
	}
	return start, end
}

// knownSecretEnd is the end of the longest given secret that begins at i; 0 if there is none.
func (r *Redactor) knownSecretEnd(t string, i int) (end int) {
	for _, n := range r.needles[t[i]] {
		if n.find == nil && strings.HasPrefix(t[i:], n.word) {
			end = max(end, i+len(n.word))
		}
	}
	return end
}
