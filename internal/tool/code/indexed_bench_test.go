package code

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sibyl/internal/tool"
)

// BenchmarkIndexedSearch measures whole searches with an index, with a warm page cache: in a process that stays and has looked at the folder, and in a new one,
// which opens the index and looks at every file. Wanted on two cores, at the 95th percentile: 15 and 100 ms over Go's source; 40 and 450 ms over ten times as much.
func BenchmarkIndexedSearch(b *testing.B) {
	root := goTree(b).dir()
	b.Run("once", func(b *testing.B) { benchmarkIndexed(b, root) })
	b.Run("tenfold", func(b *testing.B) {
		if testing.Short() {
			b.Skip("copies a gigabyte")
		}
		dir := b.TempDir()
		for i := range 10 {
			copySource(b, root, filepath.Join(dir, fmt.Sprint("copy", i)), fmt.Sprintf("// copy %d\n", i))
		}
		benchmarkIndexed(b, dir)
	})
}

func (r *Root) dir() string { return r.root.Name() }

// copySource copies a folder, with a line before each Go file, so that no two are the same.
func copySource(b *testing.B, from, to, line string) {
	b.Helper()
	err := filepath.WalkDir(from, func(name string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if strings.HasSuffix(name, ".go") {
			text = append([]byte(line), text...)
		}
		at, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		write(b, filepath.Join(to, at), string(text))
		return nil
	})
	must(b, err)
}

func benchmarkIndexed(b *testing.B, dir string) {
	store := b.TempDir()
	stays := indexedRoot(b, dir, store)
	for {
		must(b, stays.BuildIndex(b.Context()))
		var left int
		must(b, stays.indexed.index.Read(b.Context(), func(k Kept) error {
			there, err := stays.indexed.survey(b.Context(), k)
			for _, some := range there.unread {
				for _, f := range some {
					if f.known == nil || f.known.stamp == 0 {
						left++
					}
				}
			}
			return err
		}))
		if left == 0 {
			break // what was copied just now is indexed as well
		}
	}
	stays.indexed.watch = newWatch(dir)
	stays.indexed.renew() // as where an index is first used
	stays.indexed.work.Wait()
	for _, c := range []struct {
		name string
		root func() *Root
	}{{"stays", func() *Root { return stays }}, {"command", func() *Root { return indexedRoot(b, dir, store) }}} {
		b.Run(c.name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				r := c.root()
				began := time.Now()
				if _, err := r.search(b.Context(), tool.Call{}, SearchArgs{Query: questions[len(took)%len(questions)].question, Limit: 10}); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
		})
	}
}
