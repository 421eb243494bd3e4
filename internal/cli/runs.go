package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/journal"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
	"sibyl/internal/service"
)

func (c *command) runCommand() *cobra.Command {
	return group(&cobra.Command{Use: "run", Short: "List, resume, watch and stop runs",
		Long: "A run is the work on one question. A run that a crash or a lost journal interrupted stays open; ‘run resume’ goes on\nwhere it was."},
		c.runList(), c.runResume(), c.runWatch(), c.runCancel())
}

func (c *command) runList() *cobra.Command {
	var open bool
	cmd := &cobra.Command{
		Use: "list", Short: "List runs, the latest first", Example: "  sibyl run list", Args: cobra.NoArgs,
		RunE: c.onApp(func(ctx context.Context, a *app.App, _ []string) error {
			f := journal.Filter{Limit: c.limit}
			if open {
				f.Status = journal.Running
			}
			runs, err := a.Service.Runs(ctx, c.owner(), f)
			if err != nil {
				return err
			}
			return printList(c, runs, func(r service.Row) string {
				line := listLine(r.ID, r.StartedAt, fmt.Sprintf("%-11s", r.State), r.Title)
				if r.Why != "" {
					line += "\n    " + r.Why
				}
				return line
			})
		}),
	}
	cmd.Flags().BoolVar(&open, "open", false, "only runs that have not ended")
	return c.withJSON(c.withLimit(cmd, 20, "how many at most"), "a JSON array")
}

// newJSON writes JSON that steers no terminal: what printable would drop is written by its number.
func newJSON(to io.Writer) *json.Encoder {
	enc := json.NewEncoder(numbering{to})
	enc.SetEscapeHTML(false)
	return enc
}

// numbering writes the characters that steer a terminal as JSON's \u escapes. Each call gets whole characters.
type numbering struct{ io.Writer }

func (n numbering) Write(text []byte) (int, error) {
	var b []byte
	for _, r := range string(text) {
		if s := string(r); r != '\n' && printable(s) == "" {
			for _, half := range utf16.Encode([]rune{r}) {
				b = fmt.Appendf(b, "\\u%04x", half)
			}
		} else {
			b = append(b, s...)
		}
	}
	if _, err := n.Writer.Write(b); err != nil {
		return 0, err
	}
	return len(text), nil
}

// printJSON writes one JSON value and a line end.
func (c *command) printJSON(v any) error {
	enc := newJSON(c.Out)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func (c *command) runResume() *cobra.Command {
	var force bool
	cmd := c.withView(&cobra.Command{
		Use: "resume [RUN]", Short: "Go on with a run that was interrupted (default: all of them)", Args: cobra.MaximumNArgs(1),
		Long: "Goes on with a run that was interrupted (default: all of them), from the last thing that was kept of it. What only reads may be\n" +
			"performed again, what writes is not.\n\nA run that was taken up three times, and each time the program ended before it had gone through what is kept of it, is set\n" +
			"aside: nothing takes it up by itself, and ‘run resume’ says so. --force tries it once more.\n\nExit codes are those of ‘sibyl ask’.",
		Example: "  sibyl run resume\n  sibyl run resume last --trace",
		RunE: c.onApp(func(ctx context.Context, a *app.App, args []string) error {
			c.notices = a.Config.Notices
			if force && len(args) == 0 {
				return withCode(ExitUsage, errors.New("--force wants the run that it is for"))
			}
			return c.resume(ctx, a, args, force)
		}),
	}, "one JSON object a run")
	cmd.Flags().BoolVar(&force, "force", false, "try a run that is set aside once more")
	return cmd
}

func (c *command) resume(ctx context.Context, a *app.App, args []string, force bool) error {
	if len(args) == 1 {
		r, err := a.Service.FindRun(ctx, c.owner(), args[0])
		if err != nil {
			return err
		}
		return c.resumeOne(ctx, a, r, force)
	}
	open, err := a.Service.Interrupted(ctx, c.owner())
	if err != nil {
		return err
	}
	resumed := 0
	for _, r := range open {
		err := c.resumeOne(ctx, a, r, false)
		if errors.Is(err, journal.ErrLeased) || errors.Is(err, journal.ErrEnded) {
			continue
		}
		if errors.Is(err, run.ErrIncompatible) { // it keeps no other from going on
			fmt.Fprintf(c.Err, "· %s\n", printable(err.Error()))
			continue
		}
		if err != nil {
			return err
		}
		resumed++
	}
	if resumed == 0 {
		fmt.Fprintln(c.Err, "no run is waiting to be resumed")
	}
	return nil
}

func (c *command) resumeOne(ctx context.Context, a *app.App, r journal.Run, force bool) error {
	how := a.Service.Resume
	if force {
		how = a.Service.Force
	}
	resumed, err := how(ctx, c.owner(), r.ID)
	switch {
	case errors.Is(err, run.ErrSetAside):
		return withCode(ExitUsage, err)
	case errors.Is(err, journal.ErrLeased):
		return withCode(ExitUsage, fmt.Errorf("%w; if that process is gone, its lease ends within seconds", err))
	case errors.Is(err, journal.ErrEnded):
		return withCode(ExitUsage, fmt.Errorf("%w; ‘sibyl explain %s’ shows how", err, r.ID))
	case err != nil:
		return err
	case r.Assistant == oracle.ShadowName:
		return c.finishShadow(ctx, a, resumed)
	}
	return c.follow(ctx, resumed)
}

func (c *command) runWatch() *cobra.Command {
	var from int64
	cmd := &cobra.Command{
		Use: "watch RUN", Short: "Show a run's records as JSON lines, and go on until it ends",
		Example: "  sibyl run watch last | jq .kind", Args: cobra.ExactArgs(1),
		RunE: c.onRun(func(ctx context.Context, a *app.App, r journal.Run) error {
			enc := newJSON(c.Out)
			for e, err := range a.Service.Watch(ctx, c.owner(), r.ID, service.Place{Record: from}) {
				if err != nil {
					return err
				}
				if e.Record != nil {
					if err := enc.Encode(e.Record); err != nil {
						return err
					}
				}
			}
			return ctx.Err()
		}),
	}
	cmd.Flags().Int64Var(&from, "from", 0, "the first record number")
	return cmd
}

func (c *command) runCancel() *cobra.Command {
	return &cobra.Command{
		Use: "cancel RUN", Short: "Stop a run; what it had written so far is kept", Example: "  sibyl run cancel last", Args: cobra.ExactArgs(1),
		RunE: c.onRun(func(ctx context.Context, a *app.App, r journal.Run) error {
			if err := a.Service.Cancel(ctx, c.owner(), r.ID, "stopped by ‘sibyl run cancel’"); err != nil {
				return withCode(ExitUsage, err)
			}
			fmt.Fprintln(c.Out, r.ID, "is being stopped")
			return nil
		}),
	}
}
