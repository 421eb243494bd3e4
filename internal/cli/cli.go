// Package cli is Sibyl's command line.
//
// Answers and results go to stdout; progress, notices and errors go to stderr. With --json, stdout has only JSON.
// Colours and live redrawing are only used on a terminal, and never with NO_COLOR.
package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	conversation "sibyl/internal/cli/talk"
	"sibyl/internal/config"
	"sibyl/internal/files"
	"sibyl/internal/journal"
	"sibyl/internal/keys"
	"sibyl/internal/problem"
	"sibyl/internal/server/user"
	"sibyl/internal/service"
	"sibyl/internal/text/language"
)

// Exit codes.
const (
	ExitAnswered = 0   // the answer is complete, or the command succeeded
	ExitFailed   = 1   // the model or a tool failed, or a valid request can't be carried out now
	ExitUsage    = 2   // the command, its input or a setting is wrong
	ExitPartial  = 3   // the answer is incomplete
	ExitRefused  = 4   // the model refused
	ExitJournal  = 5   // the journal or a session can't be read or written: locked, damaged, disk full
	ExitStopped  = 130 // the person stopped it
)

// Streams are a command's input and outputs, and facts about the terminal and the machine.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	InTTY    bool
	OutTTY   bool
	ErrTTY   bool
	Width    int // of the terminal; 0: 80
	Height   int // of the terminal; 0: 24

	Memory uint64 // of the machine, in bytes; 0: ask the system
}

// command is the state that all commands share.
type command struct {
	Streams
	Program
	terminal   io.Writer // Out without its terminalFilter, for drawing
	environ    []string
	configPath string
	dataDir    string
	database   string
	user       string // owner of the sessions and tasks
	flags
	typed     *bufio.Reader // buffers In for all dialogues; nil before the first
	file      *os.File      // the original stdout, if it is a file, for programs that take over the terminal
	out       *errorKeeper
	log       io.Writer // Err without repeatFlags, for logs
	wantsJSON bool      // --json is among the arguments, even if they can't be parsed
	prices    config.Prices
	code      int
	overLimit bool // begin runs although today's limit of costs is reached
	converses bool // a conversation draws on the terminal: no line-by-line questions
	began     bool // the command line is valid: later errors are not its fault
	warned    bool // the warning about unusable stored keys was printed
}

// flags are set by flags that several commands have. A process runs only one of them.
type flags struct {
	asJSON, quiet  bool
	trace, verbose bool
	noPager, yes   bool
	codeOnly       bool     // print only the code of an answer
	folders        []string // where files are looked for that an answer cites
	notices        string   // the file that notices are appended to; "" for none
	limit          int      // the most entries of a list; 0: all
}

// withJSON adds the flag --json, described as printing what.
func (c *command) withJSON(cmd *cobra.Command, what string) *cobra.Command {
	cmd.Flags().BoolVar(&c.asJSON, "json", false, "print "+what)
	return cmd
}

// withView adds the flags for showing a run: --quiet, --verbose, --trace and --json.
func (c *command) withView(cmd *cobra.Command, what string) *cobra.Command {
	cmd.Flags().BoolVarP(&c.quiet, "quiet", "q", false, "no progress")
	cmd.Flags().BoolVar(&c.verbose, "verbose", false,
		"also tell on stderr how the run is controlled: turns, checks, hints")
	cmd.Flags().BoolVar(&c.trace, "trace", false, "show the tree's decisions on stderr, step by step")
	return c.withJSON(cmd, what)
}

// withLimit adds the flag --limit with a default; the default 0 means all, but the flag itself must be at least 1.
func (c *command) withLimit(cmd *cobra.Command, usual int, doc string) *cobra.Command {
	limit := cmd.Flags().IntP("limit", "n", usual, doc) // not c.limit: defaults differ
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if cmd.Flags().Changed("limit") && *limit < 1 {
			return withCode(ExitUsage, fmt.Errorf("--limit is %d; use at least 1", *limit))
		}
		c.limit = *limit
		return nil
	}
	return cmd
}

// Program holds what differs between builds of Sibyl.
type Program = app.Options

// Main runs the command line and returns the exit code. environ is as from os.Environ. It silences the package log.
func Main(ctx context.Context, p Program, args, environ []string, s Streams) int {
	if p.Again != nil && app.Witness(ctx) {
		return ExitAnswered
	}
	log.SetOutput(io.Discard)   // libraries print what strangers sent them
	file, _ := s.Out.(*os.File) // nil if it isn't a file
	terminal := s.Out
	wantsJSON, columns := asksJSON(args), s.width()
	if wantsJSON {
		columns = 0
	}
	// A reader that closes its pipe, as in ‘| head -1’, stops the command as Ctrl-C does. Without this the system would
	// end the process at its next write there, in the middle of a run.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	closed := func() { stop(errors.New("the output was closed")) }
	out := &errorKeeper{Writer: filterTerminal(s.Out, s.OutTTY, columns), closed: closed}
	s.Out, s.Err = out, &errorKeeper{Writer: filterTerminal(s.Err, s.ErrTTY, s.width()), closed: closed}
	p.Documents = cmp.Or(p.Documents, app.NewDocuments())
	c := &command{Streams: s, Program: p, terminal: terminal, environ: environ, file: file, out: out,
		wantsJSON: wantsJSON}
	c.log, c.Err = c.Err, &repeatingWriter{c.Err, c}
	root := c.root()
	root.SetOut(s.Out)
	withCompletion(root)
	rewordErrors(root)
	if isCompletion(args) {
		c.setCompletions(root, "", completions())
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return rewordMisplacedFlag(cmd, err, args) })
	root.SetArgs(c.insertDefaultCommand(root, args))
	root.SetIn(s.In)
	root.SetErr(s.Err)
	if err := root.ExecuteContext(ctx); err != nil {
		return c.fail(err)
	}
	if err := out.err; err != nil && !files.Is(err, syscall.EPIPE) {
		return c.fail(withCode(ExitFailed, fmt.Errorf("writing the output failed: %w", err)))
	}
	return c.code
}

// Commands returns the tree of commands, for manual pages and completions; it must not be executed.
func Commands() *cobra.Command {
	root := new(command).root()
	withCompletion(root)
	return root
}

// errorKeeper is a writer that keeps its first error, which Main checks at the end, and whether anything was written.
// It calls closed if that error is that nobody reads any more.
type errorKeeper struct {
	io.Writer
	closed func()

	mu    sync.Mutex // stderr is written from several goroutines
	err   error
	wrote bool
}

func (r *errorKeeper) Write(p []byte) (int, error) {
	n, err := r.Writer.Write(p)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wrote = r.wrote || n > 0
	if err != nil && r.err == nil {
		r.err = err
		if files.Is(err, syscall.EPIPE) {
			r.closed()
		}
	}
	return n, err
}

// exitError carries the exit code of a failure.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// withCode attaches an exit code to an error; nil stays nil.
func withCode(code int, err error) error {
	if err == nil {
		return nil
	}
	return &exitError{code: code, err: err}
}

// fail prints an error, with a hint if one is known, and returns its exit code.
func (c *command) fail(err error) int {
	code, hint := c.exitOf(err)
	if code == ExitStopped && errors.Is(err, context.Canceled) {
		err = errors.New("it was stopped")
	}
	return c.report(err, code, hint)
}

// exitOf returns the exit code of an error and, unless a command set the code, a hint on what to do. Errors of the
// journal override a code that a command set; a valid request that can't be carried out now is ExitFailed.
func (c *command) exitOf(err error) (code int, hint string) {
	t, known := problem.Of(err)
	coded, isCoded := errors.AsType[*exitError](err)
	_, misused := errors.AsType[*service.UsageError](err)
	switch {
	case t.Kept == problem.Journal:
		return ExitJournal, t.Here
	case isCoded:
		return coded.code, ""
	case errors.Is(err, context.Canceled):
		return ExitStopped, ""
	case t.Kept == problem.Folder:
		return ExitJournal, t.Here
	case misused, blamesRequest(t.Status), !known && !c.began:
		return ExitUsage, t.Here
	}
	return ExitFailed, t.Here
}

// blamesRequest reports whether an HTTP status blames the request, not the state of the server.
func blamesRequest(status int) bool {
	return slices.Contains([]int{http.StatusBadRequest, http.StatusNotFound, http.StatusRequestEntityTooLarge,
		http.StatusUnsupportedMediaType}, status)
}

func (c *command) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "sibyl",
		Annotations:   map[string]string{listener: "sibyl"},
		Short:         "AI assistants that you can trust, read and run yourself",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmd.ValidateFlagGroups(); err != nil {
				return rewordFlagError(cmd, err)
			}
			c.began = true
			if cmd.Annotations[ownWords] != "" && !c.asJSON {
				c.Out = &repeatingWriter{c.Out, c}
			}
			if err := user.CheckName(c.user); err != nil {
				return withCode(ExitUsage, fmt.Errorf("--user: %w", err))
			}
			return nil
		},
	}
	var version bool
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if version {
			return c.printResult(nil, c.versionLine())
		}
		if len(args) == 0 {
			if piped, err := c.readPiped(); err != nil || piped {
				return cmp.Or(err, runAsk(cmd))
			}
		}
		return groupRun(cmd, args)
	}
	root.Flags().BoolVarP(&version, "version", "v", false, "version for sibyl")
	root.PersistentFlags().StringVar(&c.configPath, "config", "",
		"settings file (default: config.yaml in your configuration folder)")
	root.PersistentFlags().StringVar(&c.dataDir, "data", "", "folder with the journal (default: your data folder)")
	root.PersistentFlags().StringVar(&c.user, "user", string(app.Owner),
		"owner of the sessions and tasks on this machine")
	root.PersistentFlags().StringVar(&c.database, "database", "",
		"database: postgres://USER@HOST/NAME or sqlite:PATH (default: DATABASE_URL, or a file in the data folder)")
	root.PersistentFlags().BoolVar(&c.overLimit, "over-limit", false,
		"go on although today's limit of costs (the setting models.limit) is reached")
	c.addCommands(root)
	return root
}

// owner returns the owner of the sessions and tasks: the value of --user.
func (c *command) owner() journal.Owner { return journal.Owner(c.user) }

// env returns an environment variable; "" if it isn't set.
func (c *command) env(name string) string { return conversation.Variable(c.environ, name) }

// spoken returns the language of words or, where these don't tell, that of the locale; "" for neither.
func (c *command) spoken(words string) string {
	locale := cmp.Or(c.env("LC_ALL"), c.env("LC_MESSAGES"), c.env("LANG"))
	code, _, _ := strings.Cut(strings.ToLower(locale), "_")
	return cmp.Or(language.Of(words), code)
}

// home returns the person's home folder; "" if the environment names none.
func (c *command) home() string { return cmp.Or(c.env("HOME"), c.env("USERPROFILE")) }

// options returns where the configuration is loaded from, including the names of stored keys.
func (c *command) options() config.Options {
	return config.Options{Path: c.configPath, Environ: c.environ, Stored: keys.Names}
}

// settings loads the configuration, warns once about unusable stored keys, and sets c.prices.
func (c *command) settings() (config.Config, error) {
	cfg, err := c.load(c.options())
	if cfg.StoredProblem != nil && !c.warned {
		c.warned = true
		fmt.Fprintf(c.Err, "· some stored keys can't be used: %v\n", cfg.StoredProblem)
	}
	c.prices = cfg.Prices.OrPublic()
	return cfg, err
}

// settingsWithoutStored loads the settings without reading the key store, when no key is needed or one is about to be
// changed. It doesn't set c.prices.
func (c *command) settingsWithoutStored() (config.Config, error) {
	opts := c.options()
	opts.Stored = nil
	return c.load(opts)
}

// load loads the configuration; --data and --database override it, and --data alone means the database file there.
func (c *command) load(opts config.Options) (config.Config, error) {
	cfg, err := config.Load(opts)
	if err != nil {
		return cfg, withCode(ExitUsage, err)
	}
	if c.dataDir != "" {
		cfg.DataDir, cfg.Database = c.dataDir, config.Database{}
	}
	if c.database != "" {
		if cfg.Database, err = config.ParseDatabase(c.database); err != nil {
			return cfg, withCode(ExitUsage, fmt.Errorf("--database %w", err))
		}
	}
	return cfg, nil
}

// open opens the whole program, with its journal; the caller closes it.
func (c *command) open(ctx context.Context, cfg config.Config) (*app.App, error) {
	program := c.Program
	program.Settings = c.options()
	if code := c.spoken(""); len(code) == len("pt") { // other locales, such as C, have no language
		program.Spoken = code
	}
	a, err := app.Open(ctx, cfg, program)
	if errors.Is(err, app.ErrJournal) {
		return nil, withCode(ExitJournal, err)
	}
	return a, withCode(ExitUsage, err)
}

// action is what a command does with the opened program.
type action func(ctx context.Context, a *app.App, args []string) error

// onSettings makes a command that loads the settings and calls do.
func (c *command) onSettings(do func(ctx context.Context, cfg config.Config, args []string) error) runE {
	return func(cmd *cobra.Command, args []string) error {
		cfg, err := c.settings()
		if err != nil {
			return err
		}
		return do(cmd.Context(), cfg, args)
	}
}

// onApp makes a command that opens the program, calls do, and closes it.
func (c *command) onApp(do action) runE {
	return c.onSettings(func(ctx context.Context, cfg config.Config, args []string) error {
		a, err := c.open(ctx, cfg)
		if err != nil {
			return err
		}
		return errors.Join(do(ctx, a, args), a.Close())
	})
}

// onPrepared makes a command that calls do on the program without its journal.
func (c *command) onPrepared(do action) runE {
	return c.onSettings(func(ctx context.Context, cfg config.Config, args []string) error {
		a, err := app.Prepare(cfg)
		if err != nil {
			return withCode(ExitUsage, err)
		}
		return do(ctx, a, args)
	})
}

// onRun makes a command that calls do on the run that its first argument names, or on the last one.
func (c *command) onRun(do func(ctx context.Context, a *app.App, r journal.Run) error) runE {
	return c.onApp(func(ctx context.Context, a *app.App, args []string) error {
		r, err := a.Service.FindRun(ctx, c.owner(), nameOr(args, "last"))
		if err != nil {
			return err
		}
		return do(ctx, a, r)
	})
}

// onSession makes a command that calls do on the session that its first argument names, or on the last one, with the
// remaining arguments.
func (c *command) onSession(
	do func(ctx context.Context, a *app.App, s journal.Session, args []string) error,
) runE {
	return c.onApp(func(ctx context.Context, a *app.App, args []string) error {
		s, err := a.Service.FindSession(ctx, c.owner(), "", nameOr(args, "last"))
		if err != nil {
			return err
		}
		return do(ctx, a, s, args[min(1, len(args)):])
	})
}
