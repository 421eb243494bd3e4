package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"sibyl/internal/config"
	"sibyl/internal/keys"
)

func (c *command) configCheck() *cobra.Command {
	return c.withJSON(&cobra.Command{Use: "check", Short: "Check the settings against the rules of the Inquiry, and list every problem", Args: cobra.NoArgs,
		Long: "Checks every rule for detectives, witness, fallback order, time-outs and limits. For each it says\n" +
			"whether it holds, or what is wrong, where, and how to fix it. The rules apply to what the file and\n" +
			"variables name; without a file, a local model is used, or none. Keys are read to check their length\n" +
			"and never shown. No server is contacted; ‘sibyl config test’ does that.\n\n" +
			"Exit codes: 0 all rules hold, 2 some do not.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := config.Check(c.options(), func(cfg config.Config, name string) (config.Secret, error) {
				return cfg.Key(cmd.Context(), name, keys.Open(cfg.Keys))
			})
			if err != nil {
				return withCode(ExitUsage, err)
			}
			if !found.OK {
				c.code = ExitUsage
			}
			return c.printed(found, printable(checkedText(found)))
		}}, "one JSON object")
}

// checkedText is a check as lines: the rules, and below each what breaks it.
func checkedText(found config.Checked) string {
	marks := map[string]string{config.RuleHolds: "ok", config.RuleBroken: "--", config.RuleUnchecked: "??"}
	var out strings.Builder
	for _, r := range found.Rules {
		says := r.Found
		if r.Outcome != config.RuleHolds {
			says = "wanted: " + r.Says
		}
		fmt.Fprintf(&out, "%s  %-23s %s\n", marks[r.Outcome], r.Name, says)
		for _, v := range r.Violations {
			where := ""
			if v.Where != "" {
				where = v.Where + ": "
			}
			fmt.Fprintf(&out, "      %s%s\n         %s\n", where, v.Problem, v.Fix)
		}
	}
	return out.String()
}
