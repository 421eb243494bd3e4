package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"sibyl/internal/model"
)

// The interval at which the bar of a download is drawn; the percentage after which a line is printed instead, where
// nothing can be redrawn.
const (
	drawEach  = 100 * time.Millisecond
	writeEach = 10
)

// pull has a provider load a model, and shows a progress bar. Ctrl-C stops it, which is an error with ExitStopped.
func (c *command) pull(ctx context.Context, p model.Provider, name string) error {
	c.note("loading %s; Ctrl-C stops it, and the next time it goes on from there", name)
	b := &bar{c: c, name: name, begun: time.Now()}
	err := p.Pull(ctx, name, b.showProgress)
	b.end()
	switch {
	case ctx.Err() != nil:
		c.note("stopped; Ollama keeps what it has: ‘sibyl init’ goes on from there")
		return withCode(ExitStopped, context.Cause(ctx))
	case err != nil:
		return withCode(ExitFailed, fmt.Errorf("loading %s failed: %w", name, err))
	}
	return nil
}

// bar shows the progress of a download: a line that is redrawn, or several lines where nothing can be.
type bar struct {
	c     *command
	name  string
	begun time.Time
	first int64 // bytes that were there when it began
	drawn time.Time
	last  string // what was shown last: the bar, or the percentage of a line
}

func (b *bar) showProgress(at model.PullProgress) {
	now := time.Now()
	if b.first == 0 {
		b.first = at.Done
		b.begun = now
	}
	if !b.c.ErrTTY {
		b.write(at)
		return
	}
	if now.Sub(b.drawn) < drawEach && at.Status != "success" {
		return
	}
	b.drawn = now
	line := pulledLine(b.name, at, at.Done-b.first, now.Sub(b.begun), max(20, b.c.width()-1))
	if line != b.last {
		fmt.Fprint(b.c.Err, "\r\x1b[K"+line)
		b.last = line
	}
}

// write prints a line whenever another tenth is loaded.
func (b *bar) write(at model.PullProgress) {
	if at.Total == 0 {
		return
	}
	percents := fmt.Sprintf("%d %%", at.Done*100/at.Total/writeEach*writeEach)
	if percents != b.last {
		b.last = percents
		b.c.note("%s: %s of %s", b.name, percents, size(at.Total))
	}
}

// end moves below the bar, which stays.
func (b *bar) end() {
	if b.c.ErrTTY && b.last != "" {
		fmt.Fprintln(b.c.Err)
	}
}

// pulledLine shows a download in a line of at most width columns; its speed is came bytes in the time watched.
func pulledLine(name string, at model.PullProgress, came int64, watched time.Duration, width int) string {
	if at.Total == 0 {
		return ansi.Truncate(printable(name+"  "+at.Status), width, "…")
	}
	end := fmt.Sprintf(" %3d %%  %s of %s", at.Done*100/at.Total, size(at.Done), size(at.Total))
	if seconds := watched.Seconds(); seconds >= 1 && came > 0 {
		rate := float64(came) / seconds
		left := time.Duration(float64(at.Total-at.Done)/rate) * time.Second
		end += fmt.Sprintf("  %s/s  %s left", size(int64(rate)), left)
	}
	if room := width - ansi.StringWidth(name+"  []"+end); room >= 8 {
		room = min(room, 40)
		full := int(int64(room) * at.Done / at.Total)
		return printable(name) + "  [" + strings.Repeat("=", full) + strings.Repeat(" ", room-full) + "]" + end
	}
	return ansi.Truncate(printable(name)+"  "+strings.TrimLeft(end, " "), width, "…")
}

// size formats a number of bytes in GB, MB or kB.
func size(bytes int64) string {
	switch {
	case bytes >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(bytes)/1e9)
	case bytes >= 1e6:
		return fmt.Sprintf("%.0f MB", float64(bytes)/1e6)
	}
	return fmt.Sprintf("%d kB", bytes/1000)
}
