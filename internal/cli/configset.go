package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"sibyl/internal/config"
	"sibyl/internal/redact"
)

func (c *command) configSet() *cobra.Command {
	var unset bool
	cmd := &cobra.Command{Use: "set NAME VALUE... | set --unset NAME", Short: "Write one setting into the settings file, or take it out",
		Long: "Writes one setting, named by its sections and its name with dots between. A list takes several values, or one such as '[a, b]'. Comments\n" +
			"and order stay. The whole is checked first: what would not hold is not written. Keys do not belong in the file: ‘sibyl config set-key’.",
		Example: "  sibyl config set model ollama:llama3.1:8b\n  sibyl config set fallback.models openai:gpt-4o ollama:llama3.1:8b\n  sibyl config set --unset timeouts.start",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return errors.New("which setting? ‘sibyl config show’ lists them")
			case unset && len(args) > 1:
				return errors.New("--unset takes the name of a setting alone")
			case !unset && len(args) == 1:
				return fmt.Errorf("what is %s to be? ‘sibyl config set %s VALUE’, or --unset", redact.New().String(args[0]), redact.New().String(args[0]))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			var done config.Change
			var err error
			if unset {
				done, err = config.Unset(c.options(), args[0])
			} else {
				done, err = config.Set(c.options(), args[0], args[1:])
			}
			if err != nil {
				return withCode(ExitUsage, err)
			}
			if unset {
				fmt.Fprintf(c.Out, "%s is taken out of %s\n", args[0], done.File)
			} else {
				fmt.Fprintf(c.Out, "%s is set in %s:%d\n", args[0], done.File, done.Line)
			}
			if done.Overridden != "" {
				fmt.Fprintf(c.Err, "· but %s is set, and comes first\n", done.Overridden)
			}
			c.tellLeft(done.Left)
			return nil
		}}
	cmd.Flags().BoolVar(&unset, "unset", false, "take the setting, or a whole section, out of the file")
	return cmd
}
