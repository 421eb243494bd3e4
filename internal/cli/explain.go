package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/journal"
	"sibyl/internal/service"
)

func (c *command) explainCommand() *cobra.Command {
	var step int
	cmd := &cobra.Command{
		Use: "explain [RUN]", Short: "Show why a run did what it did: each step, the rule that fired, what was offered and refused", Args: cobra.MaximumNArgs(1),
		Example: "  sibyl explain last\n  sibyl explain last --step 3\n  sibyl explain 0dl4 --json",
		RunE:    c.onRun(func(ctx context.Context, a *app.App, r journal.Run) error { return c.explain(ctx, a, r, step) }),
	}
	cmd.Flags().IntVar(&step, "step", 0, "only this step, counted from 1")
	return c.withJSON(cmd, "the steps as a JSON array")
}

func (c *command) explain(ctx context.Context, a *app.App, r journal.Run, only int) error {
	x, err := a.Service.Explain(ctx, c.owner(), r.ID)
	if err != nil {
		return err
	}
	steps := x.Steps
	if only < 0 || only > len(steps) {
		return withCode(ExitUsage, fmt.Errorf("run %s has %d steps, there is no step %d", r.ID, len(steps), only))
	}
	if only > 0 {
		steps = steps[only-1 : only]
	}
	if c.asJSON {
		return c.printJSON(steps)
	}
	fmt.Fprintf(c.Out, "run %s, %s: %s\n", r.ID, x.Run.State, printable(r.Title))
	for i, s := range steps {
		fmt.Fprintf(c.Out, "\nstep %d, taking in record %d (%s)\n", max(only, i+1), s.Record, oneLine(s.TookIn))
		fmt.Fprint(c.Out, stepText(s))
	}
	if len(x.Ending) > 0 {
		fmt.Fprintf(c.Out, "\n%s\n", printable(strings.Join(x.Ending, "\n  ")))
	}
	return nil
}

// stepText draws what one step came to, in order, by the trees that its nodes lie in. A node stands below them with what it decided,
// or else why, and with the keys that it wrote.
func stepText(s service.Step) string {
	b := &strings.Builder{}
	var above, said, wrote []string // the last two of the node that is not done yet
	for i, e := range s.Events {
		if e.Status == "" {
			if e.Key != "" {
				wrote = append(wrote, s.Words[i])
			} else {
				said = append(said, s.Words[i])
			}
			if i+1 < len(s.Events) && s.Events[i+1].Rule == e.Rule {
				continue // its status stands there
			}
		} else if said == nil && s.Words[i] != "" {
			said = []string{s.Words[i]}
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
	for _, asked := range s.Start {
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
