package find

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WriteText writes the report for people.
func (r Report) WriteText(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	half := "the half that is tuned on"
	switch {
	case r.Whole:
		half = "the whole set"
	case r.Frozen:
		half = "the frozen half"
	}
	fmt.Fprintf(tw, "The place that answers, of %s: in the first passage, and in one of four.\n\n", half)
	for _, t := range r.All.Tallies {
		fmt.Fprintf(tw, "%s\t%s\t%s\n", t.Finder, t.First, t.Any)
	}
	for _, t := range r.All.Tallies {
		if t.Claims.Of > 0 {
			fmt.Fprintf(tw, "\nWhere %s says that it answers, one of four is right: %s\n", t.Finder, t.Claims)
		}
	}
	for _, part := range []struct {
		name   string
		groups []Group
	}{{"by corpus", r.Corpora}, {"by kind", r.Kinds}} {
		fmt.Fprintf(tw, "\n%s\tquestions", part.name)
		for _, t := range r.All.Tallies {
			fmt.Fprintf(tw, "\t%s", t.Finder)
		}
		fmt.Fprintln(tw)
		for _, g := range part.groups {
			fmt.Fprintf(tw, "%s\t%d", g.Name, g.Tallies[0].First.Of)
			for _, t := range g.Tallies {
				fmt.Fprintf(tw, "\t%d, %d", t.First.Hits, t.Any.Hits)
			}
			fmt.Fprintln(tw)
		}
	}
	for _, f := range r.Failures {
		also := ""
		if f.Any {
			also = " (shown, not first)"
		}
		if f.Claimed && !f.Any {
			also = " (claimed)"
		}
		fmt.Fprintf(tw, "\n%s%s: %s\n  wanted %s:%d %s, got %s\n", f.ID, also, f.Text, f.Places[0].Path, f.Places[0].Start, f.Places[0].Name, strings.Join(f.Got, "; "))
	}
	for _, m := range r.Missing {
		fmt.Fprintf(tw, "\nnot scored: %s is not on this machine\n", m)
	}
	return tw.Flush()
}
