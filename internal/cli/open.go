package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	conversation "sibyl/internal/cli/talk"
	"sibyl/internal/config"
)

// openFlags are the flags of ‘sibyl open’.
type openFlags struct {
	in, vault string
	noBrowser bool
}

func (c *command) openCommand() *cobra.Command {
	var f openFlags
	cmd := &cobra.Command{
		Use: "open", Short: "Open the page in a browser, signed in", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.openPage(cmd.Context(), f, func() (config.Config, error) {
				cfg, err := c.settings()
				if err == nil {
					err = withCode(ExitUsage, f.allowFolders(&cfg))
				}
				cfg.Telemetry.LogLevel = max(cfg.Telemetry.LogLevel, slog.LevelWarn)
				return cfg, err
			})
		},
	}
	cmd.Flags().StringVar(&f.in, "in", "",
		"a folder of code to search (default: the current one, if it holds a project)")
	cmd.Flags().StringVar(&f.vault, "vault", "",
		"a folder of notes to search and write to (default: the setting vault)")
	cmd.Flags().BoolVar(&f.noBrowser, "no-browser", false, "only print the address")
	return cmd
}

// allowFolders lets the local owner name the folders of code and notes, of the flags or their defaults, on the page.
func (f openFlags) allowFolders(cfg *config.Config) error {
	code, notes := cmp.Or(f.in, projectHere()), cmp.Or(f.vault, cfg.Vault)
	all := maps.Clone(cfg.Server.Folders)
	if all == nil {
		all = map[string]string{}
	}
	for name, path := range map[string]string{"code": code, "notes": notes} {
		if path == "" {
			continue
		}
		whole, err := conversation.Folder("", path)
		if err != nil {
			return err
		}
		all[string(app.Owner)+"/"+name] = whole
	}
	cfg.Server.Folders = all
	return nil
}

// openPage opens the page at a server that runs on this database; else it starts one and serves until it is stopped.
func (c *command) openPage(ctx context.Context, f openFlags, load func() (config.Config, error)) error {
	cfg, err := load()
	if err != nil {
		return err
	}
	cfg.Server.Listen = onThisMachine(ctx, cfg.Server.Listen)
	c.Serving = c.log
	a, err := c.open(ctx, cfg)
	if err != nil {
		return err
	}
	address, err := a.OwnersAddress(ctx, "")
	if err != nil {
		return errors.Join(err, a.Close())
	}
	if address != "" {
		fmt.Fprintln(c.Err, "· a server runs already; the folders are those it was started with")
		_, err := c.showAddress(ctx, cfg, address, f)
		return errors.Join(err, a.Close())
	}
	page := ""
	defer func() { _ = os.Remove(page) }() // if it was written
	var failed error
	serving, stop := context.WithCancel(ctx)
	defer stop()
	err = c.serveOn(serving, a, load, func(a *app.App, listening string) {
		var address string
		if address, failed = a.OwnersAddress(ctx, listening); failed == nil {
			page, failed = c.showAddress(ctx, cfg, address, f)
		}
		if failed != nil {
			stop()
			return
		}
		fmt.Fprintln(c.Err, "· Ctrl-C stops the server")
	})
	return errors.Join(err, failed)
}

// onThisMachine is the address to listen at: the set one if it is a loopback address and free, else any free port.
func onThisMachine(ctx context.Context, set string) string {
	const any = "127.0.0.1:0"
	if !(config.Server{Listen: set}).Loopback() {
		return any
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", set)
	if err != nil {
		return any
	}
	_ = l.Close()
	return set
}

// showAddress prints an address that signs in, and on a terminal opens it in a browser. As others on this machine can
// read command lines, the browser gets a private file that leads there, whose path is returned, "" if none was written.
func (c *command) showAddress(
	ctx context.Context, cfg config.Config, url string, f openFlags,
) (path string, err error) {
	fmt.Fprintln(c.Out, url)
	if f.noBrowser || !c.OutTTY {
		return "", nil
	}
	program := c.browser()
	if program == nil {
		fmt.Fprintln(c.Err, "· open it in a browser; it works once")
		return "", nil
	}
	left, _ := filepath.Glob(filepath.Join(cfg.DataDir, "open-*.html"))
	for _, old := range left { // its secret was used or has expired
		_ = os.Remove(old)
	}
	file, err := os.CreateTemp(cfg.DataDir, "open-*.html") // readable by its owner alone
	if err != nil {
		return "", err
	}
	_, err = fmt.Fprintf(file,
		"<!doctype html><meta charset=\"utf-8\"><title>Sibyl</title><meta name=\"referrer\" "+
			"content=\"no-referrer\"><meta http-equiv=\"refresh\" content=\"0;url=%s\">\n",
		html.EscapeString(url))
	if err = errors.Join(err, file.Close()); err != nil {
		return file.Name(), err
	}
	starting, cut := context.WithTimeout(context.WithoutCancel(ctx), browserTime)
	defer cut()
	// #nosec G204 -- the system's own program
	if err := exec.CommandContext(starting, program[0], append(program[1:], file.Name())...).Run(); err != nil {
		fmt.Fprintln(c.Err, "· no browser could be started; open the address yourself, it works once")
	}
	return file.Name(), nil
}

// browserTime limits the start of the browser.
const browserTime = 10 * time.Second

// browser is the command that opens a page: of BROWSER, or of the system; nil if there is none, or no display.
func (c *command) browser() []string {
	words := map[string][]string{"darwin": {"open"},
		"windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if words == nil {
		words = []string{"xdg-open"}
		if c.env("DISPLAY") == "" && c.env("WAYLAND_DISPLAY") == "" {
			return nil
		}
	}
	if own := strings.Fields(c.env("BROWSER")); len(own) > 0 {
		words = own
	}
	found, err := exec.LookPath(words[0])
	if err != nil {
		return nil
	}
	return append([]string{found}, words[1:]...)
}
