package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"sibyl/internal/config"
	"sibyl/internal/keys"
)

func (c *command) configCheck() *cobra.Command {
	return c.withJSON(&cobra.Command{Use: "check",
		Short: "Check the settings against the rules of the Inquiry, and list every problem", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := config.Check(c.options(), func(cfg config.Config, name string) (config.Secret, error) {
				return cfg.Key(cmd.Context(), name, keys.New(cfg.Keys))
			})
			if err != nil {
				return withCode(ExitUsage, err)
			}
			if !found.OK {
				c.code = ExitUsage
			}
			return c.printResult(found, printable(checkedText(found)))
		}}, "one JSON object")
}

// checkedText formats a check: a line for each rule, and below it its violations and how to fix them.
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
