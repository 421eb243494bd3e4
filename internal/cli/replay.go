package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
)

// ExitDiffers says that a replay decides otherwise than its run, as diff does.
const ExitDiffers = 3

// replayFlags are the flags of ‘sibyl replay’.
type replayFlags struct {
	tree, prompts     string
	pastFirst, asJSON bool
}

func (c *command) replayCommand() *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use: "replay [RUN]", Short: "Take a recorded run through its own tree or a changed one, and show the first decision that differs", Args: cobra.MaximumNArgs(1),
		Long: "Takes what came into a run (default: the last) through a tree again. Nothing is performed: no model is asked, no tool\n" +
			"is called and nothing is written. What the tree asks for is answered from the run's records, so a replay costs nothing\n" +
			"and tells what a change of the tree or of a prompt would have done.\n\n" +
			"--prompts lays the files of a folder (oracle/base.md and its siblings) over the prompts that the run began with. What a\n" +
			"model would answer to another prompt or request is not known: with --past-first, its recorded answer is taken.\n\n" +
			"Exit codes: 0 all is decided as recorded, 3 something differs, 2 bad input, 5 journal trouble.",
		Example: "  sibyl replay last\n  sibyl tree show --xml > mine.xml; edit mine.xml; sibyl replay last --tree mine.xml\n  sibyl replay 0dl4 --prompts ~/my-prompts --past-first",
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withApp(cmd.Context(), func(a *app.App) error { return c.replay(cmd.Context(), a, f, nameOr(args, "last")) })
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.tree, "tree", "", "file of the tree that decides (default: the run's own)")
	fl.StringVar(&f.prompts, "prompts", "", "folder of prompts that stand in place of the run's own")
	fl.BoolVar(&f.pastFirst, "past-first", false, "go on behind the first difference, as far as the records have answers")
	fl.BoolVar(&f.asJSON, "json", false, "print one JSON object")
	return cmd
}

func (c *command) replay(ctx context.Context, a *app.App, f replayFlags, wish string) error {
	r, err := findRun(ctx, a.Store, wish)
	if err != nil {
		return withCode(ExitUsage, err)
	}
	o, err := f.options()
	if err != nil {
		return withCode(ExitUsage, err)
	}
	found, err := a.Engine.Replay(ctx, app.Owner, r.ID, o)
	var broken *bt.LoadError
	if errors.As(err, &broken) || errors.Is(err, run.ErrUnfit) {
		return withCode(ExitUsage, err)
	}
	if err != nil {
		return err
	}
	recs, err := a.Store.Records(ctx, app.Owner, r.ID, 0)
	if err != nil {
		return err
	}
	if len(found.Differences) > 0 {
		c.code = ExitDiffers
	}
	told := replayTold{Replayed: *found, Same: len(found.Differences) == 0, Differences: []differenceTold{}}
	for _, d := range found.Differences {
		told.Differences = append(told.Differences, differenceTold{d, oracle.TurnsTaken(recs, d.Record)})
	}
	if f.asJSON {
		return c.printJSON(told)
	}
	_, err = fmt.Fprint(c.Out, told.text(r, f))
	return err
}

// options reads what is to be different.
func (f replayFlags) options() (run.ReplayOptions, error) {
	o := run.ReplayOptions{TreeFile: f.tree, PastFirst: f.pastFirst}
	if f.tree != "" {
		text, err := os.ReadFile(f.tree)
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
	changed := oracle.ChangedPrompts(os.DirFS(f.prompts))
	o.Texts = func(ctx context.Context, v *run.View) ([]run.Text, error) {
		texts, err := changed(ctx, v)
		return texts, withCode(ExitUsage, err)
	}
	return o, nil
}

// replayTold is the JSON form of a replay.
type replayTold struct {
	run.Replayed
	Same        bool             `json:"same"`
	Differences []differenceTold `json:"differences"`
}

// differenceTold is a difference, and after how many turns of the model it is.
type differenceTold struct {
	run.Difference
	TurnsTaken int `json:"turns_taken"`
}

// text tells a replay to people.
func (t replayTold) text(r journal.Run, f replayFlags) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "run %s: %s\n", r.ID, oneLine(r.Title))
	if t.Same {
		fmt.Fprintf(b, "%s, all as recorded: %s\n", counted(t.Effects, "effect"), t.verdict(f))
		if d := t.Detour; d != nil {
			fmt.Fprintf(b, "It goes another way there from %s on:\n%s", stepWords(d.Moment), wayText(d.Way))
		}
	}
	for i, d := range t.Differences {
		which := "another"
		if i == 0 {
			which = "first"
		}
		fmt.Fprintf(b, "\n%s difference %s, %s:\n%s", which, turnWords(d), stepWords(d.Moment), d.text())
		if i == 0 && t.Detour != nil && t.Detour.Record < d.Record {
			fmt.Fprintf(b, "The ways part before that, in %s:\n%s", stepWords(t.Detour.Moment), wayText(t.Detour.Way))
		}
	}
	switch {
	case t.Reached == run.ReachedDifference:
		fmt.Fprintf(b, "\n‘--past-first’ goes on behind it.\n")
	case t.Why != "":
		fmt.Fprintf(b, "\nThe replay ends there: %s.\n", oneLine(t.Why))
	}
	return b.String()
}

// verdict says what it means that nothing differs.
func (t replayTold) verdict(f replayFlags) string {
	what := "this tree would have decided the same"
	if t.OwnTree {
		what = "its own tree decides the same"
	}
	if f.prompts != "" {
		what += ", and these prompts would have sent the same"
	}
	return what + "."
}

// turnWords places a difference among the turns of the model.
func turnWords(d differenceTold) string {
	switch {
	case d.Kind == run.OtherOutcome:
		return "in the outcome"
	case d.TurnsTaken == 0:
		return "before the first turn"
	}
	return fmt.Sprintf("after turn %d", d.TurnsTaken)
}

// stepWords places a step where ‘sibyl explain’ shows it.
func stepWords(m run.Moment) string {
	switch {
	case m.Timer > 0:
		return fmt.Sprintf("at a timer after %d ms, behind record %d", m.Timer, m.Record)
	case m.Step > 0:
		return fmt.Sprintf("step %d (record %d)", m.Step, m.Record)
	}
	return fmt.Sprintf("record %d", m.Record)
}

// text tells one difference.
func (d differenceTold) text() string {
	b := &strings.Builder{}
	switch d.Kind {
	case run.OtherDecision:
		b.WriteString("other decision\n")
	case run.OtherRequest:
		b.WriteString("same decision, other request\n")
	case run.OtherSending:
		b.WriteString("same request, other prompt\n")
	case run.OtherOutcome:
		b.WriteString("same decisions, other outcome\n")
	}
	for _, c := range d.Requests {
		fmt.Fprintf(b, "  asks otherwise for %s:\n%s", askedText(c.Would), changesText(c.Changes))
		if len(c.Changes) == 0 {
			b.WriteString("    in something that is not shown: a secret, or the order of fields\n")
		}
	}
	for what, list := range d.lists() {
		for _, a := range list {
			fmt.Fprintf(b, "  %s %s\n", what, askedText(a))
		}
	}
	if e := d.Ending; e != nil {
		fmt.Fprintf(b, "  %s\n", endingText(e))
	}
	for _, s := range d.Sent {
		b.WriteString(sentText(s))
	}
	b.WriteString(changesText(d.Outcome))
	if d.Way != nil && d.Kind != run.OtherSending {
		b.WriteString(wayText(*d.Way))
	}
	return b.String()
}

// lists gives what only one of the two did, in words.
func (d differenceTold) lists() func(yield func(string, []run.Asked) bool) {
	return func(yield func(string, []run.Asked) bool) {
		_ = yield("does not ask for", d.Missing) && yield("asks for", d.Extra) && yield("does not withdraw", d.Kept) &&
			yield("withdraws", d.Withdrawn)
	}
}

func askedText(a run.Asked) string {
	s := oneLine(a.Name())
	if a.Leaf != "" {
		s += " (" + a.Leaf + ")"
	}
	return s
}

func endingText(e *run.ChangedEnding) string {
	const running = "RUNNING"
	s := fmt.Sprintf("ends with %s instead of %s", e.Would, e.Was)
	switch running {
	case e.Was:
		s = "ends with " + e.Would + " where the run went on"
	case e.Would:
		s = "goes on where the run ended with " + e.Was
	}
	if e.Reason != nil {
		s += ": " + oneLine(e.Reason.Reason)
	}
	return s
}

func changesText(changes []run.Change) string {
	const most = 12
	b := &strings.Builder{}
	for i, c := range changes {
		if i == most {
			fmt.Fprintf(b, "    … and %d more; --json shows all\n", len(changes)-most)
			break
		}
		fmt.Fprintf(b, "    %s\n      was   %s\n      would %s\n", oneLine(c.Path), valueText(c.Was), valueText(c.Would))
	}
	return b.String()
}

func valueText(v string) string {
	if v == "" {
		return "(not there)"
	}
	return oneLine(v)
}

func sentText(s run.ChangedSending) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "  %s", askedText(s.Request))
	if s.Why != "" {
		fmt.Fprintf(b, ": its prompt can't be composed: %s\n", oneLine(s.Why))
		return b.String()
	}
	fmt.Fprintf(b, ": its prompt has %d tokens → %d\n", s.Was.Tokens, s.Would.Tokens)
	for _, p := range s.Parts {
		switch {
		case p.Was == 0 && p.Would == 0:
			fmt.Fprintf(b, "    segment %s is left out\n", p.Name)
		case p.Was == 0:
			fmt.Fprintf(b, "    segment %s is added: %d tokens\n", p.Name, p.Would)
		case p.Would == 0:
			fmt.Fprintf(b, "    segment %s is left out: %d tokens\n", p.Name, p.Was)
		default:
			fmt.Fprintf(b, "    segment %s: %d tokens → %d\n", p.Name, p.Was, p.Would)
		}
	}
	if s.Build {
		b.WriteString("    this build composes another prompt of the run's own texts, too\n")
	}
	return b.String()
}

// wayText shows how two steps came to their decisions, from where they part, without what both did.
func wayText(w run.Way) string {
	const most = 16
	lines := onlyOne(w.Was[w.Same:], w.Would[w.Same:])
	if len(lines) == 0 {
		return "  the way there is the same\n"
	}
	b := &strings.Builder{}
	fmt.Fprintf(b, "  the ways part after %s (- as recorded, + in the replay):\n", counted(w.Same, "equal event"))
	for i, line := range lines {
		if i == most {
			fmt.Fprintf(b, "  … and %d more; --json shows all\n", len(lines)-most)
			break
		}
		fmt.Fprintf(b, "  %s\n", line)
	}
	return b.String()
}

// onlyOne lists the events that stand in one list only, in order: those outside of the longest list that both hold.
func onlyOne(was, would []run.TraceEvent) []string {
	longest := make([][]int, len(was)+1) // of the lists from i and j on
	for i := range longest {
		longest[i] = make([]int, len(would)+1)
	}
	for i := len(was) - 1; i >= 0; i-- {
		for j := len(would) - 1; j >= 0; j-- {
			longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			if was[i] == would[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			}
		}
	}
	var lines []string
	for i, j := 0, 0; i < len(was) || j < len(would); {
		switch {
		case i < len(was) && j < len(would) && was[i] == would[j]:
			i, j = i+1, j+1
		case j == len(would) || i < len(was) && longest[i+1][j] >= longest[i][j+1]:
			lines = append(lines, "- "+wayEvent(was[i]))
			i++
		default:
			lines = append(lines, "+ "+wayEvent(would[j]))
			j++
		}
	}
	return lines
}

func wayEvent(e run.TraceEvent) string {
	node := ruleName(e.Path)
	if e.Key != "" {
		return fmt.Sprintf("%s writes {%s} = %s", node, e.Key, oneLine(e.Value))
	}
	s := statusMark(e.Status) + " " + node
	if e.Note != "" {
		s += ": " + oneLine(e.Note)
	}
	return s
}
