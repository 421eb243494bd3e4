package cli

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

	"github.com/spf13/cobra"

	evaldata "sibyl/eval"
	"sibyl/internal/agent"
	"sibyl/internal/app"
	"sibyl/internal/config"
	"sibyl/internal/eval"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
	"sibyl/internal/tool"
	"sibyl/trees"
)

const (
	baselineTree = "baseline"
	evalParallel = 4
)

// evalOracleFlags are the flags of ‘sibyl eval oracle’.
type evalOracleFlags struct {
	in, model, half       string
	report                string
	baseline, transcripts bool
}

func (c *command) evalOracle() *cobra.Command {
	var f evalOracleFlags
	cmd := &cobra.Command{Use: "oracle", Short: "Score the Oracle on labelled questions about a real repository (SC-001 to SC-006)", Args: cobra.NoArgs,
		Long: "Asks labelled questions about " + evaldata.OracleModule + " " + evaldata.OracleVersion + " and the notes of\n" +
			"an invented team, and scores the answers by the places that answer them. Without -m the offline\n" +
			"rules answer, whatever your settings say. The journal is in a temporary folder, no web search is\n" +
			"connected, and your own notes are not touched. eval/README.md defines every figure.",
		Example: "  sibyl eval oracle --transcripts\n  sibyl eval oracle --half dev --baseline -m ollama:llama3.1:8b --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			report, err := c.runEvalOracle(cmd.Context(), f)
			if err != nil {
				return err
			}
			return c.printReport(report)
		}}
	fl := cmd.Flags()
	fl.StringVar(&f.in, "in", "", "folder of "+evaldata.OracleModule+" "+evaldata.OracleVersion+" (default: where ‘go list’ has it)")
	fl.StringVarP(&f.model, "model", "m", model.OfflineRules, "provider:model")
	fl.StringVar(&f.half, "half", "all", "dev, test or all")
	fl.StringVar(&f.report, "report", "", "how the model of -m reports on itself: signals in its text, or the tool report_signal; run it with each to compare (default: the setting report of its provider)")
	fl.BoolVar(&f.baseline, "baseline", false, "ask the tree ‘baseline’ as well, and compare")
	fl.BoolVar(&f.transcripts, "transcripts", false, "also run the transcripts of misbehaving models")
	return c.withJSON(cmd, "one JSON object")
}

func (c *command) runEvalOracle(ctx context.Context, f evalOracleFlags) (report eval.OracleReport, err error) {
	half := eval.Half(f.half)
	switch {
	case f.half == "all":
		half = eval.Both
	case half != eval.Dev && half != eval.Test:
		return report, withCode(ExitUsage, fmt.Errorf("--half is %q, not dev, test or all", f.half))
	}
	if f.report != "" && f.report != config.ReportSignals && f.report != config.ReportTool {
		return report, withCode(ExitUsage, fmt.Errorf("--report is %q, not %s or %s", f.report, config.ReportSignals, config.ReportTool))
	}
	set, err := openOracleSet(ctx, c.environ, f.in)
	if err != nil {
		return report, withCode(ExitUsage, err)
	}
	err = c.inEvalRoom(ctx, set.code, func(room *evalRoom) error {
		report, err = c.scoreOracle(ctx, room, set, half, f)
		return err
	})
	return report, err
}

func (c *command) scoreOracle(ctx context.Context, room *evalRoom, set oracleSet, half eval.Half, f evalOracleFlags) (report eval.OracleReport, err error) {
	room.addPlayers(set.transcripts)
	if room.model, err = room.app.Models.Choose(ctx, f.model); err != nil {
		return report, withCode(ExitUsage, err)
	}
	room.byTool = f.report == config.ReportTool || f.report == "" && room.app.ReportTool(room.model)
	report = eval.OracleReport{Model: room.model, Half: half}
	if report.Ours, err = c.runOracleTree(ctx, room, set, half, oracle.Name); err != nil {
		return report, err
	}
	if f.baseline {
		base, err := c.runOracleTree(ctx, room, set, half, baselineTree)
		if err != nil {
			return report, err
		}
		report.Baseline = &base
	}
	if f.transcripts {
		if report.Transcripts, err = eval.RunTranscripts(ctx, set.transcripts, evalParallel, room.playTranscript); err != nil {
			return report, err
		}
	}
	return report, report.Judge()
}

func (c *command) runOracleTree(ctx context.Context, room *evalRoom, set oracleSet, half eval.Half, name string) (eval.OracleRun, error) {
	t, err := room.app.Trees.Get(name)
	if err != nil {
		return eval.OracleRun{}, withCode(ExitUsage, err)
	}
	if _, err := room.app.LoadTree(t); err != nil {
		return eval.OracleRun{}, withCode(ExitUsage, err)
	}
	answered := 0
	ask := func(ctx context.Context, q eval.OracleQuestion) (oracle.Answer, error) {
		return room.ask(ctx, t, room.model, append(slices.Clone(q.Previous), q.Text))
	}
	return eval.RunOracle(ctx, set.questions, half, evalParallel, t.File, ask, func(s eval.OracleScore) {
		answered++
		if c.ErrTTY {
			fmt.Fprintf(c.Err, "· %s %d: %s %s, %s\n", name, answered, s.ID, s.StopReason, agent.Counted(s.Turns, "turn"))
		}
	})
}

// oracleSet is the labelled set, proven to fit the folder of code.
type oracleSet struct {
	questions   []eval.OracleQuestion
	transcripts []eval.Transcript
	code        string
}

func openOracleSet(ctx context.Context, environ []string, dir string) (oracleSet, error) {
	var set oracleSet
	var err error
	if set.questions, err = eval.LoadOracleQuestions(evaldata.Files, evaldata.OracleQuestions); err != nil {
		return set, err
	}
	if set.transcripts, err = eval.LoadTranscripts(evaldata.Files, evaldata.Misbehaving); err != nil {
		return set, err
	}
	if set.code, err = moduleFolder(ctx, environ, dir); err != nil {
		return set, err
	}
	notes, err := fs.Sub(evaldata.Files, evaldata.OracleVault)
	if err != nil {
		return set, err
	}
	if err := eval.CheckPlaces(set.questions, map[tool.Source]fs.FS{tool.Code: os.DirFS(set.code), tool.Vault: notes}); err != nil {
		return set, fmt.Errorf("the labels do not fit %s, so it is not %s %s unchanged:\n%s", set.code, evaldata.OracleModule, evaldata.OracleVersion,
			firstLines(err.Error(), mostNamed))
	}
	return set, nil
}

// mostNamed bounds how many labels that do not fit are listed.
const mostNamed = 5

// firstLines is a text without all but its first lines, and says how many are left out.
func firstLines(text string, most int) string {
	lines := strings.Split(text, "\n")
	if n := len(lines) - most; n > 0 {
		lines = append(lines[:most], fmt.Sprintf("… and %d more", n))
	}
	return strings.Join(lines, "\n")
}

// moduleFolder finds the module in Go's cache, without asking the network, unless a folder is named.
func moduleFolder(ctx context.Context, environ []string, dir string) (string, error) {
	if dir != "" {
		if _, err := os.ReadDir(dir); err != nil {
			return "", fmt.Errorf("--in: %w", err)
		}
		return filepath.Abs(dir)
	}
	wanted := evaldata.OracleModule + "@" + evaldata.OracleVersion
	dir, err := cachedModule(ctx, environ, wanted)
	if err != nil {
		return "", fmt.Errorf("the questions are about %w\n      get it with ‘go mod download %s’, or name its folder with --in", err, wanted)
	}
	return dir, nil
}

// cachedModule is the folder of a module in Go's cache. The network is not asked.
func cachedModule(ctx context.Context, environ []string, wanted string) (string, error) {
	var complaint bytes.Buffer
	list := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", wanted)
	list.Dir = os.TempDir() // a module around us could have another version, or a vendor folder
	list.Env = append(slices.Clone(environ), "GOPROXY=off")
	list.Stderr = &complaint
	out, err := list.Output()
	if err != nil {
		return "", fmt.Errorf("%s, which ‘go list’ can't find: %w %s", wanted, err, strings.TrimSpace(complaint.String()))
	}
	dir := strings.TrimSpace(string(out))
	if dir == "" {
		return "", fmt.Errorf("%s, which is not in Go's module cache", wanted)
	}
	return dir, nil
}

// evalRoom is the program on a temporary folder, so that an evaluation leaves no trace in the person's own journal and notes.
type evalRoom struct {
	app   *app.App
	dir   string
	code  string
	model string

	byTool bool // the model reports by a tool
}

// inEvalRoom evaluates in a room that is gone afterwards.
func (c *command) inEvalRoom(ctx context.Context, code string, do func(room *evalRoom) error) error {
	cfg, err := c.settings()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "sibyl-eval-")
	if err != nil {
		return err
	}
	cfg.DataDir, cfg.Database, cfg.Web.SearXNG = dir, config.Database{}, ""
	a, err := c.open(ctx, cfg)
	if err == nil {
		err = errors.Join(do(&evalRoom{app: a, dir: dir, code: code}), a.Close())
	}
	return errors.Join(err, os.RemoveAll(dir))
}

// ask asks the questions in a session of their own, on a vault of their own, and gives the outcome of the last.
func (r *evalRoom) ask(ctx context.Context, t trees.Tree, modelID string, questions []string) (oracle.Answer, error) {
	id := run.NewID(time.Now())
	vault := filepath.Join(r.dir, "vaults", id)
	notes, err := fs.Sub(evaldata.Files, evaldata.OracleVault)
	if err != nil {
		return oracle.Answer{}, err
	}
	if err := os.CopyFS(vault, notes); err != nil {
		return oracle.Answer{}, err
	}
	defer func() { _ = os.RemoveAll(vault) }() // what is left goes with the room
	return r.askIn(ctx, t, modelID, oracle.Env{CodeRoot: r.code, Vault: vault}, questions)
}

// askIn asks the questions in a session of their own, in given folders, of which some may be named, and gives the outcome of the last.
func (r *evalRoom) askIn(ctx context.Context, t trees.Tree, modelID string, env oracle.Env, questions []string, named ...tool.Source) (answer oracle.Answer, err error) {
	id, now := run.NewID(time.Now()), time.Now().UTC()
	last := questions[len(questions)-1]
	session := &journal.Session{ID: id, Owner: app.Owner, Assistant: oracle.Name, Title: oracle.Title(last), CreatedAt: now, UpdatedAt: now}
	info := r.app.Describe(ctx, modelID)
	env.Model, env.WindowTokens, env.BareCalls, env.ReportTool = modelID, info.Window, info.BareCalls, r.byTool && modelID == r.model
	for _, text := range questions {
		q := oracle.Question{Text: text, Named: named, Owner: app.Owner, Session: id, MaxTurns: r.app.Config.MaxTurns, TreeFile: t.File, Tree: t.Text, Prompts: r.app.Prompts, NewSession: session, Env: env}
		if answer, err = r.askOne(ctx, q); err != nil {
			return answer, err
		}
		session = nil
	}
	return answer, nil
}

func (r *evalRoom) askOne(ctx context.Context, q oracle.Question) (oracle.Answer, error) {
	var answer oracle.Answer
	tools, closeTools, err := r.app.Tools(ctx, q.Env)
	if err != nil {
		return answer, withCode(ExitUsage, err)
	}
	q.Tools = tools.Specs()
	closeTools()
	spec, err := oracle.NewRun(ctx, r.app.Store, q)
	if err != nil {
		return answer, err
	}
	live, err := r.app.Engine.Start(ctx, spec)
	if err != nil {
		return answer, err
	}
	end, err := live.Wait(context.WithoutCancel(ctx))
	if err := errors.Join(err, context.Cause(ctx)); err != nil {
		return answer, err
	}
	return oracle.ReadAnswer(end.Outcome)
}

// playTranscript asks a transcript's question of the model that plays it.
func (r *evalRoom) playTranscript(ctx context.Context, t eval.Transcript) (oracle.Answer, error) {
	tree, err := r.app.Trees.Get(oracle.Name)
	if err != nil {
		return oracle.Answer{}, err
	}
	return r.ask(ctx, tree, eval.PlayerProvider+":"+t.ID, []string{t.Question})
}

// addPlayers makes the transcripts known as models. It is called before the first run.
func (r *evalRoom) addPlayers(transcripts []eval.Transcript) {
	r.app.Models = append(r.app.Models, model.Provider{Name: eval.PlayerProvider, Local: true,
		New: func(name string) (model.Model, error) {
			at := slices.IndexFunc(transcripts, func(t eval.Transcript) bool { return t.ID == name })
			if at < 0 {
				return nil, fmt.Errorf("there is no transcript %q", name)
			}
			return eval.NewPlayer(transcripts[at]), nil
		}})
}
