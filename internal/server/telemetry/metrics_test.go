package telemetry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	sibylmodel "sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/run"
	"sibyl/internal/server/telemetry"
)

// scraped is what a telemetry gives to whoever asks for its metrics.
func scraped(t *testing.T, tel *telemetry.Telemetry) []byte {
	t.Helper()
	w := httptest.NewRecorder()
	tel.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain; version=0.0.4; charset=utf-8") {
		t.Errorf("the answer is %d, %v", w.Code, w.Header())
	}
	return w.Body.Bytes()
}

// series are the values of a text of metrics, as Prometheus reads them, by name and labels: name{label=value …}. Of a
// histogram it is the number of values.
func series(t *testing.T, text []byte) map[string]float64 {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families := assert.Must(parser.TextToMetricFamilies(bytes.NewReader(text)))(t)
	all := map[string]float64{}
	for name, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			slices.Sort(labels)
			key := name
			if len(labels) > 0 {
				key += "{" + strings.Join(labels, " ") + "}"
			}
			all[key] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return all
}

// counts compares some series. One that is to be -1 is not to be there.
func counts(t *testing.T, tel *telemetry.Telemetry, want map[string]float64) {
	t.Helper()
	compare(t, series(t, scraped(t, tel)), want)
}

func compare(t *testing.T, all, want map[string]float64) {
	t.Helper()
	for key, v := range want {
		got, is := all[key]
		assert.That(t, is != (v < 0) && (!is || got == v), "%s is %v (there: %t), not %v", key, got, is, v)
	}
}

func TestMetricsOfAWholeRunAreWhatItDidAndNoWordOfIt(t *testing.T) {
	tel := telemetryOf(t, telemetry.Config{Build: "v1"})
	first, second := wholeRun()
	n := newNode(t, tel, nil, first, second)
	n.post("talk")
	if resp, err := n.Client().Get(n.URL + "/metrics"); err != nil {
		t.Fatal(err)
	} else {
		_ = resp.Body.Close()
	}
	tel.Lag(3 * time.Millisecond)
	n.Close()
	text := scraped(t, tel)
	compare(t, series(t, text), map[string]float64{
		"sibyl_runs_driven{assistant=oracle}":                                    0,
		"sibyl_runs_begun_total{assistant=oracle}":                               1,
		"sibyl_runs_taken_up_total{assistant=oracle}":                            -1,
		"sibyl_runs_parted_total{assistant=oracle reason=satisfied status=done}": 1,
		"sibyl_effects_total{kind=model.turn result=ok}":                         2,
		"sibyl_effects_total{kind=tool.call result=ok}":                          1,
		"sibyl_effect_duration_seconds{kind=model.turn}":                         2,
		// the start, three receipts, the end
		"sibyl_commits_total{result=ok}":                                         5,
		"sibyl_commit_duration_seconds":                                          5,
		"sibyl_event_lag_seconds":                                                1,
		"sibyl_model_tokens_total{direction=input model=openai:gpt-4.1:mini}":    100,
		"sibyl_model_tokens_total{direction=output model=openai:gpt-4.1:mini}":   10,
		"sibyl_model_tokens_total{direction=input model=gemini:flash}":           200,
		"sibyl_model_cached_tokens_total{model=openai:gpt-4.1:mini}":             60,
		"sibyl_model_errors_total{kind=server provider=openai}":                  1,
		"sibyl_model_request_duration_seconds{model=openai:gpt-4.1:mini}":        1,
		"sibyl_model_request_duration_seconds{model=gemini:flash}":               1,
		"sibyl_model_first_text_seconds{model=gemini:flash}":                     1,
		"sibyl_model_first_text_seconds{model=openai:gpt-4.1:mini}":              -1,
		"sibyl_http_requests_total{method=POST route=/ask/{session} status=200}": 1,
		"sibyl_http_requests_total{method=GET route=/metrics status=200}":        1,
		"sibyl_http_request_duration_seconds{route=/ask/{session}}":              1,
		"sibyl_http_requests_open":                                               0,
		"sibyl_build_info{go=" + runtime.Version() + " version=v1}":              1,
		"sibyl_runs_waiting":      -1,
		"sibyl_spans_ended_total": 0,
	})
	noWords(t, "the text of metrics", text)
	assert.That(t, !bytes.Contains(text, []byte(n.run)), "the run's id is in it")
	problems := assert.Must(promlint.New(bytes.NewReader(text)).Lint())(t)
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func TestRunIsCountedAsDrivenUntilItIsLetGo(t *testing.T) {
	tel := telemetryOf(t, telemetry.Config{})
	n := newNode(t, tel, nil, []modeltest.Turn{{Hang: true}}, nil)
	var asking sync.WaitGroup
	asking.Go(func() { n.post("talk") })
	live := <-n.started
	counts(t, tel, map[string]float64{"sibyl_runs_driven{assistant=oracle}": 1, "sibyl_http_requests_open": 1})
	live.Cancel("enough")
	asking.Wait()
	n.Close()
	counts(t, tel, map[string]float64{"sibyl_runs_driven{assistant=oracle}": 0, "sibyl_http_requests_open": 0,
		"sibyl_runs_parted_total{assistant=oracle reason=cancelled status=cancelled}": 1,
		"sibyl_model_errors_total{kind=cancelled provider=openai}":                    1})
}

// observed is what an observer of one run is told.
func observed(tel *telemetry.Telemetry, of ...run.StopState) {
	for _, s := range of {
		_, parted := tel.Observer().Drive(context.Background(), run.DrivenRun{Run: "r",
			Assistant: "oracle", TakenUp: true})
		parted(s)
	}
}

func TestReasonsThatAreNoWordsAreOther(t *testing.T) {
	tel := telemetryOf(t, telemetry.Config{})
	observed(tel, run.StopState{Status: "failed", Reason: "what the person said"},
		run.StopState{Status: "failed", Reason: strings.Repeat("x", 65)},
		run.StopState{Status: "lost", Reason: run.LostTaken}, run.StopState{Status: "left"})
	counts(t, tel, map[string]float64{
		"sibyl_runs_taken_up_total{assistant=oracle}":                          4,
		"sibyl_runs_parted_total{assistant=oracle reason=other status=failed}": 2,
		"sibyl_runs_parted_total{assistant=oracle reason=taken status=lost}":   1,
		"sibyl_runs_parted_total{assistant=oracle reason= status=left}":        1})
}

func TestEffectsAreCountedByTheirResult(t *testing.T) {
	tel := telemetryOf(t, telemetry.Config{})
	for _, done := range []run.EffectResult{{}, {Found: true}, {Fault: "rate_limit"},
		{Fault: "rate_limit", Suspended: true}, {Fault: run.KindUnsorted}, {Fault: "a fault of words"}} {
		_, effected := tel.Observer().Perform(t.Context(), run.PerformedEffect{Kind: "model.turn"})
		effected(done)
	}
	want := map[string]float64{"sibyl_effect_duration_seconds{kind=model.turn}": 6}
	for _, result := range []string{"ok", "found", "rate_limit", "suspended", "unsorted", "other"} {
		want["sibyl_effects_total{kind=model.turn result="+result+"}"] = 1
	}
	counts(t, tel, want)
}

func TestCommitsAreCountedByTheirResult(t *testing.T) {
	tel := telemetryOf(t, telemetry.Config{})
	for _, err := range []error{nil, journal.ErrConflict, journal.ErrEnded, journal.ErrConsumed,
		&journal.ClaimedError{}, journal.ErrFull, errors.New("gone")} {
		if err != nil {
			err = fmt.Errorf("run r: %w", err)
		}
		tel.Observer().Commit(t.Context(), time.Millisecond, err)
	}
	counts(t, tel, map[string]float64{"sibyl_commits_total{result=ok}": 1, "sibyl_commits_total{result=conflict}": 2,
		"sibyl_commits_total{result=refused}": 2,
		"sibyl_commits_total{result=error}":   2, "sibyl_commit_duration_seconds": 7})
}

func TestWaitingRunsAreReadWhenMetricsAre(t *testing.T) {
	waiting := telemetry.Waiting{Runs: 3, Oldest: 90 * time.Second}
	var err error
	tel := telemetryOf(t, telemetry.Config{Waiting: func(context.Context) (telemetry.Waiting, error) {
		return waiting, err
	}})
	counts(t, tel, map[string]float64{"sibyl_runs_waiting": 3, "sibyl_runs_waiting_oldest_seconds": 90})
	waiting = telemetry.Waiting{Oldest: -time.Second} // by a clock that is ahead
	counts(t, tel, map[string]float64{"sibyl_runs_waiting": 0, "sibyl_runs_waiting_oldest_seconds": 0})
	err = errors.New("the journal is locked")
	counts(t, tel, map[string]float64{"sibyl_runs_waiting": -1, "sibyl_runs_waiting_oldest_seconds": -1})
	err = nil
	counts(t, tel, map[string]float64{"sibyl_scrape_errors_total": 1})
}

func TestMetricsDoNotWaitLongForAJournalThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines bytes.Buffer
		tel := telemetryOf(t, telemetry.Config{Log: telemetry.Logger(&lines, slog.LevelInfo, nil),
			Waiting: func(ctx context.Context) (telemetry.Waiting, error) {
				<-ctx.Done()
				return telemetry.Waiting{}, ctx.Err()
			}})
		began := time.Now()
		compare(t, series(t, scraped(t, tel)), map[string]float64{"sibyl_runs_waiting": -1, "sibyl_runs_driven": -1})
		took := time.Since(began)
		assert.That(t, took == 2*time.Second, "it took %s", took)
		logged(t, lines.Bytes(), map[string]map[string]any{"the waiting runs can't be counted": {"level": "WARN"}})
	})
}

func TestModelsBeyondTheBoundAreOther(t *testing.T) {
	tel := telemetryOf(t, telemetry.Config{})
	for i := range 150 {
		m := tel.Model(modeltest.Script(t, modeltest.Say("one")).As(fmt.Sprintf("local:any-%d", i), true))
		assert.Must(m.Chat(t.Context(), sibylmodel.Request{}, nil))(t)
	}
	counts(t, tel, map[string]float64{
		"sibyl_model_request_duration_seconds{model=local:any-99}":  1,
		"sibyl_model_request_duration_seconds{model=local:any-100}": -1,
		"sibyl_model_request_duration_seconds{model=other}":         50})
}

// TestDocsNameEveryMetric keeps docs/telemetry.md in step with what there is.
func TestDocsNameEveryMetric(t *testing.T) {
	of := func(file, pattern string) (names []string) {
		text := assert.Must(os.ReadFile(file))(t)
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			names = append(names, m[1])
		}
		slices.Sort(names)
		return slices.Compact(names)
	}
	there := of("metrics.go", `"(sibyl_[a-z_]+)"`)
	named := of("../../../docs/telemetry.md", "`(sibyl_[a-z_]+)`")
	diff := cmp.Diff(there, named)
	assert.That(t, diff == "" && len(there) >= 20, "docs/telemetry.md names other metrics than there are: %s", diff)
}
