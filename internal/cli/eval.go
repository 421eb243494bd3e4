package cli

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	evaldata "sibyl/eval"
	"sibyl/internal/eval"
	"sibyl/internal/model"
)

func (c *command) evalCommand() *cobra.Command {
	return group(&cobra.Command{Use: "eval", Short: "Score Sibyl on its own labelled sets", Example: "  sibyl eval oracle\n  sibyl eval loops"},
		c.evalLoops(), c.evalClassify(), c.evalFind(), c.evalOracle(), c.evalScaling(), c.evalTasks())
}

func (c *command) evalClassify() *cobra.Command {
	var half string
	cmd := &cobra.Command{Use: "classify", Short: "Score the classifier on labelled questions (SC-001)", Args: cobra.NoArgs,
		Long: "Prints the accuracy with its 95 % confidence interval, the scores for each class, and the misses.\n" +
			"The test half is never used for tuning; eval/README.md has the labelling guidelines.",
		RunE: func(*cobra.Command, []string) error {
			h := eval.Half(half)
			if h != eval.Dev && h != eval.Test {
				return withCode(ExitUsage, fmt.Errorf("--half is %q; use %s or %s", half, eval.Dev, eval.Test))
			}
			queries, err := eval.LoadQueryFile(evaldata.Files, evaldata.Queries)
			if err != nil {
				return err
			}
			return c.printReport(eval.Classify(queries, h))
		}}
	cmd.Flags().StringVar(&half, "half", string(eval.Test), "dev or test")
	return c.withJSON(cmd, "one JSON object")
}

// labelled are the flags of an evaluation on a labelled set of which a half is never used for tuning.
type labelled struct {
	set, model       string
	frozen, failures bool
}

// flags gives a command them: what its set is of, which one is part of the program, what the model does, and what it may do wrong.
func (f *labelled) flags(cmd *cobra.Command, of, usual, does, wrong string) {
	fl := cmd.Flags()
	fl.StringVar(&f.set, "set", "", "a file of "+of+" in the format of eval/"+usual+" (default: that set, which is built in)")
	fl.StringVarP(&f.model, "model", "m", model.OfflineRules, "provider:model "+does)
	fl.BoolVar(&f.frozen, "frozen", false, "only the half never used for tuning")
	fl.BoolVar(&f.failures, "failures", false, "list the "+wrong+"; those of the frozen half only with --frozen")
}

// setFile is where a labelled set lies: a file that a person names, or the usual one, which is part of the program.
func setFile(named, usual string) (files fs.FS, name string) {
	if named == "" {
		return evaldata.Files, usual
	}
	return os.DirFS(filepath.Dir(named)), filepath.Base(named)
}

// scored prints a report. Bounds that do not hold are an error.
func (c *command) scored(r interface{ WriteText(w io.Writer) error }, broken []string) error {
	if err := c.printReport(r); err != nil {
		return err
	}
	if len(broken) > 0 {
		return withCode(ExitFailed, fmt.Errorf("below the required scores: %s", strings.Join(broken, "; ")))
	}
	return nil
}

// printReport prints a report for people, or as one JSON object.
func (c *command) printReport(r interface{ WriteText(w io.Writer) error }) error {
	if c.asJSON {
		return c.printJSON(r)
	}
	return r.WriteText(c.Out)
}
