package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	evaldata "sibyl/eval"
	"sibyl/internal/eval/tasks"
	"sibyl/internal/model"
)

// evalTasksFlags are the flags of ‘sibyl eval tasks’.
type evalTasksFlags struct {
	set, model       string
	frozen, failures bool
}

func (c *command) evalTasks() *cobra.Command {
	var f evalTasksFlags
	cmd := &cobra.Command{Use: "tasks", Short: "Score the task assistant on labelled dialogues", Args: cobra.NoArgs,
		Long: "Plays dialogues word for word, each with its own task list in a temporary folder, and compares the\n" +
			"lists before and after each turn with what should have happened. Exits with 1 if fewer than 95 % of\n" +
			"the turns have the right tool and arguments, if a wrong task changed, if a task was deleted without\n" +
			"a yes, or if small talk or a stray yes changed anything. eval/README.md defines every figure.",
		Example: "  sibyl eval tasks --failures\n  sibyl eval tasks --set my-dialogues.jsonl --json",
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			set, err := openTaskSet(f)
			if err != nil {
				return withCode(ExitUsage, err)
			}
			room, err := c.openEvalRoom(cmd.Context(), "")
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, room.close()) }()
			return c.scoreTasks(cmd.Context(), set, room.app.TaskWorld(f.model), f.failures)
		}}
	fl := cmd.Flags()
	fl.StringVar(&f.set, "set", "", "a file of dialogues in the format of eval/tasks.jsonl (default: that set, which is built in)")
	fl.StringVarP(&f.model, "model", "m", model.OfflineRules, "provider:model that interprets the messages")
	fl.BoolVar(&f.frozen, "frozen", false, "only the half never used for tuning")
	fl.BoolVar(&f.failures, "failures", false, "list the turns that were wrong; those of the frozen half only with --frozen")
	return c.withJSON(cmd, "one JSON object, with the failures")
}

func openTaskSet(f evalTasksFlags) (tasks.Set, error) {
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
