package record

import (
	"strings"
	"unicode/utf8"
)

// around is how many characters of an answer are shown on each side of the words that clash. The whole stands with its pair.
const around = 400

// excerpt is the part of a text around some words; its beginning if they do not stand in it.
func excerpt(text, words string) string {
	at := strings.Index(text, words)
	if at < 0 {
		at, words = 0, ""
	}
	from, to := at, at+len(words)
	for range around {
		_, size := utf8.DecodeLastRuneInString(text[:from])
		from -= size
		_, size = utf8.DecodeRuneInString(text[to:])
		to += size
	}
	part := text[from:to]
	if from > 0 {
		part = "… " + part
	}
	if to < len(text) {
		part += " …"
	}
	return part
}

// Entry is a gap over the whole of an interrogation.
type Entry struct {
	Gap    Gap   // as it was last seen
	First  int   // the sequence of the pair in which it was first seen
	Asked  []int // the sequences of the pairs that ask about it
	Closed int   // the sequence of the pair whose answer closed it; 0: it is open after the last
}

// Ledger lists all gaps of an interrogation, in the order in which they were seen. A gap is known by its id; where it has none, by its category and
// description.
func Ledger(pairs []Pair) []Entry {
	type key struct{ id, category, description string }
	var all []Entry
	at := map[key]int{}
	for i, p := range pairs {
		open := map[int]bool{}
		for _, g := range p.GapAnalysis.Gaps {
			k := key{id: g.ID}
			if g.ID == "" {
				k = key{"", string(g.Category), g.Description}
			}
			n, seen := at[k]
			if !seen {
				n = len(all)
				at[k] = n
				all = append(all, Entry{First: i + 1})
			}
			all[n].Gap, all[n].Closed, open[n] = g, 0, true
		}
		for n := range all {
			if !open[n] && all[n].Closed == 0 {
				all[n].Closed = i + 1
			}
		}
	}
	for i, p := range pairs {
		for _, id := range p.Follows {
			if n, known := at[key{id: id}]; known && id != "" {
				all[n].Asked = append(all[n].Asked, i+1)
			}
		}
	}
	for n := range all {
		if since := all[n].Gap.Since; since > 0 && since < all[n].First {
			all[n].First = since
		}
	}
	return all
}
