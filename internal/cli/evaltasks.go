package cli

import (
	"context"

	"github.com/spf13/cobra"

	evaldata "sibyl/eval"
	"sibyl/internal/eval/tasks"
)

func (c *command) evalTasks() *cobra.Command {
	var f labelled
	cmd := &cobra.Command{Use: "tasks", Short: "Score the task assistant on labelled dialogues", Args: cobra.NoArgs,
		Long: "Plays dialogues word for word, each with its own task list in a temporary folder, and compares the\n" +
			"lists before and after each turn with what should have happened. Exits with 1 if fewer than 90 % of\n" +
			"the turns have the right tool and arguments, if a wrong task changed, if a task was deleted without\n" +
			"a yes, or if small talk or a stray yes changed anything. eval/README.md defines every figure.",
		Example: "  sibyl eval tasks --failures\n  sibyl eval tasks --set my-dialogues.jsonl --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			set, err := openTaskSet(f)
			if err != nil {
				return withCode(ExitUsage, err)
			}
			return c.inEvalRoom(cmd.Context(), "", func(room *evalRoom) error {
				return c.scoreTasks(cmd.Context(), set, room.app.TaskWorld(f.model), f.failures)
			})
		}}
	f.flags(cmd, "dialogues", evaldata.TaskDialogues, "that interprets the messages", "turns that were wrong")
	return c.withJSON(cmd, "one JSON object, with the failures")
}

func openTaskSet(f labelled) (tasks.Set, error) {
	files, name := setFile(f.set, evaldata.TaskDialogues)
	dialogues, err := tasks.Load(files, name)
	return tasks.Set{Dialogues: dialogues, FrozenOnly: f.frozen, Parallel: evalParallel}, err
}

// scoreTasks prints the report. Bounds that do not hold are an error.
func (c *command) scoreTasks(ctx context.Context, set tasks.Set, world tasks.World, failures bool) error {
	report, err := tasks.Run(ctx, set, world)
	if err != nil {
		return err
	}
	report.WithFailures = failures
	return c.scored(report, report.Broken)
}
