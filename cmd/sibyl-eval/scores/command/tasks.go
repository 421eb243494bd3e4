package command

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"sibyl/cmd/sibyl-eval/scores/tasks"
	evaldata "sibyl/eval"
	"sibyl/internal/app"
	"sibyl/internal/journal"
	"sibyl/internal/service"
	"sibyl/internal/task"
	"sibyl/internal/taskchat"
)

func tasksCommand(environ []string, print printer) *cobra.Command {
	var f flags
	return f.of(&cobra.Command{Use: "tasks", Short: "Score the task assistant on labelled dialogues",
		Args: cobra.NoArgs,
		Long: "Plays dialogues word for word, each with its own task list, and compares the lists before and after\n" +
			"each turn with what should have happened. A bound is broken if too few turns have the\n" +
			"right tool and arguments, if a wrong task changed, if a task was deleted without a yes, or if small\n" +
			"talk or a stray yes changed anything.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			files, name := f.file(evaldata.TaskDialogues)
			dialogues, err := tasks.Load(files, name)
			if err != nil {
				return err
			}
			var r tasks.Report
			err = within(cmd.Context(), environ, func(room room) error {
				set := tasks.Set{Dialogues: dialogues, FrozenOnly: f.frozen, Parallel: parallel}
				r, err = tasks.Run(cmd.Context(), set, TaskWorld(room.app, f.model))
				return err
			})
			if err != nil {
				return err
			}
			r.WithFailures = f.failures
			return print(cmd, r, r.Broken)
		}}, evaldata.TaskDialogues)
}

// TaskWorld is the task assistant with its lists. The app must have been opened on data of its own: users are made for
// every dialogue.
func TaskWorld(a *app.App, model string) tasks.World {
	return taskWorld{a, taskchat.Options{Model: model}}
}

type taskWorld struct {
	*app.App
	options taskchat.Options
}

// Say implements tasks.Chat.
func (w taskWorld) Say(ctx context.Context, user, conversation, text string) (tasks.Response, error) {
	r, err := w.Service.Start(ctx, journal.Owner(user), service.Request{Assistant: taskchat.Name,
		Session: strings.TrimPrefix(conversation, tasks.NewConversation), Words: text, Options: w.options})
	if err != nil {
		return tasks.Response{}, err
	}
	res, err := r.Wait(ctx)
	if err != nil {
		return tasks.Response{}, err
	}
	return tasks.ReadResponse(res.Outcome)
}

// Tasks implements tasks.Chat.
func (w taskWorld) Tasks(ctx context.Context, user string) (all []tasks.Task, err error) {
	p, err := w.App.Tasks.List(ctx, user, task.Query{})
	for _, t := range p.Tasks {
		one := tasks.Task{ID: t.ID, Title: t.Title, Status: string(t.Status)}
		if t.Description != nil {
			one.Description = *t.Description
		}
		all = append(all, one)
	}
	return all, err
}

func by(user string) task.By { return task.By{Owner: user, Actor: "eval"} }

// Add implements tasks.World.
func (w taskWorld) Add(ctx context.Context, user, title string) error {
	_, _, err := w.App.Tasks.Add(ctx, by(user), title, nil)
	return err
}

// Rename implements tasks.World.
func (w taskWorld) Rename(ctx context.Context, user string, id int64, title string) error {
	_, _, err := w.App.Tasks.Update(ctx, by(user), id, 0, task.Edit{Title: &title})
	return err
}

// Complete implements tasks.World.
func (w taskWorld) Complete(ctx context.Context, user string, id int64) error {
	_, _, err := w.App.Tasks.Complete(ctx, by(user), id, 0)
	return err
}

// Delete implements tasks.World.
func (w taskWorld) Delete(ctx context.Context, user string, id int64) error {
	_, _, err := w.App.Tasks.Delete(ctx, by(user), id, 0)
	return err
}
