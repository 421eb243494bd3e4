package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sibyl/internal/app"
	conversation "sibyl/internal/cli/talk"
	"sibyl/internal/config"
	"sibyl/internal/journal"
	doc "sibyl/internal/media/document"
	"sibyl/internal/oracle"
	"sibyl/internal/service"
	"sibyl/internal/text/markdown"
)

// askFlags are the flags of ‘sibyl ask’; those of the Oracle's options are in the embedded set.
type askFlags struct {
	*optionFlagSet[oracle.Options]
	session            string
	cont, shadow, last bool
	attach             []string
	given              func(flag string) bool // reports whether a flag was given, even with an empty value
}

func (c *command) askCommand() *cobra.Command {
	var f askFlags
	cmd := &cobra.Command{
		Use:   "ask [QUESTION] [-]",
		Short: "Answer a question about your code, your notes and the web",
		RunE: func(cmd *cobra.Command, args []string) error {
			f.given = cmd.Flags().Changed
			if f.last {
				return c.showLast(cmd, f, args)
			}
			if len(args) == 0 && c.opensConversation() && !f.shadow && !c.codeOnly && len(f.attach) == 0 {
				return c.converseFrom(cmd.Context(), f)
			}
			return c.ask(cmd.Context(), f, args)
		},
	}
	fl := cmd.Flags()
	f.optionFlagSet = optionFlags[oracle.Options](cmd)
	fl.BoolVarP(&f.cont, "continue", "c", false,
		"continue the last session about this folder, or the one named by --in")
	fl.StringVarP(&f.session, "session", "s", "", "continue this session, in its own folder unless --in names another")
	fl.StringArrayVarP(&f.attach, "attach", "a", nil,
		"a text, PDF, DOCX or picture that the question is about; can be given several times")
	fl.BoolVar(&c.codeOnly, "code", false, "print only the code blocks of the answer")
	fl.BoolVar(&f.last, "last", false, "print the last answer again, or that of --session, and ask nothing")
	fl.BoolVar(&f.shadow, "shadow", false, "also answer with the plain tree ‘baseline’, and compare")
	fl.StringVar(&c.notices, "notices", "",
		"append notices to this file as JSON lines; '' for none (default: the setting notices)")
	cmd.MarkFlagsMutuallyExclusive("continue", "session")
	c.withView(cmd, "one JSON object")
	cmd.MarkFlagsMutuallyExclusive("code", "json")
	return cmd
}

// typedQuestion is a question and the material it is about. If piped is true, the words were read from standard input.
type typedQuestion struct {
	words, material string
	piped           bool
}

// readQuestion reads the question from args or, without words there, from standard input. Its material is what else
// standard input has, the files in attach and, unless the question was piped in, those that it names as @path.
func (c *command) readQuestion(ctx context.Context, args, attach []string) (q typedQuestion, err error) {
	stdin := len(args) > 0 && args[len(args)-1] == "-"
	if stdin {
		args = args[:len(args)-1]
	}
	q.words, q.piped = strings.Join(args, " "), len(args) == 0
	if err := checkTyped(q.words); err != nil {
		return q, withCode(ExitUsage, err)
	}
	if q.piped && !stdin && c.InTTY {
		return q, withCode(ExitUsage, errors.New("what is your question? sibyl ask \"…\""))
	}
	var parts []doc.Part
	switch {
	case q.piped || stdin:
		text, err := pipedText(readMaterial(c.In))
		if err != nil {
			return q, withCode(ExitUsage, err)
		}
		if q.piped {
			q.words = text
			break
		}
		if strings.TrimSpace(text) == "" {
			return q, withCode(ExitUsage,
				errors.New("standard input is empty: leave out the ‘-’, or pipe in what the question is about"))
		}
		parts = append(parts, doc.Part{Name: stdinName, Text: text})
	default:
		text, err := pipedText(c.readStdinBeside(silence))
		if err != nil {
			return q, withCode(ExitUsage, err)
		}
		if strings.TrimSpace(text) != "" {
			parts = append(parts, doc.Part{Name: stdinName, Text: text})
		}
	}
	defer c.reportIfSlow("reading what is attached; the first PDF takes some seconds")()
	for _, name := range attach {
		named, err := c.readAttachment(ctx, name, filepath.Base(name))
		if err != nil {
			return q, withCode(ExitUsage, fmt.Errorf("--attach: %w", err))
		}
		parts = append(parts, named...)
	}
	if !q.piped { // piped words may be from strangers: they attach no files
		named, err := c.readMentions(ctx, q.words)
		if err != nil {
			return q, withCode(ExitUsage, err)
		}
		parts = append(parts, named...)
	}
	if err := checkMaterialSize(parts); err != nil {
		return q, withCode(ExitUsage, err)
	}
	if len(parts) > 0 {
		q.material = doc.JoinParts(parts)
	}
	return q, nil
}

func (c *command) ask(ctx context.Context, f askFlags, args []string) (err error) {
	said, err := c.readQuestion(ctx, args, f.attach)
	if err != nil {
		return err
	}
	cfg, o, err := c.askSettings(f)
	if err != nil {
		return err
	}
	o.Piped, o.Material = said.piped, said.material
	c.folders = []string{o.Code.Path, o.Vault.Path}
	a, err := c.open(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if f.shadow { // find a broken tree before the answer, not after it
		if err := a.Service.CheckTree(oracle.ShadowName); err != nil {
			return err
		}
	}
	session, err := c.sessionToContinue(ctx, a, f, &o)
	if err != nil {
		return err
	}
	if !c.quiet && !c.asJSON {
		say := conversation.Speaker(c.spoken(said.words))
		switch {
		case o.Code.Path != "" || session != "" || f.sets("vault"):
		case o.Vault.Path == "" && look(".").mostlyNotes(1):
			c.note("%s", say("this folder holds no project and is not searched; ‘--vault .’ searches the notes in it"))
		default:
			c.note("%s", say("this folder holds no project and is not searched; ‘--in .’ searches it"))
		}
		if err := c.noteInterruptedRuns(ctx, a); err != nil {
			return err
		}
	}
	r, err := c.startChoosing(ctx, "model", &o.Model, f.sets, func(sets func(string) bool) (*service.Run, error) {
		return c.start(ctx, a, service.Request{Assistant: oracle.Name, Session: session, Words: said.words, Options: o,
			Sets: sets})
	})
	if err != nil {
		return err
	}
	if env, ok := r.Spec.Env.(oracle.Env); ok {
		c.folders = []string{env.CodeRoot, env.Vault}
	}
	if err := c.showRun(ctx, r); err != nil || ctx.Err() != nil {
		return err
	}
	if f.shadow {
		c.shadow(ctx, a, r)
	}
	return c.retire(ctx, a)
}

// askSettings returns the settings and the Oracle's options. It sets c.notices: from --notices, which it checks by
// opening the file, or else from the settings.
func (c *command) askSettings(f askFlags) (cfg config.Config, o oracle.Options, err error) {
	if cfg, err = c.settings(); err != nil {
		return cfg, o, err
	}
	if !f.given("notices") {
		c.notices = cfg.Notices
	} else if err := checkNotices(c.notices); err != nil {
		return cfg, o, withCode(ExitUsage, err)
	}
	o, err = questionOptions(f.optionFlagSet, cfg)
	return cfg, o, err
}

// sessionToContinue returns the id of the session to continue, or "" for a new one. -c takes the last session about the
// folder in o or, if o has none, the last of all. A session with a folder of its own puts it into o.Code.Path, unless
// --in names another; the folder must still exist.
func (c *command) sessionToContinue(ctx context.Context, a *app.App, f askFlags, o *oracle.Options) (string, error) {
	var s journal.Session
	var err error
	switch {
	case f.cont:
		s, err = a.Service.LastIn(ctx, c.owner(), oracle.Name, o.Code.Path)
		if errors.Is(err, journal.ErrNotFound) {
			return "", withCode(ExitUsage, c.nameSessionElsewhere(ctx, a, err))
		}
		if o.Code.Path != "" {
			return s.ID, err
		}
	case f.given("session"):
		s, err = a.Service.FindSession(ctx, c.owner(), oracle.Name, f.session)
	default:
		return "", nil
	}
	if err != nil || o.Code.Name != "" || s.Place == "" || s.Place == o.Code.Path {
		return s.ID, err
	}
	if info, err := os.Stat(s.Place); err != nil || !info.IsDir() {
		return "", withCode(ExitUsage,
			fmt.Errorf("session %s is about %s, which no longer exists: name a folder with --in", s.ID, s.Place))
	}
	o.Code.Path = s.Place
	if !c.quiet && !c.asJSON {
		fmt.Fprintf(c.Err, "· in %s, as before\n", printable(s.Place))
	}
	return s.ID, nil
}

// nameSessionElsewhere adds to err the last session about any folder, and how to continue it.
func (c *command) nameSessionElsewhere(ctx context.Context, a *app.App, err error) error {
	last, found := a.Service.FindSession(ctx, c.owner(), oracle.Name, "last")
	if found != nil {
		return found
	}
	return fmt.Errorf("%w; the last one, “%s”, is about %s: ‘sibyl ask -s %s’ continues it",
		err, last.Title, cmp.Or(last.Place, "no folder"), last.ID)
}

// questionOptions returns the Oracle's options from flags and settings. If no code folder is named, it is the current
// folder, provided that this is a project.
func questionOptions(f *optionFlagSet[oracle.Options], cfg config.Config) (oracle.Options, error) {
	o, err := f.withSettings(cfg)
	if err != nil {
		return o, err
	}
	if o.AskNotes && o.Vault.Path == "" {
		return o, withCode(ExitUsage,
			errors.New("--notes: no folder of notes is set; name one with --vault, or permanently with ‘sibyl config "+
				"set vault FOLDER’"))
	}
	if o.Code.Path == "" {
		o.Code.Path = projectHere()
	}
	return o, nil
}

// besideLast are the flags of ask that do something with --last: they say which answer, and how it is printed.
var besideLast = [...]string{"last", "continue", "session", "code", "json", "quiet"}

// showLast prints the answer of the last question that has one, or of the last one of a session. The exit code is that
// of the run.
func (c *command) showLast(cmd *cobra.Command, f askFlags, args []string) error {
	var idle []string
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if !slices.Contains(besideLast[:], flag.Name) && cmd.InheritedFlags().Lookup(flag.Name) == nil {
			idle = append(idle, "--"+flag.Name)
		}
	})
	switch {
	case len(args) > 0:
		return withCode(ExitUsage, errors.New("--last asks nothing: leave out the question, or --last"))
	case idle != nil:
		return withCode(ExitUsage, fmt.Errorf("--last asks nothing, so %s would do nothing: leave out one or the other",
			strings.Join(idle, ", ")))
	}
	ctx := cmd.Context()
	cfg, err := c.settingsWithoutStored()
	if err != nil {
		return err
	}
	a, err := c.open(ctx, cfg)
	if err != nil {
		return err
	}
	res, err := c.lastAnswer(ctx, a, f)
	if err == nil && c.asJSON {
		err = c.printJSON(res.Outcome)
	} else if err == nil {
		c.showAnswer(c.newScreen(), res.Answer)
	}
	if err == nil {
		c.code = max(c.code, outcomeCode(res))
	}
	return errors.Join(err, a.Close())
}

// lastAnswer is the result of the last question that was answered: of the session that the flags name, else of any.
func (c *command) lastAnswer(ctx context.Context, a *app.App, f askFlags) (res service.Result, err error) {
	filter := journal.Filter{Assistant: oracle.Name, Limit: mostTried}
	switch {
	case f.given("session"):
		s, err := a.Service.FindSession(ctx, c.owner(), oracle.Name, f.session)
		if err != nil {
			return res, err
		}
		filter.Session = s.ID
	case f.cont:
		s, err := a.Service.LastIn(ctx, c.owner(), oracle.Name, projectHere())
		if err != nil {
			return res, withCode(ExitUsage, err)
		}
		filter.Session = s.ID
	}
	runs, err := c.latestRuns(ctx, a, filter)
	if err != nil {
		return res, err
	}
	for _, r := range runs {
		if r.Status == journal.Running {
			continue
		}
		if res, err = a.Service.Result(ctx, c.owner(), r.ID); err != nil || res.Answer != "" {
			return res, err
		}
	}
	return res, withCode(ExitUsage, errors.New("there is no answer yet: ask with ‘sibyl ask’"))
}

// latestRuns lists runs of a filter, the latest first; of a session only those of the branch in force.
func (c *command) latestRuns(ctx context.Context, a *app.App, f journal.Filter) (runs []service.Row, err error) {
	if f.Session == "" {
		return a.Service.Runs(ctx, c.owner(), f)
	}
	branch, err := a.Service.Branch(ctx, c.owner(), f.Session, "", f.Limit, journal.Cursor{})
	for _, r := range branch {
		runs = append(runs, r.Row)
	}
	return runs, err
}

// showRun shows a run until it ends, as showProgress does, then prints its outcome and sets or returns the exit code.
func (c *command) showRun(ctx context.Context, r *service.Run) error {
	p, res, err := c.showProgress(ctx, r)
	if err != nil {
		return err
	}
	return c.printOutcome(p, r, res)
}

// showProgress shows a run that this process drives until it ends, even if ctx is cancelled. It returns the result with
// its usage, and without the parts of the answer that were shown already.
func (c *command) showProgress(ctx context.Context, r *service.Run) (*progress, service.Result, error) {
	ctx = context.WithoutCancel(ctx)
	p := c.newProgress()
	p.before, p.reply = r.Before, replyFlag(r)
	p.work.Language = c.spoken(r.Spec.Title)
	var early []string
	for u := range r.Watch(ctx, 0) {
		p.update(u)
		if u.Early != nil {
			early = append(early, u.Early.Markdown)
		}
	}
	p.end()
	res, err := r.Wait(ctx)
	if err != nil {
		p.screen.retract()
		return p, res, err
	}
	res.Answer = conversation.WithoutShown(res.Answer, early)
	return p, c.withUsage(ctx, r, res), nil
}

// replyFlag is the flag with which ‘sibyl ask’ continues the session of a run from the current folder.
func replyFlag(r *service.Run) string {
	if env, ok := r.Spec.Env.(oracle.Env); ok && (projectHere() == "" || projectHere() == env.CodeRoot) {
		return "-c"
	}
	return "-s " + r.Session
}

// printOutcome prints a result and saves its notices. A failure is returned unless the answer already states it.
func (c *command) printOutcome(p *progress, r *service.Run, res service.Result) error {
	if c.asJSON {
		p.screen.retract()
		if err := newJSON(c.Out).Encode(res.Outcome); err != nil {
			return err
		}
	} else {
		p.show(res)
	}
	if err := appendNotices(c.notices, r, res, time.Now()); err != nil {
		fmt.Fprintf(c.Err, "· the notices could not be saved: %v\n", err)
	}
	code, f := outcomeCode(res), res.Failure
	switch {
	case f == nil:
		c.code = max(c.code, code)
		return nil
	case statesFailure(res):
		c.code = code
		return nil
	}
	text, hint := f.In(conversation.Speaker(p.work.Language))
	if hint != "" && code != ExitRefused {
		text += "\n      " + hint
	}
	return withCode(code, errors.New(text))
}

// statesFailure reports whether the answer itself states the failure of its run.
func statesFailure(res service.Result) bool { return strings.Contains(res.Answer, res.Failure.Message) }

// outcomeCode is the exit code for the result of a run.
func outcomeCode(res service.Result) int {
	f := res.Failure
	switch {
	case f != nil && f.Kind == oracle.StopRefused && !statesFailure(res):
		return ExitRefused
	case res.Status == journal.Cancelled:
		return ExitStopped
	case f != nil:
		return ExitFailed
	case res.Partial:
		return ExitPartial
	}
	return ExitAnswered
}

// showAnswer prints an answer or, with --code, what its code blocks hold, with an empty line between two of them; an
// answer without one is then incomplete.
func (c *command) showAnswer(s *screen, answer string) {
	if !c.codeOnly {
		s.writeAnswer(answer)
		return
	}
	blocks := markdown.CodeBlocks(answer)
	if blocks == nil {
		c.note("the answer has no code block; ‘sibyl ask --last’ prints it")
		c.code = ExitPartial
	}
	s.printBeside(func() { fmt.Fprint(c.Out, printable(strings.Join(blocks, "\n"))) })
}
