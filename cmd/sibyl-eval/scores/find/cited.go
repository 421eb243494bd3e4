package find

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sibyl/internal/oracle"
)

// citation is how an answer names lines: `path:from-to`, or one line.
func citation() *regexp.Regexp { return regexp.MustCompile("`([^`\n]+):([0-9]+)(?:[-–]([0-9]+))?`") }

// leftOut stands between the parts of one place.
const leftOut = "\n…\n"

// Cited are the passages that an answer shows, in its order. A place that only names a line of a longer one beside it
// is no passage of its own, and the parts of one place are one passage. An answer that ended satisfied claims to
// answer.
func Cited(a oracle.Answer) Found {
	text := oracle.WithoutFences(a.Answer)
	var all []Passage
	last := 0
	for _, m := range citation().FindAllStringSubmatchIndex(text, -1) {
		path := text[m[2]:m[3]]
		from, err := strconv.Atoi(text[m[4]:m[5]])
		if err != nil {
			continue
		}
		to := from
		if m[6] >= 0 {
			if n, err := strconv.Atoi(text[m[6]:m[7]]); err == nil {
				to = n
			}
		}
		if n := len(all); n > 0 && all[n-1].Path == path && strings.Contains(text[last:m[0]], leftOut) {
			all[n-1].Lines = append(all[n-1].Lines, Lines{from, to})
		} else {
			all = append(all, Passage{Path: path, Lines: []Lines{{from, to}}})
		}
		last = m[1]
	}
	found := Found{Claimed: a.StopReason == oracle.StopSatisfied}
	for i, p := range all {
		inside := func(o Passage) bool {
			return o.Path == p.Path && len(p.Lines) == 1 && slices.ContainsFunc(o.Lines, func(l Lines) bool {
				return l.Start <= p.Lines[0].Start && p.Lines[0].End <= l.End
			})
		}
		if slices.ContainsFunc(all[:i], inside) || slices.ContainsFunc(all[i+1:], func(o Passage) bool {
			return inside(o) && !slices.Equal(o.Lines, p.Lines)
		}) {
			continue
		}
		found.Passages = append(found.Passages, p)
	}
	return found
}
