package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
)

func (c *command) modelsCommand() *cobra.Command {
	cmd := c.withJSON(&cobra.Command{Use: "models",
		Short: "List the available models, what they cost and do, and the default one",
		Args:  cobra.NoArgs,
		RunE:  c.onPrepared(c.listModels)}, "a JSON object")
	cmd.AddCommand(c.modelsTest())
	return cmd
}

func (c *command) listModels(ctx context.Context, a *app.App, _ []string) error {
	all, chooseErr := a.Offered.List(ctx)
	if c.asJSON {
		return c.printJSON(all)
	}
	for _, p := range all.Providers {
		switch {
		case p.Missing != "":
			fmt.Fprintf(c.Out, "  %s: not set up; %s\n", p.Provider, p.Missing)
		case p.Error != "":
			fmt.Fprintf(c.Out, "  %s: %s\n", p.Provider, p.Detail)
		}
		for _, m := range p.Models {
			mark, cost := " ", ""
			if m.ID == all.Default {
				mark = "*"
			}
			if m.Price != nil {
				cost = fmt.Sprintf("  %s in, %s out (%s per million tokens)", figure(m.Price.Input),
					figure(m.Price.Output), all.Currency)
			}
			fmt.Fprintf(c.Out, "%s %s%s\n", mark, m.ID, cost)
			if m.About != "" {
				for line := range strings.Lines(c.wrapped("it " + m.About)) {
					fmt.Fprintf(c.Out, "    %s\n", strings.TrimSuffix(line, "\n"))
				}
			}
		}
	}
	if chooseErr != nil {
		return withCode(ExitUsage, chooseErr)
	}
	return nil
}
