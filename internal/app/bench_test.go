package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/config"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
	"sibyl/internal/schema"
	"sibyl/internal/service/assistant"
	"sibyl/internal/store/pgtest"
	"sibyl/internal/store/teststore"
	"sibyl/internal/tool"
	"sibyl/trees"
)

// stubTool answers at once, so that the bench measures the run and not a search.
type stubTool struct{}

func (stubTool) Spec() tool.Spec {
	return tool.Spec{Name: "code_read", Description: "Reads a file.",
		Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`),
		Source: tool.Code, Effect: tool.Repeatable}
}

// answer is what the run ends with.
var answer = strings.Repeat(chunk, 99)

// stubFiles are what stubTool reads, of 490 and 1,100 bytes.
var stubFiles = map[string]string{"a.go": strings.Repeat("1| package a; func a() { return } // it works\n", 11)[:490],
	"b.go": strings.Repeat("7| \tif err != nil { return fmt.Errorf(\"b: %w\", err) }\n", 21)[:1100]}

func (stubTool) Call(_ context.Context, call tool.Call) (tool.Result, error) {
	var args struct{ Path string }
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return tool.Result{}, err
	}
	return tool.Result{Text: stubFiles[args.Path], Items: 1,
		Refs: []tool.Ref{{Source: tool.Code, Path: args.Path, Start: 1, End: 9, Opened: true}}}, nil
}

// bench is the whole program over a stub tool, on SQLite or, with SIBYL_TEST_STORE=postgres, on PostgreSQL.
type bench struct {
	*App
	from oracle.Surroundings
	tree trees.Tree
}

// question is what a run is asked.
const question = "How does the function a() in a.go work?"

func newBench(tb testing.TB) *bench {
	tb.Helper()
	settings := []string{"OPENAI_BASE_URL=" + startModel(tb), "OPENAI_MODEL=m",
		"SIBYL_DATA=" + filepath.Join(tb.TempDir(), "data")}
	if os.Getenv(teststore.Env) == "postgres" {
		settings = append(settings, "DATABASE_URL="+pgtest.New(tb))
	}
	cfg := assert.Must(config.Load(config.Options{Home: tb.TempDir(), Environ: settings}))(tb)
	a := assert.Must(Open(tb.Context(), cfg, Options{Build: "bench"}))(tb)
	tb.Cleanup(func() { _ = a.Close() })
	stub := tool.NewSet(stubTool{})
	o := assert.Must(oracle.New(oracle.Deps{Model: a.model, Tools: func(context.Context, oracle.Env) (*tool.Set, func(),
		error) {
		return stub, func() {}, nil
	}}))(tb)
	a.Engine = assert.Must(run.NewEngine(run.Config{Store: a.Store, Assistants: []*run.Assistant{o}, Build: "bench",
		Holder: "bench", Redact: a.secrets.bytes}))(tb)
	t := assert.Must(a.Trees.Get(oracle.Name))(tb)
	from := a.Surroundings()
	from.Choose = func(context.Context, string) (string, error) { return "openai:m", nil }
	from.Describe = func(context.Context, string) model.Info { return model.Info{} }
	from.Tools = func(context.Context, oracle.Env) (*tool.Set, func(), error) { return stub, func() {}, nil }
	return &bench{App: a, from: from, tree: t}
}

// start begins a run in a session of its own.
func (b *bench) start(ctx context.Context, words string) (*run.Live, error) {
	now := time.Now()
	spec, err := b.from.Begin(ctx, assistant.Request{Owner: Owner, Words: words},
		oracle.Options{Code: schema.Folder{Path: "/"}})
	if err != nil {
		return nil, err
	}
	spec.Owner, spec.Assistant, spec.Session, spec.TreeFile, spec.Tree = Owner, oracle.Name, run.NewID(now),
		b.tree.File, b.tree.Text
	spec.NewSession = &journal.Session{ID: spec.Session, Owner: Owner, Assistant: oracle.Name, CreatedAt: now,
		UpdatedAt: now}
	return b.Engine.Start(ctx, spec)
}

func (b *bench) once(ctx context.Context, words string) error {
	live, err := b.start(ctx, words)
	if err != nil {
		return err
	}
	end, err := live.Wait(ctx)
	if err != nil {
		return err
	}
	for _, member := range []string{`"answer":"` + answer + `"`, `"turns":3`, `"stop_reason":"satisfied"`} {
		if !bytes.Contains(end.Outcome, []byte(`,`+member+`,`)) {
			return fmt.Errorf("the run went another way: %s is not in %s", member, end.Outcome)
		}
	}
	return nil
}

// BenchmarkTurn tells what a turn costs beside its model (SC-007): the time of a turn of a model that answers at once,
// and how much longer than the model's own time a turn of a slow one takes.
func BenchmarkTurn(b *testing.B) {
	const turns = 3
	for name, text := range map[string]string{"at-once": "", "slow-model": " slowly"} {
		b.Run(name, func(b *testing.B) {
			p := newBench(b)
			assert.NoError(b, p.once(b.Context(), question+text))
			b.ResetTimer()
			for range b.N {
				assert.NoError(b, p.once(b.Context(), question+text))
			}
			turn := b.Elapsed() / time.Duration(turns*b.N)
			if text == "" {
				b.ReportMetric(turn.Seconds()*1000, "ms/turn")
				return
			}
			b.ReportMetric(100*float64(turn-slowModel)/float64(slowModel), "%-over-model")
		})
	}
}

func TestRunWritesEachInputOnce(t *testing.T) {
	b := newBench(t)
	assert.NoError(t, b.once(t.Context(), question))
	runs, err := b.Store.Runs(t.Context(), Owner, journal.Filter{Limit: 1})
	assert.Require(t, err == nil && len(runs) != 0, "%v", err)
	recs := assert.Must(b.Store.Records(t.Context(), Owner, runs[0].ID, 0))(t)
	inputs := 0
	for _, r := range recs {
		if r.Kind != run.KindTrace {
			inputs++
		}
	}
	if inputs != 7 { // start, 3 turns, 2 calls, end: one write each
		t.Errorf("a run makes %d writes, not 7", inputs)
	}
}
