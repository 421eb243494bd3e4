package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/assistant"
	"sibyl/internal/journal"
	"sibyl/internal/render"
	"sibyl/internal/service"
)

// explaining is how an explanation is wanted.
type explaining struct {
	step int
	full bool
	html string
}

func (c *command) explainCommand() *cobra.Command {
	var e explaining
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

func (c *command) explain(ctx context.Context, a *app.App, r journal.Run, e explaining) error {
	x, err := a.Service.Explain(ctx, c.owner(), r.ID)
	if err != nil {
		return err
	}
	used, err := a.Service.Used(ctx, c.owner(), r.ID)
	if err != nil {
		return err
	}
	costs := costsOf(c.prices, used)
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
		return withCode(ExitUsage, writeNew(e.html, page))
	case c.asJSON:
		return c.printJSON(steps)
	case e.full || e.step > 0:
		return c.paged(ctx, wholeExplanation(x, steps, e.step))
	}
	return c.paged(ctx, c.shortExplanation(x, costs))
}

// wholeExplanation is each of the steps, and how the run ended.
func wholeExplanation(x service.Explanation, steps []service.Step, only int) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "run %s, %s: %s\n", x.Run.ID, x.Run.State, printable(x.Run.Title))
	for i, s := range steps {
		fmt.Fprintf(b, "\nstep %d, taking in record %d (%s)\n", max(only, i+1), s.Record, oneLine(s.TookIn))
		b.WriteString(stepText(s))
	}
	if len(x.Ending) > 0 {
		fmt.Fprintf(b, "\n%s\n", printable(strings.Join(x.Ending, "\n  ")))
	}
	return b.String()
}

// shortExplanation is a run in some eight lines.
func (c *command) shortExplanation(x service.Explanation, costs string) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "run %s, %s: %s\n", x.Run.ID, x.Run.State, oneLine(x.Run.Title))
	const margin = 11
	for _, p := range pointsOf(x, costs) {
		if p.What == "labels" { // of which --full and --html tell
			continue
		}
		text := oneLine(p.Text)
		if c.OutTTY {
			width := max(cmp.Or(c.Width, 80)-margin, margin)
			text = strings.Join(render.Wrap(text, width), "\n"+strings.Repeat(" ", margin))
		}
		fmt.Fprintf(b, "%-*s%s\n", margin, "  "+p.What, text)
	}
	return b.String()
}

// pointsOf are the points of an explanation, with what the run cost.
func pointsOf(x service.Explanation, costs string) []assistant.Point {
	points := x.Points
	if costs != "" {
		points = append(points, assistant.Point{What: "tokens", Text: costs})
	}
	return points
}

// stepText draws what one step came to, in order, by the trees that its nodes lie in. A node stands below them with
// what it decided,
// or else why, and with the keys that it wrote.
func stepText(s service.Step) string {
	b := &strings.Builder{}
	var above, said, wrote []string // the last two of the node that is not done yet
	for i, e := range s.Events {
		if e.Status == "" {
			if e.Key != "" {
				wrote = append(wrote, e.Words)
			} else {
				said = append(said, e.Words)
			}
			if i+1 < len(s.Events) && s.Events[i+1].Rule == e.Rule {
				continue // its status stands there
			}
		} else if said == nil && e.Words != "" {
			said = []string{e.Words}
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

// eventMark is the mark of a node's status; of what a node tells beside it, a dot.
func eventMark(status string) string {
	return cmp.Or(map[string]string{"": "·", "SUCCESS": "✓", "FAILURE": "✗", "RUNNING": "…", "SKIPPED": "⊘"}[status], "■")
}

func indent(depth int) string { return strings.Repeat("  ", depth+1) }
