package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/files"
	"sibyl/internal/inquiry/record"
)

// readBounded reads a file, or standard input for “-”, whole; more than most bytes are an error.
func (c *command) readBounded(name string, most int64) ([]byte, error) {
	if name != "-" {
		return files.ReadNamed(name, most)
	}
	raw, err := io.ReadAll(io.LimitReader(c.In, most+1))
	if err == nil && int64(len(raw)) > most {
		err = fmt.Errorf("%s is larger than %d MB", name, most>>20)
	}
	return raw, err
}

// mostEvidence limits the bytes of an evidence page or a session file.
const mostEvidence = 64 << 20

func (c *command) inquiryVerify() *cobra.Command {
	var documents string
	cmd := &cobra.Command{Use: "verify FILE", Short: "Verify an evidence page or a session file",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			raw, err := c.readBounded(args[0], mostEvidence)
			if err != nil {
				return withCode(ExitUsage, err)
			}
			var docs func(name string) (record.Source, error)
			if documents != "" {
				if docs, err = app.Sources(cmd.Context(), c.Documents, documents); err != nil {
					return withCode(ExitUsage, err)
				}
			}
			report := record.Verify(raw, docs)
			if c.asJSON {
				err = c.printJSON(report)
			} else {
				printChecks(c, report)
			}
			if err == nil && !report.OK {
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
