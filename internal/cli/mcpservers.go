package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
)

// mcpServersCommands are the commands about MCP servers of others, whose tools the Oracle can use.
func (c *command) mcpServersCommands() []*cobra.Command {
	return []*cobra.Command{c.mcpServers(), c.mcpTrust()}
}

func (c *command) mcpServers() *cobra.Command {
	return c.withJSON(&cobra.Command{Use: "servers",
		Short: "Start the MCP servers in the settings, and show their tools", Args: cobra.NoArgs,
		RunE: c.onPrepared(func(ctx context.Context, a *app.App, _ []string) error {
			all := a.MCPServers(ctx)
			if len(all) == 0 {
				fmt.Fprintln(c.Err, "· there are no servers under mcp.servers in the settings")
			}
			for _, one := range all {
				if one.State != app.ServerReady {
					c.code = ExitFailed
				}
			}
			return printList(c, all, serverLines)
		})}, "a JSON array")
}

// serverLines shows a server in a list: its state, and its tools or how they have changed.
func serverLines(s app.MCPServer) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s", s.Name, s.State)
	if s.Pinned != "" {
		fmt.Fprintf(&b, "  trusted: %s", s.Pinned)
	}
	if !s.Since.IsZero() {
		fmt.Fprintf(&b, " since %s", moment(s.Since))
	}
	if s.Why != "" {
		fmt.Fprintf(&b, "\n  %s", s.Why)
	}
	if s.State == app.ServerChanged {
		fmt.Fprintf(&b, "\n  it lists: %s", s.Hash)
		for line := range strings.Lines(s.Changes) {
			fmt.Fprintf(&b, "\n  %s", strings.TrimRight(line, "\n"))
		}
		return printable(b.String())
	}
	for _, t := range s.Tools {
		fmt.Fprintf(&b, "\n  %s  %s", strings.Join(strings.Fields(t.Name), " "), t.Does)
		if !t.Allowed {
			b.WriteString("  (not allowed by the settings)")
		}
		if t.Why != "" {
			fmt.Fprintf(&b, "  (left out: %s)", t.Why)
		}
	}
	return printable(b.String())
}

func (c *command) mcpTrust() *cobra.Command {
	return &cobra.Command{Use: "trust NAME [HASH]", Short: "Trust the tools an MCP server currently lists",
		Args: cobra.RangeArgs(1, 2),
		RunE: c.onPrepared(func(ctx context.Context, a *app.App, args []string) error {
			changes, err := a.TrustMCPServer(ctx, args[0], strings.Join(args[1:], ""))
			switch {
			case errors.Is(err, app.ErrNoServer):
				return withCode(ExitUsage, err)
			case err != nil:
				return withCode(ExitFailed, err)
			}
			fmt.Fprint(c.Out, printable(changes))
			fmt.Fprintf(c.Out, "the current tools of %s are trusted\n", args[0])
			return nil
		})}
}
