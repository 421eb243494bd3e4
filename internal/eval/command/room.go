package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	evaldata "sibyl/eval"
	"sibyl/internal/app"
	"sibyl/internal/config"
	"sibyl/internal/journal"
	"sibyl/internal/keys"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
	"sibyl/internal/tool"
	"sibyl/trees"
)

// room is the program on a temporary folder, so that an evaluation leaves no trace in the person's own journal and notes.
type room struct {
	app *app.App
	dir string
}

// within evaluates in a room that is gone afterwards. No web search is connected.
func within(ctx context.Context, environ []string, do func(room) error) error {
	cfg, err := config.Load(config.Options{Environ: environ, Stored: keys.Names})
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "sibyl-eval-")
	if err != nil {
		return err
	}
	cfg.DataDir, cfg.Database, cfg.Web.SearXNG = dir, config.Database{}, ""
	a, err := app.Open(ctx, cfg, app.Options{Build: "eval"})
	if err == nil {
		err = errors.Join(do(room{a, dir}), a.Close())
	}
	return errors.Join(err, os.RemoveAll(dir))
}

// module is the folder of a module in Go's cache. The network is not asked.
func module(ctx context.Context, environ []string, wanted string) (string, error) {
	var complaint bytes.Buffer
	list := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", wanted)
	list.Dir = os.TempDir() // a module around us could have another version, or a vendor folder
	list.Env = append(slices.Clone(environ), "GOPROXY=off")
	list.Stderr = &complaint
	out, err := list.Output()
	dir := strings.TrimSpace(string(out))
	if err != nil || dir == "" {
		return "", fmt.Errorf("%s is not in Go's module cache; get it with ‘go mod download %s’ (%w) %s", wanted, wanted, err, strings.TrimSpace(complaint.String()))
	}
	return dir, nil
}

// copied is a folder of notes of the sets, copied below the room.
func (r room) copied(notes, to string) (string, error) {
	from, err := fs.Sub(evaldata.Files, notes)
	if err != nil {
		return "", err
	}
	to = filepath.Join(r.dir, "notes", to)
	return to, os.CopyFS(to, from)
}

// asking is who is asked what is asked.
type asking struct {
	tree   trees.Tree
	model  string
	env    oracle.Env
	byTool bool // the model reports by a tool
	named  []tool.Source
}

// ask asks the questions in a session of their own, and gives the outcome of the last.
func (r room) ask(ctx context.Context, as asking, questions []string) (answer oracle.Answer, err error) {
	id, now := run.NewID(time.Now()), time.Now().UTC()
	last := questions[len(questions)-1]
	session := &journal.Session{ID: id, Owner: app.Owner, Assistant: oracle.Name, Title: oracle.Title(last), CreatedAt: now, UpdatedAt: now}
	info := r.app.Describe(ctx, as.model)
	env := as.env
	env.Model, env.WindowTokens, env.BareCalls, env.ReportTool = as.model, info.Window, info.BareCalls, as.byTool
	for _, text := range questions {
		q := oracle.Question{Text: text, Named: as.named, Owner: app.Owner, Session: id, MaxTurns: r.app.Config.MaxTurns, TreeFile: as.tree.File,
			Tree: as.tree.Text, Prompts: r.app.Prompts, NewSession: session, Env: env}
		if answer, err = r.askOne(ctx, q); err != nil {
			return answer, err
		}
		session = nil
	}
	return answer, nil
}

func (r room) askOne(ctx context.Context, q oracle.Question) (oracle.Answer, error) {
	tools, closeTools, err := r.app.Tools(ctx, q.Env)
	if err != nil {
		return oracle.Answer{}, err
	}
	q.Tools = tools.Specs()
	closeTools()
	spec, err := oracle.NewRun(ctx, r.app.Store, q)
	if err != nil {
		return oracle.Answer{}, err
	}
	live, err := r.app.Engine.Start(ctx, spec)
	if err != nil {
		return oracle.Answer{}, err
	}
	end, err := live.Wait(context.WithoutCancel(ctx))
	if err := errors.Join(err, context.Cause(ctx)); err != nil {
		return oracle.Answer{}, err
	}
	return oracle.ReadAnswer(end.Outcome)
}

// askSet asks questions of the Oracle's set, on a vault of their own.
func (r room) askSet(ctx context.Context, as asking, questions []string) (oracle.Answer, error) {
	vault, err := r.copied(evaldata.OracleVault, run.NewID(time.Now())) // a question may write into it
	if err != nil {
		return oracle.Answer{}, err
	}
	as.env.Vault = vault
	return r.ask(ctx, as, questions)
}
