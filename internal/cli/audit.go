package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/run/audit"
	"sibyl/internal/service"
	"sibyl/internal/text"
)

func (c *command) sessionAudit() *cobra.Command {
	return c.withJSON(&cobra.Command{Use: "audit [SESSION]",
		Short: "Show everything the journal recorded about a session's answers", Args: cobra.MaximumNArgs(1),
		RunE: c.onApp(func(ctx context.Context, a *app.App, args []string) error {
			return c.audit(ctx, a, nameOr(args, "last"))
		})}, "one JSON object")
}

func (c *command) audit(ctx context.Context, a *app.App, name string) error {
	s, err := a.Service.FindSession(ctx, c.owner(), "", name)
	if err != nil {
		var removed *journal.RemovedError
		if c.asJSON && errors.As(err, &removed) {
			err = errors.Join(err, c.printJSON(map[string]journal.Tombstone{"removed": removed.Tombstone}))
		}
		return err
	}
	found, err := a.Service.Audit(ctx, c.owner(), s.ID)
	if err != nil {
		return err
	}
	if c.asJSON {
		return c.printJSON(found)
	}
	fmt.Fprintf(c.Out, "session %s, %s: %s\n", s.ID, text.Count(len(found.Runs), "run"), oneLine(s.Title))
	for _, r := range found.Runs {
		writeAudit(c.Out, r)
	}
	return nil
}

// oneLine makes text from elsewhere printable and joins its words with single spaces, so that it stays on one line.
func oneLine(text string) string { return strings.Join(strings.Fields(printable(text)), " ") }

// quoted puts a bar before each line of text from elsewhere, so that none can pass for a line of the audit.
func quoted(text string) string {
	return "        | " + strings.ReplaceAll(printable(text), "\n", "\n        | ") + "\n"
}

func writeAudit(w io.Writer, a service.RunAudit) {
	fmt.Fprintf(w, "\nrun %s, %s: %s\n", a.Run.Run, standingWords(a.Standing), oneLine(a.Title))
	fmt.Fprintf(w, "  begun %s; %s; build %s; tree %s (%s)\n", a.StartedAt.Local().Format("2006-01-02 15:04:05"),
		text.Count(a.Records, "record"), orNone(a.Build), orNone(a.TreeFile), orNone(a.Tree))
	if f := a.Findings; f.Name != "" {
		section(w, f.Name, len(f.Text))
		for _, text := range f.Text {
			fmt.Fprintf(w, "    %s\n", oneLine(text.Line))
			if text.By != "" {
				fmt.Fprintf(w, "      by %s\n", oneLine(text.By))
			}
			if text.Quoted != "" {
				fmt.Fprint(w, quoted(text.Quoted))
			}
		}
	}
	section(w, "sent to models or off this machine", len(a.Left))
	for _, l := range a.Left {
		fmt.Fprintf(w, "    %s\n", oneLine(l.String()))
	}
	section(w, "effects", len(a.Effects))
	for _, e := range a.Effects {
		fmt.Fprint(w, effectText(e))
	}
	section(w, "decisions", len(a.Decisions))
	for i, d := range a.Decisions {
		if i == 0 || a.Decisions[i-1].Record != d.Record {
			fmt.Fprintf(w, "    on record %d\n", d.Record)
		}
		fmt.Fprint(w, decisionText(d))
	}
	if len(a.Inputs) > 0 {
		section(w, "from outside", len(a.Inputs))
		for _, e := range a.Inputs {
			fmt.Fprint(w, inputText(e))
		}
	}
	fmt.Fprint(w, auditEndText(a.End, stateWord(a.Standing.State)))
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

func orNone(text string) string { return cmp.Or(oneLine(text), "not named") }

func effectText(e audit.Effect) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "    %d. %s: %s", e.Op, cmp.Or(oneLine(e.Label), orNone(e.Kind)), e.State)
	if e.Stopped {
		b.WriteString(", still running at the stop")
	}
	if e.Why != "" {
		fmt.Fprintf(b, ": %s", oneLine(e.Why))
	}
	fmt.Fprintf(b, "\n       %s\n", strings.Join(effectFacts(e), ", "))
	return b.String()
}

// effectFacts lists what the journal has about an effect other than its state: leaf, record numbers, digest, details.
func effectFacts(e audit.Effect) []string {
	how := "repeatable"
	if e.Once {
		how = "once"
	}
	facts := []string{orNone(e.Kind), how, "by " + orNone(e.Leaf)}
	add := func(is bool, format string, args ...any) {
		if is {
			facts = append(facts, fmt.Sprintf(format, args...))
		}
	}
	if e.Asking != nil {
		add(true, "requested in record %d", *e.Asking)
	}
	if e.Mark != nil {
		add(true, "mark %d", *e.Mark)
	}
	if e.Receipt != nil {
		add(true, "receipt %d after %.1f s", *e.Receipt, float64(e.TookMS)/1000)
	}
	add(e.Digest != "", "digest %s", oneLine(e.Digest))
	if words, ok := e.Detail.(fmt.Stringer); ok {
		add(words.String() != "", "%s", oneLine(words.String()))
	}
	add(e.Repeated > 0, "repeated: %d", e.Repeated)
	return facts
}

func decisionText(d audit.Decision) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "      %s %s", eventMark(d.Status), oneLine(d.Rule))
	event := run.TraceEvent{Type: d.Type, Data: d.Data, Reason: d.Reason}
	if told := event.String(); told != "" {
		fmt.Fprintf(b, ": %s", oneLine(told))
	}
	for _, w := range d.Wrote {
		fmt.Fprintf(b, "  {%s = %s}", oneLine(w.Key), oneLine(w.Value))
	}
	b.WriteByte('\n')
	return b.String()
}

func inputText(e audit.Input) string {
	at := fmt.Sprintf("    record %d, %s: ", e.Record, e.At.Local().Format("15:04:05"))
	switch e.Kind {
	case "time":
		return at + fmt.Sprintf("a timer, at %.1f s of the run\n", float64(e.RunMS)/1000)
	case "cancel":
		return at + "asked to stop: " + oneLine(e.Reason) + "\n"
	case "resume":
		again := "nothing was repeated"
		if len(e.Repeated) > 0 {
			again = "performed again: " + strings.Trim(fmt.Sprint(e.Repeated), "[]")
		}
		return at + fmt.Sprintf("taken over by %s (build %s); %s\n", orNone(e.Holder), orNone(e.Build), again)
	}
	return at + oneLine(e.Kind) + "\n"
}

func auditEndText(e *audit.End, state string) string {
	if e == nil {
		return fmt.Sprintf("  end: none, it is %s\n", state)
	}
	text := fmt.Sprintf("  end: %s, %s, on record %d after %.1f s", e.Status, orNone(e.Reason), e.Record,
		float64(e.RunMS)/1000)
	if e.Fault != nil {
		text += ": " + oneLine(e.Fault.Error())
	}
	return text + "\n"
}
