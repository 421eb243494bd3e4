package app

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/model/openai"
)

// told returns the functions of a provider that reports a window, or nothing; asked counts how often it was asked.
func (r *reports) told(endpoint string, window int, asked *int) (
	describe func(context.Context, string) (model.Info, error), last func(string) (model.Info, time.Time),
) {
	p := model.Provider{Name: "house"}
	r.serve(&p, endpoint, func(context.Context, string) (model.Info, error) {
		*asked++
		if window == 0 {
			return model.Info{}, errors.New("it does not say")
		}
		return model.Info{Window: window}, nil
	})
	return p.Describe, p.Last
}

func TestReportOfAModelIsKeptForOtherProcesses(t *testing.T) {
	dir, asked := t.TempDir(), 0
	describe, _ := newReports(dir).told("http://a", 9000, &asked)
	_ = assert.Must(describe(t.Context(), "m"))(t)
	beside, _ := newReports(dir).told("http://b", 4096, &asked)
	_ = assert.Must(beside(t.Context(), "m"))(t)
	again, last := newReports(dir).told("http://a", 1, &asked)
	info, at := last("m")
	assert.That(t, info.Window == 9000 && time.Since(at) < time.Minute, "%+v, of %v", info, at)
	assert.Equal(t, assert.Must(again(t.Context(), "m"))(t).Window, 9000)
	assert.Equalf(t, asked, 2, "how often it was asked")
}

func TestModelThatIsNotToldIsAskedForAgain(t *testing.T) {
	asked := 0
	describe, last := newReports(t.TempDir()).told("http://a", 0, &asked)
	for range 2 {
		_, err := describe(t.Context(), "m")
		assert.That(t, err != nil, "it was told")
	}
	_, at := last("m")
	assert.That(t, asked == 2 && at.IsZero(), "asked %d times, told %v", asked, at)
}

func TestDamagedReportsAreAskedForAgainAndNoDataFolderIsMade(t *testing.T) {
	dir, asked := t.TempDir(), 0
	assert.NoError(t, os.WriteFile(filepath.Join(dir, "models.json"), []byte(`{"house`), 0o600))
	for _, folder := range []string{dir, filepath.Join(dir, "missing")} {
		describe, last := newReports(folder).told("http://a", 9000, &asked)
		_ = assert.Must(describe(t.Context(), "m"))(t)
		info, _ := last("m")
		assert.Equal(t, info.Window, 9000)
	}
	_, err := os.Stat(filepath.Join(dir, "missing"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestFewReportsAreKeptHoweverManyModelsAreNamed(t *testing.T) {
	r := newReports(filepath.Join(t.TempDir(), "missing"))
	for i := range mostReports + 1 {
		_ = r.put(strconv.Itoa(i), measuredWait, func(of *report) { of.At = time.Unix(int64(i), 0) })
	}
	assert.That(t, len(r.kept) == mostReports && r.get("0").At.IsZero(), "%d are kept, with the oldest: %v", len(r.kept),
		r.get("0"))
}

func TestWhatAnEndpointRefusesOfSchemasIsKnownToEveryProcessForADay(t *testing.T) {
	dir := t.TempDir()
	server := modeltest.NewServer(t,
		modeltest.Answer{Raw: &modeltest.Raw{Status: 400, Body: `{"error":{"message":"failed to parse grammar"}}`}},
		modeltest.Stream("Taken."), modeltest.Stream("Taken."), modeltest.Stream("Taken."))
	ask := func() (bodies []string) {
		before := len(server.Requests())
		c := openai.Config{Provider: "house", Model: "m", BaseURL: server.BaseURL + "/v1", Local: true}
		newReports(dir).remember(&c)
		_, err := openai.New(c).Chat(t.Context(), model.Request{Messages: []model.Message{{Role: model.User, Text: "Look it up."}},
			Tools: []model.Tool{{Name: "look_up", Schema: json.RawMessage(
				`{"type":"object","properties":{"n":{"type":"array","items":{"type":"string"},"maxItems":77}}}`)}}}, nil)
		assert.NoError(t, err)
		for _, r := range server.Requests()[before:] {
			bodies = append(bodies, r.Body)
		}
		return bodies
	}
	first := ask()
	assert.That(t, len(first) == 2 && strings.Contains(first[0], "maxItems") && !strings.Contains(first[1], "maxItems"), "%q", first)
	again := ask()
	assert.That(t, len(again) == 1 && !strings.Contains(again[0], "maxItems"), "another process asks with %q", again)
	r := newReports(dir)
	for key := range r.read() {
		assert.NoError(t, r.put(key, measuredWait, func(of *report) { of.RefusedAt = of.RefusedAt.Add(-2 * refusalStands) }))
	}
	later := ask()
	assert.That(t, len(later) == 1 && strings.Contains(later[0], "maxItems"), "after a day it is not tried anew: %q", later)
}

// learnt is what a provider told of a model.
func learnt(of *report) { of.At = time.Unix(1, 0) }

func TestReportOfAModelWaitsForAnotherProcessThatWritesAndKeepsWhatItWrote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		other, r := newReports(dir), newReports(dir)
		assert.NoError(t, r.put("first", measuredWait, learnt))
		unlock := assert.Must(other.lock(measuredWait))(t)
		put := make(chan error)
		go func() { put <- r.put("ours", measuredWait, learnt) }()
		synctest.Wait()
		assert.NoError(t, os.WriteFile(r.file, []byte(`{"theirs": {"at": "1970-01-01T00:00:01Z"}}`), 0o600))
		assert.NoError(t, os.Chtimes(r.file, r.seen, r.seen)) // in the same tick of the file system's clock
		unlock()
		assert.NoError(t, <-put)
		for _, key := range []string{"first", "ours", "theirs"} {
			assert.That(t, !newReports(dir).get(key).At.IsZero(), "the report %s is gone", key)
		}
	})
}

func TestReportIsKeptByTheProcessAloneWhileAnotherWritesForTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		unlock := assert.Must(newReports(dir).lock(measuredWait))(t)
		r := newReports(dir)
		err := r.put("m", measuredWait, learnt)
		assert.That(t, err != nil && !r.get("m").At.IsZero(), "error %v, kept %v", err, r.get("m"))
		unlock()
		assert.NoError(t, r.put("n", measuredWait, learnt))
		assert.Equal(t, len(r.read()), 2)
	})
}

func TestReportsAreReadWhileAnotherProcessWritesThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		r := newReports(dir)
		unlock := assert.Must(newReports(dir).lock(measuredWait))(t)
		put := make(chan error)
		go func() { put <- r.put("m", measuredWait, learnt) }()
		synctest.Wait()
		before := time.Now()
		at := r.get("m").At
		assert.That(t, !at.IsZero() && time.Since(before) == 0, "read after %s: %v", time.Since(before), at)
		unlock()
		assert.NoError(t, <-put)
	})
}
