package api_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"sibyl/internal/journal"
	"sibyl/internal/store"
	"sibyl/internal/store/pgtest"
)

// BenchmarkLagToAnotherNode is the time from a record to its event on a node that does not drive the run, where PostgreSQL announces it and
// where it is looked for. An iteration is a run, whose personas answer one after the other.
func BenchmarkLagToAnotherNode(b *testing.B) {
	server := pgtest.Start(b, pgtest.Options{Durable: true})
	for _, at := range []string{"announced", "looked for"} {
		b.Run(at, func(b *testing.B) {
			dsn := server.New(b)
			connect := func() journal.Store {
				db, err := store.OpenServer(b.Context(), dsn)
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(func() { _ = db.Close() })
				return db
			}
			one, two := newHouse(b), newHouse(b)
			one.store, two.store = connect(), connect()
			if at == "looked for" {
				two.store = struct{ journal.Store }{two.store} // which announces nothing
			}
			two.holder = "two"
			var mu sync.Mutex
			var lags []time.Duration
			two.config.Lag = func(d time.Duration) {
				mu.Lock()
				lags = append(lags, d)
				mu.Unlock()
			}
			for _, h := range []*house{one, two} {
				h.panel = h.describe("panel")
				h.open()
			}
			defer two.engine.Listen()()
			for b.Loop() {
				all := two.stream(question{path: "/api/events"})
				words := make(chan string)
				one.says("ada", words)
				begun := one.begin("", "Tea?")
				l := two.stream(question{path: "/api/runs/" + begun.Run + "/events"})
				l.until("the first answer", func(e sent) bool { return e.ID == "1.1" })
				close(words)
				l.rest()
				all.until("its end", isEvent("end"))
				all.close()
			}
			slices.Sort(lags)
			ms := func(share float64) float64 {
				return float64(lags[int(share*float64(len(lags)-1))].Microseconds()) / 1000
			}
			b.ReportMetric(ms(0.5), "ms-p50")
			b.ReportMetric(ms(0.95), "ms-p95")
			b.ReportMetric(ms(1), "ms-most")
		})
	}
}
