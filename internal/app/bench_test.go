package app

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sibyl/internal/config"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
	"sibyl/internal/schema"
	"sibyl/internal/service/assistant"
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

// answer is what the run ends with, and the bare client hears.
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

// bench is the whole program over a stub tool.
type bench struct {
	*App
	from  oracle.Surroundings
	tree  trees.Tree
	words string
}

func newBench(tb testing.TB) *bench {
	tb.Helper()
	cfg, err := config.Load(config.Options{Home: tb.TempDir(), Environ: []string{"OPENAI_BASE_URL=" + benchServer(tb),
		"OPENAI_MODEL=m",
		"SIBYL_DATA=" + filepath.Join(tb.TempDir(), "data")}})
	if err != nil {
		tb.Fatal(err)
	}
	a, err := Open(tb.Context(), cfg, Options{Build: "bench"})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = a.Close() })
	stub, err := tool.NewSet(stubTool{})
	if err != nil {
		tb.Fatal(err)
	}
	o, err := oracle.New(oracle.Deps{Model: a.model, Tools: func(context.Context, oracle.Env) (*tool.Set, func(),
		error) {
		return stub, func() {}, nil
	}})
	if err != nil {
		tb.Fatal(err)
	}
	a.Engine, err = run.NewEngine(run.Config{Store: a.Store, Assistants: []*run.Assistant{o}, Build: "bench",
		Holder: "bench", Redact: a.secrets.bytes})
	if err != nil {
		tb.Fatal(err)
	}
	t, err := a.Trees.Get(oracle.Name)
	if err != nil {
		tb.Fatal(err)
	}
	from := a.Surroundings()
	from.Choose = func(context.Context, string) (string, error) { return "openai:m", nil }
	from.Describe = func(context.Context, string) model.Info { return model.Info{} }
	from.Tools = func(context.Context, oracle.Env) (*tool.Set, func(), error) { return stub, func() {}, nil }
	return &bench{App: a, from: from, tree: t, words: "How does the function a() in a.go work?"}
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

func (b *bench) once(ctx context.Context) error {
	live, err := b.start(ctx, b.words)
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

// bareClient makes the same requests, of the same size, and decodes the streams.
type bareClient struct {
	url    string
	client *http.Client
	system string
}

func (c *bareClient) once(ctx context.Context) error {
	messages := []byte(`{"model":"m","stream":true,"tools":[{"type":"function","function":{"name":"code_read","description":"Reads a file."}}],"messages":[`)
	add := func(message map[string]any) error {
		raw, err := json.Marshal(message)
		if messages[len(messages)-1] != '[' {
			messages = append(messages, ',')
		}
		messages = append(messages, raw...)
		return err
	}
	if err := errors.Join(add(map[string]any{"role": "system", "content": c.system}),
		add(map[string]any{"role": "user", "content": "How does the function a() in a.go work?"})); err != nil {
		return err
	}
	for {
		text, calls, err := c.turn(ctx, append(messages[:len(messages):len(messages)], "]}"...))
		if err != nil {
			return err
		}
		if len(calls) == 0 {
			if !strings.HasPrefix(text, answer) {
				return fmt.Errorf("%d bytes of text", len(text))
			}
			return nil
		}
		var args struct{ Path string }
		if err := json.Unmarshal([]byte(calls[0].Function.Arguments), &args); err != nil {
			return err
		}
		if err := errors.Join(add(map[string]any{"role": "assistant", "content": text, "tool_calls": calls}),
			add(map[string]any{"role": "tool", "tool_call_id": calls[0].ID,
				"content": stubFiles[args.Path]})); err != nil {
			return err
		}
	}
}

type bareCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

func (c *bareClient) turn(ctx context.Context, body []byte) (text string, calls []bareCall, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return "", nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.client.Do(req)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	var b strings.Builder
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var chunk struct {
			Choices []struct {
				Delta struct {
					Content   string
					ToolCalls []bareCall `json:"tool_calls"`
				}
			}
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			return "", nil, err
		}
		for _, ch := range chunk.Choices {
			b.WriteString(ch.Delta.Content)
			calls = append(calls, ch.Delta.ToolCalls...)
		}
	}
	return b.String(), calls, lines.Err()
}

func cpuSeconds(tb testing.TB) float64 {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// roundRuns is how many runs of each contender a round has.
const roundRuns = 32

// contender is one of those whose processor time is compared.
type contender struct {
	name string
	once func(context.Context) error
}

// contenders are the program on its database, and a bare client. Each has run once.
func contenders(tb testing.TB) []contender {
	tb.Helper()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 256
	p := newBench(tb)
	bare := &bareClient{url: benchServer(tb), client: &http.Client{Transport: transport}, system: p.systemPrompt(tb)}
	all := []contender{{"sibyl", p.once}, {"bare", bare.once}}
	for _, c := range all {
		if err := c.once(tb.Context()); err != nil {
			tb.Fatal(err)
		}
	}
	return all
}

// round plays a round of each, so many runs at once, and gives the seconds of processor time that each takes.
func round(tb testing.TB, all []contender, atOnce int) []float64 {
	tb.Helper()
	cpu := make([]float64, len(all))
	for i, c := range all {
		before := cpuSeconds(tb)
		var wg sync.WaitGroup
		for worker := range atOnce {
			wg.Go(func() {
				for n := worker; n < roundRuns; n += atOnce {
					if err := c.once(tb.Context()); err != nil {
						tb.Error(err)
					}
				}
			})
		}
		wg.Wait()
		cpu[i] = cpuSeconds(tb) - before
	}
	return cpu
}

// BenchmarkRun tells what a run takes of the processor, beside that of a bare client in the same rounds. Of what it is
// allowed to take, the least of some rounds counts, so that other work on the machine makes no difference.
func BenchmarkRun(b *testing.B) {
	for atOnce, most := range map[int]float64{1: 3.5, 16: 3} {
		b.Run(fmt.Sprint(atOnce), func(b *testing.B) {
			all := contenders(b)
			sums := make([]float64, len(all))
			least := math.Inf(1)
			for b.Loop() {
				cpu := round(b, all, atOnce)
				least = min(least, cpu[0]/cpu[len(cpu)-1])
				for i := range all {
					sums[i] += cpu[i]
				}
			}
			for i, c := range all {
				b.ReportMetric(sums[i]/float64(b.N*roundRuns)*1000, c.name+"-cpu-ms/run")
			}
			b.ReportMetric(least, "times-bare")
			if b.N >= 5 && least > most {
				b.Errorf("with %d at once, a run takes %.2f times the processor time of a bare client, more than %v",
					atOnce, least, most)
			}
		})
	}
}

// systemPrompt is as long as the one a run sends.
func (b *bench) systemPrompt(tb testing.TB) string {
	tb.Helper()
	var all strings.Builder
	for _, s := range b.Prompts.Segments() {
		if s.ID == "base" || s.ID == "signals" || s.ID == "tools" || s.ID == "code" {
			all.WriteString(s.Content)
		}
	}
	return all.String()
}

// BenchmarkTurn tells what a turn costs beside its model (SC-007): the time of a turn of a model that answers at once,
// and how much longer than the model's own time a turn of a slow one takes.
func BenchmarkTurn(b *testing.B) {
	const turns = 3
	for name, text := range map[string]string{"at-once": "", "slow-model": " slowly"} {
		b.Run(name, func(b *testing.B) {
			p := newBench(b)
			p.words += text
			if err := p.once(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			for range b.N {
				if err := p.once(b.Context()); err != nil {
					b.Fatal(err)
				}
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
	if err := b.once(t.Context()); err != nil {
		t.Fatal(err)
	}
	runs, err := b.Store.Runs(t.Context(), Owner, journal.Filter{Limit: 1})
	if err != nil || len(runs) == 0 {
		t.Fatal(err)
	}
	recs, err := b.Store.Records(t.Context(), Owner, runs[0].ID, 0)
	if err != nil {
		t.Fatal(err)
	}
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
