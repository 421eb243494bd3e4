package app

import (
	"context"

	"sibyl/internal/eval/tasks"
	"sibyl/internal/journal"
	"sibyl/internal/service"
	"sibyl/internal/task"
	"sibyl/internal/taskchat"
)

// TaskWorld is the task assistant with its lists, as ‘sibyl eval tasks’ plays it. The app must have been opened on data of its own: users
// are made for every dialogue. An empty model is the one that is there.
func (a *App) TaskWorld(model string) tasks.World {
	return taskWorld{a, taskchat.Options{Model: model}}
}

type taskWorld struct {
	*App
	options taskchat.Options
}

// Say implements tasks.Chat.
func (w taskWorld) Say(ctx context.Context, user, conversation, text string) (tasks.Response, error) {
	if conversation == tasks.NewConversation {
		conversation = ""
	}
	r, err := w.Service.Start(ctx, journal.Owner(user), service.Request{Assistant: taskchat.Name, Session: conversation, Words: text, Options: w.options})
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
