package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"sibyl/internal/journal"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
)

// recordWords says in a few words what came in.
func recordWords(r journal.Record) string {
	switch r.Kind {
	case run.KindStart:
		return "the question"
	case run.KindCompletion:
		var c run.CompletionRecord
		if json.Unmarshal(r.Data, &c) != nil {
			return r.Kind
		}
		how := "done"
		if c.Err != nil {
			how = "failed: " + c.Err.Reason
		}
		return fmt.Sprintf("%s: %s", c.Label, how)
	case run.KindTime:
		return "a timer"
	}
	return r.Kind
}

// endText says how a run ended: why, after what, and on which sources.
func endText(r journal.Record) (string, error) {
	var end run.EndRecord
	if err := json.Unmarshal(r.Data, &end); err != nil {
		return "", fmt.Errorf("end of the run: %w", err)
	}
	b := &strings.Builder{}
	fmt.Fprintf(b, "ended %s", end.Status)
	if end.Fault != nil {
		fmt.Fprintf(b, ": %s", printable(end.Fault.Reason))
	}
	var a oracle.Answer
	if err := json.Unmarshal(end.Outcome, &a); err != nil {
		return "", fmt.Errorf("outcome of the run: %w", err)
	}
	fmt.Fprintf(b, "; %s after %s of %d, %s, %s", a.StopReason, counted(a.Turns, "turn"), a.MaxTurns, counted(len(a.ToolCalls), "tool call"), a.Model)
	if a.Budget != nil {
		fmt.Fprintf(b, "; the budget: %s", a.Budget)
	}
	for _, f := range a.Fallbacks {
		fmt.Fprintf(b, "\n  fallback in turn %d: %s, so %s (%s)", f.Turn, f.Cause, f.Verdict, f.By)
	}
	for _, s := range a.Sources {
		how := "read"
		if s.Cited {
			how = "cited"
		}
		fmt.Fprintf(b, "\n  %-5s %s", how, printable(s.Cite))
	}
	return b.String(), nil
}

// stepText draws what one step asked, in order, along the paths of the tree: a leaf with its word and what it wrote stands below the
// nodes that lead to it.
func stepText(s run.TraceStep) string {
	b := &strings.Builder{}
	var above []string
	wrote := map[string][]string{} // by path: a node writes before it is done
	for _, e := range s.Events {
		if e.Key != "" {
			wrote[e.Path] = append(wrote[e.Path], e.Key)
			continue
		}
		names := telling(strings.Split(printable(e.Path), "/"))
		leaf := len(names) - 1
		for depth, name := range names[:leaf] {
			if depth >= len(above) || above[depth] != name {
				fmt.Fprintf(b, "%s%s\n", indent(depth), name)
				above = above[:min(depth, len(above))]
				above = append(above, name)
			}
		}
		above = above[:min(leaf, len(above))]
		fmt.Fprintf(b, "%s%s %s", indent(leaf), statusMark(e.Status), names[leaf])
		if e.Note != "" {
			fmt.Fprintf(b, ": %s", printable(e.Note))
		}
		if keys := wrote[e.Path]; keys != nil {
			fmt.Fprintf(b, "  {%s}", strings.Join(keys, ", "))
			delete(wrote, e.Path)
		}
		b.WriteByte('\n')
	}
	for _, label := range s.Start {
		fmt.Fprintf(b, "  → asks for %s\n", printable(label))
	}
	if s.Status != "RUNNING" {
		fmt.Fprintf(b, "  the tree ends with %s\n", s.Status)
	}
	return b.String()
}

// telling leaves out nodes that nobody named: a bare Sequence says nothing.
func telling(path []string) []string {
	leaf := len(path) - 1
	kept := make([]string, 0, len(path))
	for i, name := range path {
		bare, _, _ := strings.Cut(name, "#")
		if i < leaf && (bare == "Sequence" || bare == "Fallback" || bare == "ForceSuccess") {
			continue
		}
		kept = append(kept, name)
	}
	return kept
}

func indent(depth int) string { return strings.Repeat("  ", depth+1) }
