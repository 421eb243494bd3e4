package talk

import (
	"context"
	"errors"
	"flag"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"go.uber.org/goleak"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
)

// TestMain holds goroutines to their end, but for those of the renderer: it leaves what reads keys and what waits for
// the next second to the end of the process.
func TestMain(m *testing.M) {
	var options []goleak.Option
	for _, function := range []string{"charm.land/bubbletea/v2.Tick.func1",
		"charm.land/bubbletea/v2.(*Program).execBatchMsg", "charm.land/bubbletea/v2.(*Program).readLoop",
		"github.com/charmbracelet/ultraviolet.(*TerminalReader).StreamEvents.func1"} {
		options = append(options, goleak.IgnoreAnyFunction(function))
	}
	goleak.VerifyTestMain(m, options...)
}

// played is a program whose answers a test plays.
type played struct {
	mu       sync.Mutex
	runs     []*playedRun
	asked    []string                     // the words of each question
	sessions map[string][]journal.Session // by assistants
	last     Exchange
	write    string // in words; "" for none
	undone   []string
	declined chan string   // runs
	refuse   error         // instead of a run
	slow     chan struct{} // what a beginning waits for, beside its end; nil: nothing

	begun chan *playedRun
}

// playedRun is an answer under way.
type playedRun struct {
	Asked
	ctx     context.Context
	updates chan service.Update
	result  chan service.Result
}

func newPlayed() *played {
	return &played{begun: make(chan *playedRun, 10), declined: make(chan string, 10)}
}

func (p *played) Start(ctx context.Context, a Asked) (Run, error) {
	if p.refuse != nil {
		return Run{}, p.refuse
	}
	if p.slow != nil {
		p.begun <- &playedRun{ctx: ctx}
		select {
		case <-p.slow:
		case <-ctx.Done():
			return Run{}, context.Cause(ctx)
		}
	}
	if a.Session == "" {
		a.Session = map[string]string{"oracle": "0session"}[a.Of] + map[string]string{"tasks": "0tasks",
			"council": "0council"}[a.Of]
	}
	r := &playedRun{Asked: a, ctx: ctx, updates: make(chan service.Update), result: make(chan service.Result, 1)}
	p.mu.Lock()
	p.asked, p.runs = append(p.asked, a.Words), append(p.runs, r)
	p.mu.Unlock()
	p.begun <- r
	return Run{ID: "0run", Session: a.Session, Model: "played:model",
		Watch: func(context.Context) iter.Seq[service.Update] {
			return func(yield func(service.Update) bool) {
				for u := range r.updates {
					if !yield(u) {
						return
					}
				}
			}
		},
		Wait: func(ctx context.Context) (service.Result, error) {
			select {
			case res := <-r.result:
				r.result <- res
				if res.Reason == "broken" {
					return service.Result{}, errors.New("run 0run stopped short: the disk is full")
				}
				return res, nil
			case <-ctx.Done():
				return service.Result{}, ctx.Err()
			}
		}}, nil
}

// Offer offers reminders to Tasks.
func (p *played) Offer(words, instead string) (assistant, question string) {
	if what, ok := strings.CutPrefix(words, "remind me to "); ok && instead != "tasks" {
		return "tasks", "Add “" + what + "”?"
	}
	return "", ""
}

func (p *played) Oracles(context.Context) ([]string, error) {
	return []string{"skeptic", "optimist"}, nil
}
func (p *played) Redact(text string) string { return strings.ReplaceAll(text, "hunter2", "…") }
func (p *played) Models(context.Context) ([]string, error) {
	return []string{"ollama:llama3.1:8b", "ollama:qwen3:4b", "work:big"}, nil
}
func (p *played) Sessions(_ context.Context, of string) ([]journal.Session, error) {
	return p.sessions[of], nil
}
func (p *played) Last(context.Context, string) (Exchange, error) {
	if p.last.Run == "" {
		return Exchange{}, journal.ErrNotFound
	}
	return p.last, nil
}
func (p *played) Why(_ context.Context, run string) ([]string, error) {
	return []string{"Took it for a question about the code", "Searched the code for “leases”: 10 found"}, nil
}
func (p *played) Passage(_ context.Context, _, source string) (string, error) {
	return "```\n   12  func take() {\n```\n", nil
}
func (p *played) Decline(_ context.Context, run string) error {
	p.declined <- run
	return nil
}
func (p *played) LastWrite(context.Context) (string, string, error) {
	if p.write == "" {
		return "", "", nil
	}
	return "0write", p.write, nil
}
func (p *played) Undo(_ context.Context, id string) (string, error) {
	p.undone = append(p.undone, id)
	return "shopping.md is as it was before", nil
}

// end ends an answer.
func (r *playedRun) end(res service.Result) {
	close(r.updates)
	r.result <- res
}

func (r *playedRun) say(text string) { r.updates <- service.Update{Text: text, Op: 1} }

// step is a step that asks for something.
func step(name string) service.Update {
	return service.Update{Step: &service.Step{Status: "RUNNING", Started: []run.RequestedEffect{{Label: name}},
		Withdrawn: []uint64{0}}}
}

// told is a line for somebody who waits.
func told(line string) service.Update { return service.Update{Told: bt.Because(line)} }

// four are the assistants of these tests.
func four() []Assistant {
	return []Assistant{
		{Name: "oracle", Title: "Oracle", Command: "/ask", About: "answers questions", Folders: true,
			Flags: []Flag{{"max-turns", "turns at most", ""}}},
		{Name: "tasks", Title: "Tasks", Command: "/task", About: "keeps your list", Bare: "show my tasks"},
		{Name: "council", Title: "Council", Command: "/council", About: "has oracles answer",
			Flags: []Flag{{"oracle", "who is asked", "oracle"}, {"history", "include answers", "=true false"}}},
		{Name: "inquiry", Title: "Inquiry", Command: "/investigate", About: "questions a witness",
			Flags: []Flag{{"witness", "who is asked", "witness"}}},
	}
}

// held is a conversation on an emulated terminal.
type held struct {
	*emulator
	t    *testing.T
	p    *played
	keys *os.File
	tea  *tea.Program
	done chan error

	clock sync.Mutex
	at    time.Time
}

func (h *held) now() time.Time {
	h.clock.Lock()
	defer h.clock.Unlock()
	return h.at
}

// pass lets time pass, and has the conversation look at it.
func (h *held) pass(d time.Duration) {
	h.clock.Lock()
	h.at = h.at.Add(d)
	h.clock.Unlock()
	h.tea.Send(struct{}{})
}

var began = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func hold(t *testing.T, width, height int, change ...func(*Config)) *held {
	t.Helper()
	in, keys, err := os.Pipe()
	assert.NoError(t, err)
	h := &held{emulator: newEmulator(t, width, height), t: t, p: newPlayed(), keys: keys, done: make(chan error, 1),
		at: began}
	started := make(chan *tea.Program, 1)
	c := Config{Sibyl: h.p, Assistants: four(), To: "oracle", With: With{Code: "/src/leases"}, In: in, Out: h.emulator,
		Width: width, Height: height,
		Environ: []string{"TERM=xterm-256color", "NO_COLOR=1", "HOME=/home/ada"}, Now: h.now,
		options: []tea.ProgramOption{tea.WithWindowSize(width, height), tea.WithFPS(120)}, began: func(p *tea.Program) {
			started <- p
		}}
	for _, one := range change {
		one(&c)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := Hold(ctx, c)
		h.done <- err
	}()
	t.Cleanup(func() {
		cancel()
		select {
		case <-h.done:
		case <-time.After(patience):
			t.Error("the conversation did not end")
		}
		_ = errors.Join(in.Close(), keys.Close())
		assert.That(t, len(h.unknown) == 0, "sequences that the terminal does not know: %q", h.unknown)
	})
	select {
	case h.tea = <-started:
	case err := <-h.done:
		h.done <- err
		t.Fatalf("the conversation ended: %v", err)
	}
	h.until("the first frame", func(s string) bool { return strings.Contains(s, "❯") })
	return h
}

// press types keys.
func (h *held) press(keys string) {
	h.t.Helper()
	assert.Must(io.WriteString(h.keys, keys))(h.t)
}

// answers presses a key once a question that is asked takes answers.
func (h *held) answers(key string) {
	h.t.Helper()
	h.pass(tooSoon)
	h.press(key)
}

// ask asks a question, and gives the answer that begins.
func (h *held) ask(words string) *playedRun {
	h.t.Helper()
	h.press(words)
	h.until("the words that are typed", func(s string) bool { return strings.Contains(s, words[:min(len(words), 20)]) })
	h.press("\r")
	select {
	case r := <-h.p.begun:
		return r
	case <-time.After(patience):
		h.t.Fatalf("no run has begun; the terminal shows\n%s", h.String())
		return nil
	}
}

func (h *held) shows(text string) string {
	h.t.Helper()
	return h.until("‘"+text+"’", func(s string) bool { return strings.Contains(s, text) })
}

// rests waits until a text is there and nothing is under way.
func (h *held) rests(text string) string {
	h.t.Helper()
	return h.until("‘"+text+"’ and an empty line", func(s string) bool {
		lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
		n := len(lines)
		return strings.Contains(s, text) && n > 2 && lines[n-3] == "" && lines[n-2] == "❯" &&
			strings.Contains(lines[n-1], "· session")
	})
}

func (h *held) showsNo(text string) string {
	h.t.Helper()
	return h.until("no ‘"+text+"’", func(s string) bool { return !strings.Contains(s, text) })
}

// ended waits for the end of the conversation.
func (h *held) ended() error {
	h.t.Helper()
	select {
	case err := <-h.done:
		h.done <- err
		return err
	case <-time.After(patience):
		h.t.Fatalf("the conversation goes on; the terminal shows\n%s", h.String())
		return nil
	}
}

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with a file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		assert.NoError(t, os.MkdirAll("testdata", 0o755))
		assert.NoError(t, os.WriteFile(file, []byte(got), 0o644))
		return
	}
	want := assert.Must(os.ReadFile(file))(t)
	assert.That(t, got == string(want),
		"the terminal shows\n%s\nand not, as in %s (-update writes it anew),\n%s", got, file, want)
}

// golden waits until the terminal shows a text, and what a file has. What is printed above the prompt and the prompt
// itself are drawn apart, in either order.
func (h *held) golden(name, text string) {
	h.t.Helper()
	screen := h.shows(text)
	if *update {
		golden(h.t, name, h.settled())
		return
	}
	file := filepath.Join("testdata", name+".txt")
	want := string(assert.Must(os.ReadFile(file))(h.t))
	if screen != want {
		h.until("what "+file+" has (-update writes it anew),\n"+want, func(s string) bool { return s == want })
	}
}

// answer is a result that is whole.
func answer(text string, sources ...string) service.Result {
	return service.Result{Run: "0run", Status: journal.Done, Shown: assistant.Shown{Answer: text, Sources: sources,
		Notes: []string{"searched the code, read 2 places; 3.2 s; played:model"}}}
}
