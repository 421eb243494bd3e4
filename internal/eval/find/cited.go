package find

import (
	"regexp"
	"slices"
	"strconv"

	"sibyl/internal/oracle"
)

// citation is how an answer names lines: `path:from-to`, or one line.
func citation() *regexp.Regexp { return regexp.MustCompile("`([^`\n]+):([0-9]+)(?:[-–]([0-9]+))?`") }

// Cited are the passages that an answer shows, in its order. A place that only names a line of a longer one beside it is no passage of its own, and
// the parts of one place are one passage.
func Cited(a oracle.Answer) []Passage {
	var all []Passage
	for _, m := range citation().FindAllStringSubmatch(oracle.Unfenced(a.Answer), -1) {
		from, err := strconv.Atoi(m[2])
		if err != nil {
			continue
		}
		to, err := strconv.Atoi(m[3])
		if err != nil {
			to = from
		}
		all = append(all, Passage{Path: m[1], Lines: []Lines{{from, to}}})
	}
	var passages []Passage
	for i, p := range all {
		inside := func(o Passage) bool {
			return o.Path == p.Path && o.Lines[0].Start <= p.Lines[0].Start && p.Lines[0].End <= o.Lines[0].End
		}
		if slices.ContainsFunc(all[:i], inside) || slices.ContainsFunc(all[i+1:], func(o Passage) bool { return inside(o) && o.Lines[0] != p.Lines[0] }) {
			continue
		}
		passages = append(passages, p)
	}
	return passages
}
