package app

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sibyl/internal/config"
	"sibyl/internal/journal"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
	"sibyl/internal/tool"
)

// The run bench plays one run over and over: 3 turns, 2 tool calls, and 2 KB streamed in 100 chunks, against a server without delay
// in a process of its own. Ours is the whole program, durable on SQLite with synchronous=FULL; the bare client does the same
// requests with net/http and encoding/json, and remembers nothing.

const serveEnv = "SIBYL_BENCH_SERVE"

// slowModel is how long the server thinks about a question that says “slowly”.
const slowModel = 100 * time.Millisecond

func TestMain(m *testing.M) {
	if os.Getenv(serveEnv) != "" {
		serveBench()
		return
	}
	os.Exit(m.Run())
}

// serveBench answers until standard input ends. A question that says “park” is never answered.
func serveBench() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr().String())
	call := sse(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"code_read","arguments":"{\"path\":\"a.go\"}"}}]}`, "tool_calls")
	var answer bytes.Buffer
	for range 99 {
		answer.WriteString(part(`{"content":"twenty characters ok"}`, ""))
	}
	answer.WriteString(part(`{"content":"<signal type=\"context_sufficient\"><sources_found>1</sources_found><confidence>0.9</confidence></signal>"}`, ""))
	answer.WriteString(sse(`{}`, "stop"))
	srv := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte("park")) {
			<-r.Context().Done()
			return
		}
		if bytes.Contains(body, []byte("slowly")) {
			<-time.After(slowModel)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		if bytes.Count(body, []byte(`"role":"tool"`)) < 2 {
			_, _ = io.WriteString(w, call)
			return
		}
		_, _ = w.Write(answer.Bytes())
	})}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	panic(srv.Serve(l))
}

func part(delta, finish string) string {
	end := "null"
	if finish != "" {
		end = `"` + finish + `"`
	}
	return `data: {"id":"x","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + end + "}]}\n\n"
}

func sse(delta, finish string) string {
	return part(delta, "") + part("{}", finish) + `data: {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5}}` + "\n\ndata: [DONE]\n\n"
}

// benchServer starts the server's process and gives its address.
func benchServer(tb testing.TB) string {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), serveEnv+"=1")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		tb.Fatal(err)
	}
	return "http://" + strings.TrimSpace(addr) + "/v1"
}

// stubTool answers at once, so that the bench measures the run and not a search.
type stubTool struct{}

func (stubTool) Spec() tool.Spec {
	return tool.Spec{Name: "code_read", Description: "Reads a file.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`),
		Source: tool.Code, Effect: tool.Repeatable}
}

func (stubTool) Call(context.Context, tool.Call) (tool.Result, error) {
	return tool.Result{Text: "1| package a", Items: 1, Refs: []tool.Ref{{Source: tool.Code, Path: "a.go", Start: 1, End: 1, Opened: true}}}, nil
}

// bench is the whole program over a stub tool.
type bench struct {
	*App
	question oracle.Question
}

func newBench(tb testing.TB) *bench {
	tb.Helper()
	cfg, err := config.Load(config.Options{Home: tb.TempDir(), Environ: []string{"OPENAI_BASE_URL=" + benchServer(tb), "OPENAI_MODEL=m",
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
	var a oracle.Answer
	if err := json.Unmarshal(end.Outcome, &a); err != nil {
		return err
	}
	if a.StopReason != oracle.StopSatisfied || a.Turns != 3 || len(a.ToolCalls) != 2 || len(a.Answer) != 99*20 {
		return fmt.Errorf("the run went another way: %s after %d turns, %d calls, %d bytes, error %s", a.StopReason, a.Turns, len(a.ToolCalls), len(a.Answer), fmt.Sprint(a.Error))
	}
	return nil
}

// bareClient makes the same requests, of the same size, and decodes the streams.
type bareClient struct {
	url    string
	client *http.Client
	system string
}

type bareMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func (c *bareClient) once(ctx context.Context) error {
	messages := []bareMessage{{"system", c.system}, {"user", "How does the function a() in a.go work?"}}
	for {
		body, err := json.Marshal(map[string]any{"model": "m", "stream": true, "messages": messages,
			"tools": []any{map[string]any{"type": "function", "function": map[string]any{"name": "code_read", "description": "Reads a file."}}}})
		if err != nil {
			return err
		}
		text, calls, err := c.turn(ctx, body)
		if err != nil {
			return err
		}
		if calls == 0 {
			if len(text) < 99*20 {
				return fmt.Errorf("%d bytes of text", len(text))
			}
			return nil
		}
		messages = append(messages, bareMessage{"assistant", text}, bareMessage{"tool", "1| package a"})
	}
}

func (c *bareClient) turn(ctx context.Context, body []byte) (text string, calls int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return "", 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.client.Do(req)
	if err != nil {
		return "", 0, err
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
					ToolCalls []struct {
						Function struct{ Name, Arguments string }
					} `json:"tool_calls"`
				}
			}
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			return "", 0, err
		}
		for _, ch := range chunk.Choices {
			b.WriteString(ch.Delta.Content)
			calls += len(ch.Delta.ToolCalls)
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
	for _, atOnce := range []int{1, 16} {
		b.Run(fmt.Sprintf("sibyl-%d", atOnce), func(b *testing.B) {
			measure(b, atOnce, newBench(b).once)
		})
		b.Run(fmt.Sprintf("bare-%d", atOnce), func(b *testing.B) {
			transport := http.DefaultTransport.(*http.Transport).Clone()
			transport.MaxIdleConnsPerHost = 32
			system := newBench(b).systemPrompt(b)
			c := &bareClient{url: benchServer(b), client: &http.Client{Transport: transport}, system: system}
			measure(b, atOnce, c.once)
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

// TestRunStaysWithinItsBudget gates what does not depend on the machine: allocations, and writes to the journal.
func TestRunStaysWithinItsBudget(t *testing.T) {
	b := newBench(t)
	if err := b.once(t.Context()); err != nil {
		t.Fatal(err)
	}
	const most = 4000
	allocs := testing.AllocsPerRun(20, func() {
		if err := b.once(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > most {
		t.Errorf("a run allocates %.0f times, more than %d", allocs, most)
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
	t.Logf("%.0f allocations a run", allocs)
}
