package service_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
	_ "time/tzdata" // the zones of the tests, on every machine

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
)

// metered is a panel whose personas take 10 tokens in and 1 out when they answer.
func (h *house) metered() *assistant.Assistant {
	a := h.panel("panel")
	a.Used = func(c *run.CompletionRecord) (journal.Used, bool) {
		return journal.Used{Model: "a:b", Input: 10, Cached: 4, Output: 1}, c.Label == "ada" || c.Label == "bob"
	}
	return a
}

// sealed is a store that gives the records of running runs alone.
type sealed struct{ journal.Store }

func (s sealed) Records(ctx context.Context, o journal.Owner, id string, from int64) ([]journal.Record, error) {
	r, err := s.Run(ctx, o, id)
	if err == nil && r.Status != journal.Running {
		err = fmt.Errorf("the records of run %s are read, which has ended", id)
	}
	if err != nil {
		return nil, err
	}
	return s.Store.Records(ctx, o, id, from)
}

// tenth is a tenth of a euro for each token in.
func tenth(_ string, input, _, _ int) (float64, bool) { return float64(input) / 10, true }

// spent is what the runs of the last hours used, as a text.
func (h *house) spent(s *service.Service) string {
	h.Helper()
	all := assert.Must(s.SpentBetween(h.Context(), ada, time.Now().Add(-6*time.Hour), time.Now().Add(time.Hour)))(h)
	text := ""
	for _, day := range all {
		for _, u := range day.Used {
			text += fmt.Sprintf("%d runs: %s %d (%d) %d;", day.Runs, u.Model, u.Input, u.Cached, u.Output)
		}
	}
	return text
}

func TestUsageOfEndedRunsIsToldWithoutTheirRecords(t *testing.T) {
	inHouse(t, func(h *house) {
		h.prices = &service.Prices{Currency: "EUR", Of: tenth}
		<-time.After(12 * time.Hour)
		s := h.process("one", sealed{h.store}, h.metered())
		first := h.ask(s, "", "Tea?")
		second := h.ask(s, first.Session, "Milk?")
		cost := 4.0
		same(h, "of both runs", assert.Must(s.Used(h.Context(), ada, first.ID, second.ID))(h),
			[]assistant.Usage{{Model: "a:b", Input: 40, Cached: 16, Output: 4, Cost: &cost}})
		same(h, "of the day", h.spent(s), "2 runs: a:b 40 (16) 4;")
		c := assert.Must(s.Costs(h.Context(), ada, first.Session))(h)
		if len(c.Runs) != 2 || c.Runs[0].Run != second.ID || c.Cost != 4 || c.Currency != "EUR" {
			h.Errorf("the session cost %+v", c)
		}
		rows := assert.Must(s.Runs(h.Context(), ada, journal.Filter{}))(h)
		if err := s.AddUsage(h.Context(), rows); err != nil || rows[0].Used.Input != 20 {
			h.Errorf("the last run took %+v, error %v", rows[0].Used, err)
		}
		_, err := s.Used(h.Context(), eve, first.ID)
		isError(h, "what another's run used", err, journal.ErrNotFound)
	})
}

// askingModels is the surroundings of a run that asks a model.
type askingModels struct{}

func (askingModels) Models() []string { return []string{"a:b"} }

func TestLimitOfADayReadsNoRecordsOfEndedRuns(t *testing.T) {
	inHouse(t, func(h *house) {
		h.prices = &service.Prices{Currency: "EUR", Of: tenth, Limit: 3}
		a := h.metered()
		begin := a.Begin
		a.Begin = func(ctx context.Context, r assistant.Request) (run.Spec, error) {
			spec, err := begin(ctx, r)
			spec.Env = askingModels{}
			return spec, err
		}
		s := h.process("one", sealed{h.store}, a)
		h.ask(s, "", "Tea?")
		h.ask(s, "", "Milk?") // which reaches the limit
		_, err := s.Start(h.Context(), ada, service.Request{Assistant: "panel", Words: "Sugar?", Options: "ada bob"})
		if limit, over := errors.AsType[*service.LimitError](err); !over || limit.Spent != 4 {
			h.Errorf("over the limit the error is %v", err)
		}
	})
}

func TestUsageThatWasNotCountedIsReadFromTheRecordsOnce(t *testing.T) {
	inHouse(t, func(h *house) {
		h.prices = &service.Prices{Currency: "EUR", Of: tenth}
		<-time.After(12 * time.Hour)
		other := h.process("one", h.store) // which does not count
		first := h.ask(other, "", "Tea?")
		h.ask(other, first.Session, "Milk?")
		want := "2 runs: a:b 40 (16) 4;"
		same(h, "first", h.spent(h.process("two", h.store, h.metered())), want)
		later := h.process("three", sealed{h.store}, h.metered())
		same(h, "then", h.spent(later), want)
		same(h, "the costs of the session", assert.Must(later.Costs(h.Context(), ada, first.Session))(h).Cost, 4)
	})
}

func TestWhatARunUsesIsReadAgainWhileItGoesOn(t *testing.T) {
	inHouse(t, func(h *house) {
		s := h.process("one", h.store, h.metered())
		h.takes("ada", time.Second, nil)
		h.takes("bob", time.Minute, nil)
		<-time.After(12 * time.Hour)
		r := h.start(s, "", "Tea?")
		for _, want := range []int{10, 20} {
			<-time.After(30 * time.Second)
			used := assert.Must(r.Used(h.Context(), ada))(h)
			if len(used) != 1 || used[0].Input != want {
				h.Errorf("it has used %+v; want %d tokens in", used, want)
			}
			same(h, "of the day", h.spent(s), fmt.Sprintf("1 runs: a:b %d (%d) %d;", want, want*4/10, want/10))
			h.wait(r)
		}
	})
}

func TestDaysBeginAndEndWhereTheTimeZoneHasThem(t *testing.T) {
	for zone, days := range map[string]map[string][]string{ // when the first and last runs of a day began
		"Africa/Cairo":        {"2026-04-24": {"2026-04-23T22:00:00Z", "2026-04-24T20:59:59.999Z"}}, // begins at 01:00
		"America/Sao_Paulo":   {"2018-02-17": {"2018-02-17T02:00:00Z", "2018-02-18T02:59:59.999Z"}}, // 23:00 comes twice
		"Asia/Kathmandu":      {"2026-04-05": {"2026-04-04T18:15:00Z", "2026-04-05T18:14:59.999Z"}},
		"Atlantic/Azores":     {"2026-10-25": {"2026-10-25T00:00:00Z", "2026-10-26T00:59:59.999Z"}}, // 00:00 comes twice
		"Australia/Lord_Howe": {"2026-04-05": {"2026-04-04T13:00:00Z", "2026-04-05T13:29:59.999Z"}}, // 24.5 hours
		"Europe/Berlin": {"2026-03-29": {"2026-03-28T23:00:00Z", "2026-03-29T21:59:59.999Z"}, // 23 hours
			"2026-10-25": {"2026-10-24T22:00:00Z", "2026-10-25T22:59:59.999Z"}}, // 25 hours
	} {
		t.Run(zone, func(t *testing.T) {
			inHouse(t, func(h *house) {
				loc, err := time.LoadLocation(zone)
				if err != nil {
					h.Fatal(err)
				}
				s := h.process("one", sealed{h.store})
				for day, times := range days {
					for i, text := range times {
						at := assert.Must(time.Parse(time.RFC3339, text))(h)
						h.used(fmt.Sprint(day, i), at, 100)
						h.used(fmt.Sprint(day, i, " beside"), at.Add(time.Duration(2*i-1)*time.Millisecond), 1)
					}
					from := assert.Must(time.Parse(time.RFC3339, times[0]))(h).In(loc)
					to := assert.Must(time.Parse(time.RFC3339, times[1]))(h)
					to = to.Add(time.Millisecond)
					only := assert.Must(s.SpentBetween(h.Context(), ada, from, to))(h)
					if len(only) != 1 || only[0].Day != day || only[0].Runs != 2 || only[0].Used[0].Input != 200 {
						h.Errorf("the day has %+v", only)
					}
					three := assert.Must(s.SpentBetween(h.Context(), ada, from.Add(-time.Hour), to.Add(time.Hour)))(h)
					if len(three) != 3 || three[1].Day != day || three[1].Used[0].Input != 200 ||
						three[0].Used[0].Input != 1 || three[2].Used[0].Input != 1 {
						h.Errorf("it and those beside it have %+v", three)
					}
				}
			})
		})
	}
}

// used has a run that began at a time and took so many tokens.
func (h *house) used(id string, at time.Time, input int) {
	h.Helper()
	session := &journal.Session{ID: id, Owner: ada, Assistant: "panel", CreatedAt: at, UpdatedAt: at}
	r := journal.Run{ID: id, Session: id, Owner: ada, Assistant: "panel", StartedAt: at}
	err := h.store.Begin(h.Context(), journal.Beginning{Run: r, Session: session})
	if err == nil {
		err = h.store.Append(h.Context(), ada, id, []journal.Record{{Kind: run.KindEnd, At: at}}, &journal.End{
			Status: journal.Done, At: at, Used: []journal.Used{{Model: "a:b", Input: input}}})
	}
	if err != nil {
		h.Fatal(err)
	}
}
