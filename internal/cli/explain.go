package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"sibyl/internal/agent"
	"sibyl/internal/app"
	conversation "sibyl/internal/cli/talk"
	"sibyl/internal/journal"
	"sibyl/internal/service"
	"sibyl/internal/text"
)

// explainFlags are the flags of ‘sibyl explain’.
type explainFlags struct {
	step int
	full bool
	html string
}

func (c *command) explainCommand() *cobra.Command {
	var e explainFlags
	cmd := &cobra.Command{
		Use: "explain [RUN]", Short: "Show why a run did what it did", Args: cobra.MaximumNArgs(1),
		RunE: c.onRun(func(ctx context.Context, a *app.App, r journal.Run) error { return c.explain(ctx, a, r, e) }),
	}
	cmd.Flags().IntVar(&e.step, "step", 0, "show only this step, counted from 1")
	cmd.Flags().BoolVar(&e.full, "full", false, "show all steps, with the rules that fired")
	cmd.Flags().StringVar(&e.html, "html", "", "write a page to this file, which must not exist yet")
	cmd = c.withPager(c.withJSON(cmd, "the steps as a JSON array"))
	cmd.MarkFlagsMutuallyExclusive("html", "json")
	cmd.MarkFlagsMutuallyExclusive("html", "step")
	return cmd
}

func (c *command) explain(ctx context.Context, a *app.App, r journal.Run, e explainFlags) error {
	x, costs, err := c.explanation(ctx, a, r.ID)
	if err != nil {
		return err
	}
	steps := x.Steps
	if e.step < 0 || e.step > len(steps) {
		return withCode(ExitUsage, fmt.Errorf("run %s has %d steps; there is no step %d", r.ID, len(steps), e.step))
	}
	if e.step > 0 {
		steps = steps[e.step-1 : e.step]
	}
	switch {
	case e.html != "":
		page, err := explainPage(x, costs)
		if err != nil {
			return err
		}
		return withCode(ExitUsage, c.writeNew(e.html, page))
	case c.asJSON:
		return c.printJSON(steps)
	case e.full || e.step > 0:
		return c.showInPager(ctx, wholeExplanation(x, steps, e.step))
	}
	return c.showInPager(ctx, c.shortExplanation(x, costs))
}

// explanation explains a run, and gives its tokens and costs as a text, "" if there are none.
func (c *command) explanation(ctx context.Context, a *app.App, run string) (service.Explanation, string, error) {
	x, err := a.Service.Explain(ctx, c.owner(), run)
	if err != nil {
		return x, "", err
	}
	used, err := a.Service.Used(ctx, c.owner(), run)
	return x, costsOf(c.prices, used, ""), err
}

// wholeExplanation shows steps in full, and how the run ended; only is the number of a single step, or 0 for all.
func wholeExplanation(x service.Explanation, steps []service.Step, only int) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "run %s, %s: %s\n", x.Run.ID, standingWords(x.Run.Standing), printable(x.Run.Title))
	for i, s := range steps {
		fmt.Fprintf(b, "\nstep %d, taking in record %d (%s)\n", max(only, i+1), s.Record, oneLine(s.TookIn))
		b.WriteString(stepText(s))
	}
	if len(x.Ending) > 0 {
		fmt.Fprintf(b, "\n%s\n", printable(strings.Join(x.Ending, "\n  ")))
	}
	return b.String()
}

// shortExplanation is the story of a run, each line with its step and duration, and then its facts.
func (c *command) shortExplanation(x service.Explanation, costs string) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "run %s, %s: %s\n", x.Run.ID, standingWords(x.Run.Standing), oneLine(x.Run.Title))
	const margin = 10
	line := func(head, text string) {
		text = fmt.Sprintf("%-*s%s", margin, "  "+head, oneLine(text))
		if c.OutTTY {
			text = wrapLine(text, c.width()-3) // a conversation puts a mark before it
		}
		b.WriteString(text + "\n")
	}
	for _, told := range x.Story {
		line(fmt.Sprintf("%4d", told.Step), toldLine(told))
	}
	for _, f := range storyFacts(x, costs) {
		line(f.What, f.Text)
	}
	return b.String()
}

// toldLine is a line of a story, with its duration and the run that it leads to.
func toldLine(told service.Told) string {
	line := conversation.WithDuration(text.Capitalize(told.Text), told.Took)
	if told.Run != "" {
		line += fmt.Sprintf(" (run %s)", told.Run)
	}
	return line
}

// fact is a line below a story, such as what was cited.
type fact struct{ What, Text string }

// storyFacts say what was cited and opened, what was sent where, and the tokens and time of the run.
func storyFacts(x service.Explanation, costs string) (all []fact) {
	const most = 4
	for _, cited := range []bool{true, false} {
		var places []string
		for _, s := range x.Sources {
			if s.Cited == cited {
				places = append(places, s.Cite+map[bool]string{true: " (not read)"}[!s.Read])
			}
		}
		if left := len(places) - most; left > 0 {
			places = append(places[:most], fmt.Sprintf("and %d more", left))
		}
		if len(places) > 0 {
			all = append(all, fact{map[bool]string{true: "cited", false: "opened"}[cited], strings.Join(places, ", ")})
		}
	}
	for _, s := range x.Sent {
		all = append(all, fact{"sent to", sentLine(s)})
	}
	if costs != "" {
		all = append(all, fact{"tokens", costs})
	}
	if !x.Run.EndedAt.IsZero() {
		all = append(all, fact{"time", agent.Seconds(x.Run.EndedAt.Sub(x.Run.StartedAt).Milliseconds())})
	}
	return all
}

// sentLine says where something was sent, of what kind, how often and how many bytes.
func sentLine(s service.Sent) string {
	line := s.Kind + " " + s.To
	if s.Times > 1 {
		line += fmt.Sprintf(" (%d times)", s.Times)
	}
	if s.Bytes > 0 {
		line += ", " + agent.Size(s.Bytes)
	}
	return line
}

// stepText draws one step: in order its nodes, indented below the trees that contain them, each with what it decided,
// or else why, and the keys that it wrote; then the effects that the step requests, and how the tree ends.
func stepText(s service.Step) string {
	b := &strings.Builder{}
	var above, said, wrote []string // said and wrote are of the node whose status is yet to come
	for i, e := range s.Events {
		if e.Status == "" {
			if e.Key != "" {
				wrote = append(wrote, e.String())
			} else {
				said = append(said, e.String())
			}
			if i+1 < len(s.Events) && s.Events[i+1].Rule == e.Rule {
				continue // its status comes with that
			}
		} else if said == nil && e.Reason != "" {
			said = []string{e.Reason}
		}
		trees := strings.Split(printable(e.Rule), "/")
		node := len(trees) - 1
		for depth, name := range trees[:node] {
			if depth >= len(above) || above[depth] != name {
				fmt.Fprintf(b, "%s%s\n", indent(depth), name)
				above = append(above[:min(depth, len(above))], name)
			}
		}
		above = above[:node]
		fmt.Fprintf(b, "%s%s %s", indent(node), eventMark(e.Status), trees[node])
		if len(said) > 0 {
			fmt.Fprintf(b, ": %s", printable(strings.Join(said, "; ")))
		}
		if len(wrote) > 0 {
			fmt.Fprintf(b, "  {%s}", printable(strings.Join(wrote, ", ")))
		}
		b.WriteByte('\n')
		said, wrote = nil, nil
	}
	for _, asked := range s.Started {
		fmt.Fprintf(b, "  → asks for %s\n", printable(asked.Name()))
	}
	if s.Status != "RUNNING" {
		fmt.Fprintf(b, "  the tree ends with %s\n", s.Status)
	}
	return b.String()
}

// eventMark is the mark for a node's status; a dot for an event without status.
func eventMark(status string) string {
	return cmp.Or(map[string]string{"": "·", "SUCCESS": "✓", "FAILURE": "✗", "RUNNING": "…", "SKIPPED": "⊘"}[status],
		"■")
}

func indent(depth int) string { return strings.Repeat("  ", depth+1) }
