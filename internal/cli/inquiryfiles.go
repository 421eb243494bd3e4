package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/files"
	"sibyl/internal/inquiry"
	"sibyl/internal/inquiry/record"
)

// readBounded reads a file whole, or standard input for “-”.
func (c *command) readBounded(name string, most int64) ([]byte, error) {
	in := c.In
	if name != "-" {
		f, err := files.Named(name)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }() // opened for reading only
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, most+1))
	if err == nil && int64(len(raw)) > most {
		err = fmt.Errorf("%s is larger than %d MB", name, most>>20)
	}
	return raw, err
}

// mostEvidence bounds an evidence page, in bytes.
const mostEvidence = 64 << 20

func (c *command) inquiryVerify() *cobra.Command {
	var documents string
	cmd := &cobra.Command{Use: "verify FILE", Short: "Verify an evidence page or a session file", Args: cobra.ExactArgs(1),
		Long: "Checks that a session follows its schema and all rules, that the score matches the formula, and, for\n" +
			"a page, that what it shows matches the data it contains. With --documents the cited passages are\n" +
			"looked up in the documents again.\n\n" +
			"Exit codes: 0 all checks pass, 1 one fails, 2 the file can't be read.",
		Example: "  sibyl inquiry verify bridge.html --documents reports/",
		RunE: func(cmd *cobra.Command, args []string) error {
			raw, err := c.readBounded(args[0], mostEvidence)
			if err != nil {
				return withCode(ExitUsage, err)
			}
			var docs func(name string) (record.Source, error)
			if documents != "" {
				if docs, err = app.Sources(cmd.Context(), documents); err != nil {
					return withCode(ExitUsage, err)
				}
			}
			report := record.Verify(raw, docs)
			if c.asJSON {
				err = c.printJSON(report)
			} else {
				printChecks(c, report)
			}
			if err == nil && !report.OK() {
				c.code = ExitFailed
			}
			return err
		}}
	cmd.Flags().StringVar(&documents, "documents", "", "folder with the documents it cites")
	return c.withJSON(cmd, "one JSON object")
}

func printChecks(c *command, report record.Report) {
	for _, check := range report.Checks {
		fmt.Fprintln(c.Out, printable(fmt.Sprintf("%-12s %s", check.Outcome, check.Name)))
		for _, p := range check.Problems {
			fmt.Fprintln(c.Out, printable("             "+p))
		}
	}
	if report.Digest != "" {
		fmt.Fprintln(c.Out, "digest", report.Digest)
	}
}

func (c *command) inquiryAnalyse() *cobra.Command {
	var asked string
	cmd := &cobra.Command{Use: "analyse FILE.json | -", Short: "Analyse a finished interview", Args: cobra.ExactArgs(1),
		Long: "Reads {\"hypothesis\", \"language\", \"pairs\": [{\"question\", \"answer\"}]} and reports the gaps and\n" +
			"contradictions in the answers. Answers are numbered from 1, in the JSON pairs from 0. Findings that\n" +
			"would need another question to confirm are listed under suspicions.",
		Example: "  sibyl inquiry analyse interview.json --json -m offline:rules",
		RunE: c.onApp(func(ctx context.Context, a *app.App, args []string) error {
			raw, err := c.readBounded(args[0], inquiry.MostInterview)
			if err != nil {
				return withCode(ExitUsage, err)
			}
			i, err := inquiry.ReadInterview(raw)
			if err != nil {
				return withCode(ExitUsage, fmt.Errorf("%s: %w", args[0], err))
			}
			id, err := a.Models.Choose(ctx, cmp.Or(asked, a.Config.Model))
			if err != nil {
				return withCode(ExitUsage, err)
			}
			f, err := a.Inquiry.Analyse(ctx, id, i)
			if err != nil {
				return withCode(ExitFailed, errors.Join(errors.New("the interview could not be analysed"), err))
			}
			if c.asJSON {
				return c.printJSON(f)
			}
			c.printFound(f)
			return nil
		})}
	cmd.Flags().StringVarP(&asked, "model", "m", "", "provider:model; offline:rules for rules only")
	return c.withJSON(cmd, "one JSON object")
}

func (c *command) printFound(f inquiry.Found) {
	for n, p := range f.Pairs {
		for _, g := range p.Gaps {
			fmt.Fprintln(c.Out, printable(fmt.Sprintf("answer %d: %s (%s): %s", n+1, g.Category, g.Severity, g.Description)))
		}
	}
	clashes := func(what string, all []inquiry.FoundClash) {
		for _, x := range all {
			fmt.Fprintln(c.Out, printable(fmt.Sprintf("answers %d and %d: %s: %s", x.Pairs[0]+1, x.Pairs[1]+1, what, x.Reason)))
		}
	}
	clashes("contradiction", f.Contradictions)
	clashes("suspicion", f.Suspicions)
	verdict := "not satisfied"
	if f.Satisfied {
		verdict = "satisfied"
	}
	fmt.Fprintf(c.Out, "%d %% complete, %s; by %s\n", f.Completeness, verdict, f.By)
}
