package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/eval/loops"
	"sibyl/internal/oracle"
)

// mostSeeds bounds the runs of a scoreboard.
const mostSeeds = 1000

func (c *command) evalLoops() *cobra.Command {
	var seeds int
	cmd := &cobra.Command{Use: "loops", Short: "Score the tree on models that repeat themselves, compared with two plain checks", Args: cobra.NoArgs,
		Long: "Simulates models that loop in many ways, and models that repeat themselves for a good reason,\n" +
			"against the Oracle's current tree, a tree with only a turn limit, and one that counts identical\n" +
			"calls. Prints how many turns each loop wastes, and how many honest runs are ended too early. No real\n" +
			"model is used; the same seeds give the same figures.",
		Example: "  sibyl eval loops\n  SIBYL_TREES=my-trees sibyl eval loops --seeds 50",
		RunE: c.onPrepared(func(ctx context.Context, a *app.App, _ []string) error {
			if seeds < 1 || seeds > mostSeeds {
				return withCode(ExitUsage, fmt.Errorf("--seeds is %d, not between 1 and %d", seeds, mostSeeds))
			}
			t, err := a.Trees.Get(oracle.Name)
			if err == nil {
				_, err = a.LoadTree(t)
			}
			if err != nil {
				return withCode(ExitUsage, err)
			}
			contestants, err := loops.Baselines()
			if err != nil {
				return err
			}
			report, err := loops.Run(ctx, seeds, a.Prompts, append([]loops.Contestant{{Name: t.Name, Tree: t.Text}}, contestants...))
			if err != nil {
				return err
			}
			return c.printReport(report)
		})}
	cmd.Flags().IntVar(&seeds, "seeds", 10, "runs of each shape")
	return c.withJSON(cmd, "one JSON object")
}
