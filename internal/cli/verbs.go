package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
)

// The verbs that several groups of commands share; each group says what is loaded and how one entry is shown.

// runE is what a command does with its arguments.
type runE = func(cmd *cobra.Command, args []string) error

// listCommand makes cmd the verb list of its group: it prints what load gives, a line each, or a note with none. load
// has to apply c.limit, whose default is usual; 0 means all.
func listCommand[T any](c *command, cmd *cobra.Command, usual int, none string, line func(T) string,
	load func(ctx context.Context, a *app.App) ([]T, error)) *cobra.Command {
	cmd.Use, cmd.Args = "list", cobra.NoArgs
	cmd.RunE = c.onApp(func(ctx context.Context, a *app.App, _ []string) error {
		all, err := load(ctx, a)
		if err != nil {
			return err
		}
		if len(all) == 0 && none != "" {
			c.note("%s", none)
		}
		return printList(c, all, line)
	})
	return c.withJSON(c.withLimit(cmd, usual, "maximum number to show"), "a JSON array")
}

// replaceIfFlag makes a command run other in place of its RunE if a flag is given.
func replaceIfFlag(cmd *cobra.Command, flag string, other runE) *cobra.Command {
	usual := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed(flag) {
			return other(cmd, args)
		}
		return usual(cmd, args)
	}
	return cmd
}

// document is an entry of a group, such as a session, as people and programs read it.
type document struct {
	value    any // as JSON shows it
	markdown string
	note     string                              // printed on stderr after it was shown; "": nothing
	export   func(format string) (string, error) // in any format but md; nil: only json, which encodes value
}

// documents runs a command on the document that its arguments name.
type documents = func(do func(ctx context.Context, d document) error) runE

// showCommand makes cmd the verb show of its group: it shows a document in the pager, or as JSON.
func (c *command) showCommand(cmd *cobra.Command, of documents) *cobra.Command {
	cmd.Args = cobra.MaximumNArgs(1)
	cmd.RunE = of(func(ctx context.Context, d document) error {
		if c.asJSON {
			return c.printJSON(d.value)
		}
		if err := c.showInPager(ctx, c.newScreen().renderText(d.markdown)); err != nil {
			return err
		}
		if d.note != "" {
			c.note("%s", d.note)
		}
		return nil
	})
	return c.withPager(c.withJSON(cmd, "one JSON object"))
}

// exportCommand makes cmd the verb export of its group: it prints a document in a format, or writes it to a new file.
func (c *command) exportCommand(cmd *cobra.Command, formats string, of documents) *cobra.Command {
	var format, file string
	cmd.Args = cobra.MaximumNArgs(1)
	cmd.RunE = of(func(_ context.Context, d document) error {
		var text string
		var err error
		switch {
		case format == "md":
			text = printable(d.markdown)
		case d.export != nil:
			text, err = d.export(format)
		case format == "json":
			text, err = encodeJSON(d.value, true)
		default:
			err = withCode(ExitUsage, fmt.Errorf("unknown format %q: use %s", format, formats))
		}
		if err != nil {
			return err
		}
		if file == "" {
			return writeAll(c.Out, text)
		}
		return withCode(ExitUsage, c.writeNew(file, text))
	})
	cmd.Flags().StringVarP(&format, "format", "f", "md", formats)
	cmd.Flags().StringVarP(&file, "output", "o", "",
		"write to this file, which must not exist yet (default: standard output)")
	return cmd
}

// withYes gives a command the flag --yes, with which confirmDeletion does not ask.
func (c *command) withYes(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVarP(&c.yes, "yes", "y", false, "delete without asking")
	return cmd
}

// confirmDeletion says whether to delete what is named: --yes was given, or the person agrees at the terminal. A no
// sets the exit code; without a terminal, no --yes is an error.
func (c *command) confirmDeletion(ctx context.Context, what string) (bool, error) {
	if c.yes {
		return true, nil
	}
	if !c.InTTY {
		return false, withCode(ExitUsage, fmt.Errorf("this deletes %s: confirm with --yes", what))
	}
	yes, err := c.confirm(ctx, fmt.Sprintf("Delete %s? [y/N] ", what))
	if err != nil || !yes {
		c.code = ExitFailed
		fmt.Fprintln(c.Err, "· nothing was deleted")
	}
	return yes && err == nil, err
}

// groupRun runs a command that only has subcommands: it shows its help, or an error for an unknown subcommand.
func groupRun(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	if strings.TrimSpace(args[0]) == "" {
		return withCode(ExitUsage, fmt.Errorf("the first argument is empty: say what to ask or do%s", helpHint(cmd)))
	}
	var all []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			all = append(all, sub.Name())
		}
	}
	hint := "; available: " + strings.Join(all, ", ")
	said := strings.Join(args, " ")
	isSentence := len(strings.Fields(said)) > 1 || strings.HasSuffix(said, "?")
	near := nearCommands(cmd, args[0])
	switch listens := cmd.Annotations[listener]; {
	case len(near) > 0 && !strings.HasSuffix(said, "?"):
		hint = ": did you mean " + strings.Join(near, " or ") + "?"
	case listens != "" && isSentence:
		hint = "; for a sentence, use ‘" + listens + " \"…\"’"
	case cmd.Parent() == nil:
		hint = "; ‘sibyl help all’ lists the commands, ‘sibyl ask …’ asks a question"
	}
	return withCode(ExitUsage, fmt.Errorf("unknown command ‘%s %s’%s", cmd.CommandPath(), args[0], hint))
}

// nearCommands are the names of the subcommands that a mistyped one may mean. In a short word one wrong letter counts
// as a slip, or letters in another order.
func nearCommands(cmd *cobra.Command, typed string) []string {
	const lettersPerSlip = 3
	cmd.SuggestionsMinimumDistance = min(2, len(typed)/lettersPerSlip)
	if near := cmd.SuggestionsFor(typed); len(near) > 0 {
		return near
	}
	letters := func(word string) string { return string(slices.Sorted(slices.Values([]rune(strings.ToLower(word))))) }
	cmd.SuggestionsMinimumDistance = 2
	return slices.DeleteFunc(cmd.SuggestionsFor(typed), func(name string) bool { return letters(name) != letters(typed) })
}

// listener is the annotation of a group that names a command for sentences; groupRun suggests it.
const listener = "listener"

// group adds subcommands to a command that has nothing else to run.
func group(cmd *cobra.Command, subs ...*cobra.Command) *cobra.Command {
	cmd.RunE = groupRun
	cmd.AddCommand(subs...)
	return cmd
}

// note prints a line on stderr, unless --quiet is given.
func (c *command) note(format string, args ...any) {
	if !c.quiet {
		fmt.Fprintln(c.Err, printable("· "+fmt.Sprintf(format, args...)))
	}
}

// printList prints entries, a line each, or with --json as one array.
func printList[T any](c *command, all []T, line func(T) string) error {
	if c.asJSON {
		return c.printJSON(append([]T{}, all...)) // never null
	}
	for _, one := range all {
		fmt.Fprintln(c.Out, line(one))
	}
	return nil
}

// printResult prints words, or with --json the value.
func (c *command) printResult(v any, words string) error {
	if c.asJSON {
		return c.printJSON(v)
	}
	return writeAll(c.Out, strings.TrimSuffix(words, "\n")+"\n")
}

// writeAll writes a text; its error says that the output could not be written.
func writeAll(w io.Writer, text string) error {
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return nil
}

// writeNew writes a new file, whole or not at all; it never replaces one. “-” is standard output.
func (c *command) writeNew(file, text string) error {
	if file == "-" {
		return writeAll(c.Out, text)
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already: choose another name, or remove it first", printable(file))
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(file))
	}
	return nil
}

func moment(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// listLine is a line of a list of sessions, runs or hits; what fills the column before the title.
func listLine(id string, at time.Time, what, title string) string {
	return fmt.Sprintf("%s  %-16s  %s  %s", id, moment(at), what, printable(title))
}
