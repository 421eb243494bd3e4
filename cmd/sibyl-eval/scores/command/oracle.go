package command

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"sibyl/cmd/sibyl-eval/scores"
	evaldata "sibyl/eval"
	"sibyl/internal/config"
	"sibyl/internal/model"
	"sibyl/internal/oracle"
	"sibyl/internal/schema"
	"sibyl/internal/tool"
)

// oracleFlags are the flags of ‘sibyl-eval oracle’.
type oracleFlags struct {
	in, model, report     string
	baseline, transcripts bool
}

func oracleCommand(environ []string, print printer) *cobra.Command {
	var f oracleFlags
	cmd := &cobra.Command{Use: "oracle",
		Short: "Score the Oracle on questions about a real repository (SC-001 to SC-006)", Args: cobra.NoArgs,
		Long: "Asks labelled questions about " + evaldata.OracleModule + " " + evaldata.OracleVersion +
			" and the notes of\n" +
			"an invented team, and scores the answers by the places that answer them.",
		Example: "  sibyl-eval oracle --baseline --transcripts\n  sibyl-eval oracle -m ollama:llama3.1:8b --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := scoredOracle(cmd.Context(), environ, f)
			if err != nil {
				return err
			}
			return print(cmd, r, nil)
		}}
	fl := cmd.Flags()
	fl.StringVar(&f.in, "in", "", "folder of the module (default: where ‘go list’ has it)")
	fl.StringVarP(&f.model, "model", "m", model.OfflineRules, "provider:model, with the keys of your settings")
	fl.StringVar(&f.report, "report", "",
		"how the model reports on itself: signals or tool (default: the setting of its provider)")
	fl.BoolVar(&f.baseline, "baseline", false, "ask the tree ‘baseline’ as well, and compare")
	fl.BoolVar(&f.transcripts, "transcripts", false, "also run the transcripts of misbehaving models")
	return cmd
}

func scoredOracle(ctx context.Context, environ []string, f oracleFlags) (r eval.OracleReport, err error) {
	questions, err := eval.LoadOracleQuestions(evaldata.Files, evaldata.OracleQuestions)
	if err != nil {
		return r, err
	}
	if f.in == "" {
		if f.in, err = module(ctx, environ, evaldata.OracleModule+"@"+evaldata.OracleVersion); err != nil {
			return r, err
		}
	}
	notes, err := fs.Sub(evaldata.Files, evaldata.OracleVault)
	if err != nil {
		return r, err
	}
	if err := eval.CheckPlaces(questions, map[tool.Source]fs.FS{tool.Code: os.DirFS(f.in),
		tool.Vault: notes}); err != nil {
		return r, fmt.Errorf("the labels do not fit %s, so it is not %s %s unchanged: %w", f.in, evaldata.OracleModule,
			evaldata.OracleVersion, err)
	}
	err = within(ctx, environ, func(room room) error {
		id, err := room.app.Models.Choose(ctx, f.model)
		if err != nil {
			return err
		}
		r.Model = id
		as := asking{model: id, options: oracle.Options{Code: schema.Folder{Path: f.in}},
			byTool: f.report == config.ReportTool ||
				f.report == "" && room.app.ReportForm(id) == model.ReportTool}
		if r.Ours, err = room.askTree(ctx, oracle.Name, as, questions); err != nil {
			return err
		}
		if f.baseline {
			if r.Baseline, err = room.askTree(ctx, "baseline", as, questions); err != nil {
				return err
			}
		}
		if f.transcripts {
			r.Transcripts, err = room.playTranscripts(ctx, f.in)
		}
		return err
	})
	r.Judge()
	return r, err
}

// askTree asks a tree all questions.
func (r room) askTree(
	ctx context.Context, name string, as asking, questions []eval.OracleQuestion,
) ([]eval.OracleScore, error) {
	t, err := r.app.Trees.Get(name)
	if err != nil {
		return nil, err
	}
	as.tree = t
	return eval.RunOracle(ctx, questions, parallel, func(ctx context.Context, q eval.OracleQuestion) (oracle.Answer,
		error) {
		return r.askSet(ctx, as, append(slices.Clone(q.Previous), q.Text))
	})
}

// playTranscripts has models misbehave as the transcripts say, and scores how the runs cope.
func (r room) playTranscripts(ctx context.Context, code string) ([]eval.TranscriptScore, error) {
	all, err := eval.LoadTranscripts(evaldata.Files, evaldata.Misbehaving)
	if err != nil {
		return nil, err
	}
	t, err := r.app.Trees.Get(oracle.Name)
	if err != nil {
		return nil, err
	}
	r.app.Models = append(r.app.Models, model.Provider{Name: eval.PlayerProvider, Local: true,
		New: func(name string) (model.Model, error) {
			at := slices.IndexFunc(all, func(t eval.Transcript) bool { return t.ID == name })
			if at < 0 {
				return nil, fmt.Errorf("there is no transcript %q", name)
			}
			return eval.NewPlayer(all[at]), nil
		}})
	scores := make([]eval.TranscriptScore, len(all))
	err = eval.Each(ctx, len(all), parallel, func(ctx context.Context, i int) error {
		as := asking{tree: t, model: eval.PlayerProvider + ":" + all[i].ID,
			options: oracle.Options{Code: schema.Folder{Path: code}}}
		a, err := r.askSet(ctx, as, []string{all[i].Question})
		scores[i] = eval.ScoreTranscript(all[i], a)
		return err
	})
	return scores, err
}
