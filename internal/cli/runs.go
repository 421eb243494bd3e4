package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/spf13/cobra"

	"sibyl/internal/agent"
	"sibyl/internal/app"
	conversation "sibyl/internal/cli/talk"
	"sibyl/internal/council"
	"sibyl/internal/journal"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
	"sibyl/internal/service"
)

func (c *command) runCommand() *cobra.Command {
	return group(&cobra.Command{Use: "run", Short: "List, resume, watch and stop runs"},
		c.runList(), c.runResume(), c.runWatch(), c.runStop())
}

func (c *command) runList() *cobra.Command {
	var open, waiting bool
	var days period
	var f journal.Filter
	var currency string
	line := func(r service.Row) string { return runLine(r, currency) }
	cmd := listCommand(c, &cobra.Command{Short: "List runs, the latest first"}, 20, "", line,
		func(ctx context.Context, a *app.App) (rows []service.Row, err error) {
			f.Limit, currency = c.limit, a.Service.Currency()
			if f.From, f.To, err = days.bounds(); err != nil {
				return nil, err
			}
			if open {
				f.Status = journal.Running
			}
			if waiting {
				rows, err = a.Service.Waiting(ctx, c.owner(), f)
			} else {
				rows, err = a.Service.Runs(ctx, c.owner(), f)
			}
			if err != nil {
				return nil, err
			}
			if !c.asJSON && f.Assistant == "" { // members are left out: their sitting is listed
				rows = slices.DeleteFunc(rows, func(r service.Row) bool { return r.Assistant == council.MemberName })
			}
			return rows, a.Service.AddUsage(ctx, rows)
		})
	cmd.Flags().BoolVar(&open, "open", false, "only runs that have not ended")
	cmd.Flags().BoolVar(&waiting, "waiting", false,
		"only runs that wait for you: paused, or with an open question")
	cmd.Flags().StringVar(&f.Assistant, "assistant", "", "only runs of this assistant, such as oracle or council")
	days.flags(cmd)
	cmd.MarkFlagsMutuallyExclusive("open", "waiting")
	return cmd
}

// runLine is a run in a list: state, title, assistant, cause, duration, tokens and cost, and below why it is paused.
func runLine(r service.Row, currency string) string {
	about := []string{r.Assistant}
	if why := causeWords(r.Standing); why != "" {
		about = append(about, why)
	}
	if !r.EndedAt.IsZero() {
		about = append(about, agent.Seconds(r.EndedAt.Sub(r.StartedAt).Milliseconds()))
	}
	if r.Used != nil {
		about = append(about, fmt.Sprintf("%d tokens", r.Used.Input+r.Used.Output))
		if r.Used.Cost != nil {
			about = append(about, amount(*r.Used.Cost)+" "+currency)
		}
	}
	line := listLine(r.ID, r.StartedAt, fmt.Sprintf("%-15s", stateWord(r.State)), r.Title) + "  (" +
		strings.Join(about, ", ") + ")"
	if why := waitWords(r.Standing); why != "" {
		line += "\n    " + printable(why)
	}
	return line
}

// stateWord is the state of a run for people.
func stateWord(state string) string {
	if state == run.StateWaiting {
		return "waiting for you"
	}
	return state
}

// asked marks a run that ended with a question to the person, answered or not.
const asked = "with a question"

// causeWords say why a run ended or, of one that is running, that it waits for room; "" if there is nothing to say.
func causeWords(s run.Standing) string {
	switch s.Cause {
	case "confirmation_required", "clarification_needed", oracle.StopNeedsUser:
		if s.State == run.StateWaiting {
			return ""
		}
		return asked
	case "success", string(journal.Done):
		return "done"
	}
	if s.State == run.StatePaused && s.Cause != run.CauseSetAside {
		return "" // waitWords says it
	}
	return strings.ReplaceAll(s.Cause, "_", " ")
}

// standingWords say how a run stands or, of one that ended, why it did.
func standingWords(s run.Standing) string {
	if why := causeWords(s); why != "" && why != asked && s.State == run.StateEnded {
		return why
	}
	return stateWord(s.State)
}

// waitWords say why a run is paused, and until when; "" if it is not.
func waitWords(s run.Standing) string {
	if s.State != run.StatePaused || s.Until.IsZero() {
		return s.Text
	}
	return fmt.Sprintf("%s; it rests until %s", strings.TrimRight(s.Text, "."), moment(s.Until))
}

// newJSON gives a JSON encoder that can't control the terminal: what printable drops is written as \u escapes.
func newJSON(to io.Writer) *json.Encoder {
	enc := json.NewEncoder(numbering{to})
	enc.SetEscapeHTML(false)
	return enc
}

// numbering writes control characters other than line ends as \u escapes. A Write must not split a character.
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

// printJSON prints a value as indented JSON, with a line end.
func (c *command) printJSON(v any) error {
	enc := newJSON(c.Out)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func (c *command) runResume() *cobra.Command {
	var force bool
	cmd := c.withView(&cobra.Command{
		Use: "resume [RUN]", Short: "Go on with a paused run (default: with all of them)", Args: cobra.MaximumNArgs(1),
		RunE: c.onApp(func(ctx context.Context, a *app.App, args []string) error {
			c.notices = a.Config.Notices
			if force && len(args) == 0 {
				return withCode(ExitUsage, errors.New("--force needs a run"))
			}
			return c.resume(ctx, a, args, force)
		}),
	}, "one JSON object per run")
	cmd.Flags().BoolVar(&force, "force", false, "try again a run that was set aside")
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
		if ctx.Err() != nil {
			return err
		}
		if err != nil { // the others are resumed all the same
			c.code = c.fail(err)
		}
		resumed++
	}
	if resumed == 0 {
		fmt.Fprintln(c.Err, "there are no paused runs")
	}
	return nil
}

func (c *command) resumeOne(ctx context.Context, a *app.App, r journal.Run, force bool) error {
	var how []run.ResumeOption
	if force {
		how = append(how, run.Forced)
	}
	resumed, err := a.Service.Resume(ctx, c.owner(), r.ID, how...)
	switch {
	case err != nil:
		return err
	case r.Assistant == oracle.ShadowName:
		return c.finishShadow(ctx, a, resumed)
	}
	return c.showRun(ctx, resumed)
}

func (c *command) runWatch() *cobra.Command {
	var from int64
	cmd := &cobra.Command{
		Use: "watch RUN", Args: cobra.ExactArgs(1),
		Short: "Follow a run that another process drives, until it ends or pauses",
		RunE: c.onRun(func(ctx context.Context, a *app.App, r journal.Run) error {
			if c.asJSON {
				return c.watchRecords(ctx, a, r, from)
			}
			return c.watch(ctx, a, r)
		}),
	}
	cmd.Flags().Int64Var(&from, "from", 0, "with --json: number of the first record to print")
	return c.withView(cmd, "its records as JSON lines")
}

// watchRecords prints the records of a run as JSON lines until it ends.
func (c *command) watchRecords(ctx context.Context, a *app.App, r journal.Run, from int64) error {
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
}

// watchRecheck is how often ‘run watch’ looks whether somebody still drives the run.
const watchRecheck = time.Second

// watch shows a run as whoever began it sees it, until it ends or is paused.
func (c *command) watch(ctx context.Context, a *app.App, r journal.Run) error {
	p := c.newProgress()
	var early []string
	show := func(u *service.Update) {
		if u == nil {
			return
		}
		p.update(*u)
		if u.Early != nil {
			early = append(early, u.Early.Markdown)
		}
	}
	row, err := a.Service.Await(ctx, c.owner(), r.ID, watchRecheck, show)
	for err == nil && row.State == run.StateRunning { // it waits for room
		row, err = a.Service.Await(ctx, c.owner(), r.ID, watchRecheck, show)
	}
	p.end()
	if err != nil {
		p.screen.retract()
		return err
	}
	if row.Status == journal.Running {
		p.say("%s", pausedNote([]journal.Run{row.Run}, c.spoken(row.Title)))
		return nil
	}
	res, err := a.Service.Result(ctx, c.owner(), r.ID)
	if err != nil {
		return err
	}
	res.Answer = conversation.WithoutShown(res.Answer, early)
	p.show(res)
	return nil
}

func (c *command) runStop() *cobra.Command {
	return &cobra.Command{
		Use: "stop RUN", Short: "Stop a run; what it has written is kept", Args: cobra.ExactArgs(1),
		RunE: c.onRun(func(ctx context.Context, a *app.App, r journal.Run) error {
			if err := a.Service.Cancel(ctx, c.owner(), r.ID, "stopped by the user"); err != nil {
				return withCode(ExitUsage, err)
			}
			fmt.Fprintln(c.Out, r.ID, "is being stopped")
			return nil
		}),
	}
}
