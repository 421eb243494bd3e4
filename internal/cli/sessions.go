package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/journal"
	"sibyl/internal/oracle"
)

func (c *command) sessionCommand() *cobra.Command {
	return group(&cobra.Command{Use: "session", Short: "List, show, audit, export, rename and remove sessions",
		Long: "A session is a series of questions and answers that share context. ‘sibyl ask -c’ continues the last\n" +
			"one about this folder. Sessions not used for the time in the setting retention are removed."},
		c.sessionList(), c.sessionShow(), c.sessionAudit(), c.sessionExport(), c.sessionRename(), c.sessionDelete(), c.sessionPrune())
}

func (c *command) sessionList() *cobra.Command {
	var deleted bool
	cmd := &cobra.Command{Use: "list", Short: "List sessions, the last used first",
		Example: "  sibyl session list\n  sibyl session list --deleted", Args: cobra.NoArgs,
		RunE: c.onApp(func(ctx context.Context, a *app.App, _ []string) error {
			f := journal.SessionFilter{Limit: c.limit}
			if deleted {
				left, err := a.Service.Removed(ctx, c.owner(), f)
				if err != nil {
					return err
				}
				return printList(c, left, func(t journal.Tombstone) string {
					return listLine(t.ID, t.DeletedAt, fmt.Sprintf("%3d", t.Runs), string(t.Reason))
				})
			}
			all, err := a.Service.Sessions(ctx, c.owner(), f)
			if err != nil {
				return err
			}
			return c.printSessions(all)
		})}
	cmd.Flags().BoolVar(&deleted, "deleted", false, "list removed sessions: when and why, but none of their text")
	return c.withJSON(c.withLimit(cmd, 20, "maximum number to show"), "a JSON array")
}

func (c *command) printSessions(all []journal.Session) error {
	return printList(c, all, func(s journal.Session) string {
		return listLine(s.ID, s.UpdatedAt, fmt.Sprintf("%3d  %-6s", s.Runs, s.Assistant), placed(c, s))
	})
}

func (c *command) sessionShow() *cobra.Command {
	return c.withPager(&cobra.Command{Use: "show [SESSION]", Short: "Show a session (default: the last)",
		Example: "  sibyl session show\n  sibyl session show 0dl4", Args: cobra.MaximumNArgs(1),
		RunE: c.onSession(func(ctx context.Context, a *app.App, s journal.Session, _ []string) error {
			e, err := a.Service.Show(ctx, c.owner(), s.ID)
			if err != nil {
				return err
			}
			if err := c.paged(ctx, c.newScreen().laidOut(e.Markdown())); err != nil {
				return err
			}
			if e.Assistant == oracle.ShadowName {
				fmt.Fprintln(c.Err, "· this session has a shadow run: ‘sibyl shadow report’ compares its answer, ‘sibyl session audit "+e.ID+"’ shows all of it")
			}
			return nil
		})})
}

func (c *command) sessionExport() *cobra.Command {
	var format, file string
	cmd := &cobra.Command{Use: "export [SESSION]", Short: "Write a session as Markdown, JSON or JSON lines, with the signals of each exchange", Args: cobra.MaximumNArgs(1),
		Example: "  sibyl session export last --format md -o caching.md\n  sibyl session export 0dl4 --format jsonl",
		RunE: c.onSession(func(ctx context.Context, a *app.App, s journal.Session, _ []string) error {
			e, err := a.Service.Show(ctx, c.owner(), s.ID)
			if err != nil {
				return err
			}
			text, err := e.Export(format, encodeJSON)
			if err != nil {
				return err
			}
			if format == "md" {
				text = printable(text)
			}
			return c.export(file, text)
		})}
	cmd.Flags().StringVarP(&format, "format", "f", "md", "md, json or jsonl")
	cmd.Flags().StringVarP(&file, "output", "o", "", "write to this file, which must not exist yet (default: standard output)")
	return cmd
}

// export writes to a file that must not exist yet; without one, or to "-", to the output.
func (c *command) export(file, text string) error {
	if file == "" || file == "-" {
		return writeAll(c.Out, text)
	}
	return withCode(ExitUsage, writeNew(file, text))
}

// writeNew writes a file whole or not at all, and never over another.
func writeNew(file, text string) error {
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

// encodeJSON writes a value as this command line does.
func encodeJSON(v any, indent bool) (string, error) {
	b := &strings.Builder{}
	enc := newJSON(b)
	if indent {
		enc.SetIndent("", "  ")
	}
	err := enc.Encode(v)
	return b.String(), err
}

func (c *command) sessionRename() *cobra.Command {
	return &cobra.Command{Use: "rename SESSION TITLE", Short: "Give a session another title",
		Example: "  sibyl session rename last How leases are acquired", Args: cobra.MinimumNArgs(2),
		RunE: c.onSession(func(ctx context.Context, a *app.App, s journal.Session, title []string) error {
			return a.Service.Rename(ctx, c.owner(), s.ID, strings.Join(title, " "))
		})}
}

func (c *command) sessionDelete() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{Use: "delete SESSION", Short: "Delete a session with its runs and records",
		Example: "  sibyl session delete 0dl4 --yes", Args: cobra.ExactArgs(1),
		RunE: c.onSession(func(ctx context.Context, a *app.App, s journal.Session, _ []string) error {
			if !yes {
				return withCode(ExitUsage, fmt.Errorf("this permanently deletes %q with %d runs: confirm with --yes", s.Title, s.Runs))
			}
			return a.Service.Delete(ctx, c.owner(), s.ID)
		})}
	cmd.Flags().BoolVar(&yes, "yes", false, "delete without asking")
	return cmd
}

// placed is the title of a session, and behind it the folder that it is about.
func placed(c *command, s journal.Session) string {
	if s.Place == "" {
		return s.Title
	}
	place := s.Place
	if home := c.env("HOME"); home != "" && strings.HasPrefix(place, home+string(filepath.Separator)) {
		place = "~" + place[len(home):]
	}
	return s.Title + "  [" + place + "]"
}
