package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// insertDefaultCommand puts ask before a command line without a command, if it has a sentence in quotes, only flags of
// ask, or, on a terminal, no arguments; without a question ask opens the conversation. Others are returned unchanged:
// words without quotes may be a mistyped command.
func (c *command) insertDefaultCommand(root *cobra.Command, args []string) []string {
	if cmd, _, err := root.Find(args); cmd != root || err != nil || isCompletion(args) {
		return args
	}
	ask, _, err := new(command).root().Find([]string{"ask"}) // of another root: its flags will be parsed again
	if err != nil || ask.ParseFlags(args) != nil {
		return args
	}
	isSentence := slices.ContainsFunc(ask.Flags().Args(), func(arg string) bool { return len(strings.Fields(arg)) > 1 })
	isOptions := false
	ask.Flags().Visit(func(f *pflag.Flag) { isOptions = isOptions || root.PersistentFlags().Lookup(f.Name) == nil })
	if isSentence || (isOptions || c.onTerminal()) && len(ask.Flags().Args()) == 0 {
		return append([]string{"ask"}, args...)
	}
	return args
}
