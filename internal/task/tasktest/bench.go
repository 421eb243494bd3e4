package tasktest

import (
	"fmt"
	"testing"
	"time"

	"sibyl/internal/task"
)

// BenchmarkLists measures lists of 10,000 tasks of one owner. The store is empty.
func BenchmarkLists(b *testing.B, store task.Store) {
	tasks := task.New(store, func() time.Time { return noon })
	fill(b, tasks, 10_000)
	for name, q := range map[string]task.Query{"all": {}, "page": {Filter: task.Filter{Limit: 50, Newest: true}}, "matches": {Words: "w7 w8"}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if p, err := tasks.List(b.Context(), "ada", q); err != nil || len(p.Tasks) == 0 {
					b.Fatal(len(p.Tasks), err)
				}
			}
		})
	}
}

// fill adds so many tasks, each with words of its own.
func fill(tb testing.TB, tasks *task.Service, n int) {
	tb.Helper()
	for i := range n {
		description := fmt.Sprintf("w%d w%d w%d w%d", i*7%3000, i*11%3000, i*13%3000, i*17%3000)
		if _, _, err := tasks.Add(tb.Context(), ada, fmt.Sprintf("w%d w%d w%d", i%3000, i*3%3000, i*5%3000), &description); err != nil {
			tb.Fatal(err)
		}
	}
}
