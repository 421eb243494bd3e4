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
	cmd := &cobra.Command{Use: "set NAME VALUE... | set --unset NAME",
		Short: "Change one setting in the settings file, or remove it",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return errors.New("which setting? ‘sibyl config show’ lists them")
			case unset && len(args) > 1:
				return errors.New("--unset takes only the name of a setting")
			case !unset && len(args) == 1:
				return fmt.Errorf("no value for %s: ‘sibyl config set %s VALUE’, or --unset",
					redact.New().String(args[0]), redact.New().String(args[0]))
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
				fmt.Fprintf(c.Out, "%s was removed from %s\n", args[0], done.File)
			} else {
				fmt.Fprintf(c.Out, "%s was set in %s:%d\n", args[0], done.File, done.Line)
			}
			if done.Overridden != "" {
				fmt.Fprintf(c.Err, "· but the environment variable %s is set and takes precedence\n", done.Overridden)
			}
			c.reportRemainingProblems(done.Left)
			return nil
		}}
	cmd.Flags().BoolVar(&unset, "unset", false, "remove the setting, or a whole section, from the file")
	return cmd
}
