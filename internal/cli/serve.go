package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/config"
	"sibyl/internal/node"
)

func (c *command) serveCommand() *cobra.Command {
	var listen, name string
	var mostRuns int
	cmd := &cobra.Command{
		Use: "serve", Short: "Answer over HTTP, as one node or one of several", Args: cobra.NoArgs,
		Long: "Answers over HTTP, on this machine alone unless told otherwise, and takes up runs that no process drives. Several of them on one\n" +
			"database share the work: see docs/server.md. Who asks shows a token, which ‘sibyl user add’ gives.\n\n" +
			"On SIGTERM or SIGINT it takes no more runs, lets those that go on finish within the grace (server.grace), and leaves the rest to\n" +
			"other nodes, or to the next start. Logs go to stderr as JSON.",
		Example: "  sibyl user add ada\n  sibyl serve\n  sibyl serve --listen 127.0.0.1:8080 --database postgres://sibyl@db.lan/sibyl",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := c.settings()
			if err != nil {
				return err
			}
			set := cmd.Flags().Changed
			if set("listen") {
				cfg.Server.Listen = listen
			}
			if set("name") {
				cfg.Server.Name = name
			}
			if set("most-runs") {
				cfg.Server.MostRuns = mostRuns
			}
			if err := cfg.Server.Check(); err != nil {
				return withCode(ExitUsage, err)
			}
			return c.serve(cmd.Context(), cfg)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "", "host:port (default: the setting server.listen, 127.0.0.1:7333)")
	cmd.Flags().StringVar(&name, "name", "", "of this node, for people (default: the setting server.name, or the host's name)")
	cmd.Flags().IntVar(&mostRuns, "most-runs", 0, "runs driven at once (default: the setting server.most_runs, 16)")
	return cmd
}

// serve opens the program as one that stays, and answers until it is told to stop.
func (c *command) serve(ctx context.Context, cfg config.Config) (err error) {
	c.Serving = c.Err
	a, err := c.open(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	users, err := a.Users.Any(ctx)
	if err != nil {
		return err
	}
	return a.Serve(ctx, c.Build, func(address string) {
		fmt.Fprintln(c.Out, "listening at", address)
		if !users {
			fmt.Fprintln(c.Out, "nobody can ask yet: ‘sibyl user add NAME’ prints a token for programs, ‘sibyl user sign-in NAME’ one for a browser")
		}
	})
}

func (c *command) readyCommand() *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use: "ready", Short: "Say whether the server on this machine takes requests", Args: cobra.NoArgs,
		Long: "Asks the server of these settings, on this machine, for /readyz. Exits 0 if it takes requests, and 1 if it does not or nothing\n" +
			"answers within 3 s: for health checks, and for scripts that wait for a node.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := c.settings()
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("listen") {
				cfg.Server.Listen = listen
			}
			if err := cfg.Server.Check(); err != nil {
				return withCode(ExitUsage, err)
			}
			if err := app.Ready(cmd.Context(), cfg.Server); err != nil {
				return err
			}
			fmt.Fprintln(c.Out, "ready")
			return nil
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "", "host:port that it listens to (default: the setting server.listen, 127.0.0.1:7333)")
	return cmd
}

func (c *command) nodesCommand() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "nodes", Short: "List the processes that serve, and what they drive", Example: "  sibyl nodes\n  sibyl nodes --json", Args: cobra.NoArgs,
		RunE: c.onApp(func(ctx context.Context, a *app.App, _ []string) error {
			now := a.Clock.Now()
			all, err := a.Registry.Nodes(ctx, now)
			if err != nil {
				return err
			}
			if len(all) == 0 {
				fmt.Fprintln(c.Err, "no node serves; ‘sibyl serve’ starts one")
				all = []node.Node{}
			}
			return printList(c, all, func(n node.Node) string { return nodeLine(n, now) })
		}),
	}, "a JSON array")
}

func nodeLine(n node.Node, now time.Time) string {
	most := ""
	if n.Most > 0 {
		most = fmt.Sprintf(" of %d", n.Most)
	}
	state := "lives"
	switch {
	case !n.Lives(now):
		state = "gone, last seen " + n.SeenAt.Local().Format(time.DateTime)
	case n.Draining:
		state = "stopping"
	}
	return printable(strings.Join([]string{n.Name, n.Address, fmt.Sprintf("runs %d%s", n.Runs, most), "since " + n.StartedAt.Local().Format(time.DateTime), n.Build, state, n.Holder}, "  "))
}
