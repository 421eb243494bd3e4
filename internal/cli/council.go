package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/council"
	"sibyl/internal/council/session"
	"sibyl/internal/journal"
	"sibyl/internal/service"
	"sibyl/internal/text"
)

func (c *command) councilCommand() *cobra.Command {
	return group(&cobra.Command{Use: "council", Short: "Think aloud, and let several oracles answer",
		Annotations: map[string]string{listener: "sibyl council say"}},
		c.councilNew(), c.councilSay(), c.councilAdd(), c.councilRecord(), c.councilTranscribe(), c.councilAsk(),
		c.councilList(),
		c.showCommand(&cobra.Command{Use: "show [SESSION]",
			Short: "Show a session: what was said and answered, and where it is stored (default: the latest)"},
			c.councilDocument),
		c.exportCommand(&cobra.Command{Use: "export [SESSION]",
			Short: "Write a session as Markdown or JSON (default: the latest)"}, "md or json", c.councilDocument),
		c.councilSet(), c.councilRename(), c.councilDelete(), c.councilRepair(), c.councilOracles(), c.councilOracle())
}

// councilSession is a session of the Council and what commands on it need. It may not be open yet.
type councilSession struct {
	*command
	a     *app.App
	desk  *council.Desk
	fresh bool // this command began the session
	council.Opened
}

// onCouncil makes a command that calls do with the owner's sessions, none of them open.
func (c *command) onCouncil(do func(ctx context.Context, s councilSession, args []string) error) runE {
	return c.onApp(func(ctx context.Context, a *app.App, args []string) error {
		desk, err := a.Council.Desk(c.owner())
		if err != nil {
			return err
		}
		return do(ctx, councilSession{command: c, a: a, desk: desk}, args)
	})
}

// withSession adds the flag --session, which sets name.
func withSession(cmd *cobra.Command, name *string) *cobra.Command {
	cmd.Flags().StringVarP(name, "session", "s", "",
		"session, by its id, the beginning of it, or part of its name (default: the latest)")
	return cmd
}

// onOneSession makes a command that opens the session called *name, by default the latest, and calls do with it.
func (c *command) onOneSession(name *string, do func(ctx context.Context, s councilSession, args []string) error) runE {
	return c.onCouncil(func(ctx context.Context, s councilSession, args []string) error {
		if err := s.openSession(ctx, *name); err != nil {
			return err
		}
		return do(ctx, s, args)
	})
}

// onNamed is onOneSession for the session that the first argument names; do gets the remaining arguments.
func (c *command) onNamed(do func(ctx context.Context, s councilSession, args []string) error) runE {
	return func(cmd *cobra.Command, args []string) error {
		name := nameOr(args, "")
		return c.onOneSession(&name, do)(cmd, args[min(1, len(args)):])
	}
}

// openSession opens a session, by default the latest, and prints what had to be fixed for that.
func (s *councilSession) openSession(ctx context.Context, name string) (err error) {
	s.Opened, err = s.desk.Open(ctx, name)
	for _, line := range s.Fixed {
		s.note("%s", line.Text)
	}
	return err
}

func (c *command) councilNew() *cobra.Command {
	var language string
	cmd := &cobra.Command{Use: "new [NAME]", Short: "Begin a session",
		RunE: c.onCouncil(func(ctx context.Context, s councilSession, args []string) error {
			made, err := s.desk.New(ctx, strings.Join(args, " "), language)
			if err != nil {
				return err
			}
			return c.printResult(made, sessionLine(made))
		})}
	cmd.Flags().StringVar(&language, "language", "", "language spoken: pt, en, de, … (default: detected)")
	return c.withJSON(cmd, "one JSON object")
}

// sessionLine formats a session as a line of a list: id, state, counts and name.
func sessionLine(s session.Session) string {
	what := fmt.Sprintf("%3d said, %3d answered", len(s.Audio), len(s.Answers))
	if waiting := s.Waiting(); waiting > 0 {
		what += fmt.Sprintf(", %d not transcribed", waiting)
	}
	return fmt.Sprintf("%s  %-12s  %s  %s", s.ID, s.State, what, printable(s.Name))
}

func (c *command) councilList() *cobra.Command {
	return listCommand(c, &cobra.Command{Short: "List the sessions, the latest first"}, 20, "", sessionLine, c.sessions)
}

// sessions returns the latest sessions of the Council, at most c.limit. It prints which ones can't be read.
func (c *command) sessions(ctx context.Context, a *app.App) ([]session.Session, error) {
	desk, err := a.Council.Desk(c.owner())
	if err != nil {
		return nil, err
	}
	all, skipped, err := desk.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, one := range skipped {
		how := ""
		if one.Repairable() {
			how = fmt.Sprintf("; ‘sibyl council repair %s’ rebuilds it", one.ID)
		}
		c.note("%s is left out: %s%s", one.ID, one.Reason, how)
	}
	if len(all)+len(skipped) == 0 {
		_, begins := c.exitOf(council.ErrNone)
		c.note("there are no sessions yet; %s", begins)
	}
	return all[:min(len(all), c.limit)], nil
}

// councilDocument makes a command that calls do on the session that its first argument names, as a document.
func (c *command) councilDocument(do func(ctx context.Context, d document) error) runE {
	return c.onNamed(func(ctx context.Context, s councilSession, _ []string) error {
		x, err := s.desk.Export(ctx, s.ID)
		if err != nil {
			return err
		}
		return do(ctx, document{value: x, markdown: x.Markdown(), note: x.Folder})
	})
}

func (c *command) councilSet() *cobra.Command {
	var name, language string
	var history, simplified bool
	var cmd *cobra.Command
	cmd = &cobra.Command{Use: "set",
		Short: "Change a session's settings: language, and whether earlier answers are in the context",
		Args:  cobra.NoArgs,
		RunE: c.onOneSession(&name, func(ctx context.Context, s councilSession, _ []string) error {
			var set session.Settings
			for flag, choose := range map[string]func(){"language": func() {
				set.Language = &language
			}, "history": func() { set.IncludeLLMHistory = &history },
				"simplified-buttons": func() { set.SimplifiedButtons = &simplified }} {
				if cmd.Flags().Changed(flag) {
					choose()
				}
			}
			now, err := s.desk.Set(ctx, s.ID, set)
			if err != nil {
				return err
			}
			return c.printResult(now, fmt.Sprintf("language: %s\nhistory: %t\nsimplified-buttons: %t",
				cmp.Or(now.Language, "found out"), now.Preferences.IncludeLLMHistory,
				now.Preferences.SimplifiedButtons))
		})}
	cmd.Flags().BoolVar(&history, "history", true, "include earlier answers in the context")
	cmd.Flags().BoolVar(&simplified, "simplified-buttons", false, "a setting for programs with buttons")
	cmd.Flags().StringVar(&language, "language", "", "language spoken: pt, en, de, …; empty: detected")
	return c.withJSON(withSession(cmd, &name), "one JSON object")
}

func (c *command) councilRename() *cobra.Command {
	var suggest bool
	var model string
	cmd := &cobra.Command{Use: "rename SESSION [NAME...]", Short: "Name a session, or have a model name it",
		Args: cobra.MinimumNArgs(1),
		RunE: c.onNamed(func(ctx context.Context, s councilSession, args []string) error {
			name := strings.Join(args, " ")
			if suggest == (name != "") {
				return withCode(ExitUsage, errors.New("give either a name or --suggest, which has a model suggest one"))
			}
			if suggest {
				r, err := s.start(ctx, s.a, service.Request{Assistant: council.Name,
					Options: council.Options{Session: s.ID, Name: true, Model: cmp.Or(model, s.a.Config.Model)}})
				if err != nil {
					return err
				}
				return c.showRun(ctx, r)
			}
			now, err := s.desk.Rename(ctx, s.ID, name, session.ByPerson)
			if err != nil {
				return err
			}
			return c.printResult(now, sessionLine(now))
		})}
	cmd.Flags().BoolVar(&suggest, "suggest", false, "have a model suggest a name")
	cmd.Flags().StringVarP(&model, "model", "m", "", "the model that suggests it")
	return c.withView(cmd, "one JSON object")
}

func (c *command) councilDelete() *cobra.Command {
	return c.withJSON(&cobra.Command{Use: "delete SESSION", Short: "Move a session to the trash folder",
		Args: cobra.ExactArgs(1),
		RunE: c.onNamed(func(ctx context.Context, s councilSession, _ []string) error {
			where, err := s.desk.Delete(ctx, s.ID)
			if err != nil {
				return err
			}
			return c.printResult(map[string]string{"session_id": s.ID, "moved_to": where}, "moved to "+where)
		})}, "one JSON object")
}

func (c *command) councilRepair() *cobra.Command {
	return c.withJSON(&cobra.Command{Use: "repair [SESSION...]",
		Short: "Check sessions against their folders and repair them (default: all)",
		RunE: c.onCouncil(func(ctx context.Context, s councilSession, args []string) error {
			all, err := s.desk.Repair(ctx, args)
			if all == nil {
				return err
			}
			if c.asJSON {
				return errors.Join(err, c.printJSON(all))
			}
			for _, one := range all {
				for _, f := range one.Findings {
					fmt.Fprintln(c.Out, printable(strings.Join(slices.DeleteFunc([]string{one.Session, string(f.Mend),
						f.File, f.Text}, func(s string) bool {
						return s == ""
					}), ": ")))
				}
				for _, line := range one.Fixed {
					fmt.Fprintln(c.Out, printable(one.Session+": "+line.Text))
				}
			}
			c.note("%s checked", text.Count(len(all), "session"))
			return err
		})}, "a JSON array")
}

// errTranscribing reports that another process transcribes the session; it also transcribes what is added meanwhile.
var errTranscribing = errors.New("this session is already being transcribed")

// transcribe transcribes pending recordings, with again also failed ones, and shows the run; it resumes an earlier run.
func (s *councilSession) transcribe(ctx context.Context, again bool) error {
	r, err := s.start(ctx, s.a, service.Request{Assistant: council.TranscriptionName,
		Options: council.Options{Session: s.ID, Again: again}})
	if held, is := errors.AsType[*journal.ClaimedError](err); is { // another process drives it, or nobody: then resume it
		if r, err = s.a.Service.Resume(ctx, s.owner(), held.Run); errors.Is(err, journal.ErrLeased) {
			return withCode(ExitFailed, fmt.Errorf("%w: ‘sibyl run watch %s’ shows its progress",
				errTranscribing, held.Run))
		}
	}
	if err != nil {
		return err
	}
	return s.showRun(ctx, r)
}

func (c *command) councilTranscribe() *cobra.Command {
	var again bool
	cmd := &cobra.Command{Use: "transcribe [SESSION]",
		Short: "Transcribe the recordings not transcribed yet (default: of the latest session)",
		Args:  cobra.MaximumNArgs(1),
		RunE:  c.onNamed(func(ctx context.Context, s councilSession, _ []string) error { return s.transcribe(ctx, again) })}
	cmd.Flags().BoolVar(&again, "again", false, "also retry those that failed")
	return c.withView(cmd, "one JSON object")
}
