package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/journal"
	"sibyl/internal/oracle"
	"sibyl/internal/text"
)

func (c *command) sessionCommand() *cobra.Command {
	return group(&cobra.Command{Use: "session", Short: "List, show, audit, export, rename and remove sessions"},
		c.sessionList(),
		c.showCommand(&cobra.Command{Use: "show [SESSION|RUN]",
			Short: "Show a session (default: the last), in the branch of its latest run or of the run that is named"},
			c.sessionDocument),
		c.sessionAudit(),
		c.exportCommand(&cobra.Command{Use: "export [SESSION|RUN]",
			Short: "Write a session as Markdown, a page, JSON or JSON lines"},
			"md, html, json or jsonl", c.sessionDocument),
		c.sessionRename(), c.sessionDelete(), c.sessionPrune())
}

func (c *command) sessionList() *cobra.Command {
	cmd := listCommand(c, &cobra.Command{Short: "List sessions, the last used first"}, 20, "", c.sessionLine,
		func(ctx context.Context, a *app.App) ([]journal.Session, error) {
			return a.Service.Sessions(ctx, c.owner(), journal.SessionFilter{Limit: c.limit})
		})
	cmd.Flags().Bool("deleted", false, "list removed sessions: when and why, but none of their text")
	return replaceIfFlag(cmd, "deleted", c.onApp(func(ctx context.Context, a *app.App, _ []string) error {
		all, err := a.Service.Removed(ctx, c.owner(), journal.SessionFilter{Limit: c.limit})
		if err != nil {
			return err
		}
		return printList(c, all, func(t journal.Tombstone) string {
			return listLine(t.ID, t.DeletedAt, fmt.Sprintf("%3d", t.Runs), string(t.Reason))
		})
	}))
}

func (c *command) sessionLine(s journal.Session) string {
	return listLine(s.ID, s.UpdatedAt, fmt.Sprintf("%3d  %-6s", s.Runs, s.Assistant), titleAndFolder(c, s))
}

// sessionDocument runs a command on the session that its first argument names, or the last, as a document. If the
// argument names a run, it is the branch of that run.
func (c *command) sessionDocument(do func(ctx context.Context, d document) error) runE {
	return c.onApp(func(ctx context.Context, a *app.App, args []string) error {
		name, of := nameOr(args, "last"), ""
		s, err := a.Service.FindSession(ctx, c.owner(), "", name)
		if errors.Is(err, journal.ErrNotFound) {
			if r, findErr := a.Service.FindRun(ctx, c.owner(), name); findErr == nil {
				s.ID, of, err = r.Session, r.ID, nil
			}
		}
		if err != nil {
			return err
		}
		e, err := a.Service.Show(ctx, c.owner(), s.ID, of)
		if err != nil {
			return err
		}
		export := func(format string) (string, error) { return e.Export(format, encodeJSON) }
		d := document{value: e, markdown: e.Markdown(), export: export}
		if e.Assistant == oracle.ShadowName {
			d.note = "this session has a shadow run: ‘sibyl shadow report’ compares its answer, " +
				"‘sibyl session audit " + e.ID + "’ shows all of it"
		}
		return do(ctx, d)
	})
}

// encodeJSON encodes a value as newJSON does, with a line end.
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
		Args: cobra.MinimumNArgs(2),
		RunE: c.onSession(func(ctx context.Context, a *app.App, s journal.Session, title []string) error {
			return a.Service.Rename(ctx, c.owner(), s.ID, strings.Join(title, " "))
		})}
}

func (c *command) sessionDelete() *cobra.Command {
	return c.withYes(&cobra.Command{Use: "delete SESSION", Short: "Delete a session with its runs and records",
		Args: cobra.ExactArgs(1),
		RunE: c.onSession(func(ctx context.Context, a *app.App, s journal.Session, _ []string) error {
			agreed, err := c.confirmDeletion(ctx, fmt.Sprintf("%q with %s for good", s.Title, text.Count(s.Runs, "run")))
			if err != nil || !agreed {
				return err
			}
			return a.Service.Delete(ctx, c.owner(), s.ID)
		})})
}

// titleAndFolder is the title of a session, and in brackets its folder, if it has one.
func titleAndFolder(c *command, s journal.Session) string {
	if s.Place == "" {
		return s.Title
	}
	return s.Title + "  [" + c.tilde(s.Place) + "]"
}

// tilde shortens a path below the home folder to one that begins with ~.
func (c *command) tilde(path string) string {
	if home := c.env("HOME"); home != "" && strings.HasPrefix(path, home+string(filepath.Separator)) {
		return "~" + path[len(home):]
	}
	return path
}
