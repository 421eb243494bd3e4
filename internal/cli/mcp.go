package cli

import (
	"context"
	"errors"
	"log/slog"

	"github.com/spf13/cobra"

	"sibyl/internal/mcp"
)

func (c *command) mcpCommand() *cobra.Command {
	var f askFlags
	cmd := &cobra.Command{
		Use: "mcp", Short: "Offer the task list and the Oracle to another program, over MCP on standard streams", Args: cobra.NoArgs,
		Long: "Speaks the Model Context Protocol on standard input and output, for one program that starts it: tools of the task list, and ‘ask’ for\n" +
			"the Oracle, which changes nothing. It ends with its input. Problems go to stderr.\n\n" +
			"‘sibyl serve’ offers the same over HTTP at /mcp, to users with tokens. docs/mcp.md has the settings of clients.",
		Example: "  sibyl mcp\n  sibyl mcp --in ~/src/project --vault ~/notes\n  sibyl mcp --user ada",
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.given = cmd.Flags().Changed
			return c.mcp(cmd.Context(), f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.in, "in", "", "folder of the code that ‘ask’ searches (default: none)")
	fl.StringVar(&f.vault, "vault", "", "folder of the notes that it searches (default: the setting vault)")
	fl.StringVarP(&f.model, "model", "m", "", "provider:model (default: what is there, see ‘sibyl models’)")
	cmd.AddCommand(c.mcpServersCommands()...)
	return cmd
}

func (c *command) mcp(ctx context.Context, f askFlags) (err error) {
	cfg, err := c.settings()
	if err != nil {
		return err
	}
	o, err := f.orSettings(cfg).options(cfg.Vault)
	if err != nil {
		return withCode(ExitUsage, err)
	}
	if f.in == "" {
		o.CodeRoot = "" // whoever starts this program is somewhere by chance
	}
	c.Log = slog.New(slog.NewTextHandler(c.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	a, err := c.open(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	s, err := a.MCP(ctx, c.Build, &mcp.Oracle{Service: a.Service, Options: o})
	if err != nil {
		return err
	}
	return s.Stream(ctx, c.user, c.In, c.Out)
}
