package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/journal"
	"sibyl/internal/oracle"
)

func (c *command) sessionCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "session", Short: "List, show, audit, export, rename and remove sessions",
		Long: "A session is a row of questions and answers that share their context. ‘sibyl ask -c’ continues the last one. One that\nnobody has used for the time of the setting retention is removed."}
	cmd.RunE = groupRun
	cmd.AddCommand(c.sessionList(), c.sessionShow(), c.sessionAudit(), c.sessionExport(), c.sessionRename(), c.sessionDelete(), c.sessionPrune())
	return cmd
}

func (c *command) sessionList() *cobra.Command {
	var asJSON, deleted bool
	var limit int
	cmd := &cobra.Command{Use: "list", Short: "List sessions, the last used first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkLimit(limit); err != nil {
				return err
			}
			return c.withApp(cmd.Context(), func(a *app.App) error {
				if deleted {
					return c.listDeleted(cmd.Context(), a, limit, asJSON)
				}
				all, err := a.Store.Sessions(cmd.Context(), app.Owner, journal.SessionFilter{Limit: limit})
				if err != nil {
					return err
				}
				if asJSON {
					return c.printJSON(all)
				}
				c.printSessions(all)
				return nil
			})
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	cmd.Flags().BoolVar(&deleted, "deleted", false, "list what removed sessions have left: when and why, and no words")
	cmd.Flags().IntVar(&limit, "limit", 20, "how many at most")
	return cmd
}

func (c *command) printSessions(all []journal.Session) {
	for _, s := range all {
		fmt.Fprintf(c.Out, "%s  %-16s  %3d  %s\n", s.ID, s.UpdatedAt.Local().Format("2006-01-02 15:04"), s.Runs, printable(s.Title))
	}
}

// listDeleted lists tombstones, the latest removed first.
func (c *command) listDeleted(ctx context.Context, a *app.App, limit int, asJSON bool) error {
	left, err := a.Store.Tombstones(ctx, app.Owner, journal.SessionFilter{Limit: limit})
	if err != nil {
		return err
	}
	if asJSON {
		return c.printJSON(left)
	}
	for _, t := range left {
		fmt.Fprintf(c.Out, "%s  %-16s  %3d  %s\n", t.ID, t.DeletedAt.Local().Format("2006-01-02 15:04"), t.Runs, t.Reason)
	}
	return nil
}

// exported is a session with its exchanges, signals included.
type exported struct {
	journal.Session
	Exchanges []oracle.Answer `json:"exchanges"`
}

func readSession(ctx context.Context, a *app.App, wish string) (exported, error) {
	s, err := findSession(ctx, a.Store, wish)
	if err != nil {
		return exported{}, withCode(ExitUsage, err)
	}
	e := exported{Session: s}
	e.Exchanges, err = oracle.Exchanges(ctx, a.Store, app.Owner, s.ID)
	return e, err
}

func (c *command) sessionShow() *cobra.Command {
	return &cobra.Command{Use: "show [SESSION]", Short: "Show a session (default: the last)", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withApp(cmd.Context(), func(a *app.App) error {
				e, err := readSession(cmd.Context(), a, nameOr(args, "last"))
				if err != nil {
					return err
				}
				s := &screen{Streams: c.Streams, colour: c.colour()}
				s.answer(e.markdown())
				if e.Assistant == oracle.ShadowName {
					fmt.Fprintln(c.Err, "· this session holds a shadow: ‘sibyl shadow report’ compares its answer, ‘sibyl session audit "+e.ID+"’ shows all of it")
				}
				return nil
			})
		}}
}

func (c *command) sessionExport() *cobra.Command {
	var format, file string
	cmd := &cobra.Command{Use: "export [SESSION]", Short: "Write a session as Markdown, JSON or JSON lines, with the signals of each exchange", Args: cobra.MaximumNArgs(1),
		Example: "  sibyl session export last --format md -o caching.md\n  sibyl session export 0dl4 --format jsonl",
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withApp(cmd.Context(), func(a *app.App) error {
				e, err := readSession(cmd.Context(), a, nameOr(args, "last"))
				if err != nil {
					return err
				}
				text, err := e.format(format)
				if err != nil {
					return withCode(ExitUsage, err)
				}
				if file == "" {
					return writeAll(c.Out, text)
				}
				return withCode(ExitUsage, writeNew(file, text))
			})
		}}
	cmd.Flags().StringVarP(&format, "format", "f", "md", "md, json or jsonl")
	cmd.Flags().StringVarP(&file, "output", "o", "", "a file that does not exist yet (default: standard output)")
	return cmd
}

// writeNew writes a file whole or not at all, and never over another.
func writeNew(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(file))
	}
	return nil
}

func (e exported) format(format string) (string, error) {
	b := &strings.Builder{}
	enc := newJSON(b)
	switch format {
	case "md":
		return printable(e.markdown()), nil
	case "json":
		enc.SetIndent("", "  ")
		err := enc.Encode(e)
		return b.String(), err
	case "jsonl":
		for _, x := range e.Exchanges {
			if err := enc.Encode(x); err != nil {
				return "", err
			}
		}
		return b.String(), nil
	}
	return "", fmt.Errorf("there is no format %q: md, json or jsonl", format)
}

func (e exported) markdown() string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "# %s\n\nSession %s, %s\n", e.Title, e.ID, e.CreatedAt.Local().Format(time.RFC3339))
	for _, x := range e.Exchanges {
		fmt.Fprintf(b, "\n## %s\n\n%s\n\n", oracle.Title(x.Question), x.Answer)
		fmt.Fprintf(b, "*%s, %s after %d turns, %s*\n", x.QueryType, x.StopReason, x.Turns, x.Model)
		if len(x.Sources) > 0 {
			b.WriteString("\nRead:\n\n")
			for _, s := range x.Sources {
				fmt.Fprintf(b, "- `%s`\n", s.Cite)
			}
		}
		if len(x.Signals) > 0 {
			b.WriteString("\nSignals:\n\n")
			for _, s := range x.Signals {
				fmt.Fprintf(b, "- %s (%.2f)\n", s.Type, s.Confidence)
			}
		}
	}
	return b.String()
}

func (c *command) sessionRename() *cobra.Command {
	return &cobra.Command{Use: "rename SESSION TITLE", Short: "Give a session another title", Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withApp(cmd.Context(), func(a *app.App) error {
				s, err := findSession(cmd.Context(), a.Store, args[0])
				if err != nil {
					return withCode(ExitUsage, err)
				}
				title := oracle.Title(a.Redact(strings.Join(args[1:], " ")))
				if title == "" {
					return withCode(ExitUsage, errors.New("the title is empty"))
				}
				return a.Store.RenameSession(cmd.Context(), app.Owner, s.ID, title)
			})
		}}
}

func (c *command) sessionDelete() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{Use: "delete SESSION", Short: "Delete a session with its runs and records", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withApp(cmd.Context(), func(a *app.App) error {
				s, err := findSession(cmd.Context(), a.Store, args[0])
				if err != nil {
					return withCode(ExitUsage, err)
				}
				if !yes {
					return withCode(ExitUsage, fmt.Errorf("this deletes %q with %d runs, for good: say --yes", s.Title, s.Runs))
				}
				return a.Store.DeleteSession(cmd.Context(), app.Owner, s.ID, journal.ByPerson, time.Now())
			})
		}}
	cmd.Flags().BoolVar(&yes, "yes", false, "delete without asking")
	return cmd
}
