package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"sibyl/internal/config"
)

func (c *command) configCommand() *cobra.Command {
	return group(&cobra.Command{Use: "config", Short: "Show, change, check and test the settings, and store keys"},
		c.configShow(), c.configGet(), c.configSet(), c.configUnset(), c.configEdit(),
		c.configCheck(), c.configTest(), c.configWhere(), c.configKeys(),
		c.configSetKey(), c.configDeleteKey())
}

func (c *command) configWhere() *cobra.Command {
	return &cobra.Command{Use: "path", Short: "Print the path of the settings file", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			path, err := config.Path(c.options())
			if err != nil {
				return withCode(ExitUsage, err)
			}
			if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
				fmt.Fprintln(c.Err, "· this file does not exist yet; "+c.withoutFile())
			}
			fmt.Fprintln(c.Out, path)
			return nil
		}}
}

// withoutFile says what happens without the settings file: defaults, or an error if it was named explicitly.
func (c *command) withoutFile() string {
	if c.configPath != "" || c.env("SIBYL_CONFIG") != "" {
		return "other commands will fail because it was named explicitly"
	}
	return "using defaults; ‘sibyl init’ sets Sibyl up"
}

func (c *command) configShow() *cobra.Command {
	return c.withJSON(&cobra.Command{Use: "show",
		Short: "Print the current settings, and where each comes from", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if _, err := c.settings(); err != nil { // also warns about unusable stored keys
				return err
			}
			lines, err := config.Explain(c.options())
			if err != nil {
				return withCode(ExitUsage, err)
			}
			for i := range lines {
				if lines[i].Path == "data" && c.dataDir != "" {
					lines[i].Value, lines[i].From = c.dataDir, "--data"
				}
			}
			if c.asJSON {
				return c.printJSON(lines)
			}
			text, err := lines.YAML()
			if err != nil {
				return err
			}
			return writeAll(c.Out, string(text))
		}}, "a JSON array")
}
