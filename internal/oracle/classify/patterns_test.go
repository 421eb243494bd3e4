package classify

import (
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
)

// fillings is how many questions are made of a pattern.
const fillings = 12

// filled makes questions of patterns: a line ‘$name: word | word’ gives the words of a slot, any other is a question with slots in it as {name}. Which
// words are taken follows from the pattern, so that others may be added without a change to what is made of it. A pattern behind a star is filled once
// with each word of its first slot.
func filled(lines []string) (out []string, err error) {
	slots := map[string][]string{}
	for n, line := range lines {
		rest, is := strings.CutPrefix(line, "$")
		name, words, ok := strings.Cut(rest, ": ")
		switch {
		case !is:
			continue
		case !ok:
			return nil, fmt.Errorf("line %d: a slot must be written as ‘$name: word | word’", n+1)
		}
		for w := range strings.SplitSeq(words, " | ") {
			slots[name] = append(slots[name], strings.TrimSpace(w))
		}
	}
	for n, line := range lines {
		if line == "" || line[0] == '#' || line[0] == '$' {
			continue
		}
		made, most := map[string]bool{}, fillings
		pattern, each := strings.CutPrefix(line, "*")
		if each {
			_, name, _ := strings.Cut(pattern, "{")
			name, _, _ = strings.Cut(name, "}")
			most = len(slots[name])
		}
		for i := 0; i < 3*most && len(made) < most; i++ {
			q, err := fill(pattern, i, slots)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n+1, err)
			}
			if !made[q] {
				made[q] = true
				out = append(out, q)
			}
		}
	}
	return out, nil
}

var errNoSlot = errors.New("there is no such slot")

// strides are how far apart the words are that follow each other in a slot: primes, so that all words have their turn, and slots go together in other ways.
var strides = []uint64{1, 7919, 104729, 1299709}

// fill puts words into a pattern for the i-th time.
func fill(pattern string, i int, slots map[string][]string) (string, error) {
	b, rest := &strings.Builder{}, pattern
	for at := 0; ; at++ {
		before, after, found := strings.Cut(rest, "{")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		name, next, closed := strings.Cut(after, "}")
		words := slots[name]
		if !closed || words == nil {
			return "", fmt.Errorf("{%s}: %w", name, errNoSlot)
		}
		h := fnv.New32a()
		fmt.Fprint(h, pattern, at)
		b.WriteString(words[(uint64(h.Sum32())+strides[at%len(strides)]*uint64(i))%uint64(len(words))])
		rest = next
	}
}
