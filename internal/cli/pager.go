package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// withPager gives a command the flag that turns the pager off.
func (c *command) withPager(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&c.noPager, "no-pager", false,
		"don't page long output (PAGER= in the environment does the same)")
	return cmd
}

// showInPager prints a text that ends with a line end, in the pager if it is longer than the terminal. Once a pager has
// started, this process ignores Ctrl-C.
func (c *command) showInPager(ctx context.Context, text string) error {
	words := c.pager()
	if !c.OutTTY || c.file == nil || c.noPager || len(words) == 0 || strings.Count(text, "\n") < c.height() {
		return writeAll(c.Out, text)
	}
	program, err := exec.LookPath(words[0])
	if err != nil {
		return writeAll(c.Out, text)
	}
	// no shell: what PAGER holds is a program and its arguments
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, words[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.Env = c.file, os.Stderr, c.pagerEnviron()
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return errors.Join(writeAll(c.Out, text), in.Close())
	}
	signal.Ignore(os.Interrupt) // the pager handles it
	_, _ = io.WriteString(filterTerminal(in, true, c.width()), text)
	_ = in.Close()
	_ = cmd.Wait() // leaving the pager early is no error
	return nil
}

// pager is the command of PAGER, or else less; nil if PAGER is empty or the terminal is dumb.
func (c *command) pager() []string {
	if c.env("TERM") == "dumb" {
		return nil
	}
	if !slices.ContainsFunc(c.environ, func(entry string) bool { return strings.HasPrefix(entry, "PAGER=") }) {
		return []string{"less"}
	}
	return strings.Fields(c.env("PAGER"))
}

// pagerEnviron adds LESS=FRX unless LESS is set: quit if it fits on a screen, show colours, keep the text on screen.
func (c *command) pagerEnviron() []string {
	if c.env("LESS") != "" {
		return c.environ
	}
	return append(slices.Clone(c.environ), "LESS=FRX")
}
