package loops

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// WriteText writes the report as a table for people.
func (r Report) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "Played models that repeat themselves and heed no hint: %d seeds a shape, %d turns at most.\n", r.Seeds, r.Turns)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, honest := range []bool{false, true} {
		if honest {
			fmt.Fprint(t, "\nhonest repetition: runs ended too early (nudged)\t\t\n")
		} else {
			fmt.Fprint(t, "\nloop: turns wasted, mean (most)\t\t\n")
		}
		for i, row := range r.Rows {
			if row.Honest != honest {
				continue
			}
			if i == 0 || r.Rows[i-1].Honest != honest {
				for _, s := range row.Scores {
					fmt.Fprintf(t, "\t%s", s.Contestant)
				}
				fmt.Fprintln(t)
			}
			fmt.Fprintf(t, "  %s", row.Shape)
			for _, s := range row.Scores {
				if honest {
					fmt.Fprintf(t, "\t%d of %d (%d)", s.FalseStops, r.Seeds, s.Nudged)
				} else {
					fmt.Fprintf(t, "\t%.1f (%d)", s.Wasted, s.MostWasted)
				}
			}
			fmt.Fprintln(t)
		}
	}
	return t.Flush()
}
