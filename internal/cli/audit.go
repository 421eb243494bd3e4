package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/journal"
	"sibyl/internal/oracle"
)

func (c *command) sessionAudit() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "audit [SESSION]", Short: "Show all that the journal holds on how a session's answers came about", Args: cobra.MaximumNArgs(1),
		Long: "For each run, in order: every signal of the model with its raw XML and what became of it; every effect with its receipt; every\n" +
			"decision of the tree with its rule; timers, stops and crashes; how it ended and why.\n\n" +
			"With --json: {\"session\": {…}, \"runs\": [{\"signals\": […], \"effects\": […], \"decisions\": […], \"events\": […], \"end\": {…},\n" +
			"\"remarks\": […]}, …]}, or {\"removed\": {…}} for a session that was removed. Records are numbered from 0, turns from 1.",
		Example: "  sibyl session audit last\n  sibyl session audit 0dl4 --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withApp(cmd.Context(), func(a *app.App) error { return c.audit(cmd.Context(), a, nameOr(args, "last"), asJSON) })
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// auditedSession is the JSON of an audit.
type auditedSession struct {
	Session journal.Session   `json:"session"`
	Runs    []oracle.RunAudit `json:"runs"`
}

// removedSession is that of a session that is no more.
type removedSession struct {
	Removed journal.Tombstone `json:"removed"`
}

func (c *command) audit(ctx context.Context, a *app.App, wish string, asJSON bool) error {
	s, err := findSession(ctx, a.Store, wish)
	if err != nil {
		var removed *journal.RemovedError
		if asJSON && errors.As(err, &removed) {
			err = errors.Join(err, c.printJSON(removedSession{removed.Tombstone}))
		}
		return withCode(ExitUsage, err)
	}
	runs, err := a.Store.Runs(ctx, app.Owner, journal.Filter{Session: s.ID, Limit: max(s.Runs, 1)})
	if err != nil {
		return err
	}
	audits, states := []oracle.RunAudit{}, []string{}
	for i := len(runs) - 1; i >= 0; i-- {
		recs, err := a.Store.Records(ctx, app.Owner, runs[i].ID, 0)
		if err != nil {
			return err
		}
		audits = append(audits, oracle.Audit(runs[i], recs))
		states = append(states, state(a.Engine, runs[i]))
	}
	if asJSON {
		return c.printJSON(auditedSession{Session: s, Runs: audits})
	}
	fmt.Fprintf(c.Out, "session %s, %s: %s\n", s.ID, counted(len(audits), "run"), oneLine(s.Title))
	for i, run := range audits {
		writeAudit(c.Out, run, states[i])
	}
	return nil
}

// oneLine is text from elsewhere where it must not begin a line of its own.
func oneLine(text string) string { return strings.Join(strings.Fields(printable(text)), " ") }

// quoted is text from elsewhere, line by line behind a bar, so that none of it can be taken for a line of the audit.
func quoted(text string) string {
	return "        | " + strings.ReplaceAll(printable(text), "\n", "\n        | ") + "\n"
}

// ruleName is the path of a node without those that nobody named.
func ruleName(path string) string {
	return strings.Join(telling(strings.Split(oneLine(path), "/")), "/")
}

func writeAudit(w io.Writer, a oracle.RunAudit, state string) {
	fmt.Fprintf(w, "\nrun %s, %s: %s\n", a.Run, state, oneLine(a.Question))
	fmt.Fprintf(w, "  begun %s; %s; build %s; tree %s (%s)\n", a.StartedAt.Local().Format("2006-01-02 15:04:05"), counted(a.Records, "record"),
		orNone(a.Build), orNone(a.TreeFile), orNone(a.Tree))
	section(w, "signals", len(a.Signals))
	for _, s := range a.Signals {
		fmt.Fprint(w, signalText(s))
	}
	section(w, "effects", len(a.Effects))
	for _, e := range a.Effects {
		fmt.Fprint(w, effectText(e))
	}
	section(w, "decisions", len(a.Decisions))
	for i, d := range a.Decisions {
		if i == 0 || a.Decisions[i-1].Record != d.Record {
			fmt.Fprintf(w, "    on record %d, turn %d\n", d.Record, d.Turn)
		}
		fmt.Fprint(w, decisionText(d))
	}
	if len(a.Events) > 0 {
		section(w, "from outside", len(a.Events))
		for _, e := range a.Events {
			fmt.Fprint(w, eventText(e))
		}
	}
	fmt.Fprint(w, auditEndText(a.End, state))
	for _, r := range a.Remarks {
		fmt.Fprintf(w, "  remark: %s\n", oneLine(r))
	}
}

func section(w io.Writer, name string, n int) {
	if n == 0 {
		name += ": none"
	}
	fmt.Fprintf(w, "  %s\n", name)
}

func orNone(text string) string {
	if text == "" {
		return "not named"
	}
	return oneLine(text)
}

func signalText(s oracle.AuditedSignal) string {
	what, raw := "no valid signal", ""
	if s.Malformed != nil {
		raw = s.Malformed.Raw
	}
	if s.Signal != nil {
		what, raw = fmt.Sprintf("%s (%.2f)", oneLine(string(s.Signal.Type)), s.Signal.Confidence), s.Signal.RawXML
	}
	b := &strings.Builder{}
	fmt.Fprintf(b, "    turn %d, record %d: %s, %s: %s\n", s.Turn, s.Record, what, s.Fate, oneLine(s.Why))
	if s.Rule != "" {
		fmt.Fprintf(b, "      by %s\n", ruleName(s.Rule))
	}
	b.WriteString(quoted(raw))
	return b.String()
}

func effectText(e oracle.AuditedEffect) string {
	name := oneLine(e.Label)
	if name == "" {
		name = orNone(e.Kind)
	}
	b := &strings.Builder{}
	fmt.Fprintf(b, "    %d. %s: %s", e.Op, name, e.State)
	if e.Stopped {
		b.WriteString(", under way at the stop")
	}
	if e.Why != "" {
		fmt.Fprintf(b, ": %s", oneLine(e.Why))
	}
	fmt.Fprintf(b, "\n       %s\n", strings.Join(effectFacts(e), ", "))
	return b.String()
}

// effectFacts is what the records say of an effect beside how it stands.
func effectFacts(e oracle.AuditedEffect) []string {
	how := "repeatable"
	if e.Once {
		how = "once"
	}
	facts := []string{orNone(e.Kind), how, "by " + orNone(e.Leaf), fmt.Sprintf("turn %d", e.Turn)}
	add := func(is bool, format string, args ...any) {
		if is {
			facts = append(facts, fmt.Sprintf(format, args...))
		}
	}
	if e.Asked != nil {
		add(true, "asked for on record %d", *e.Asked)
	}
	if e.Mark != nil {
		add(true, "mark %d", *e.Mark)
	}
	if e.Receipt != nil {
		add(true, "receipt %d after %.1f s", *e.Receipt, float64(e.TookMS)/1000)
	}
	add(e.Digest != "", "digest %s", oneLine(e.Digest))
	add(e.Model != "", "%s", oneLine(e.Model))
	add(e.Attempts > 1, "%d attempts", e.Attempts)
	add(e.Repeated > 0, "performed again: %d", e.Repeated)
	return facts
}

func decisionText(d oracle.AuditedDecision) string {
	b := &strings.Builder{}
	mark := " "
	if d.Status != "" {
		mark = statusMark(d.Status)
	}
	fmt.Fprintf(b, "      %s %s", mark, ruleName(d.Rule))
	if d.Note != "" {
		fmt.Fprintf(b, ": %s", oneLine(d.Note))
	}
	var keys []string
	for _, w := range d.Wrote {
		keys = append(keys, oneLine(w.Key))
	}
	if keys != nil {
		fmt.Fprintf(b, "  {%s}", strings.Join(keys, ", "))
	}
	b.WriteByte('\n')
	return b.String()
}

func eventText(e oracle.AuditedEvent) string {
	at := fmt.Sprintf("    record %d, %s: ", e.Record, e.At.Local().Format("15:04:05"))
	switch e.Kind {
	case "time":
		return at + fmt.Sprintf("a timer, at %.1f s of the run\n", float64(e.RunMS)/1000)
	case "cancel":
		return at + "a wish to stop: " + oneLine(e.Reason) + "\n"
	case "resume":
		again := "nothing was performed again"
		if len(e.Repeated) > 0 {
			again = "performed again: " + strings.Trim(fmt.Sprint(e.Repeated), "[]")
		}
		return at + fmt.Sprintf("taken over by %s (build %s); %s\n", orNone(e.Holder), orNone(e.Build), again)
	}
	return at + oneLine(e.Kind) + "\n"
}

func auditEndText(e *oracle.AuditedEnd, state string) string {
	if e == nil {
		return fmt.Sprintf("  end: none, it is %s\n", state)
	}
	b := &strings.Builder{}
	fmt.Fprintf(b, "  end: %s, %s after %d of %s on record %d, %s", e.Status, orNone(e.StopReason), e.Turns, counted(e.MaxTurns, "turn"), e.Record, orNone(e.Model))
	if e.Fault != nil {
		fmt.Fprintf(b, ": %s", oneLine(e.Fault.Error()))
	}
	if e.Caveat != "" {
		fmt.Fprintf(b, "; %s", oneLine(e.Caveat))
	}
	for _, gap := range e.Gaps {
		fmt.Fprintf(b, "; not there: %s", oneLine(gap))
	}
	b.WriteByte('\n')
	return b.String()
}
