package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"sibyl/internal/council"
	"sibyl/internal/council/session"
	"sibyl/internal/files"
)

// openOrCreate opens the named session, by default the latest. It begins a new one if fresh is true or there is none.
func (s *councilSession) openOrCreate(ctx context.Context, name string, fresh bool) error {
	if fresh && name != "" {
		return withCode(ExitUsage, errors.New("--new and --session can't be used together"))
	}
	var err error
	if !fresh {
		err = s.openSession(ctx, name)
	}
	if fresh || errors.Is(err, council.ErrNone) {
		s.Session, err = s.desk.New(ctx, "", "")
		s.fresh = err == nil
	}
	return err
}

// deleteIfUnused returns err. If that isn't nil, it first deletes the session, provided that this command began it.
func (s *councilSession) deleteIfUnused(ctx context.Context, err error) error {
	if err == nil || !s.fresh {
		return err
	}
	_, failed := s.desk.Delete(context.WithoutCancel(ctx), s.ID)
	return errors.Join(err, failed)
}

// addFlags choose the session that a command adds to.
type addFlags struct {
	session string
	fresh   bool
}

func (f *addFlags) addTo(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&f.fresh, "new", false, "begin a new session with it")
	return withSession(cmd, &f.session)
}

func (c *command) councilSay() *cobra.Command {
	var f addFlags
	cmd := &cobra.Command{Use: "say TEXT... | -", Short: "Add text to a session", Args: cobra.MinimumNArgs(1),
		RunE: c.onCouncil(func(ctx context.Context, s councilSession, args []string) error {
			text, err := c.words(args, 2<<20)
			if err != nil {
				return err
			}
			if err := s.openOrCreate(ctx, f.session, f.fresh); err != nil {
				return err
			}
			e, err := s.desk.AddText(ctx, s.ID, text)
			if err != nil {
				return s.deleteIfUnused(ctx, err)
			}
			return s.reportAdded(ctx, []session.Added{{Entry: e}})
		})}
	return c.withJSON(f.addTo(cmd), "one JSON object")
}

// reportAdded prints the session after something was added; its JSON has the added entries as they are now.
func (s *councilSession) reportAdded(ctx context.Context, all []session.Added) error {
	now, err := s.desk.Get(ctx, s.ID)
	if err != nil {
		return err
	}
	if s.asJSON {
		for i := range all {
			if n := slices.IndexFunc(now.Audio, func(e session.AudioEntry) bool {
				return e.Sequence == all[i].Entry.Sequence
			}); n >= 0 {
				all[i].Entry = now.Audio[n]
			}
		}
		return s.printJSON(struct {
			Session string          `json:"session_id"`
			Name    string          `json:"name"`
			State   session.State   `json:"state"`
			Added   []session.Added `json:"added"`
		}{now.ID, now.Name, now.State, all})
	}
	fmt.Fprintln(s.Out, sessionLine(now))
	if first := len(now.Audio) == 1 && len(now.Answers) == 0; first && all[0].Entry.Status == session.Success {
		s.note("‘sibyl council ask ORACLE’ asks an oracle about it; ‘sibyl council oracles’ lists them")
	}
	return nil
}

func (c *command) councilAdd() *cobra.Command {
	var f addFlags
	var later bool
	cmd := &cobra.Command{Use: "add FILE...", Short: "Add recordings, texts, PDFs or DOCX to a session",
		Args: cobra.MinimumNArgs(1),
		RunE: c.onCouncil(func(ctx context.Context, s councilSession, args []string) error {
			for _, name := range args { // check them before beginning a session
				if _, err := os.Stat(name); err != nil {
					return withCode(ExitUsage, fmt.Errorf("%s: %w", name, files.Cause(err)))
				}
			}
			if err := s.openOrCreate(ctx, f.session, f.fresh); err != nil {
				return err
			}
			all, err := s.addFiles(ctx, args)
			return s.reportAndTranscribe(ctx, all, later, s.deleteIfUnused(ctx, err))
		})}
	cmd.Flags().BoolVar(&later, "later", false, "don't transcribe yet")
	return c.withView(f.addTo(cmd), "one JSON object")
}

// addFiles adds files until one fails, and returns those added. It prints which ones the session has already.
func (s *councilSession) addFiles(ctx context.Context, names []string) (all []session.Added, err error) {
	for _, name := range names {
		one, err := s.addFile(ctx, name)
		if err != nil {
			return all, err
		}
		if one.Same != 0 {
			s.note("%s is the same as recording %d and was not added again", name, one.Same)
		}
		all = append(all, one)
	}
	return all, nil
}

func (s *councilSession) addFile(ctx context.Context, name string) (session.Added, error) {
	if info, err := os.Stat(name); err != nil {
		return session.Added{}, withCode(ExitUsage, err)
	} else if !info.Mode().IsRegular() {
		return session.Added{}, withCode(ExitUsage, fmt.Errorf("%s is not a file", name))
	}
	f, err := os.Open(name)
	if err != nil {
		return session.Added{}, withCode(ExitUsage, err)
	}
	defer func() { _ = f.Close() }() // opened for reading only
	return s.desk.AddAudio(ctx, s.ID, filepath.Base(name), f)
}

// reportAndTranscribe prints what was added, and transcribes it unless later is true or failed isn't nil, which it
// returns. With --json it prints one object, after transcribing.
func (s *councilSession) reportAndTranscribe(ctx context.Context, all []session.Added, later bool, failed error) error {
	tell := func() error {
		if len(all) == 0 {
			return nil
		}
		return s.reportAdded(context.WithoutCancel(ctx), all) // print it even if the person stops
	}
	if failed != nil || later {
		return errors.Join(failed, tell())
	}
	if !s.asJSON {
		if err := tell(); err != nil {
			return err
		}
		return s.transcribeAdded(ctx, all)
	}
	out := s.Out
	s.Out = io.Discard
	err := s.transcribeAdded(ctx, all)
	s.Out = out
	return errors.Join(err, tell())
}

// transcribeAdded transcribes what was added. If nothing can transcribe or another process does, it just says so.
func (s *councilSession) transcribeAdded(ctx context.Context, all []session.Added) error {
	if !slices.ContainsFunc(all, func(one session.Added) bool { return one.Entry.Status == session.Pending }) {
		return nil
	}
	if why := s.a.Council.Missing(); why != "" {
		s.note("not transcribed yet: %s", why)
		return nil
	}
	err := s.transcribe(ctx, false)
	if errors.Is(err, errTranscribing) { // the other process transcribes it, too
		s.note("%v", err)
		return nil
	}
	return err
}
