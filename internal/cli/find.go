package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// groupRun serves a command that only holds others: bare it shows its help, and a name it does not know is an error.
func groupRun(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	var all []string
	for _, sub := range cmd.Commands() {
		all = append(all, sub.Name())
	}
	hint := "; there are: " + strings.Join(all, ", ")
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = ": did you mean " + strings.Join(near, " or ") + "?"
	}
	return withCode(ExitUsage, fmt.Errorf("there is no ‘%s %s’%s", cmd.CommandPath(), args[0], hint))
}

// checkLimit wants a list to have room for something.
func checkLimit(limit int) error {
	if limit < 1 {
		return withCode(ExitUsage, fmt.Errorf("--limit is %d: at least 1 is listed", limit))
	}
	return nil
}
