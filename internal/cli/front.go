package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// insertDefaultCommand puts ask before a command line without a command, if it has a sentence in quotes, words after
// “--”, only flags of ask, or, on a terminal, no arguments; without a question ask opens the conversation. Others are
// returned unchanged: words without quotes may be a mistyped command.
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
	isEnded := ask.Flags().ArgsLenAtDash() >= 0 && len(ask.Flags().Args()) > 0 // words after “--” are no command
	if isSentence || isEnded || (isOptions || c.onTerminal()) && len(ask.Flags().Args()) == 0 {
		return append([]string{"ask"}, args...)
	}
	return args
}

// readPiped reads what is piped into ‘sibyl’ alone, as the input of the command that follows. It is false where nothing
// is piped in or nothing comes.
func (c *command) readPiped() (bool, error) {
	if f, isFile := c.In.(*os.File); !isFile || c.InTTY {
		return false, nil
	} else if _, err := f.Stat(); err != nil {
		return false, nil //nolint:nilerr // a descriptor that is closed holds nothing
	}
	quiet := c.quiet
	c.quiet = true // that nothing came is no news where the help follows
	text, err := c.readStdinBeside(silence)
	c.quiet = quiet
	c.In = strings.NewReader(text)
	if err != nil {
		return false, withCode(ExitUsage, fmt.Errorf("reading standard input: %w", err))
	}
	return strings.TrimSpace(text) != "", nil
}

// runAsk runs ‘sibyl ask’ without arguments: its input is the question.
func runAsk(root *cobra.Command) error {
	ask, _, err := root.Find([]string{"ask"})
	if err == nil {
		err = ask.ParseFlags(nil)
	}
	if err != nil {
		return err
	}
	ask.SetContext(root.Context())
	return ask.RunE(ask, nil)
}
