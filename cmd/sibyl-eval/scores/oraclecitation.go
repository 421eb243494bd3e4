package eval

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"sibyl/internal/oracle"
	"sibyl/internal/tool"
)

// citation is a place that an answer cites and that was read for it. Lines count from 1 and are inclusive.
type citation struct {
	source   tool.Source
	path     string
	from, to int
}

func (c citation) within(p Place) bool {
	return c.source == p.Source && c.path == p.Path && c.from <= p.End && p.Start <= c.to
}

var cited = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`([\pL\pN_@+~./-]*[\pL\pN_/-]):([0-9]+)(?:[-–]([0-9]+))?`)
})

// citations lists the distinct places that an answer cites outside of fences, as far as they were read, in order of
// their path and line. A path may be cited by its end, as the Oracle itself allows.
func citations(a oracle.Answer) []citation {
	var all []citation
	for _, m := range cited().FindAllStringSubmatch(oracle.WithoutFences(a.Answer), -1) {
		name := strings.TrimPrefix(m[1], "./")
		from, _ := strconv.Atoi(m[2]) // the pattern has digits only; a number out of range fits no source
		to, err := strconv.Atoi(m[3])
		if err != nil {
			to = from
		}
		for _, s := range a.Sources {
			if s.Path == "" || s.Path != name && !strings.HasSuffix(s.Path, "/"+name) || s.Start > 0 &&
				(from > s.End || to < s.Start) {
				continue
			}
			all = append(all, citation{source: s.Source, path: s.Path, from: from, to: to})
		}
	}
	slices.SortFunc(all, func(a, b citation) int {
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.path, b.path), cmp.Compare(a.from, b.from),
			cmp.Compare(a.to, b.to))
	})
	return slices.Compact(all)
}
