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
	"sibyl/internal/server/node"
)

func (c *command) serveCommand() *cobra.Command {
	var listen, name string
	var mostRuns int
	cmd := &cobra.Command{
		Use: "serve", Short: "Serve over HTTP, as one node or one of several", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			set := cmd.Flags().Changed
			return c.serve(cmd.Context(), func() (config.Config, error) {
				cfg, err := c.settings()
				if err != nil {
					return cfg, err
				}
				if set("listen") {
					cfg.Server.Listen = listen
				}
				if set("name") {
					cfg.Server.Name = name
				}
				if set("most-runs") {
					cfg.Server.MostRuns = mostRuns
				}
				return cfg, withCode(ExitUsage, cfg.Server.Check())
			})
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "", "host:port (default: the setting server.listen, 127.0.0.1:7333)")
	cmd.Flags().StringVar(&name, "name", "",
		"display name of this node (default: the setting server.name, or the host name)")
	cmd.Flags().IntVar(&mostRuns, "most-runs", 0, "maximum concurrent runs (default: the setting server.most_runs, 16)")
	return cmd
}

// serve opens the program as a server, and serves until ctx is done.
func (c *command) serve(ctx context.Context, load func() (config.Config, error)) error {
	cfg, err := load()
	if err != nil {
		return err
	}
	c.Serving = c.log
	a, err := c.open(ctx, cfg)
	if err != nil {
		return err
	}
	users, err := a.Users.Any(ctx)
	if err != nil {
		return errors.Join(err, a.Close())
	}
	return c.serveOn(ctx, a, load, func(_ *app.App, address string) {
		fmt.Fprintln(c.Out, "listening at", address)
		if !users {
			fmt.Fprintln(c.Out, "there are no users yet: ‘sibyl user add NAME’ prints a token for programs, ‘sibyl "+
				"user sign-in NAME’ one for a browser")
		}
	})
}

// serveOn serves with an opened program, and closes it. Where an operator asks for it, it opens the program anew with
// the settings as they are then, at the same address; if that can't be done, with those before. It calls listening
// once.
func (c *command) serveOn(
	ctx context.Context, a *app.App, load func() (config.Config, error), listening func(a *app.App, address string),
) error {
	at := ""
	var served config.Config // the last settings with which it listened
	for {
		listened := false
		err := a.Serve(ctx, c.Build, func(address string) {
			if at == "" {
				listening(a, address)
			}
			_, at, _ = strings.Cut(address, "://")
			listened, served = true, a.Config
		})
		closed := a.Close()
		again := errors.Is(err, app.ErrAgain)
		switch {
		case again && ctx.Err() != nil: // it is stopped all the same
			return closed
		case again:
			if closed != nil {
				fmt.Fprintln(c.Err, "· what was open could not be closed: "+printable(closed.Error()))
			}
			fmt.Fprintln(c.Err, "· starting again with the changed settings")
			a, err = c.openAgain(ctx, served, at, load)
		case err != nil && !listened && at != "" && c.Program.Failed == "": // they can be opened, and not served
			a, err = c.openBefore(ctx, served, at, errors.Join(err, closed))
		default:
			return errors.Join(err, closed)
		}
		if err != nil {
			return err
		}
	}
}

// openAgain opens the program with the settings as they are now, to listen at an address; if that can't be done, with
// those before.
func (c *command) openAgain(
	ctx context.Context, before config.Config, at string, load func() (config.Config, error),
) (*app.App, error) {
	c.Program.Failed = ""
	cfg, err := load()
	if err == nil {
		cfg.Server.Listen = at
		var a *app.App
		if a, err = c.open(ctx, cfg); err == nil {
			return a, nil
		}
	}
	return c.openBefore(ctx, before, at, err)
}

// openBefore opens the program with the settings before, as those that were changed failed.
func (c *command) openBefore(ctx context.Context, before config.Config, at string, failed error) (*app.App, error) {
	fmt.Fprintln(c.Err, "· the changed settings can't be used: "+printable(failed.Error()))
	c.Program.Failed, before.Server.Listen = failed.Error(), at
	return c.open(ctx, before)
}

func (c *command) readyCommand() *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use: "ready", Short: "Check whether the server on this machine accepts requests", Args: cobra.NoArgs,
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
	cmd.Flags().StringVar(&listen, "listen", "",
		"host:port it listens on (default: the setting server.listen, 127.0.0.1:7333)")
	return cmd
}

func (c *command) nodesCommand() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "nodes", Short: "List the server nodes and their runs", Args: cobra.NoArgs,
		RunE: c.onApp(func(ctx context.Context, a *app.App, _ []string) error {
			now := a.Clock.Now()
			all, err := a.Database.Nodes(ctx, now)
			if err != nil {
				return err
			}
			if len(all) == 0 {
				c.note("no node is running; ‘sibyl serve’ starts one")
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
	return printable(strings.Join([]string{n.Name, n.Address, fmt.Sprintf("runs %d%s", n.Runs, most), "since " +
		n.StartedAt.Local().Format(time.DateTime), n.Build, state, n.Holder}, "  "))
}
