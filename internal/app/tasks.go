package app

import (
	"context"
	"crypto/rand"
	"sync"

	"sibyl/internal/mcp"
	"sibyl/internal/model"
	"sibyl/internal/oracle"
	"sibyl/internal/taskchat"
	"sibyl/internal/tool"
	"sibyl/internal/tool/mcpclient"
	"sibyl/prompts"
)

// tasksDeps returns the dependencies of the task assistant. It uses tasks through an MCP server in this process, with
// the same messages as other clients. The server is made when it is first used, which is in few processes.
func (a *App) tasksDeps() taskchat.Deps {
	server := sync.OnceValues(func() (*mcp.Server, error) {
		key := make([]byte, mcp.MinKey) // of questions that are asked and answered within one call
		if _, err := rand.Read(key); err != nil {
			return nil, err
		}
		return mcp.New(mcp.Config{Tasks: a.Tasks, Undo: true, Key: key, Log: a.log, Now: a.Clock.Now})
	})
	return taskchat.Deps{Store: a.Store, Choose: a.Choose, Prompt: a.tasksPrompt, Now: a.Clock.Now,
		Model: func(ctx context.Context, id string) (model.Model, error) {
			return a.model(ctx, oracle.Env{Model: id, Fallback: a.Config.Fallback.Models})
		},
		Tools: func(ctx context.Context, owner, actor string) (*tool.Set, func(), error) {
			tasks, err := server()
			if err != nil {
				return nil, nil, err
			}
			s, err := mcpclient.Connect(ctx, mcpclient.InProcess(tasks.For(owner, actor)),
				mcpclient.Config{Name: "tasks", Source: tool.Task, Own: true, Log: a.log})
			if err != nil {
				return nil, nil, err
			}
			return tool.NewSet(s.Tools()...), s.Close, nil
		}}
}

// tasksPrompt returns a prompt of the task assistant as now in its file.
func (a *App) tasksPrompt(name string) ([]byte, error) {
	text, wrong := prompts.Read(a.texts, "tasks/"+name+".md")
	return []byte(text), wrong
}
