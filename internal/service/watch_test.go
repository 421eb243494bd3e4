package service_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/service"
)

// breaking is a store whose code panics when records are asked for.
type breaking struct{ journal.Store }

func (breaking) Records(context.Context, journal.Owner, string, int64) ([]journal.Record, error) {
	panic("hunter2")
}

func TestPanicOfWatchingIsTheErrorOfWhoAwaitsTheRun(t *testing.T) {
	inHouse(t, func(h *house) {
		release := h.holds("ada")
		r := h.start(h.service(), "", "Tea?")
		other := h.process("two", breaking{h.store})
		_, err := other.Await(h.Context(), ada, r.ID, time.Minute, func(*service.Update) {})
		if err == nil || !strings.Contains(err.Error(), r.ID) || !strings.Contains(err.Error(), "panicked") {
			t.Errorf("awaiting gives %v", err)
		} else if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("what was thrown is told: %v", err)
		}
		release()
		h.wait(r)
	})
}

func TestModelsAreListedWhileTheEndpointOfTheSettingsHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := func(ctx context.Context) ([]string, error) { <-ctx.Done(); return nil, ctx.Err() }
		source := &service.ModelSource{Named: "silent", Prices: &service.Prices{}, Redact: func(text string) string {
			return text
		},
			Offers: model.NewOffers(model.Catalog{{Name: "silent", List: hangs}}, nil)}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began := time.Now()
		all, err := source.List(ctx)
		assert.That(t, err != nil && len(all.Providers) == 1 && all.Providers[0].Error != "", "%+v, %v", all, err)
		took := time.Since(began)
		assert.That(t, took <= 10*time.Second, "it took %v", took)
	})
}

func TestPlaceIsReadAsItIsWritten(t *testing.T) {
	for text, want := range map[string]service.Place{"": {}, "0": {}, "7": {Record: 7}, "7.2": {Record: 7, Updates: 2},
		"16777216": {Record: journal.MaxRecords}} {
		got, err := service.ParsePlace(text)
		assert.That(t, err == nil && got == want, "%q is read as %v, %v; want %v", text, got, err, want)
		again, err := service.ParsePlace(got.String())
		assert.That(t, err == nil && again == want, "%q is written as %q, which is read as %v, %v", text, got, again, err)
	}
	for _, text := range []string{"-1", "+1", " 1", "1 ", "01", "1.", "1.0", "1.-1", "1.2.3", "x", "1.x",
		"99999999999999999999", "16777217", "1.9999999", "1\x00"} {
		got, err := service.ParsePlace(text)
		assert.That(t, errors.Is(err, journal.ErrInvalid), "%q is read as %v, %v", text, got, err)
	}
}

func TestPositionIsReadAsItIsWrittenOrNotAtAll(t *testing.T) {
	const all = `{"since":7,"going":{"a":"0","b":"7.2"},"over":{"c":8,"d":9}}`
	for _, text := range []string{"", `{"since":7}`, `{"since":7,"going":{"a b/!\u003c":"3"}}`, all} {
		p, err := service.ParsePosition(text)
		assert.That(t, err == nil && p.String() == text && p.IsZero() == (text == ""), "%q is read as %q, %v", text, p, err)
	}
	many := service.Position{Since: 1, Running: map[string]service.Place{}}
	for n := range 129 {
		many.Running[strings.Repeat("x", n+1)] = service.Place{Record: 1}
	}
	for _, text := range []string{"{}", "7.2", "null", `{"since":0}`, `{"since":"7"}`, `{"since":7,"more":1}`,
		`{"since":7,"going":{}}`,
		`{"since":7,"going":{"a":"x"}}`, `{"since":7,"going":{"":"1"}}`, `{"since":7,"going":{"b":"1","a":"1"}}`,
		`{"since":7,"going":{"a":"1","a":"1"}}`, `{"since":7,"over":{"a\u0000":8}}`, `{"since":7} `, all[1:],
		many.String()} {
		if p, err := service.ParsePosition(text); !errors.Is(err, journal.ErrInvalid) {
			t.Errorf("%q is read as %q, %v", text, p, err)
		} else if len(text) > 4 && strings.Contains(err.Error(), text) {
			t.Errorf("the error repeats what was read: %v", err)
		}
	}
}
