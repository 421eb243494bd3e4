// Package redact takes secrets out of text before it is kept or shown.
//
// It knows two kinds: the secrets it is told, wherever they stand, also escaped as in JSON (once or twice) or in a URL;
// and tokens that can be told by their shape, such as an OpenAI key, a JSON web token or a PEM private key.
//
// Guarantees:
//   - A JSON text stays a JSON text. Where replacing the secret alone would break it, the whole string or number that
//     holds the secret is replaced.
//   - Text without a secret is returned as it is, without a copy or an allocation.
//   - A Redactor is never changed after New and is safe for concurrent use.
//
// It is a net, not a wall: a secret that was cut in pieces, encrypted or encoded otherwise passes through.
package redact

import (
	"encoding/json"
	"slices"
)

// Mark stands in the place of a secret.
const Mark = "[redacted]"

// MinSecret is the shortest secret that is searched for, in bytes: a shorter one would also be found in ordinary words.
const MinSecret = 8

// text lets strings and bytes share one scanner without a copy of either.
type text interface{ string | []byte }

// Redactor replaces secrets with Mark. Its zero value replaces nothing.
type Redactor struct {
	first   pairs         // the pairs of bytes that needles begin with
	either  pairs         // and the pairs that come next: of two places that follow each other, a look at one finds a needle
	needles [256][]needle // by first byte
}

// pairs is a set of pairs of bytes.
type pairs [1 << 16 / 64]uint64

func (p *pairs) add(a, b byte) { p[uint(a)<<2|uint(b)>>6] |= 1 << (b & 63) }

func (p *pairs) has(a, b byte) bool { return p[uint(a)<<2|uint(b)>>6]&(1<<(b&63)) != 0 }

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
	r.first.add(first, n.prefix[1])
	r.either.add(first, n.prefix[1])
	r.either.add(n.prefix[1], n.prefix[2])
	r.needles[first] = append(r.needles[first], n)
}

// Bytes returns b with every secret replaced by Mark. Where there is none it returns b itself; else b is left alone.
func (r *Redactor) Bytes(b []byte) []byte {
	start, end := find(r, b, 0)
	if start < 0 {
		return b
	}
	out := replace(r, b, start, end)
	if json.Valid(b) && !json.Valid(out) {
		return r.literals(b)
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

// replace builds the redacted copy of b, whose first secret stands from start to end.
func replace(r *Redactor, b []byte, start, end int) []byte {
	out := make([]byte, 0, len(b)+len(Mark))
	from := 0
	for start >= 0 {
		out = append(append(out, b[from:start]...), Mark...)
		from = end
		start, end = find(r, b, from)
	}
	return append(out, b[from:]...)
}

// literals redacts each string and number of a JSON text by itself. One that would not be a string any more becomes
// Mark as a whole.
func (r *Redactor) literals(b []byte) []byte {
	out := make([]byte, 0, len(b)+len(Mark))
	for i := 0; i < len(b); {
		literal := b[i:literalEnd(b, i)]
		i += len(literal)
		start, end := find(r, literal, 0)
		if start < 0 {
			out = append(out, literal...)
			continue
		}
		clean := replace(r, literal, start, end)
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
	for i := from; i+1 < len(t); i += 2 {
		if !r.either.has(t[i], t[i+1]) {
			continue
		}
		for at := max(from, i-1); at <= i; at++ {
			if !r.first.has(t[at], t[at+1]) {
				continue
			}
			if start, end = longest(r, t, at); start < 0 {
				continue
			}
			for j := at + 1; j < end && j+1 < len(t); j++ {
				_, further := longest(r, t, j)
				end = max(end, further)
			}
			return start, end
		}
	}
	return -1, -1
}

// longest returns the longest secret that begins at i, or -1. A shape may keep the word it begins with.
func longest[T text](r *Redactor, t T, i int) (start, end int) {
	start, end = -1, -1
	for _, n := range r.needles[t[i]] {
		if len(t)-i < len(n.prefix) || string(t[i:i+len(n.prefix)]) != n.prefix {
			continue
		}
		from, to := i, i+len(n.prefix)
		if n.shape != nil {
			from, to = extent(n.shape, t, i)
		}
		if to > end {
			start, end = from, to
		}
	}
	return start, end
}
