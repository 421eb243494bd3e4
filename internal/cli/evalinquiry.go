package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	evaldata "sibyl/eval"
	"sibyl/internal/eval/inquiry"
)

// evalInquiryFlags are the flags of ‘sibyl eval inquiry’.
type evalInquiryFlags struct {
	labelled
	limit int
}

func (c *command) evalInquiry() *cobra.Command {
	var f evalInquiryFlags
	cmd := &cobra.Command{Use: "inquiry", Short: "Score the detective on labelled interviews and scripted witnesses", Args: cobra.NoArgs,
		Long: "Gives the detective finished interviews with planted gaps and contradictions, and for each also has\n" +
			"it question a scripted witness. Exits with 1 if fewer than 90 % of the recorded contradictions or 85\n" +
			"% of the reported gaps are real, if fewer than 70 % of the gaps are found, or if fewer than 85 % of\n" +
			"the interviews with flawless witnesses end as satisfied. eval/README.md defines every figure.",
		Example: "  sibyl eval inquiry --failures\n  sibyl eval inquiry --limit 20 --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			set, err := openInquirySet(f)
			if err != nil {
				return withCode(ExitUsage, err)
			}
			return c.inEvalRoom(cmd.Context(), "", func(room *evalRoom) error {
				detective, err := room.app.Detective(f.model)
				if err != nil {
					return err
				}
				return c.scoreInquiry(cmd.Context(), set, detective, f.failures)
			})
		}}
	f.flags(cmd, "cases", evaldata.InquiryCases, "of the detective", "cases with errors")
	cmd.Flags().IntVar(&f.limit, "limit", inquiry.DefaultLimit, fmt.Sprintf("questions to a witness, %d to %d", inquiry.LeastLimit, inquiry.MostLimit))
	return c.withJSON(cmd, "one JSON object, with the failures")
}

func openInquirySet(f evalInquiryFlags) (inquiry.Set, error) {
	if f.limit < inquiry.LeastLimit || f.limit > inquiry.MostLimit {
		return inquiry.Set{}, fmt.Errorf("--limit is %d; it must be %d to %d", f.limit, inquiry.LeastLimit, inquiry.MostLimit)
	}
	files, name := setFile(f.set, evaldata.InquiryCases)
	cases, err := inquiry.Load(files, name)
	return inquiry.Set{Cases: cases, FrozenOnly: f.frozen, Parallel: evalParallel, Limit: f.limit}, err
}

// scoreInquiry prints the report. Bounds that do not hold are an error.
func (c *command) scoreInquiry(ctx context.Context, set inquiry.Set, detective inquiry.Detective, failures bool) error {
	report, err := inquiry.Run(ctx, set, detective)
	if err != nil {
		return err
	}
	report.WithFailures = failures
	return c.scored(report, report.Broken)
}
