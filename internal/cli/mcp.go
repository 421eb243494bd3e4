package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	conversation "sibyl/internal/cli/talk"
	"sibyl/internal/mcp"
	"sibyl/internal/oracle"
)

func (c *command) mcpCommand() *cobra.Command {
	var f *optionFlagSet[oracle.Options]
	var documents []string
	cmd := &cobra.Command{
		Use: "mcp", Short: "Offer the task list, the Oracle and the Inquiry to another program over MCP (stdio)",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.mcp(cmd.Context(), f, documents)
		},
	}
	fl := cmd.Flags()
	f = optionFlags[oracle.Options](cmd, "in", "vault", "model")
	fl.StringArrayVar(&documents, "documents", nil,
		"a folder of documents that ‘investigate’ can use as its witness, by the folder's own name; can be given "+
			"several times")
	cmd.AddCommand(c.mcpServersCommands()...)
	return cmd
}

// namedFolders maps the names of folders to their absolute paths; the names have to differ and to have no colon.
func namedFolders(paths []string) (map[string]string, error) {
	all := map[string]string{}
	for _, path := range paths {
		whole, err := conversation.Folder("", path)
		if err != nil {
			return nil, fmt.Errorf("--documents: %w", err)
		}
		name := filepath.Base(whole)
		if all[name] != "" || strings.Contains(name, ":") {
			return nil, fmt.Errorf("--documents %s: the folder's name must be unique and without a colon, since "+
				"clients use it", path)
		}
		all[name] = whole
	}
	return all, nil
}

func (c *command) mcp(ctx context.Context, f *optionFlagSet[oracle.Options], documents []string) (err error) {
	folders, err := namedFolders(documents)
	if err != nil {
		return withCode(ExitUsage, err)
	}
	cfg, err := c.settings()
	if err != nil {
		return err
	}
	o, err := f.withSettings(cfg) // without --in no code is searched: the working directory is arbitrary here
	if err != nil {
		return err
	}
	c.Log = slog.New(slog.NewTextHandler(c.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	a, err := c.open(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	s, err := a.MCP(ctx, c.Build, mcp.Assistants{Base: map[string]any{oracle.Name: o},
		Folders: func(string) map[string]string {
			return folders
		}})
	if err != nil {
		return err
	}
	err = s.Stream(ctx, c.user, c.In, c.Out)
	atOnce, cut := context.WithCancel(context.WithoutCancel(ctx))
	cut()
	a.Service.Drain(atOnce) // leaves active runs to other processes
	return err
}
