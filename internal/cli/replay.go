package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/bt"
	"sibyl/internal/files"
	"sibyl/internal/journal"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
	"sibyl/internal/run/replay"
	"sibyl/internal/service"
	"sibyl/internal/text"
)

// ExitDiffers is the exit code of a replay that differs from its run.
const ExitDiffers = 3

// replayFlags are the flags of ‘sibyl replay’.
type replayFlags struct {
	tree, prompts string
	pastFirst     bool
	assistant     string
	limit         int
}

func (c *command) replayCommand() *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use: "replay [RUN]", Short: "Run a recorded run through its own tree or a changed one, and show the first " +
			"decision that differs", Args: cobra.MaximumNArgs(1),
	}
	cmd.RunE = c.onRun(func(ctx context.Context, a *app.App, r journal.Run) error { return c.replay(ctx, a, f, r) })
	replaceIfFlag(cmd, "all", c.onApp(func(ctx context.Context, a *app.App, args []string) error {
		return c.replayAll(ctx, a, f, args)
	}))
	fl := cmd.Flags()
	fl.StringVar(&f.tree, "tree", "", "tree file to use (default: the run's own)")
	fl.StringVar(&f.prompts, "prompts", "", "folder of prompts to use instead of the run's own")
	fl.BoolVar(&f.pastFirst, "past-first", false,
		"continue past the first difference, while the decisions are the same")
	fl.Bool("all", false, "all past runs of an assistant instead of one")
	fl.StringVar(&f.assistant, "assistant", oracle.Name, "with --all: the assistant whose runs")
	fl.IntVarP(&f.limit, "limit", "n", 1000, "with --all: how many of the latest runs at most")
	cmd.MarkFlagsMutuallyExclusive("all", "prompts")
	cmd.MarkFlagsMutuallyExclusive("all", "past-first")
	return c.withJSON(cmd, "one JSON object")
}

func (c *command) replay(ctx context.Context, a *app.App, f replayFlags, r journal.Run) error {
	o, err := f.options(ctx, a.Service, c.owner(), r.ID)
	if err != nil {
		return withCode(ExitUsage, err)
	}
	found, err := a.Service.Replay(ctx, c.owner(), r.ID, o)
	var broken *bt.LoadError
	if errors.As(err, &broken) || errors.Is(err, run.ErrUnfit) {
		return withCode(ExitUsage, err)
	}
	if err != nil {
		return err
	}
	if len(found.Differences) > 0 {
		c.code = ExitDiffers
	}
	told := replayed{Result: *found, Same: len(found.Differences) == 0}
	return c.printResult(told, told.text(r, f))
}

// options reads the tree and the folder of prompts that replace the run's own.
func (f replayFlags) options(
	ctx context.Context, s *service.Service, owner journal.Owner, id string,
) (replay.Options, error) {
	o := replay.Options{TreeFile: f.tree, PastFirst: f.pastFirst}
	if f.tree != "" {
		text, err := files.ReadNamed(f.tree, mostTree)
		if err != nil {
			return o, fmt.Errorf("the tree: %w", err)
		}
		o.Tree = text
	}
	if f.prompts == "" {
		return o, nil
	}
	if _, err := os.ReadDir(f.prompts); err != nil {
		return o, fmt.Errorf("the folder of prompts: %w", err)
	}
	changed, err := s.ReplayTexts(ctx, owner, id, f.prompts)
	if err != nil {
		return o, err
	}
	o.Texts = func(ctx context.Context, v *run.View) ([]run.Text, error) {
		texts, err := changed(ctx, v)
		return texts, withCode(ExitUsage, err)
	}
	return o, nil
}

// replayed is the JSON form of a replay.
type replayed struct {
	replay.Result
	Same bool `json:"same"`
}

// text describes a replay for people.
func (t replayed) text(r journal.Run, f replayFlags) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "run %s: %s\n", r.ID, oneLine(r.Title))
	if t.Same {
		fmt.Fprintf(b, "%s, all as recorded: %s\n", text.Count(t.Effects, "effect"), t.verdict(f))
		if o := t.OtherTrace; o != nil {
			fmt.Fprintf(b, "It gets there differently from %s on:\n%s", stepWords(o.Moment), traceText(o.Trace))
		}
	}
	for i, d := range t.Differences {
		which := "another"
		if i == 0 {
			which = "first"
		}
		where := stepWords(d.Moment)
		if d.Kind == replay.OtherOutcome {
			where = "in the outcome"
		}
		fmt.Fprintf(b, "\n%s difference, %s:\n%s", which, where, differenceText(d))
		if o := t.OtherTrace; i == 0 && o != nil && o.Record < d.Record {
			fmt.Fprintf(b, "The traces differ before that, in %s:\n%s", stepWords(o.Moment), traceText(o.Trace))
		}
	}
	switch {
	case t.Reached == replay.ReachedDifference:
		fmt.Fprintf(b, "\n‘--past-first’ continues past it.\n")
	case t.Why != "":
		fmt.Fprintf(b, "\nThe replay ends there: %s.\n", oneLine(t.Why))
	}
	return b.String()
}

// verdict says what a replay without differences shows about its tree and prompts.
func (t replayed) verdict(f replayFlags) string {
	what := "this tree would have made the same decisions"
	if t.OwnTree {
		what = "its own tree makes the same decisions"
	}
	if f.prompts != "" {
		what += ", and these prompts would have sent the same"
	}
	return what + "."
}

// stepWords names a step by its number and record, as ‘sibyl explain’ does, or by its timer.
func stepWords(m replay.Moment) string {
	switch {
	case m.Timer > 0:
		return fmt.Sprintf("at a timer after %d ms, after record %d", m.Timer, m.Record)
	case m.Step > 0:
		return fmt.Sprintf("step %d (record %d)", m.Step, m.Record)
	}
	return fmt.Sprintf("record %d", m.Record)
}

// differences gives the kinds of difference in words.
var differences = map[replay.DifferenceKind]string{replay.OtherDecision: "other decision",
	replay.OtherRequest: "same decision, different request",
	replay.OtherSending: "same request, different content sent",
	replay.OtherOutcome: "same decisions, different outcome"}

// differenceText describes one difference, with the traces of both steps.
func differenceText(d replay.Difference) string {
	b := &strings.Builder{}
	b.WriteString(differences[d.Kind] + "\n")
	for _, c := range d.Requests {
		fmt.Fprintf(b, "  asks differently for %s:\n%s", askedText(c.Would), changesText(c.Changes))
		if len(c.Changes) == 0 {
			b.WriteString("    in something not shown: a secret, or the order of fields\n")
		}
	}
	for _, list := range []struct {
		what  string
		asked []replay.Asked
	}{{"does not ask for", d.Missing}, {"asks for", d.Extra}, {"does not withdraw", d.Kept},
		{"withdraws", d.Withdrawn}} {
		for _, a := range list.asked {
			fmt.Fprintf(b, "  %s %s\n", list.what, askedText(a))
		}
	}
	if e := d.Ending; e != nil {
		fmt.Fprintf(b, "  %s\n", endingText(e))
	}
	for _, s := range d.Sent {
		b.WriteString(sentText(s))
	}
	b.WriteString(changesText(d.Outcome))
	if d.Trace != nil && d.Kind != replay.OtherSending {
		b.WriteString(traceText(*d.Trace))
	}
	return b.String()
}

func askedText(a replay.Asked) string {
	s := oneLine(a.Name())
	if a.Leaf != "" {
		s += " (" + a.Leaf + ")"
	}
	return s
}

func endingText(e *replay.ChangedEnding) string {
	s := fmt.Sprintf("ends with %s instead of %s", e.Would, e.Was)
	switch "RUNNING" {
	case e.Was:
		s = "ends with " + e.Would + " where the run continued"
	case e.Would:
		s = "continues where the run ended with " + e.Was
	}
	if e.Reason != nil {
		s += ": " + oneLine(e.Reason.Reason)
	}
	return s
}

func changesText(changes []replay.Change) string {
	texts := make([]string, len(changes))
	for i, c := range changes {
		texts[i] = fmt.Sprintf("%s\n      was   %s\n      would %s",
			oneLine(c.Path), valueText(c.Was), valueText(c.Would))
	}
	return firstOf(texts, 12, "    ")
}

// firstOf gives the first texts, each indented and with a line end, and says how many are left out.
func firstOf(texts []string, most int, indent string) string {
	b := &strings.Builder{}
	for _, text := range texts[:min(most, len(texts))] {
		b.WriteString(indent + text + "\n")
	}
	if left := len(texts) - most; left > 0 {
		fmt.Fprintf(b, "%s… and %d more; --json shows all\n", indent, left)
	}
	return b.String()
}

func valueText(v string) string {
	if v == "" {
		return "(not there)"
	}
	return oneLine(v)
}

func sentText(s replay.ChangedSending) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "  %s", askedText(s.Request))
	if s.Why != "" {
		fmt.Fprintf(b, ": its prompt can't be composed: %s\n", oneLine(s.Why))
		return b.String()
	}
	if s.Was.Hash != s.Would.Hash {
		fmt.Fprintf(b, ": its prompt has %d tokens → %d\n", s.Was.Tokens, s.Would.Tokens)
	} else {
		b.WriteString(": its prompt is the same\n")
	}
	for _, p := range s.Parts {
		what := strings.TrimSpace(p.Kind + " " + oneLine(p.Name))
		switch {
		case p.Change == replay.PartAdded:
			fmt.Fprintf(b, "    %s is added%s\n", what, tokenWords(p.Would))
		case p.Change == replay.PartRemoved:
			fmt.Fprintf(b, "    %s is left out%s\n", what, tokenWords(p.Was))
		case p.Was != p.Would:
			fmt.Fprintf(b, "    %s: %d tokens → %d\n", what, p.Was, p.Would)
		default:
			fmt.Fprintf(b, "    %s is changed\n", what)
		}
	}
	if s.Build {
		b.WriteString("    this build also composes a different prompt from the run's own texts\n")
	}
	return b.String()
}

func tokenWords(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(": %d tokens", n)
}

// traceText is the diff of the traces of two steps, without their equal events and cut after 16 lines.
func traceText(t replay.TraceDiff) string {
	was, would := eventTexts(t.Was[t.Same:]), eventTexts(t.Would[t.Same:])
	diff, err := udiff.ToUnified("", "", was, udiff.Lines(was, would), 0)
	if err != nil || diff == "" {
		return "  their traces are the same\n"
	}
	var lines []string
	for _, line := range strings.Split(strings.TrimSuffix(diff, "\n"), "\n")[2:] { // after the header
		if !strings.HasPrefix(line, "@@") {
			lines = append(lines, line[:1]+" "+line[1:])
		}
	}
	return fmt.Sprintf("  the traces differ after %s (- as recorded, + in the replay):\n",
		text.Count(t.Same, "equal event")) + firstOf(lines, 16, "  ")
}

// eventTexts gives events as text, a line each.
func eventTexts(all []run.TraceEvent) string {
	var b strings.Builder
	for _, e := range all {
		b.WriteString(eventText(e) + "\n")
	}
	return b.String()
}

func eventText(e run.TraceEvent) string {
	s := eventMark(e.Status) + " " + oneLine(e.Rule)
	if text := e.String(); text != "" {
		s += ": " + oneLine(text)
	}
	return s
}
