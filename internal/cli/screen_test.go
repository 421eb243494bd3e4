package cli

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hinshun/vt10x"
	"go.uber.org/goleak"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
)

var update = flag.Bool("update", false, "write the golden screens anew; read them before they are kept")

// glass is an emulated terminal, with the line discipline before it.
type glass struct{ vt10x.Terminal }

func newGlass(width, height int) glass { return glass{vt10x.New(vt10x.WithSize(width, height))} }

func (g glass) Write(p []byte) (int, error) {
	_, err := g.Terminal.Write([]byte(strings.ReplaceAll(string(p), "\n", "\r\n")))
	return len(p), err
}

// String is what stands on it.
func (g glass) String() string {
	var lines []string
	for line := range strings.Lines(g.Terminal.String()) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// onGlass is a progress on a terminal.
func onGlass(width, height int, environ ...string) (*progress, glass) {
	g := newGlass(width, height)
	out := filterTerminal(g, true, width)
	cmd := &command{Streams: Streams{Out: out, Err: out, OutTTY: true, ErrTTY: true, Width: width, Height: height},
		environ: environ}
	return cmd.newProgress(), g
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "screens", name+".txt")
	if *update {
		assert.NoError(t, os.WriteFile(file, []byte(got), 0o600))
	}
	want := assert.Must(os.ReadFile(file))(t)
	assert.NoDiff(t, cmp.Diff(string(want), got), "%s (-want +got)", file)
}

// asks is a step that asks for effects.
func asks(effects ...run.RequestedEffect) service.Update {
	return service.Update{Step: &service.Step{Status: "RUNNING", Started: effects}}
}

// receipt is that of an effect.
func receipt(t *testing.T, op uint64) service.Update {
	t.Helper()
	body, err := json.Marshal(run.CompletionRecord{RequestedEffect: run.RequestedEffect{Op: op, Kind: agent.EffectCall}})
	assert.NoError(t, err)
	return service.Update{Record: &journal.Record{Kind: run.KindCompletion, Data: body}}
}

// happened is an event that somebody who waits is told of.
func happened(t *testing.T, e bt.Typed) service.Update {
	t.Helper()
	data := assert.Must(json.Marshal(e))(t)
	return service.Update{Event: &service.Event{TraceEvent: run.TraceEvent{Type: e.EventType(), Data: data}},
		Told: e.(bt.Narrated).Story()}
}

var (
	turn = run.RequestedEffect{Op: 1, Kind: agent.EffectTurn, Label: "turn 1 of 30"}
	call = run.RequestedEffect{Op: 2, Kind: agent.EffectCall,
		Label: `code_search {"query":"how are leases acquired when a process is dead"}`}
	read = run.RequestedEffect{Op: 3, Kind: agent.EffectCall, Label: `code_read {"path":"internal/run/lease.go"}`}
)

const longAnswer = `## Leases

A run is driven by one process at a time, which holds its **lease** (` + "`internal/run/lease.go:31-58`" +
	`). Whoever finds that nobody drives a run takes it over:

1. it looks whether the holder was a process of this machine whose lock is free, and counts the lease as expired then;
2. else it waits until the lease has run out, which takes eight seconds at most, by the clock of the database.

| what | where | when |
|---|---|---|
| the lease | internal/run/lease.go:31-58 | while the run is driven, and renewed every third of its time |
| the fence | internal/journal/journal.go:12 | at each append |

` + "```go\nfunc (d *driver) acquire(ctx context.Context) error {\n\treturn d.store.Acquire(ctx, d.run, d.holder, " +
	"d.term)\n}\n```\n"

// played has a model answer on a terminal, in small pieces.
func played(t *testing.T, p *progress, answer string) {
	t.Helper()
	p.update(asks(turn))
	p.update(receipt(t, 1))
	p.update(happened(t, oracle.TurnTaken{Turn: 1, MaxTurns: 30, Signal: "need_turn"}))
	p.update(asks(call, read))
	time.Sleep(time.Second)
	p.update(receipt(t, 2))
	p.update(receipt(t, 3))
	p.update(happened(t, agent.CallDone{Tool: "code_search", Arguments: strings.TrimPrefix(call.Label, "code_search "),
		Items: 4, TookMS: 200}))
	p.update(asks(turn))
	time.Sleep(pace / 10) // no piece arrives at the very moment of a painting
	for rest := answer; rest != ""; {
		n := min(7, len(rest))
		p.update(service.Update{Text: rest[:n]})
		rest = rest[n:]
		time.Sleep(20 * time.Millisecond)
	}
}

func TestFirstWordIsShownAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, g := onGlass(80, 24)
		p.update(asks(turn))
		time.Sleep(pace * 5 / 2)
		p.update(service.Update{Text: "Leases"})
		assert.Contains(t, "the screen", g.String(), "Leases")
		p.end()
	})
}

var widths = []int{60, 80, 200}

func TestAnswerStandsRenderedOnTheScreen(t *testing.T) {
	for _, width := range widths {
		for what, height := range map[string]int{"tall": 14, "whole": 50} {
			t.Run(fmt.Sprint(width, what), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					defer goleak.VerifyNone(t, goleak.IgnoreCurrent(),
						goleak.IgnoreAnyFunction("runtime.runFinalizers"))
					p, g := onGlass(width, height)
					played(t, p, longAnswer)
					golden(t, fmt.Sprintf("arriving.%s.%d", what, width), g.String())
					p.update(receipt(t, 1))
					p.update(happened(t, oracle.TurnTaken{Turn: 2, MaxTurns: 30, Signal: "context_sufficient"}))
					p.end()
					p.show(service.Result{Shown: assistant.Shown{Answer: strings.TrimSpace(longAnswer),
						Notes: []string{"searched the code, read 2 places; 1.2 s; test:a-model-with-a-long-name"}}})
					golden(t, fmt.Sprintf("answer.%s.%d", what, width), g.String())
				})
			})
		}
	}
}

func TestSlowModelIsSeenToWork(t *testing.T) {
	for _, width := range widths {
		synctest.Test(t, func(t *testing.T) {
			p, g := onGlass(width, 10)
			p.say("asking test:model")
			p.update(asks(call, read))
			time.Sleep(12*time.Second + pace/2)
			golden(t, fmt.Sprintf("slow.%d", width), g.String())
			p.update(receipt(t, 2))
			p.update(receipt(t, 3))
			p.update(service.Update{Wait: &run.Wait{Until: time.Now().Add(3 * time.Second),
				Why: "the provider has too much to do"}})
			time.Sleep(time.Second + 2*pace)
			got := g.String()
			assert.That(t, strings.Contains(got, "asking again in 2 s: the provider"), "a pause is not counted:\n%s", got)
			p.end()
			got, want := g.String(), "· asking test:model\n"
			assert.That(t, got == want, "the end leaves %q, not %q", got, want)
		})
	}
}

func TestInterruptedAnswerKeepsWhatItHas(t *testing.T) {
	for _, width := range widths {
		synctest.Test(t, func(t *testing.T) {
			p, g := onGlass(width, 24)
			half := longAnswer[:len(longAnswer)/3]
			played(t, p, half)
			time.Sleep(pace)
			p.end()
			p.show(service.Result{Status: journal.Cancelled, Shown: assistant.Shown{Answer: half,
				Notes: []string{"cancelled after 2 of 30 turns; run x"}}})
			golden(t, fmt.Sprintf("interrupted.%d", width), g.String())
		})
	}
}

func TestTextThatIsNoAnswerIsTakenBack(t *testing.T) {
	for _, height := range []int{8, 40} {
		synctest.Test(t, func(t *testing.T) {
			p, g := onGlass(60, height)
			p.say("asking test:model")
			for line := range strings.Lines(longAnswer) {
				p.update(service.Update{Text: line})
				time.Sleep(pace)
			}
			p.say("beside it")
			time.Sleep(2 * pace)
			if got := g.String(); !strings.Contains(got, "beside it") || !strings.Contains(got, "store.Acquire") {
				t.Errorf("while it arrives the terminal shows\n%s", got)
			}
			p.update(service.Update{Retract: true})
			p.end()
			p.show(service.Result{Shown: assistant.Shown{Answer: "Short."}})
			if got := g.String(); !strings.HasSuffix(got, "· beside it\nShort.\n") || strings.Count(got, "\n") > 3 {
				t.Errorf("the terminal of %d rows shows\n%s", height, got)
			}
		})
	}
}

func TestDumbTerminalGetsNoSequence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		cmd := &command{Streams: Streams{Out: &b, Err: &b, OutTTY: true, ErrTTY: true, Width: 60, Height: 8},
			environ: []string{"TERM=dumb", "FORCE_HYPERLINK=0"}}
		p := cmd.newProgress()
		played(t, p, longAnswer)
		p.end()
		p.show(service.Result{Shown: assistant.Shown{Answer: longAnswer}})
		got := b.String()
		assert.That(t, !strings.ContainsAny(got, "\x1b\r") && strings.Count(got, "## Leases") == 1, "it gets\n%q", got)
	})
}

// TestLongAnswerIsPaintedAtAPace streams a hundred kilobytes in pieces of a few bytes: what is written to the terminal
// stays within a screen for each painting, and the text arrives whole.
func TestLongAnswerIsPaintedAtAPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &counting{}
		cmd := &command{Streams: Streams{Out: out, Err: out, OutTTY: true, ErrTTY: true, Width: 80, Height: 24}}
		p := cmd.newProgress()
		start := time.Now()
		text := strings.Repeat("Some words of a long answer, with `code` and **weight**, and a citation of "+
			"a/b.go:12.\n\n", 100<<10/90)
		for rest := text; rest != ""; {
			n := min(12, len(rest))
			p.update(service.Update{Text: rest[:n]})
			rest = rest[n:]
			time.Sleep(time.Millisecond)
		}
		p.end()
		p.show(service.Result{Shown: assistant.Shown{Answer: text}})
		most := len(text) + 24*80*int(time.Since(start)/pace)
		assert.That(t, out.n <= most, "%d bytes were written for a text of %d", out.n, len(text))
		assert.That(t, strings.Contains(out.last, "a/b.go:12"), "the end is missing: %q", out.last)
	})
}

type counting struct {
	n    int
	last string
}

func (c *counting) Write(p []byte) (int, error) {
	c.n += len(p)
	c.last = string(p)
	return len(p), nil
}
