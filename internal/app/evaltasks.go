package app

import (
	"errors"

	"sibyl/internal/eval/tasks"
)

// ErrNoTaskAssistant says that there is nothing to score.
var ErrNoTaskAssistant = errors.New("this build has no task assistant")

// TaskWorld is the task assistant with its lists, as ‘sibyl eval tasks’ plays it. The app must have been opened on data of its own: users
// are made for every dialogue.
func (a *App) TaskWorld() (tasks.World, error) { return nil, ErrNoTaskAssistant }
