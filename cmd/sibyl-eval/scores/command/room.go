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
	"sibyl/internal/model"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
	"sibyl/trees"
)

// room is the program on a temporary folder, so that an evaluation leaves no trace in the person's own journal and
// notes.
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
		return "", fmt.Errorf("%s is not in Go's module cache; get it with ‘go mod download %s’ (%w) %s", wanted,
			wanted, err, strings.TrimSpace(complaint.String()))
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
	tree    trees.Tree
	model   string
	options oracle.Options
	byTool  bool // the model reports by a tool
}

// ask asks the questions in a session of their own, and gives the outcome of the last.
func (r room) ask(ctx context.Context, as asking, questions []string) (answer oracle.Answer, err error) {
	id, now := run.NewID(time.Now()), time.Now().UTC()
	last := questions[len(questions)-1]
	session := &journal.Session{ID: id, Owner: app.Owner, Assistant: oracle.Name, Title: oracle.Title(last),
		CreatedAt: now, UpdatedAt: now}
	from := r.app.Surroundings()
	from.Choose = func(context.Context, string) (string, error) { return as.model, nil }
	form := map[bool]model.ReportForm{true: model.ReportTool, false: model.ReportText}[as.byTool]
	from.ReportForm, from.Fallback = func(string) model.ReportForm { return form }, nil
	as.options.MaxTurns = r.app.Config.MaxTurns
	asked := assistant.Request{Owner: app.Owner}
	for _, asked.Words = range questions {
		spec, err := from.Begin(ctx, asked, as.options)
		if err != nil {
			return answer, err
		}
		spec.Owner, spec.Assistant, spec.Session, spec.NewSession = app.Owner, oracle.Name, id, session
		spec.TreeFile, spec.Tree = as.tree.File, as.tree.Text
		if answer, err = r.answer(ctx, spec); err != nil {
			return answer, err
		}
		session, asked.Session = nil, id
	}
	return answer, nil
}

func (r room) answer(ctx context.Context, spec run.Spec) (oracle.Answer, error) {
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
	as.options.Vault.Path = vault
	return r.ask(ctx, as, questions)
}
