package service_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/service"
	"sibyl/internal/text/search"
)

// hits are what a person finds, a line each: in which session, and the excerpt with the words in brackets.
func (h *house) hits(s *service.Service, owner journal.Owner, q service.Query) (lines []string, found service.Hits) {
	h.Helper()
	found = assert.Must(s.Find(h.Context(), owner, q))(h)
	for _, one := range found.Hits {
		lines = append(lines, one.Kind+": "+marked(one.Title)+": "+marked(one.Excerpt))
	}
	return lines, found
}

func marked(spans []search.Span) string {
	b := &strings.Builder{}
	for _, s := range spans {
		if s.Hit {
			fmt.Fprintf(b, "[%s]", s.Text)
		} else {
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

// said has a run of ada's that has ended, and gives its session.
func (h *house) said(s *service.Service, session, words string) string {
	return h.ask(s, session, words).Session
}

func TestFoundPagesHoldEachOnceAcrossTitlesAndWords(t *testing.T) {
	inHouse(t, func(h *house) {
		s := h.service()
		for n := range 3 {
			h.said(s, "", fmt.Sprintf("lease %d", n))
			h.said(s, h.said(s, "", fmt.Sprintf("plan %d", n)), fmt.Sprintf("of the lease %d", n))
		}
		seen := map[string]int{}
		q := service.Query{Words: "lease", Limit: 2}
		for n := 0; ; n++ {
			got, found := h.hits(s, ada, q)
			for _, line := range got {
				seen[line]++
			}
			if q.After = found.Next; q.After == "" || n > 9 {
				break
			}
			h.said(s, "", "something else meanwhile")
		}
		assert.That(t, len(seen) == 6, "%d hits: %v", len(seen), seen)
		for line, times := range seen {
			assert.That(t, times == 1, "%q is listed %d times", line, times)
		}
	})
}

func TestWhatLiesApartIsMergedByTime(t *testing.T) {
	inHouse(t, func(h *house) {
		at := time.Now()
		h.finders = []service.Finder{{Assistant: "tasks", Find: func(_ context.Context, owner journal.Owner,
			has func(string) bool, titles bool) (all []service.Hit, err error) {
			if owner == ada && titles && has("Sign the lease") {
				all = append(all, service.Hit{Kind: "task", Task: 7, Name: "Sign the lease", At: at})
			}
			return all, nil
		}}}
		s := h.service()
		h.said(s, "", "the lease")
		got, _ := h.hits(s, ada, service.Query{Words: "lease"})
		want := []string{"session: the [lease]: ", "task: Sign the [lease]: "}
		assert.That(t, strings.Join(got, "\n") == strings.Join(want, "\n"), "found %q, want %q", got, want)
		got, _ = h.hits(s, ada, service.Query{Words: "lease", From: at.Add(time.Millisecond)})
		assert.That(t, len(got) == 1, "after the task: %q", got)
	})
}
