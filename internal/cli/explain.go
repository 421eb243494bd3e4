package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"sibyl/internal/journal"
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

// explainStep lists the leaves in the order they were asked, each with its path, its word and what it wrote.
func explainStep(s run.TraceStep) string {
	b := &strings.Builder{}
	wrote := map[string][]string{} // by path: a node writes before it is done
	for _, e := range s.Events {
		if e.Key != "" {
			wrote[e.Path] = append(wrote[e.Path], "{"+e.Key+"}")
			continue
		}
		fmt.Fprintf(b, "  %s %s", statusMark(e.Status), printable(e.Path))
		if e.Note != "" {
			fmt.Fprintf(b, "\n      %s", printable(e.Note))
		}
		if keys := wrote[e.Path]; keys != nil {
			fmt.Fprintf(b, "\n      wrote %s", strings.Join(keys, ", "))
			delete(wrote, e.Path)
		}
		b.WriteByte('\n')
	}
	for _, label := range s.Start {
		fmt.Fprintf(b, "  → asks for: %s\n", printable(label))
	}
	if s.Status != "RUNNING" {
		fmt.Fprintf(b, "  the tree ends with %s\n", s.Status)
	}
	return b.String()
}
