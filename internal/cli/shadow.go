package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/journal"
	"sibyl/internal/oracle"
	"sibyl/internal/service"
	"sibyl/internal/text"
)

// shadow answers a question again with the baseline tree, the same model and the same history, and prints a line that
// compares the two. The person has the answer by then: a shadow that fails or is stopped changes no exit code.
func (c *command) shadow(ctx context.Context, a *app.App, of *service.Run) {
	if !c.quiet {
		fmt.Fprintf(c.Err, "· the shadow is answering, with the tree ‘%s’; the answer above stands, and Ctrl-C stops "+
			"only the shadow\n", oracle.ShadowTree)
	}
	r, err := c.start(ctx, a, service.Request{Assistant: oracle.ShadowName, Options: oracle.ShadowOf{Run: of.ID,
		Spec: of.Spec}})
	if err == nil {
		err = c.finishShadow(ctx, a, r)
	}
	if err != nil {
		fmt.Fprintf(c.Err, "· the shadow failed, so there is nothing to compare: %v\n", err)
	}
}

// finishShadow waits for a shadow to end, and prints how it compares, but not its answer: that is for the report.
func (c *command) finishShadow(ctx context.Context, a *app.App, r *service.Run) error {
	if _, err := r.Wait(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("the shadow stopped short: %w", err)
	}
	if ctx.Err() != nil {
		return errors.New("it was stopped")
	}
	row, err := a.Service.FindRun(ctx, c.owner(), r.ID)
	if err != nil {
		return err
	}
	p, err := oracle.PairOf(row, c.outcomes(ctx, a))
	if err != nil || c.quiet {
		return err
	}
	fmt.Fprintf(c.Err, "· the shadow: %s after %s, %s, %d unnecessary, %d tokens; ours: %s, %s, %d unnecessary, %d "+
		"tokens; ‘sibyl shadow report %s’ shows both\n",
		p.Shadow.StopReason, text.Count(p.Shadow.Turns, "turn"), text.Count(p.Shadow.ToolCalls, "call"),
		p.Shadow.Unnecessary, p.Shadow.Tokens,
		text.Count(p.Ours.Turns, "turn"), text.Count(p.Ours.ToolCalls, "call"), p.Ours.Unnecessary, p.Ours.Tokens,
		p.Ours.RunID)
	return nil
}

// outcomes gives a function that reads the outcome of a run by its id.
func (c *command) outcomes(ctx context.Context, a *app.App) func(id string) (json.RawMessage, error) {
	return func(id string) (json.RawMessage, error) {
		res, err := a.Service.Result(ctx, c.owner(), id)
		return res.Outcome, err
	}
}

// comparedShadows pairs the latest shadows, at most limit, with their runs; skipped counts those it can't compare.
func (c *command) comparedShadows(
	ctx context.Context, a *app.App, limit int,
) (pairs []oracle.Pair, skipped int, err error) {
	rows, err := a.Service.Runs(ctx, c.owner(), journal.Filter{Assistant: oracle.ShadowName, Summaries: true,
		Limit: 100_000})
	if err != nil {
		return nil, 0, err
	}
	shadows := make([]journal.Run, len(rows))
	for i, r := range rows {
		shadows[i] = r.Run
	}
	return oracle.PairsOf(shadows, c.outcomes(ctx, a), limit)
}

// longestReport is how many questions a report compares by default.
const longestReport = 1000

func (c *command) shadowCommand() *cobra.Command {
	return group(&cobra.Command{Use: "shadow", Short: "Compare the Oracle with a plain loop on your own questions"},
		c.shadowReport())
}

func (c *command) shadowReport() *cobra.Command {
	cmd := &cobra.Command{Use: "report [RUN | last]",
		Short: "Compare all questions asked with --shadow, or show one side by side",
		Args:  cobra.MaximumNArgs(1),
		RunE: c.onApp(func(ctx context.Context, a *app.App, args []string) error {
			pairs, skipped, err := c.comparedShadows(ctx, a, c.limit)
			if err != nil {
				return err
			}
			if len(args) == 1 {
				p, err := pairFor(pairs, args[0])
				if err != nil {
					return withCode(ExitUsage, err)
				}
				pairs = []oracle.Pair{p}
			}
			return c.reportShadows(pairs, skipped, len(args) == 1)
		})}
	return c.withJSON(c.withLimit(cmd, longestReport, "maximum number to compare, the latest first"), "one JSON object")
}

// pairFor finds the pair of a run, ours or the shadow, by the beginning of its id; ‘last’ is the first pair.
func pairFor(pairs []oracle.Pair, wish string) (oracle.Pair, error) {
	if wish == "last" && len(pairs) > 0 {
		return pairs[0], nil
	}
	var found []oracle.Pair
	for _, p := range pairs {
		if wish != "" && (strings.HasPrefix(p.Ours.RunID, wish) || strings.HasPrefix(p.Shadow.RunID, wish)) {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 0:
		return oracle.Pair{}, fmt.Errorf("run %q has no shadow to compare: ask with ‘sibyl ask --shadow’", wish)
	case 1:
		return found[0], nil
	}
	return oracle.Pair{}, fmt.Errorf("%[2]d runs match %[1]q: give more of the id", wish, len(found))
}

func (c *command) reportShadows(pairs []oracle.Pair, skipped int, one bool) error {
	figures := []oracle.Compared{}
	if len(pairs) > 0 {
		figures = oracle.Compare(pairs)
	}
	if c.asJSON {
		return c.printJSON(struct {
			Pairs   []oracle.Pair     `json:"pairs"`
			Medians []oracle.Compared `json:"medians"`
			Skipped int               `json:"skipped"`
		}{append([]oracle.Pair{}, pairs...), figures, skipped})
	}
	if one {
		return c.sideBySide(pairs[0])
	}
	leftOut := func() {
		if skipped > 0 {
			fmt.Fprintf(c.Err, "· %s left out: one of the two runs has not ended, was removed, was stopped, failed, "+
				"or was refused by the model\n", text.Count(skipped, "question"))
		}
	}
	if len(pairs) == 0 {
		fmt.Fprintln(c.Err, "· there is nothing to compare yet: ask with ‘sibyl ask --shadow’")
		leftOut()
		return nil
	}
	fmt.Fprintf(c.Out, "%s asked both ways; medians\n", text.Count(len(pairs), "question"))
	t := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "\tours\tbaseline\tours lower\tours higher\n")
	for _, f := range figures {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\n", f.What, figure(f.Ours), figure(f.Shadow), f.Lower, f.Higher)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	leftOut()
	return nil
}

// figure formats a number with all its digits and no exponent.
func figure(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// sideBySide prints one question with the figures and answers of both its runs.
func (c *command) sideBySide(p oracle.Pair) error {
	fmt.Fprintf(c.Out, "%s\n", printable(p.Question))
	t := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "\tours\tbaseline\n")
	for _, row := range []struct{ what, ours, theirs string }{
		{"run", p.Ours.RunID, p.Shadow.RunID},
		{"model", p.Ours.Model, p.Shadow.Model},
		{"stopped", p.Ours.StopReason, p.Shadow.StopReason},
		{"turns", fmt.Sprint(p.Ours.Turns), fmt.Sprint(p.Shadow.Turns)},
		{"tool calls", oracle.FormatCounts(p.Ours.Calls), oracle.FormatCounts(p.Shadow.Calls)},
		{"unnecessary", fmt.Sprint(p.Ours.Unnecessary), fmt.Sprint(p.Shadow.Unnecessary)},
		{"tokens", fmt.Sprint(p.Ours.Tokens), fmt.Sprint(p.Shadow.Tokens)},
		{"time", fmt.Sprintf("%d ms", p.Ours.TookMS), fmt.Sprintf("%d ms", p.Shadow.TookMS)},
		{"signals", oracle.FormatCounts(p.Ours.Signals), oracle.FormatCounts(p.Shadow.Signals)},
		{"places cited", fmt.Sprint(len(p.Ours.Cited)), fmt.Sprint(len(p.Shadow.Cited))},
	} {
		fmt.Fprintf(t, "%s\t%s\t%s\n", row.what, printable(row.ours), printable(row.theirs))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, way := range []struct {
		name string
		oracle.ComparedAnswer
	}{{"ours", p.Ours}, {"baseline", p.Shadow}} {
		fmt.Fprintf(c.Out, "\n--- %s, citing: %s\n%s\n", way.name, printable(strings.Join(way.Cited, ", ")),
			printable(way.Answer))
	}
	return nil
}
