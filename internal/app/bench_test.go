package app

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"sibyl/internal/config"
	"sibyl/internal/journal"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
	"sibyl/internal/store/pgtest"
	"sibyl/internal/tool"
)

// stubTool answers at once, so that the bench measures the run and not a search.
type stubTool struct{}

func (stubTool) Spec() tool.Spec {
	return tool.Spec{Name: "code_read", Description: "Reads a file.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`),
		Source: tool.Code, Effect: tool.Repeatable}
}

// answer is what the run ends with, and the bare client hears.
var answer = strings.Repeat(chunk, 99)

// stubFiles are what stubTool reads, of 490 and 1,100 bytes.
var stubFiles = map[string]string{"a.go": strings.Repeat("1| package a; func a() { return } // it works\n", 11)[:490], "b.go": strings.Repeat("7| \tif err != nil { return fmt.Errorf(\"b: %w\", err) }\n", 21)[:1100]}

func (stubTool) Call(_ context.Context, call tool.Call) (tool.Result, error) {
	var args struct{ Path string }
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return tool.Result{}, err
	}
	return tool.Result{Text: stubFiles[args.Path], Items: 1, Refs: []tool.Ref{{Source: tool.Code, Path: args.Path, Start: 1, End: 9, Opened: true}}}, nil
}

// bench is the whole program over a stub tool.
type bench struct {
	*App
	question oracle.Question
}

func newBench(tb testing.TB) *bench { return newBenchOn(tb, "") }

// newBenchOn is the program on a PostgreSQL database or, if it is "", an SQLite file.
func newBenchOn(tb testing.TB, database string) *bench {
	tb.Helper()
	cfg, err := config.Load(config.Options{Home: tb.TempDir(), Environ: []string{"OPENAI_BASE_URL=" + benchServer(tb), "OPENAI_MODEL=m",
		"SIBYL_DATA=" + filepath.Join(tb.TempDir(), "data"), "SIBYL_DATABASE=" + database}})
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
	o, err := oracle.New(oracle.Deps{Model: a.model, Tools: func(context.Context, oracle.Env) (*tool.Set, func(), error) { return stub, func() {}, nil }})
	if err != nil {
		tb.Fatal(err)
	}
	a.Engine, err = run.NewEngine(run.Config{Store: a.Store, Assistants: []*run.Assistant{o}, Build: "bench", Holder: "bench", Redact: a.secrets.bytes})
	if err != nil {
		tb.Fatal(err)
	}
	t, err := a.Trees.Get(oracle.Name)
	if err != nil {
		tb.Fatal(err)
	}
	return &bench{App: a, question: oracle.Question{Text: "How does the function a() in a.go work?", Owner: Owner, MaxTurns: 30,
		Env: oracle.Env{CodeRoot: "/", Model: "openai:m"}, Tools: stub.Specs(), TreeFile: t.File, Tree: t.Text, Prompts: a.Prompts}}
}

// start begins a run in a session of its own.
func (b *bench) start(ctx context.Context, q oracle.Question) (*run.Live, error) {
	now := time.Now()
	q.Session = run.NewID(now)
	q.NewSession = &journal.Session{ID: q.Session, Owner: Owner, Assistant: oracle.Name, CreatedAt: now, UpdatedAt: now}
	spec, err := oracle.NewRun(ctx, b.Store, q)
	if err != nil {
		return nil, err
	}
	return b.Engine.Start(ctx, spec)
}

func (b *bench) once(ctx context.Context) error {
	live, err := b.start(ctx, b.question)
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
	if err := errors.Join(add(map[string]any{"role": "system", "content": c.system}), add(map[string]any{"role": "user", "content": "How does the function a() in a.go work?"})); err != nil {
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
			add(map[string]any{"role": "tool", "tool_call_id": calls[0].ID, "content": stubFiles[args.Path]})); err != nil {
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

// measure plays once many times, so many at once.
func measure(b *testing.B, atOnce int, once func(context.Context) error) {
	b.Helper()
	if err := once(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	cpu := cpuSeconds(b)
	b.ResetTimer()
	jobs := make(chan struct{}, b.N)
	for range b.N {
		jobs <- struct{}{}
	}
	close(jobs)
	var wg sync.WaitGroup
	for range atOnce {
		wg.Go(func() {
			for range jobs {
				if err := once(b.Context()); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
	b.ReportMetric((cpuSeconds(b)-cpu)/float64(b.N)*1000, "cpu-s/1000-runs")
}

func BenchmarkRun(b *testing.B) {
	server := pgtest.Start(b, pgtest.Options{Durable: true})
	for _, atOnce := range []int{1, 16, 100} {
		b.Run(fmt.Sprintf("sibyl-%d", atOnce), func(b *testing.B) {
			p := newBench(b)
			measure(b, atOnce, p.once)
			if err := p.Close(); err != nil { // which leaves all in one file
				b.Fatal(err)
			}
			if info, err := os.Stat(DatabaseFile(p.Config.DataDir)); err == nil {
				b.ReportMetric(float64(info.Size())/float64(b.N+1)/1024, "disk-KiB/run")
			}
		})
		b.Run(fmt.Sprintf("postgres-%d", atOnce), func(b *testing.B) { onPostgres(b, server, atOnce, 0) })
		if atOnce == 16 {
			b.Run("postgres-16-and-10-nodes-listen", func(b *testing.B) { onPostgres(b, server, atOnce, 10) })
		}
		b.Run(fmt.Sprintf("bare-%d", atOnce), func(b *testing.B) {
			transport := http.DefaultTransport.(*http.Transport).Clone()
			transport.MaxIdleConnsPerHost = 256
			system := newBench(b).systemPrompt(b)
			c := &bareClient{url: benchServer(b), client: &http.Client{Transport: transport}, system: system}
			measure(b, atOnce, c.once)
		})
	}
}

// onPostgres measures runs on a database of their own, while so many others listen to what is announced.
func onPostgres(b *testing.B, server *pgtest.Server, atOnce, listeners int) {
	b.Helper()
	dsn := server.New(b)
	p := newBenchOn(b, dsn)
	ctx, cancel := context.WithCancel(b.Context())
	var heard atomic.Int64
	var all sync.WaitGroup
	for range listeners {
		all.Go(func() { _ = p.Store.(journal.Announcer).Announced(ctx, func(journal.Key) { heard.Add(1) }) }) // until ctx ends
	}
	work := watchWork(b, dsn)
	measure(b, atOnce, p.once)
	work.report(b, b.N+1) // with the one that is not timed
	if listeners > 0 {
		b.ReportMetric(float64(heard.Load())/float64(b.N+1), "heard/run")
	}
	cancel()
	all.Wait()
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

// BenchmarkTurn tells what a turn costs beside its model (SC-007): the time of a turn of a model that answers at once, and how much
// longer than the model's own time a turn of a slow one takes.
func BenchmarkTurn(b *testing.B) {
	const turns = 3
	for name, text := range map[string]string{"at-once": "", "slow-model": " slowly"} {
		b.Run(name, func(b *testing.B) {
			p := newBench(b)
			p.question.Text += text
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

// BenchmarkParkedRuns holds 1000 runs whose model does not answer, and tells what each costs in memory.
func BenchmarkParkedRuns(b *testing.B) {
	const parked = 1000
	for b.Loop() {
		p := newBench(b)
		q := p.question
		q.Text = "How does the park() function in a.go work?"
		ctx, cancel := context.WithCancel(b.Context())
		before := inUse()
		lives := make([]*run.Live, 0, parked)
		for range parked {
			live, err := p.start(ctx, q)
			if err != nil {
				b.Fatal(err)
			}
			lives = append(lives, live)
		}
		b.ReportMetric(float64(inUse()-before)/parked/1024, "KiB/parked-run")
		cancel()
		for _, l := range lives {
			if _, err := l.Wait(context.WithoutCancel(ctx)); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// inUse is the memory that the program holds: heap and stacks.
func inUse() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// TestRunWritesEachInputOnce gates what does not depend on the machine: what is written to the journal.
func TestRunWritesEachInputOnce(t *testing.T) {
	b := newBench(t)
	if err := b.once(t.Context()); err != nil {
		t.Fatal(err)
	}
	const mostBytes = 16 << 10
	runs, err := b.Store.Runs(t.Context(), Owner, journal.Filter{Limit: 1})
	if err != nil || len(runs) == 0 {
		t.Fatal(err)
	}
	recs, err := b.Store.Records(t.Context(), Owner, runs[0].ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	inputs, size := 0, 0
	for _, r := range recs {
		size += len(r.Data)
		if r.Kind != run.KindTrace {
			inputs++
		}
	}
	if inputs != 7 { // start, 3 turns, 2 calls, end: one write each
		t.Errorf("a run makes %d writes, not 7", inputs)
	}
	if size > mostBytes {
		t.Errorf("the records of a run have %d bytes, more than %d", size, mostBytes)
	}
}
