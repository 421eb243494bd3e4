package app

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"sibyl/internal/config"
	"sibyl/internal/journal"
	"sibyl/internal/service"
	"sibyl/internal/store/pgtest"
	"sibyl/internal/task"
	"sibyl/internal/taskchat"
)

// say says something in a conversation, "" for one that begins, and gives its id.
func (a *App) say(ctx context.Context, owner journal.Owner, conversation, words string) (string, error) {
	r, err := a.Service.Start(ctx, owner, service.Request{Assistant: taskchat.Name, Session: conversation, Words: words, Options: taskchat.Options{Model: "offline:rules"}})
	if err != nil {
		return "", err
	}
	res, err := r.Wait(ctx)
	if err == nil && res.Failure != nil {
		err = fmt.Errorf("“%s”: %s", words, res.Failure.Message)
	}
	return r.Session, err
}

func chatApp(tb testing.TB, database string) *App {
	tb.Helper()
	environ := []string{"SIBYL_DATA=" + tb.TempDir(), "HOME=" + tb.TempDir(), "SIBYL_DATABASE=" + database, "OLLAMA_HOST=127.0.0.1:1"}
	cfg, err := config.Load(config.Options{Environ: environ})
	if err != nil {
		tb.Fatal(err)
	}
	a, err := Open(tb.Context(), cfg, Options{Build: "bench"})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := a.Close(); err != nil {
			tb.Error(err)
		}
	})
	return a
}

// BenchmarkChat is a message of a conversation that has so many before it, of a person who has 10,000 tasks or a few, and conversations at once.
func BenchmarkChat(b *testing.B) {
	for name, database := range map[string]string{"sqlite": "sqlite:" + filepath.Join(b.TempDir(), "chat.db"), "postgres": pgtest.New(b)} {
		a := chatApp(b, database)
		var talk string
		said := 0
		for _, before := range []int{10, 1000} {
			for ; said < before; said++ {
				var err error
				if talk, err = a.say(b.Context(), "ada", talk, "show my tasks"); err != nil {
					b.Fatal(err)
				}
			}
			b.Run(fmt.Sprintf("%s/after_%d", name, before), func(b *testing.B) {
				for b.Loop() {
					if _, err := a.say(b.Context(), "ada", talk, "show my tasks"); err != nil {
						b.Fatal(err)
					}
					said++
				}
			})
		}
		b.Run(name+"/100_at_once", func(b *testing.B) {
			began := time.Now()
			for b.Loop() {
				var all sync.WaitGroup
				for n := range 100 {
					all.Go(func() {
						if _, err := a.say(b.Context(), journal.Owner(fmt.Sprintf("u%d", n)), "", "add buy milk"); err != nil {
							b.Error(err)
						}
					})
				}
				all.Wait()
			}
			b.ReportMetric(100*float64(b.N)/time.Since(began).Seconds(), "messages/s")
		})
		for n := range 10_000 {
			if _, _, err := a.Tasks.Add(b.Context(), task.By{Owner: "bob", Actor: "bench"}, fmt.Sprintf("Task of the number %d", n), nil); err != nil {
				b.Fatal(err)
			}
		}
		for about, words := range map[string]string{"listed": "show my tasks", "found": "complete task of the number 77"} {
			b.Run(name+"/10000_"+about, func(b *testing.B) {
				for b.Loop() {
					if _, err := a.say(b.Context(), "bob", "", words); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
