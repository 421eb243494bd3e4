package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/config"
	"sibyl/internal/redact"
)

func (c *command) configSet() *cobra.Command {
	var force bool
	cmd := &cobra.Command{Use: "set NAME VALUE...",
		Short: "Change one setting in the settings file",
		Args: func(_ *cobra.Command, args []string) error {
			switch name := redact.New().String(strings.Join(args[:min(1, len(args))], "")); {
			case len(args) == 0:
				return errors.New("which setting? ‘sibyl config show’ lists them")
			case len(args) == 1:
				return fmt.Errorf("no value for %s: ‘sibyl config set %s VALUE’, or ‘sibyl config unset %s’", name, name,
					name)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			name := args[0]
			typed, err := pathFromHere(name, args[1:])
			if err != nil {
				return withCode(ExitUsage, err)
			}
			done, words, err := app.Settings{Options: c.options()}.Set(cmd.Context(), name, typed, force)
			if _, unfit := errors.AsType[*app.UnfitError](err); unfit {
				err = fmt.Errorf("%w (--force sets it all the same)", err)
			}
			if err != nil {
				return withCode(ExitUsage, err)
			}
			was := ""
			if !slices.Equal(words, args[1:]) {
				was = " to " + strings.Join(words, " ")
			}
			fmt.Fprintf(c.Out, "%s was set%s in %s:%d\n", name, was, done.File, done.Line)
			c.reportChange(done)
			return nil
		}}
	cmd.Flags().BoolVar(&force, "force", false, "set it although what it names is not there yet")
	return cmd
}

// pathFromHere makes the relative path of a file or folder absolute, if a setting takes one: in the settings file it
// would be relative to that.
func pathFromHere(name string, words []string) ([]string, error) {
	takesPath := slices.ContainsFunc(config.Hints(nil, nil), func(h config.Hint) bool { return h.Name == name && h.Path })
	if !takesPath || len(words) != 1 || words[0] == "" || strings.HasPrefix(words[0], "~") {
		return words, nil
	}
	abs, err := filepath.Abs(words[0])
	return []string{abs}, err
}

func (c *command) configUnset() *cobra.Command {
	return &cobra.Command{Use: "unset NAME", Short: "Remove a setting, or a whole section, from the settings file",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			done, err := config.Unset(c.options(), args[0], nil)
			if err != nil {
				return withCode(ExitUsage, err)
			}
			fmt.Fprintf(c.Out, "%s was removed from %s\n", args[0], done.File)
			c.reportChange(done)
			return nil
		}}
}

// reportChange says what overrides a change of the settings, and what is still wrong with them.
func (c *command) reportChange(done config.Change) {
	if done.Overridden != "" {
		fmt.Fprintf(c.Err, "· but the environment variable %s is set and takes precedence\n", done.Overridden)
	}
	c.reportRemainingProblems(done.Left)
}

func (c *command) configGet() *cobra.Command {
	return c.withJSON(&cobra.Command{Use: "get NAME", Short: "Print one setting in force, or those of a section",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := config.Explain(c.options())
			if err == nil {
				all, err = all.Of(args[0])
			}
			switch {
			case err != nil:
				return withCode(ExitUsage, err)
			case c.asJSON:
				return c.printJSON(all)
			case len(all) == 1 && all[0].Path == args[0]:
				return c.printValue(all[0])
			}
			text, err := all.YAML()
			if err != nil {
				return err
			}
			return writeAll(c.Out, string(text))
		}}, "a JSON array")
}

// printValue prints the value of a setting for scripts: a list has a line for each entry, and what is not set nothing.
func (c *command) printValue(line config.Line) error {
	switch value := line.Value.(type) {
	case nil:
		return nil
	case string:
		return writeAll(c.Out, printable(value)+"\n")
	case []string:
		for _, one := range value {
			fmt.Fprintln(c.Out, printable(one))
		}
		return nil
	}
	text, err := encodeJSON(line.Value, false)
	if err != nil {
		return err
	}
	return writeAll(c.Out, strings.TrimSuffix(text, "\n")+"\n")
}
