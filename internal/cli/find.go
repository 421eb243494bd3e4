package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// groupRun serves a command that only holds others: bare it shows its help, and a name it does not know is an error.
func groupRun(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	var all []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			all = append(all, sub.Name())
		}
	}
	hint := "; available: " + strings.Join(all, ", ")
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = ": did you mean " + strings.Join(near, " or ") + "?"
	} else if listens := cmd.Annotations[listener]; listens != "" && len(strings.Fields(strings.Join(args, " "))) > 1 {
		hint = "; for a sentence, use ‘" + listens + " \"…\"’"
	}
	return withCode(ExitUsage, fmt.Errorf("unknown command ‘%s %s’%s", cmd.CommandPath(), args[0], hint))
}

// listener is the annotation of a group that names the command which takes sentences.
const listener = "listener"

// group is a command that only holds others.
func group(cmd *cobra.Command, subs ...*cobra.Command) *cobra.Command {
	cmd.RunE = groupRun
	cmd.AddCommand(subs...)
	return cmd
}

// printList writes entries, each in a line, or as one JSON array.
func printList[T any](c *command, all []T, line func(T) string) error {
	if c.asJSON {
		return c.printJSON(append([]T{}, all...)) // never null
	}
	for _, one := range all {
		fmt.Fprintln(c.Out, line(one))
	}
	return nil
}

// printed writes one thing, in words or as JSON.
func (c *command) printed(v any, words string) error {
	if c.asJSON {
		return c.printJSON(v)
	}
	return writeAll(c.Out, strings.TrimSuffix(words, "\n")+"\n")
}

// writeAll writes a text and names the place it could not be written to.
func writeAll(w io.Writer, text string) error {
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return nil
}

// listLine is a line of a list of sessions or runs.
func listLine(id string, at time.Time, what, title string) string {
	return fmt.Sprintf("%s  %-16s  %s  %s", id, at.Local().Format("2006-01-02 15:04"), what, printable(title))
}
