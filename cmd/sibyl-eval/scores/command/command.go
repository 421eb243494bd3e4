// Package command is the program sibyl-eval: it scores Sibyl on the labelled sets in eval/, and trains the classifier
// of questions.
package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"sibyl/cmd/sibyl-eval/scores"
	"sibyl/cmd/sibyl-eval/scores/train"
	evaldata "sibyl/eval"
	"sibyl/internal/model"
)

// parallel is how many questions or dialogues run at a time.
const parallel = 4

// report is what a command prints, as text or as one JSON object.
type report interface{ WriteText(w io.Writer) error }

// Root is the command line. environ is as os.Environ gives it.
func Root(environ []string) *cobra.Command {
	root := &cobra.Command{Use: "sibyl-eval", Short: "Score Sibyl on the labelled sets in eval/",
		SilenceUsage: true, SilenceErrors: true,
		Long: "Scores Sibyl on the labelled sets in eval/, whose README defines every figure. Journal and tasks are in a\n" +
			"temporary folder. Exits with 1 if a bound does not hold."}
	asJSON := root.PersistentFlags().Bool("json", false, "print one JSON object")
	print := func(cmd *cobra.Command, r report, broken []string) error {
		var err error
		if *asJSON {
			err = json.NewEncoder(cmd.OutOrStdout()).Encode(r)
		} else {
			err = r.WriteText(cmd.OutOrStdout())
		}
		if err == nil && len(broken) > 0 {
			err = fmt.Errorf("below the required scores: %s", strings.Join(broken, "; "))
		}
		return err
	}
	root.AddCommand(classifyCommand(print), trainCommand(), oracleCommand(environ, print), tasksCommand(environ, print),
		inquiryCommand(environ, print), councilCommand(environ, print), findCommand(environ, print))
	return root
}

type printer func(cmd *cobra.Command, r report, broken []string) error

func classifyCommand(print printer) *cobra.Command {
	return &cobra.Command{Use: "classify", Short: "Score the classifier of questions (SC-001)", Args: cobra.NoArgs,
		Long: "Prints for each set how often the type is right and a source that answers is offered, and the misses of\n" +
			"the sets that may be looked at.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := Classified()
			if err != nil {
				return err
			}
			return print(cmd, r, nil)
		}}
}

// Classified are the scores of the classifier on all sets of questions: with halves, of personas, and of the hands that
// nothing is learned from.
func Classified() (r eval.ClassReport, err error) {
	for _, name := range []string{evaldata.Queries, evaldata.EverydayQueries, evaldata.PersonaQueries} {
		halves, err := eval.LoadQueries(evaldata.Files, name)
		if err != nil {
			return nil, err
		}
		for _, half := range halves {
			r = append(r, eval.Classify(half))
		}
	}
	hands, err := fs.Glob(evaldata.Files, evaldata.HeldQueries+"/*.txt")
	if err != nil {
		return nil, err
	}
	for _, hand := range hands {
		lessons, err := train.Lessons(evaldata.Files, hand)
		if err != nil {
			return nil, err
		}
		r = append(r, eval.Classify(eval.Questions{Name: hand, Lessons: lessons}))
	}
	return r, nil
}

func trainCommand() *cobra.Command {
	return &cobra.Command{Use: "train [FILE]", Short: "Train the classifier from eval/training",
		Args: cobra.MaximumNArgs(1),
		Long: "Writes the weights, to internal/oracle/classify/classify.weights " +
			"unless a file is named. It takes a minute.",
		Example: "  go run ./cmd/sibyl-eval train && go run ./cmd/sibyl-eval classify",
		RunE: func(cmd *cobra.Command, args []string) error {
			args = append(args, filepath.Join("internal", "oracle", "classify", "classify.weights"))
			lessons, err := train.Lessons(evaldata.Files, evaldata.Lessons+"/*.*")
			if err != nil {
				return err
			}
			weights, err := train.Bytes(train.Train(lessons))
			if err == nil {
				err = os.WriteFile(args[0], weights, 0o644)
			}
			if err == nil {
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %d bytes, from %d questions\n", args[0], len(weights), len(lessons))
			}
			return err
		}}
}

// flags are those of an evaluation on a set of which a half is never used for tuning.
type flags struct {
	set, model       string
	frozen, failures bool
}

func (f *flags) of(cmd *cobra.Command, usual string) *cobra.Command {
	fl := f.onAll(cmd, usual).Flags()
	fl.BoolVar(&f.frozen, "frozen", false, "only the half never used for tuning")
	fl.BoolVar(&f.failures, "failures", false, "list what went wrong, but for the frozen half")
	return cmd
}

// onAll adds the flags of an evaluation on a whole set.
func (f *flags) onAll(cmd *cobra.Command, usual string) *cobra.Command {
	cmd.Flags().StringVar(&f.set, "set", "", "a file in the format of eval/"+usual+" (default: the sets in eval/)")
	cmd.Flags().StringVarP(&f.model, "model", "m", model.OfflineRules, "provider:model, with the keys of your settings")
	return cmd
}

// file is where the set lies: a file that a person names, or the usual one.
func (f *flags) file(usual string) (files fs.FS, name string) {
	if f.set == "" {
		return evaldata.Files, usual
	}
	return os.DirFS(filepath.Dir(f.set)), filepath.Base(f.set)
}

// Main runs the command line and gives the exit code: 0, or 1 where something failed or a bound does not hold.
func Main(ctx context.Context, args, environ []string, out, complaints io.Writer) int {
	root := Root(environ)
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(complaints)
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(complaints, "sibyl-eval:", err)
		return 1
	}
	return 0
}
