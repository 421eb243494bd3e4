package rules

import (
	"slices"
	"strings"
)

// shortestRoot is how many letters a word has at least that another one may begin with: “Nitrat” and “Nitratwert”, “insured” and “insurance”.
const shortestRoot = 5

// akinStem says whether two stems are of one word or one of its compounds.
func akinStem(a, b string) bool {
	if a == b {
		return true
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	return len(a) >= shortestRoot && a[0] == b[0] && (strings.HasPrefix(b, a) || strings.HasPrefix(plain(b), plain(a)))
}

// plain gives a stem without the umlauts that a plural brings: “Ausfall” and “Ausfälle”.
func plain(stem string) string { return umlauts.Replace(stem) }

var umlauts = strings.NewReplacer("ae", "a", "oe", "o", "ue", "u")

func holdsAkin(list []string, stem string) bool {
	for _, s := range list {
		if akinStem(s, stem) {
			return true
		}
	}
	return false
}

// covered counts the stems of a list that another one holds.
func covered(stems, by []string) int {
	n := 0
	for _, s := range stems {
		if holdsAkin(by, s) {
			n++
		}
	}
	return n
}

// akinTo says whether a list holds a stem, one that it is a part of, or a participle of it.
func akinTo(list []string, stem string) bool {
	bare, participle := participleOf(stem)
	for _, s := range list {
		if akinStem(s, stem) || len(s) >= shortestRoot && strings.HasSuffix(stem, s) || len(stem) >= shortestRoot && strings.HasSuffix(s, stem) {
			return true
		}
		if other, too := participleOf(s); too != participle && (too && beginAlike(other, stem) || participle && beginAlike(bare, s)) {
			return true
		}
	}
	return false
}

// participleOf gives a stem without the “ge” before it.
func participleOf(stem string) (string, bool) {
	bare, found := strings.CutPrefix(stem, "ge")
	return bare, found && len(bare) >= shortestStem
}

func beginAlike(a, b string) bool {
	n := min(len(a), len(b))
	return n >= shortestStem && a[:n] == b[:n]
}

func union[T comparable](a, b []T) []T {
	out := slices.Clone(a)
	for _, x := range b {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

// without leaves out the stems that another list has, in the very same form.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}
