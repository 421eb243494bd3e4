// Package redact takes secrets out of text before it is kept or shown.
//
// It knows three kinds: the secrets it is told, wherever they stand, also escaped as in JSON (once or twice) or in a URL; tokens that can be told by
// their shape, such as an OpenAI key, a JSON web token or a PEM private key; and what a telling name or place says to be a secret, as in password=…
// or scheme://user:password@host, if it looks as little like words as a secret does. docs/vectors.md describes published examples of each.
//
// Guarantees:
//   - A JSON text stays a JSON text. Where replacing the secret alone would break it, the whole string or number that
//     holds the secret is replaced.
//   - Text without a secret is returned as it is, without a copy or an allocation.
//   - The time is linear in the size of the text.
//   - A Redactor finds the same secrets as long as it lives, and is safe for concurrent use.
//
// It is a net, not a wall: a secret that was cut in pieces, encrypted or encoded otherwise passes through.
package redact

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"
)

// Mark stands in the place of a secret.
const Mark = "[redacted]"

// MinSecret is the shortest secret that is searched for, in bytes: a shorter one would also be found in ordinary words.
const MinSecret = 8

// text lets strings and bytes share one scanner without a copy of either.
type text interface{ string | []byte }

// Redactor replaces secrets with Mark. Its zero value replaces nothing.
type Redactor struct {
	first   triples       // the three bytes that needles begin with
	sign    [256]bool     // what stands between a name and its value
	needles [256][]needle // by first byte
	clean   clean
}

// triples is a set of three bytes each, in a hash table without its keys: a few that were not added count as members.
type triples [1 << 16 / 64]uint64

func (s *triples) add(a, b, c byte) {
	at := place(a, b, c)
	s[at>>6] |= 1 << (at & 63)
}

func (s *triples) has(a, b, c byte) bool {
	at := place(a, b, c)
	return s[at>>6]&(1<<(at&63)) != 0
}

// place spreads three bytes over the bits of the table.
func place(a, b, c byte) uint16 {
	return uint16((uint32(a) | uint32(b)<<8 | uint32(c)<<16) * 0x9E3779B1 >> 16)
}

// needle is what a secret begins with, or all of it: three bytes at least.
type needle struct {
	prefix string
	shape  *shape // nil: prefix is the whole secret
}

// New makes a Redactor for the given secrets and all known shapes. Secrets shorter than MinSecret are left out.
func New(secrets ...string) *Redactor {
	r := &Redactor{}
	for _, s := range shapes() {
		r.add(needle{s.prefix, &s})
	}
	for _, sign := range []byte("=:>,") {
		r.sign[sign] = true
	}
	for _, secret := range secrets {
		if len(secret) < MinSecret {
			continue
		}
		for _, form := range forms(secret) {
			r.add(needle{form, nil})
		}
	}
	return r
}

func (r *Redactor) add(n needle) {
	first := n.prefix[0]
	if slices.Contains(r.needles[first], n) {
		return
	}
	r.first.add(first, n.prefix[1], n.prefix[2])
	r.needles[first] = append(r.needles[first], n)
}

// Bytes returns b with every secret replaced by Mark. Where there is none it returns b itself; else b is left alone.
func (r *Redactor) Bytes(b []byte) []byte {
	h := hash(b)
	if r.clean.has(h) {
		return b
	}
	if start, _ := find(r, b, 0); start < 0 {
		r.clean.add(h)
		return b
	}
	all := spans(r, b)
	out := replace(b, all, false)
	if json.Valid(b) && !json.Valid(out) {
		return literals(r, b, all)
	}
	return out
}

// String is Bytes for a string.
func (r *Redactor) String(s string) string {
	if start, _ := find(r, s, 0); start < 0 {
		return s
	}
	return string(r.Bytes([]byte(s)))
}

// Lines is Bytes for text that is to be numbered, quoted or cut by lines: it keeps their number. A secret of several lines leaves a Mark on each.
func (r *Redactor) Lines(b []byte) []byte {
	if start, _ := find(r, b, 0); start < 0 {
		return b
	}
	return replace(b, spans(r, b), true)
}

// shapesAlone is what Lines and Text use: it is told no secret.
var shapesAlone = sync.OnceValue(func() *Redactor { return New() })

// Lines takes out of text what is known by its shape, its name or its place, and keeps the number of lines. A tool calls it on what it read before it
// adds anything to it: a number before each line would break the shape of a key, and an end that was cut off that of a token.
func Lines(b []byte) []byte { return shapesAlone().Lines(b) }

// Text is Lines for a string.
func Text(s string) string {
	r := shapesAlone()
	if start, _ := find(r, s, 0); start < 0 {
		return s
	}
	return string(r.Lines([]byte(s)))
}

// span is where a secret stands in a text.
type span struct{ start, end int }

// spans are those of all secrets in b, in order.
func spans(r *Redactor, b []byte) (all []span) {
	for from := 0; ; {
		start, end := find(r, b, from)
		if start < 0 {
			return all
		}
		all = append(all, span{start, end})
		from = end
	}
}

// replace builds the redacted copy of b. With lines, each line of a secret keeps its break.
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

// literals redacts each string and number of a JSON text by itself. One that would not be a string any more becomes
// Mark as a whole.
func literals(r *Redactor, b []byte, all []span) []byte {
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
			if s.start < i || s.end > end { // it holds signs of JSON; what is in this literal alone is looked for again
				within = spans(r, literal)
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

// literalEnd returns where the string, number, word or single sign that begins at i in a JSON text ends.
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
func find[T text](r *Redactor, t T, from int) (start, end int) {
	for i := from; i+2 < len(t); i++ {
		if !r.sign[t[i]] && !r.first.has(t[i], t[i+1], t[i+2]) {
			continue
		}
		if start, end = secretAt(r, t, from, i); start >= 0 {
			return start, end
		}
	}
	return -1, -1
}

// secretAt returns the secret that a sign or a needle at i tells of, or -1. Two bytes at least follow.
func secretAt[T text](r *Redactor, t T, from, i int) (start, end int) {
	start, end = -1, -1
	if r.sign[t[i]] {
		if start, end = told(t, i); start < from {
			start, end = -1, -1
		}
	}
	if start < 0 && r.first.has(t[i], t[i+1], t[i+2]) {
		start, end = longest(r, t, from, i, 0)
	}
	if start < 0 {
		return -1, -1
	}
	for j := start + 1; j < end && j+2 < len(t); j++ {
		if r.first.has(t[j], t[j+1], t[j+2]) {
			_, further := longest(r, t, from, j, end)
			end = max(end, further)
		}
	}
	return start, end
}

// told returns the secret that the sign at i tells of, or -1.
func told[T text](t T, i int) (start, end int) {
	if t[i] == ':' {
		if start, end = addressSecret(t, i); start >= 0 {
			return start, end
		}
		if start, end = passwordLine(t, i); start >= 0 {
			return start, end
		}
	}
	return assigned(t, i)
}

// longest returns the longest secret that a needle at i tells of, or -1. A shape may keep the word it begins with. What can't reach beyond past is not
// looked at.
func longest[T text](r *Redactor, t T, from, i, past int) (start, end int) {
	start, end = -1, -1
	for _, n := range r.needles[t[i]] {
		if n.prefix[1] != t[i+1] || len(t)-i < len(n.prefix) || string(t[i:i+len(n.prefix)]) != n.prefix {
			continue
		}
		begin, to := i, i+len(n.prefix)
		if n.shape != nil {
			if past > 0 && n.shape.body != nil && (past >= len(t) || !n.shape.body(t[past])) {
				continue
			}
			begin, to = extent(n.shape, t, from, i)
		}
		if begin >= from && to > end {
			start, end = begin, to
		}
	}
	return start, end
}
