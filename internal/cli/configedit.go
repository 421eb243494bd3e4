package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	conversation "sibyl/internal/cli/talk"
	"sibyl/internal/config"
)

func (c *command) configEdit() *cobra.Command {
	return &cobra.Command{Use: "edit", Short: "Edit the settings file, and check it before it takes effect",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			path, content, err := config.Content(c.options())
			if err != nil {
				return withCode(ExitUsage, err)
			}
			folder, err := os.MkdirTemp("", "sibyl-") // readable only by the person
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
			name := filepath.Join(folder, filepath.Base(path))
			if err := os.WriteFile(name, content, 0o600); err != nil {
				return err
			}
			return c.editUntilValid(cmd.Context(), name, path, content)
		}}
}

// editUntilValid has the person edit a copy until it is valid, then saves it as the settings file; or they give up.
func (c *command) editUntilValid(ctx context.Context, copied, path string, content []byte) error {
	answers := &dialogue{c}
	for {
		if err := c.edit(ctx, copied); err != nil {
			return err
		}
		text, err := os.ReadFile(copied)
		if err != nil {
			return err
		}
		if bytes.Equal(text, content) {
			fmt.Fprintln(c.Err, "· nothing was changed")
			return nil
		}
		left, err := config.Rewrite(c.options(), content, text)
		if err == nil {
			fmt.Fprintf(c.Out, "%s was changed\n", printable(path))
			c.reportRemainingProblems(left)
			return nil
		}
		if !c.InTTY {
			return withCode(ExitUsage, err)
		}
		fmt.Fprintln(c.Err, printable(err.Error()))
		again, stopped := answers.ask(ctx, "Edit it again? [Y/n] ")
		if stopped != nil {
			return stopped
		}
		if !slices.Contains([]string{"", "y", "yes"}, strings.ToLower(again)) {
			return withCode(ExitUsage, errors.New("the settings were not changed"))
		}
	}
}

// reportRemainingProblems prints the problems of the settings that a change has left.
func (c *command) reportRemainingProblems(left []error) {
	for _, one := range left {
		fmt.Fprintln(c.Err, "· still wrong: "+printable(strings.ReplaceAll(one.Error(), "\n", " ")))
	}
}

// edit opens a file in the person's editor and waits until that exits; meanwhile Ctrl-C doesn't stop Sibyl.
func (c *command) edit(ctx context.Context, name string) error {
	program, err := conversation.Editor(c.env)
	if err != nil {
		return withCode(ExitUsage, fmt.Errorf("%w, or use ‘sibyl config set NAME VALUE’", err))
	}
	// #nosec G204 -- the person's own editor, without a shell
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program[0], append(program[1:], name)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = c.In, os.Stderr, os.Stderr, c.environ
	if c.file != nil {
		cmd.Stdout = c.file
	}
	err = cmd.Start()
	if err == nil {
		signal.Ignore(os.Interrupt) // Ctrl-C is for the editor
		err = cmd.Wait()
		signal.Reset(os.Interrupt)
	}
	if err != nil {
		return fmt.Errorf("the editor %s failed; the settings were not changed: %w", filepath.Base(program[0]), err)
	}
	return nil
}
