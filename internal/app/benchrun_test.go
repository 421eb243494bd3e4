package app

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"modernc.org/sqlite"

	"sibyl/internal/behaviour/assert"
)

// bareClient makes the requests of a run, of the same size, and decodes the streams. It keeps nothing.
type bareClient struct {
	url    string
	client *http.Client
	system string
}

func newBareClient(url, system string) *bareClient {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 256
	return &bareClient{url: url, client: &http.Client{Transport: transport}, system: system}
}

func (c *bareClient) once(ctx context.Context, words string) error {
	messages := []byte(`{"model":"m","stream":true,"tools":[{"type":"function","function":` +
		`{"name":"code_read","description":"Reads a file."}}],"messages":[`)
	add := func(message map[string]any) error {
		raw, err := json.Marshal(message)
		if messages[len(messages)-1] != '[' {
			messages = append(messages, ',')
		}
		messages = append(messages, raw...)
		return err
	}
	if err := errors.Join(add(map[string]any{"role": "system", "content": c.system}),
		add(map[string]any{"role": "user", "content": words})); err != nil {
		return err
	}
	for {
		text, calls, err := c.turn(ctx, append(slices.Clip(messages), "]}"...))
		if err != nil {
			return err
		}
		if len(calls) == 0 {
			if !strings.HasPrefix(text, answer) {
				return fmt.Errorf("the answer is another one, of %d bytes", len(text))
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
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return "", nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := c.client.Do(request)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = response.Body.Close() }()
	var b strings.Builder
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var event struct {
			Choices []struct {
				Delta struct {
					Content   string
					ToolCalls []bareCall `json:"tool_calls"`
				}
			}
		}
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			return "", nil, err
		}
		for _, choice := range event.Choices {
			b.WriteString(choice.Delta.Content)
			calls = append(calls, choice.Delta.ToolCalls...)
		}
	}
	return b.String(), calls, lines.Err()
}

// contender is one of those that are compared.
type contender struct {
	name string
	once func(ctx context.Context, words string) error
	took []time.Duration // each run
	cpu  time.Duration   // of all runs
	wall time.Duration   // of all rounds
}

// newContenders returns the whole program and a bare client. Each has run once.
func newContenders(b *testing.B) (program, bare *contender) {
	b.Helper()
	p := newBench(b)
	program = &contender{name: "sibyl", once: p.once}
	bare = &contender{name: "bare", once: newBareClient(startModel(b), p.systemPrompt()).once}
	for _, c := range []*contender{program, bare} {
		assert.NoError(b, c.once(b.Context(), question))
	}
	return program, bare
}

// systemPrompt is as long as the one that a run sends.
func (b *bench) systemPrompt() string {
	var all strings.Builder
	for _, s := range b.Prompts.Segments() {
		if s.ID == "base" || s.ID == "signals" || s.ID == "tools" || s.ID == "code" {
			all.WriteString(s.Content)
		}
	}
	return all.String()
}

// round has so many runs made, so many at once, and returns the CPU time that they took.
func (c *contender) round(b *testing.B, runs, atOnce int, words string) time.Duration {
	b.Helper()
	runtime.GC()
	took := make([]time.Duration, runs)
	before, began := cpuTime(b), time.Now()
	var workers sync.WaitGroup
	for worker := range atOnce {
		workers.Go(func() {
			for n := worker; n < runs; n += atOnce {
				since := time.Now()
				err := c.once(b.Context(), words)
				assert.That(b, err == nil, "%v", err)
				took[n] = time.Since(since)
			}
		})
	}
	workers.Wait()
	cpu := cpuTime(b) - before
	c.took, c.cpu, c.wall = append(c.took, took...), c.cpu+cpu, c.wall+time.Since(began)
	return cpu
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	assert.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// quantile returns the value that this part of the others does not exceed.
func quantile[T time.Duration | float64](of []T, part float64) T {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[min(len(sorted)-1, int(part*float64(len(sorted))))]
}

// BenchmarkRun tells how much CPU time a run takes, beside a bare client's in the same rounds: the median of the rounds'
// ratios. It fails above the bounds of docs/scaling.md.
func BenchmarkRun(b *testing.B) {
	for _, at := range []struct {
		once  int
		bound float64
	}{{1, 3.5}, {16, 3}, {100, 2.5}} {
		b.Run(fmt.Sprintf("at-once-%d", at.once), func(b *testing.B) {
			program, bare := newContenders(b)
			runs := max(32, at.once)
			var ratios []float64
			for b.Loop() {
				cpu := program.round(b, runs, at.once, question)
				ratios = append(ratios, cpu.Seconds()/bare.round(b, runs, at.once, question).Seconds())
			}
			each := func(c *contender) float64 { return c.cpu.Seconds() * 1000 / float64(len(c.took)) }
			for _, c := range []*contender{program, bare} {
				b.ReportMetric(each(c), c.name+"-cpu-ms/run")
				b.ReportMetric(float64(len(c.took))/c.wall.Seconds(), c.name+"-runs/s")
			}
			ratio := quantile(ratios, 0.5)
			b.ReportMetric(ratio, "times-bare")
			assert.That(b, b.N < 5 || ratio <= at.bound,
				"a run takes %.2f times the CPU time of a bare client (%.1f ms, and %.1f); %.1f times are allowed", ratio,
				each(program), each(bare), at.bound)
		})
	}
}

// sync is how long a commit waits for the disk of BenchmarkRunOnASlowDisk.
const sync4ms = 4 * time.Millisecond

// BenchmarkRunOnASlowDisk tells how long runs take of which a hundred go on at once, where a commit waits 4 ms for the
// disk and a turn 0.7 s for its model, beside a bare client's in the same rounds. It fails above the bounds of
// docs/scaling.md.
func BenchmarkRunOnASlowDisk(b *testing.B) {
	slow := true
	sqlite.RegisterConnectionHook(func(conn sqlite.ExecQuerierContext, _ string) error {
		hooks, ok := conn.(sqlite.HookRegisterer)
		if !ok {
			return fmt.Errorf("a %T has no hooks", conn)
		}
		hooks.RegisterCommitHook(func() int32 {
			if slow {
				time.Sleep(sync4ms)
			}
			return 0
		})
		return nil
	})
	defer func() { slow = false }()
	program, bare := newContenders(b)
	for b.Loop() {
		for _, c := range []*contender{program, bare} {
			c.round(b, 200, 100, question+" The model is distant.")
		}
	}
	for _, bound := range []struct {
		name       string
		part, most float64
	}{{"median", 0.5, 1.15}, {"p99", 0.99, 1.25}} {
		ours, theirs := quantile(program.took, bound.part).Seconds(), quantile(bare.took, bound.part).Seconds()
		b.ReportMetric(ours, "sibyl-"+bound.name+"-s")
		b.ReportMetric(theirs, "bare-"+bound.name+"-s")
		assert.That(b, ours <= bound.most*theirs,
			"the %s of a run is %.2f s, %.2f times a bare client's; %.2f times are allowed", bound.name, ours, ours/theirs,
			bound.most)
	}
}
