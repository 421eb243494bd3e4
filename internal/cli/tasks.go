package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/task"
)

func (c *command) taskCommand() *cobra.Command {
	return group(&cobra.Command{Use: "task", Short: "List, add, complete, edit and remove tasks",
		Annotations: map[string]string{listener: "sibyl chat"}},
		c.taskList(), c.taskAdd(), c.taskDone(), c.taskEdit(), c.taskDelete(), c.taskHistory(), c.taskUndo())
}

// tasksOf is the task service, with the owner and the actor for whom a command changes tasks.
type tasksOf struct {
	*task.Service
	by task.By
}

// onTasks runs a command on the tasks of its user; its changes have the actor ‘cli’.
func (c *command) onTasks(do func(ctx context.Context, tasks tasksOf, args []string) error) runE {
	return c.onApp(func(ctx context.Context, a *app.App, args []string) error {
		return do(ctx, tasksOf{a.Tasks, task.By{Owner: c.user, Actor: "cli"}}, args)
	})
}

// onTask runs a command on the task whose id is the first argument.
func (c *command) onTask(do func(ctx context.Context, tasks tasksOf, id int64) error) runE {
	return c.onTasks(func(ctx context.Context, tasks tasksOf, args []string) error {
		id, err := strconv.ParseInt(args[0], 10, 64)
		if err != nil || id < 1 {
			return withCode(ExitUsage,
				fmt.Errorf("%.40q is not the id of a task; ‘sibyl task list’ shows the ids, such as 1", args[0]))
		}
		if err := do(ctx, tasks, id); err != nil {
			return fmt.Errorf("task %d: %w", id, err)
		}
		return nil
	})
}

func (c *command) taskList() *cobra.Command {
	var q task.Query
	var status string
	var long bool
	cmd := &cobra.Command{Use: "list", Short: "List tasks in order of creation", Args: cobra.NoArgs,
		RunE: c.onTasks(func(ctx context.Context, tasks tasksOf, _ []string) error {
			q.Status, q.Limit = task.Status(status), c.limit
			p, err := tasks.List(ctx, tasks.by.Owner, q)
			if err != nil {
				return err
			}
			switch {
			case p.Total == 0 && status == "":
				fmt.Fprintln(c.Err, "· there are no tasks; ‘sibyl task add TITLE’ adds one")
			case len(p.Tasks) < p.Total:
				fmt.Fprintf(c.Err, "· %d of %d tasks\n", len(p.Tasks), p.Total)
			}
			at := 0
			return printList(c, p.Tasks, func(t task.Task) string {
				at++
				line := fmt.Sprintf("%3d. %s", at, taskLine(t))
				if about := descriptionLine(&t); long && about != "" {
					line += "\n         " + printable(about)
				}
				return line
			})
		})}
	cmd.Flags().BoolVar(&long, "long", false, "with descriptions")
	cmd.Flags().StringVar(&status, "status", "", "list only pending or completed tasks")
	cmd.Flags().BoolVar(&q.Newest, "newest", false, "newest first")
	return c.withJSON(c.withLimit(cmd, 0, "maximum number to show (default: all)"), "a JSON array")
}

// taskLine is a task in one line, with its status and id.
func taskLine(t task.Task) string {
	if t.CompletedAt != nil {
		return fmt.Sprintf("[x] %s  (id %d, completed %s)", printable(t.Title), t.ID, moment(*t.CompletedAt))
	}
	return fmt.Sprintf("[ ] %s  (id %d)", printable(t.Title), t.ID)
}

func (c *command) taskAdd() *cobra.Command {
	var description string
	cmd := &cobra.Command{Use: "add TITLE...", Short: "Add a task", Args: cobra.MinimumNArgs(1),
		RunE: c.onTasks(func(ctx context.Context, tasks tasksOf, args []string) error {
			t, _, err := tasks.Add(ctx, tasks.by, strings.Join(args, " "), &description)
			if err != nil {
				return err
			}
			return c.printResult(t, taskLine(t))
		})}
	cmd.Flags().StringVar(&description, "description", "", "details")
	return c.withJSON(cmd, "one JSON object")
}

func (c *command) taskDone() *cobra.Command {
	return c.withJSON(&cobra.Command{Use: "done ID", Short: "Complete a task", Args: cobra.ExactArgs(1),
		RunE: c.onTask(func(ctx context.Context, tasks tasksOf, id int64) error {
			t, already, err := tasks.Complete(ctx, tasks.by, id, 0)
			if err != nil {
				return err
			}
			if already {
				fmt.Fprintln(c.Err, "· it was already completed")
			}
			return c.printResult(t, taskLine(t))
		})}, "one JSON object")
}

func (c *command) taskEdit() *cobra.Command {
	var title, description string
	var pending bool
	cmd := &cobra.Command{Use: "edit ID", Short: "Change the title or description of a task, or reopen it",
		Args: cobra.ExactArgs(1)}
	cmd.RunE = c.onTask(func(ctx context.Context, tasks tasksOf, id int64) error {
		var e task.Edit
		if cmd.Flags().Changed("title") {
			e.Title = &title
		}
		if cmd.Flags().Changed("description") {
			e.Description = &description
		}
		if pending {
			e.Status = new(task.Pending)
		}
		if e == (task.Edit{}) {
			return withCode(ExitUsage, errors.New("nothing to change: give --title, --description or --pending"))
		}
		t, _, err := tasks.Update(ctx, tasks.by, id, 0, e)
		if err != nil {
			return err
		}
		return c.printResult(t, taskLine(t))
	})
	cmd.Flags().StringVar(&title, "title", "", "the new title")
	cmd.Flags().StringVar(&description, "description", "", "details; \"\" removes them")
	cmd.Flags().BoolVar(&pending, "pending", false, "reopen a completed task")
	return c.withJSON(cmd, "one JSON object")
}

func (c *command) taskDelete() *cobra.Command {
	cmd := &cobra.Command{Use: "delete ID", Short: "Delete a task", Args: cobra.ExactArgs(1),
		RunE: c.onTask(func(ctx context.Context, tasks tasksOf, id int64) error {
			t, err := tasks.Task(ctx, tasks.by.Owner, id)
			if err != nil {
				return err
			}
			agreed, err := c.confirmDeletion(ctx, "“"+t.Title+"”")
			if err != nil || !agreed {
				return err
			}
			was, _, err := tasks.Delete(ctx, tasks.by, id, t.Version) // only if it has not changed since it was shown
			if err != nil {
				return err
			}
			return c.printResult(was, fmt.Sprintf("deleted “%s”; ‘sibyl task undo’ restores it", printable(was.Title)))
		})}
	return c.withJSON(c.withYes(cmd), "one JSON object: the task as it was")
}

func (c *command) taskHistory() *cobra.Command {
	return c.withJSON(&cobra.Command{Use: "history ID",
		Short: "Show the changes to a task, by whom and when; also for deleted tasks",
		Args:  cobra.ExactArgs(1),
		RunE: c.onTask(func(ctx context.Context, tasks tasksOf, id int64) error {
			all, err := tasks.History(ctx, tasks.by.Owner, id)
			if err != nil {
				return err
			}
			return printList(c, all, func(ch task.Change) string {
				how := ""
				if ch.Action == task.Undo {
					how = "undo: "
				}
				return fmt.Sprintf("%s  %-8s  %s%s", moment(ch.At), printable(ch.Actor), how, printable(changeText(ch)))
			})
		})}, "a JSON array")
}

func (c *command) taskUndo() *cobra.Command {
	return c.withJSON(&cobra.Command{Use: "undo",
		Short: "Undo the last change; again, the one before it", Args: cobra.NoArgs,
		RunE: c.onTasks(func(ctx context.Context, tasks tasksOf, _ []string) error {
			ch, err := tasks.Undo(ctx, tasks.by)
			if err != nil {
				return err
			}
			return c.printResult(ch, fmt.Sprintf("task %d: %s", ch.Task, printable(changeText(ch))))
		})}, "one JSON object: the change")
}

// changeText says in words what a change did.
func changeText(c task.Change) string {
	switch {
	case c.Before == nil && c.Action == task.Undo:
		return "restored “" + c.After.Title + "”"
	case c.Before == nil:
		return "added “" + c.After.Title + "”"
	case c.After == nil:
		return "deleted “" + c.Before.Title + "”"
	}
	var all []string
	if c.Before.Title != c.After.Title {
		all = append(all, "renamed “"+c.Before.Title+"” to “"+c.After.Title+"”")
	}
	was, is := descriptionLine(c.Before), descriptionLine(c.After)
	switch {
	case was == is:
	case is == "":
		all = append(all, "removed the description “"+was+"”")
	case was == "":
		all = append(all, "added the description “"+is+"”")
	default:
		all = append(all, "changed the description “"+was+"” to “"+is+"”")
	}
	if c.Before.Status != c.After.Status {
		if c.After.Status == task.Completed {
			all = append(all, "completed “"+c.After.Title+"”")
		} else {
			all = append(all, "opened “"+c.After.Title+"” again")
		}
	}
	return strings.Join(all, "; ")
}

// descriptionLine is the description of a task in one line; "" if it has none.
func descriptionLine(t *task.Task) string {
	if t.Description == nil {
		return ""
	}
	return strings.Join(strings.Fields(*t.Description), " ")
}
