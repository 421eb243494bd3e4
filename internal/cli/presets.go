package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/config"
	"sibyl/internal/preset"
)

func (c *command) presetsCommand() *cobra.Command {
	cmd := c.withJSON(&cobra.Command{Use: "presets", Short: "List the presets for questions", Args: cobra.NoArgs,
		RunE: c.onSettings(c.listPresets)}, "a JSON array")
	show := &cobra.Command{Use: "show NAME", Short: "Show a preset: its file, options, variables and prompt",
		Args: cobra.ExactArgs(1), RunE: c.onSettings(c.showPreset)}
	cmd.AddCommand(c.withJSON(show, "one JSON object"))
	return cmd
}

// presetJSON is a preset as --json prints it.
type presetJSON struct {
	Name      string            `json:"name"`
	Kind      string            `json:"kind"`
	About     string            `json:"about,omitempty"`
	File      string            `json:"file"`
	Options   map[string]string `json:"options"`
	Variables []preset.Variable `json:"variables"`
	Warnings  []string          `json:"warnings"`
	Prompt    string            `json:"prompt,omitempty"`
}

func presetAsJSON(p app.ListedPreset) presetJSON {
	j := presetJSON{Name: p.Name, Kind: "preset", About: p.About, File: p.File, Options: map[string]string{},
		Variables: append([]preset.Variable{}, p.Variables...), Warnings: p.Warnings}
	if p.IsOracle {
		j.Kind = "oracle"
	}
	for _, o := range p.Options {
		j.Options[o.Name] = o.Text
	}
	return j
}

func (c *command) listPresets(ctx context.Context, cfg config.Config, _ []string) error {
	all, skipped, err := app.NewPresets(cfg).List(ctx)
	if err != nil {
		return withCode(ExitUsage, err)
	}
	if c.asJSON {
		list := []presetJSON{}
		for _, p := range all {
			list = append(list, presetAsJSON(p))
		}
		return c.printJSON(list)
	}
	own := 0
	var oracles []string
	for _, p := range all {
		if p.IsOracle {
			oracles = append(oracles, p.Name)
			continue
		}
		own++
		line := printable(fmt.Sprintf("%-20s  %s", p.Name, p.About))
		fmt.Fprintln(c.Out, ansi.Truncate(line, max(c.Width-1, oracleLine), "…"))
		for _, w := range p.Warnings {
			c.note("%s", w)
		}
	}
	for _, s := range skipped {
		c.note("%s is not used: %s", s.File, s.Reason)
	}
	if own == 0 && cfg.Presets != "" {
		c.note("no presets yet: each Markdown file in %s is one", cfg.Presets)
	}
	if len(oracles) > 0 {
		c.note("%s", "the oracles of the Council can be used, too: "+strings.Join(oracles, ", "))
	}
	return nil
}

func (c *command) showPreset(ctx context.Context, cfg config.Config, args []string) error {
	p, err := app.NewPresets(cfg).Find(ctx, args[0])
	if err != nil {
		return withCode(ExitUsage, err)
	}
	if c.asJSON {
		j := presetAsJSON(p)
		j.Prompt = p.Prompt
		return c.printJSON(j)
	}
	fmt.Fprintf(c.Err, "%s\n", printable(p.File))
	for _, o := range p.Options {
		fmt.Fprintln(c.Err, printable(fmt.Sprintf("  --%s %s", o.Name, o.Text)))
	}
	for _, v := range p.Variables {
		line := fmt.Sprintf("  --set %s=%s", v.Name, v.Default)
		if v.Needed {
			line += "…  needed"
		}
		fmt.Fprintln(c.Err, printable(line))
	}
	for _, w := range p.Warnings {
		c.note("%s", w)
	}
	return writeAll(c.Out, printable(p.Prompt)+"\n")
}
