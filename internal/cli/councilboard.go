package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"sibyl/internal/council"
	"sibyl/internal/journal"
	"sibyl/internal/service"
	"sibyl/internal/text"
)

// board shows the answers of several oracles: each as soon as it is finished, and before that, on a terminal, a line with the end of what it says.
type board struct {
	*sitting
	p *progress

	mu       sync.Mutex
	lines    []boardLine
	drawn    int // lines that stand on the terminal
	of       int // oracles that are asked
	answered int
	shown    map[string]bool // runs whose answers were printed
	all      sync.WaitGroup
	stop     []context.CancelFunc
}

type boardLine struct {
	name  string
	text  string
	ended bool
}

// gather follows a sitting to its end, and shows the answers as they are finished.
func (s *sitting) gather(ctx context.Context, r *service.Run, oracles int) error {
	p := s.newProgress()
	p.apart = s.ErrTTY && !s.quiet // the board has the line that lives
	b := &board{sitting: s, p: p, of: oracles, shown: map[string]bool{}}
	for u := range r.Watch(ctx, 0) {
		b.take(ctx, u)
	}
	b.close()
	p.end()
	res, err := r.Wait(ctx)
	if err != nil {
		return err
	}
	if res.Answer, err = council.Rest(res.Outcome, b.shown); err != nil {
		return err
	}
	return s.answer(p, r, res)
}

// take takes in what happens in the sitting itself.
func (b *board) take(ctx context.Context, u service.Update) {
	if u.Event != nil {
		switch u.Event.Type {
		case (council.OracleAsked{}).EventType():
			var asked council.OracleAsked
			if err := json.Unmarshal(u.Event.Data, &asked); err == nil {
				b.follow(ctx, asked)
			}
		case (council.OracleHeard{}).EventType():
			u.Lines = nil // told when its run had ended
			b.settle()
		case (council.Merging{}).EventType():
			b.update(func() { b.p.apart = false })
		}
	}
	b.update(func() { b.p.update(u) })
}

// whenThere is how long a run is waited for that is about to begin.
const whenThere = 10 * time.Second

// follow shows the run of an oracle until it ends, and then its answer.
func (b *board) follow(ctx context.Context, asked council.OracleAsked) {
	ctx, stop := context.WithCancel(ctx)
	b.mu.Lock()
	n := len(b.lines)
	b.lines, b.stop = append(b.lines, boardLine{name: asked.Oracle}), append(b.stop, stop)
	b.mu.Unlock()
	b.all.Go(func() {
		b.watch(ctx, n, asked.Run)
		b.update(func() {
			b.lines[n].ended = true
			b.heard(ctx, asked)
		})
	})
}

// watch takes in what an oracle says until its run ends.
func (b *board) watch(ctx context.Context, n int, run string) {
	for last := time.Now().Add(whenThere); ctx.Err() == nil && time.Now().Before(last); {
		for u, err := range b.a.Service.Watch(ctx, b.owner(), run, service.Place{}) {
			if errors.Is(err, journal.ErrNotFound) {
				break
			}
			if err != nil {
				return
			}
			last = time.Time{}
			b.update(func() {
				if u.Retract {
					b.lines[n].text = ""
				}
				b.lines[n].text += u.Text
			})
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// heard shows what an oracle has answered, or why it has not.
func (b *board) heard(ctx context.Context, asked council.OracleAsked) {
	res, err := b.a.Service.Result(ctx, b.owner(), asked.Run)
	if err != nil {
		return // it has not ended: this process drives it no longer
	}
	if res.Failure != nil {
		b.p.say("%s", printable(council.OracleHeard{Oracle: asked.Oracle, Failed: res.Failure.Message}.String()))
		return
	}
	sat, _, err := council.ReadSat(res.Outcome)
	if err != nil || sat.Answer == nil {
		return
	}
	b.answered++
	if !b.asJSON {
		b.p.screen.answer(sat.Answer.Markdown())
		b.shown[asked.Run] = true
	}
	b.p.say("%d of %d have answered", b.answered, b.of)
}

// update changes the board, and draws it anew.
func (b *board) update(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.erase()
	change()
	b.draw()
}

func (b *board) erase() {
	if b.drawn > 0 {
		fmt.Fprintf(b.Err, "\x1b[%dA\r\x1b[J", b.drawn)
		b.drawn = 0
	}
}

func (b *board) draw() {
	if !b.p.apart {
		return
	}
	width := b.p.screen.width()
	for _, line := range b.lines {
		if line.ended {
			continue
		}
		said := text.OneLine(line.text)
		head := fmt.Sprintf("  %s │ ", line.name)
		room := width - len([]rune(head)) - 1
		if r := []rune(said); room > 1 && len(r) > room {
			said = "…" + string(r[len(r)-room+1:])
		}
		fmt.Fprintln(b.Err, b.p.screen.dim(clipLine(head+said, width), true))
		b.drawn++
	}
}

// settle waits until the answers of runs that have ended are shown. Of a run that this process drives no longer, nothing more comes.
func (b *board) settle() {
	late := time.AfterFunc(whenEnded, b.leave)
	b.all.Wait()
	late.Stop()
}

// whenEnded is how long the answers of runs that have ended are waited for.
const whenEnded = 2 * time.Second

// leave follows no run any more.
func (b *board) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, stop := range b.stop {
		stop()
	}
}

// close ends the board, and takes it away.
func (b *board) close() {
	b.settle()
	b.leave()
	b.update(func() { b.p.apart = false })
}
