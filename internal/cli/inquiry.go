package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/config"
	"sibyl/internal/inquiry"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/journal"
	"sibyl/internal/render"
	"sibyl/internal/run"
	"sibyl/internal/schema"
	"sibyl/internal/service"
)

func (c *command) investigateCommand() *cobra.Command {
	var f *optionFlagSet[inquiry.Options]
	cmd := &cobra.Command{Use: "investigate \"HYPOTHESIS\" | -",
		Short: "Have a detective cross-examine a witness and audit the answers", Args: cobra.MinimumNArgs(1),
	}
	cmd.RunE = c.onApp(func(ctx context.Context, a *app.App, args []string) error {
		o, err := f.withSettings(a.Config)
		if err != nil {
			return err
		}
		return c.investigate(ctx, a, o, f.sets, args)
	})
	f = optionFlags[inquiry.Options](cmd)
	return c.withView(cmd, `one JSON object, {"session": …}, with the session as in its file`)
}

func (c *command) investigate(
	ctx context.Context, a *app.App, o inquiry.Options, sets func(option string) bool, args []string,
) error {
	words, err := c.words(args, 1<<16)
	if err != nil {
		return err
	}
	if err := c.askWitness(ctx, &o); err != nil {
		return err
	}
	var told []string
	r, err := c.startChoosing(ctx, "detective", &o.Detective, sets, func(sets func(string) bool) (*service.Run, error) {
		r, ended, err := c.startRun(ctx, a, service.Request{Assistant: inquiry.Name, Words: words, Options: o, Sets: sets})
		told = append(told, ended...) // also by a start that failed, and is tried with another model
		return r, err
	})
	if err != nil {
		return err
	}
	for _, line := range told {
		fmt.Fprintln(c.Err, printable("· "+line))
	}
	p, res, followed := c.showProgress(ctx, r)
	lines, err := c.writeEndedInquiry(context.WithoutCancel(ctx), a, r.ID)
	if followed == nil {
		if c.OutTTY {
			res.Answer = c.beginningOf(res.Answer, lines)
		}
		followed = c.printOutcome(p, r, res)
	}
	if !c.asJSON {
		for _, line := range lines {
			c.note("%s", line)
		}
	}
	return errors.Join(followed, err)
}

// askWitness asks for the witness of an inquiry, if none is named or set. Where nobody can be asked, that is an error
// that says how to name one.
func (c *command) askWitness(ctx context.Context, o *inquiry.Options) error {
	if o.Witness != (schema.Folder{}) {
		return nil
	}
	if !c.InTTY || !c.ErrTTY || c.asJSON {
		return withCode(ExitUsage, errors.New("there is no witness: name a file or folder of documents with --witness, or a "+
			"model, as in --witness ollama:llama3.1:8b; the setting inquiry.witness sets a default"))
	}
	typed, err := (&dialogue{c}).ask(ctx, missingWitness().Title+" ")
	if err == nil && typed == "" {
		err = withCode(ExitUsage, errors.New("without a witness nobody can be questioned"))
	}
	if err != nil {
		return err
	}
	object := schema.Of[inquiry.Options]()
	field := object.Fields[slices.IndexFunc(object.Fields, isWitness)]
	if err := field.SetText(o, typed); err != nil {
		return withCode(ExitUsage, err)
	}
	return applySettings(object, o, map[*schema.Field]bool{field: true}, config.Config{})
}

// startRun starts a run. If a failed inquiry that waits to be resumed prevents a new one, that is cancelled first, and
// told says so; if another inquiry does, the error names it.
func (c *command) startRun(
	ctx context.Context, a *app.App, asked service.Request,
) (r *service.Run, told []string, err error) {
	r, err = c.start(ctx, a, asked)
	held, isHeld := errors.AsType[*journal.ClaimedError](err)
	if !isHeld || asked.Assistant != inquiry.Name {
		return r, nil, err
	}
	if ended, cancelled := c.cancelFailedInquiry(ctx, a, held.Run); cancelled {
		told = []string{"the inquiry before, which had failed, has ended, and ‘sibyl run resume’ can't go on with it any " +
			"more, since there is one at a time; ‘sibyl inquiry show " + ended + "’ shows what it has"}
		r, err = c.start(ctx, a, asked)
		held, isHeld = errors.AsType[*journal.ClaimedError](err)
	}
	if isHeld {
		err = withCode(ExitFailed, c.alreadyRunning(ctx, a, held.Run))
	}
	return r, told, err
}

// mostOfInquiry is how many rows of a terminal the result of an inquiry may take, with its notes.
const mostOfInquiry = 15

// beginningOf cuts the Markdown of an ended inquiry to the terminal rows that its notes and the line with the costs
// leave; verdict and findings come first in it. At least its first line remains.
func (c *command) beginningOf(markdown string, notes []string) string {
	left := mostOfInquiry - 1
	for _, note := range notes {
		for row := range strings.SplitSeq(wrapLine("· "+note, c.width()-1), "\n") {
			left -= 1 + ansi.StringWidth(row)/c.width() // a long path continues in the next row
		}
	}
	lines := strings.Split(strings.TrimSpace(markdown), "\n")
	for n := len(lines); n > 1; n-- {
		text := strings.TrimSpace(strings.Join(lines[:n], "\n"))
		if n < len(lines) {
			text += "\n\n…"
		}
		if len(render.Lines(text, render.Options{Width: c.width()})) <= left {
			return text
		}
	}
	return lines[0]
}

// cancelFailedInquiry cancels an inquiry that failed and waits to be resumed, and gives its id; false: it did not.
func (c *command) cancelFailedInquiry(ctx context.Context, a *app.App, id string) (session string, cancelled bool) {
	r, err := a.Inquiry.Get(ctx, c.owner(), id)
	if err != nil {
		return "", false
	}
	s, err := a.Inquiry.Read(ctx, c.owner(), r)
	cancelled = err == nil && s.Status == record.Failed && s.Resumable &&
		a.Service.Cancel(ctx, c.owner(), id, "another inquiry begins") == nil
	return s.ID, cancelled
}

// writeEndedInquiry writes the file of an ended or stopped inquiry; told says where it is, or why it could not be
// written, and what can be done next.
func (c *command) writeEndedInquiry(ctx context.Context, a *app.App, run string) (told []string, err error) {
	row, err := a.Service.Run(ctx, c.owner(), run)
	if err != nil {
		return nil, err
	}
	s, unwritten, err := c.inquiryOf(ctx, a, row.Run)
	if err != nil {
		return nil, err
	}
	folder, err := a.Inquiry.Files(c.owner())
	if err != nil {
		return nil, err
	}
	if !s.Judged() && s.EndReason == record.Collected {
		unwritten = append(unwritten,
			"without a model quotations are collected and not judged: ‘sibyl init’ sets one up")
	}
	if !c.OutTTY || c.verbose {
		unwritten = append(unwritten, "the session is in "+c.tilde(folder.Path(s.Session)))
	}
	return append(unwritten,
		"‘sibyl inquiry show’ shows all of it, ‘sibyl inquiry export --html FILE’ writes it with its evidence"), nil
}

// alreadyRunning is the error that names the inquiry that prevents a new one, and says how to resume or stop it.
func (c *command) alreadyRunning(ctx context.Context, a *app.App, id string) error {
	if row, err := a.Service.Run(ctx, c.owner(), id); err == nil && row.State == run.StatePaused {
		return fmt.Errorf("an inquiry is paused (%s): ‘sibyl run resume %s’ goes on with it, ‘sibyl run stop %s’ ends it",
			row.Text, id, id)
	}
	return fmt.Errorf("an inquiry is already running: ‘sibyl run watch %s’ shows it, ‘sibyl run stop %s’ ends it", id, id)
}

func (c *command) inquiryCommand() *cobra.Command {
	return group(&cobra.Command{Use: "inquiry", Short: "List, show, stop, export and verify inquiries",
		Annotations: map[string]string{listener: "sibyl investigate"}},
		c.inquiryList(),
		c.showCommand(&cobra.Command{Use: "show [ID]",
			Short: "Show an inquiry: questions, answers, open points and the audit"}, c.inquiryDocument),
		c.inquiryStop(), c.inquiryExport(), c.inquiryVerify())
}

func (c *command) inquiryList() *cobra.Command {
	_, begins := c.exitOf(inquiry.ErrNone)
	return listCommand(c, &cobra.Command{Short: "List the inquiries, the latest first"}, 20,
		"there are no inquiries yet; "+begins, inquiryLine,
		func(ctx context.Context, a *app.App) ([]inquiry.Listed, error) {
			return a.Inquiry.List(ctx, c.owner(), journal.Filter{Limit: c.limit})
		})
}

func inquiryLine(i inquiry.Listed) string {
	score := "  –"
	if i.ConsistencyScore != nil {
		score = fmt.Sprintf("%3d", *i.ConsistencyScore)
	}
	began := i.StartTime
	if at, err := time.Parse(time.RFC3339, began); err == nil {
		began = moment(at)
	}
	line := fmt.Sprintf("%-36s  %s  %-7s  %s  %2d/%d  %s", cmp.Or(i.ID, i.Run), began, i.State, score, i.Pairs,
		i.Limit, printable(i.Hypothesis))
	if i.Verdict != "" {
		line += "\n    " + printable(i.Verdict)
	}
	return line
}

// onInquiry runs a command on the inquiry that its first argument names, or the latest; it writes its file if missing.
func (c *command) onInquiry(
	do func(ctx context.Context, a *app.App, r journal.Run, s inquiry.Session) error,
) runE {
	return c.onApp(func(ctx context.Context, a *app.App, args []string) error {
		r, err := a.Inquiry.Find(ctx, c.owner(), nameOr(args, ""))
		if err != nil {
			return err
		}
		s, unwritten, err := c.inquiryOf(ctx, a, r)
		if err != nil {
			return err
		}
		for _, line := range unwritten {
			fmt.Fprintln(c.Err, printable("· "+line))
		}
		return do(ctx, a, r, s)
	})
}

// inquiryOf reads an inquiry, and writes its file if missing; the second result says why that could not be written.
func (c *command) inquiryOf(ctx context.Context, a *app.App, r journal.Run) (s inquiry.Session, _ []string, err error) {
	s, err = a.Inquiry.Session(ctx, c.owner(), r)
	if unwritten := (*inquiry.UnwrittenError)(nil); errors.As(err, &unwritten) {
		return s, []string{err.Error()}, nil
	}
	return s, nil, err
}

// inquiryDocument runs a command on the inquiry that its first argument names, or the latest, as a document.
func (c *command) inquiryDocument(do func(ctx context.Context, d document) error) runE {
	return c.onInquiry(func(ctx context.Context, _ *app.App, _ journal.Run, s inquiry.Session) error {
		return do(ctx, document{value: s, markdown: string(record.Markdown(s.Session))})
	})
}

func (c *command) inquiryStop() *cobra.Command {
	return &cobra.Command{Use: "stop [ID]", Short: "Stop the running inquiry", Args: cobra.MaximumNArgs(1),
		RunE: c.onApp(func(ctx context.Context, a *app.App, args []string) error {
			r, err := a.Inquiry.Find(ctx, c.owner(), nameOr(args, ""))
			if err != nil {
				return err
			}
			if r.Status != journal.Running {
				return withCode(ExitUsage, fmt.Errorf("inquiry %s is not running", r.ID))
			}
			if err := a.Service.Cancel(ctx, c.owner(), r.ID, "stopped by the user"); err != nil {
				return err
			}
			return c.waitUntilStopped(ctx, a, r)
		})}
}

// stopPatience is how long ‘inquiry stop’ waits for an inquiry to end, also one that another process drives.
const stopPatience = 10 * time.Second

// waitUntilStopped waits until an inquiry has ended and writes its file; an error if stopPatience is not enough.
func (c *command) waitUntilStopped(ctx context.Context, a *app.App, r journal.Run) error {
	waiting, enough := context.WithTimeout(ctx, stopPatience)
	defer enough()
	for _, err := range a.Service.Watch(waiting, c.owner(), r.ID, service.Place{}) {
		if err != nil && waiting.Err() == nil {
			return err
		}
	}
	row, err := a.Service.Run(ctx, c.owner(), r.ID)
	if err != nil {
		return err
	}
	if row.Status == journal.Running {
		return withCode(ExitFailed, fmt.Errorf("inquiry %s was asked to stop but has not stopped yet", r.ID))
	}
	s, unwritten, err := c.inquiryOf(ctx, a, row.Run)
	if err == nil {
		for _, line := range unwritten {
			fmt.Fprintln(c.Err, printable("· "+line))
		}
		fmt.Fprintf(c.Err, "· stopped after %d of %d pairs\n", len(s.Pairs), s.IterationLimit)
	}
	return err
}

func (c *command) inquiryExport() *cobra.Command {
	cmd := c.exportCommand(&cobra.Command{Use: "export [ID]",
		Short: "Write an inquiry as Markdown, JSON, or an HTML page with its evidence"}, "md or json, or --html FILE",
		c.inquiryDocument)
	html := cmd.Flags().String("html", "", "write the evidence page to this file, which must not exist yet")
	return replaceIfFlag(cmd, "html", c.onInquiry(func(ctx context.Context, a *app.App, r journal.Run,
		s inquiry.Session) error {
		page, err := a.Inquiry.Evidence(ctx, r, s.Session)
		if err != nil {
			return err
		}
		if err := c.writeNew(*html, string(page)); err != nil {
			return withCode(ExitUsage, err)
		}
		place := printable(*html)
		if place == "-" {
			place = "what was printed"
		}
		fmt.Fprintf(c.Err, "· the evidence is in %s; keep its digest somewhere else: %s\n", place,
			record.Verify(page, nil).Digest)
		return nil
	}))
}
