package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"sibyl/internal/app"
	"sibyl/internal/bt"
	"sibyl/internal/files"
	"sibyl/internal/run/replay"
	"sibyl/internal/service"
	"sibyl/internal/text"
)

// replayAll replays the past runs of an assistant with a tree, and prints which of them decide differently.
func (c *command) replayAll(ctx context.Context, a *app.App, f replayFlags, args []string) error {
	switch {
	case len(args) > 0:
		return withCode(ExitUsage, errors.New("--all takes all runs: name none"))
	case f.tree == "":
		return withCode(ExitUsage, errors.New("--all wants the tree that decides: --tree FILE"))
	case f.limit < 1:
		return withCode(ExitUsage, errors.New("--limit is how many runs at most: at least 1"))
	}
	text, err := files.ReadNamed(f.tree, mostTree)
	if err != nil {
		return withCode(ExitUsage, fmt.Errorf("the tree: %w", err))
	}
	screen := c.newScreen()
	var done, all atomic.Int64
	if !c.quiet {
		screen.setStatusLine(func() string { return fmt.Sprintf("· replayed %d of %d runs", done.Load(), all.Load()) })
	}
	told := func(n, of int) {
		done.Swap(int64(n))
		all.Swap(int64(of))
	}
	h, err := a.Service.ReplayAll(ctx, c.owner(),
		service.ReplayFilter{Assistant: f.assistant, Most: f.limit, OnProgress: told},
		replay.Options{TreeFile: f.tree, Tree: text})
	screen.close()
	var misuse *service.UsageError
	if _, broken := errors.AsType[*bt.LoadError](err); broken || errors.As(err, &misuse) {
		return withCode(ExitUsage, err)
	}
	if err != nil {
		return err
	}
	if len(h.Groups) > 0 {
		c.code = ExitDiffers
	}
	return c.printResult(h, historyText(h))
}

// historyText describes a history for people.
func historyText(h replay.History) string {
	const shown = 5 // runs of a group, and of those that don't fit
	b := &strings.Builder{}
	fmt.Fprintf(b, "%s: %d decide the same, %d otherwise\n", text.Count(h.Runs, "run"), h.Same, h.Runs-h.Same)
	for _, g := range h.Groups {
		fmt.Fprintf(b, "\n%s, %s:\n  as recorded %s\n  replayed    %s\n", text.Count(len(g.Runs), "run"),
			differences[g.Kind], nodeText(g.Was), nodeText(g.Would))
		for _, p := range g.Runs[:min(shown, len(g.Runs))] {
			where := ""
			if p.Step > 0 {
				where = fmt.Sprintf(" step %d", p.Step)
			}
			fmt.Fprintf(b, "    %s%s\n", p.Run, where)
		}
		if more := len(g.Runs) - shown; more > 0 {
			fmt.Fprintf(b, "    and %d more; --json names all\n", more)
		}
	}
	if len(h.Unfit) > 0 {
		fmt.Fprintf(b, "\n%s can't be taken through this tree:\n", text.Count(len(h.Unfit), "run"))
		for _, u := range h.Unfit[:min(shown, len(h.Unfit))] {
			fmt.Fprintf(b, "    %s: %s\n", u.Run, oneLine(u.Why))
		}
	}
	return b.String()
}

func nodeText(rule string) string {
	if rule == "" {
		return "(no node)"
	}
	return oneLine(rule)
}
