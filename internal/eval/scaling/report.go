package scaling

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// WriteText writes the report for people.
func (r Report) WriteText(w io.Writer) error {
	l, c := r.Load, r.Cluster
	var b strings.Builder
	fmt.Fprintf(&b, "%s users, %s runs a day each, %s times as many in the busiest hour: %s runs a second\n", number(float64(l.Users)), number(l.RunsADay), number(l.Peak),
		number(r.Arriving))
	fmt.Fprintf(&b, "%d × %d runs at once, on %d × %d cores; %s with %d\n", c.Nodes, c.MostRuns, c.Nodes, c.Cores, name(c.Database), c.DatabaseCores)
	fmt.Fprintf(&b, "%s driven at once; %s commits and %s leases a second; %s GB after %s days\n\n",
		number(r.Driven), number(r.Commits), number(r.Leases), number(r.Stored), number(l.Retention.Hours()/24))
	for _, u := range r.Uses {
		full := ""
		if u.FullAt > 0 {
			full = "  full at about " + number(float64(u.FullAt)) + " users"
		}
		fmt.Fprintf(&b, "%-28s %5.1f %%%s\n", u.What, 100*u.Used, full)
	}
	s := r.Shares
	fmt.Fprintf(&b, "\nthe processors of the database: %.1f %% writes, %.1f %% leases, %.1f %% looks for runs, %.1f %% telling nodes\n",
		100*s.Writes, 100*s.Leases, 100*s.Looks, 100*s.Tellings)
	fmt.Fprintf(&b, "\n%-28s %9s %9s\n", "a run waits for", "mean", "p99")
	for _, v := range r.Waits {
		fmt.Fprintf(&b, "%-28s %9s %9s\n", v.For, milliseconds(v.Mean), milliseconds(v.P99))
	}
	end := "first limit: " + r.Uses[0].What
	if r.Uses[0].Used >= 1 {
		end = "too much: more is asked of the " + r.Uses[0].What + " than there is"
	}
	fmt.Fprintf(&b, "\n%s\n", end)
	_, err := io.WriteString(w, b.String())
	return err
}

func name(database string) string {
	if database == Postgres {
		return "PostgreSQL"
	}
	return "SQLite"
}

func milliseconds(ms float64) string {
	if ms >= 1000 {
		return number(ms/1000) + " s"
	}
	return number(ms) + " ms"
}

// number is a number to two digits, or all of them where it is short.
func number(x float64) string {
	if x >= 100 {
		unit := math.Pow(10, math.Floor(math.Log10(x))-1)
		if x < 1000 {
			unit = 1
		}
		return strconv.FormatFloat(math.Round(x/unit)*unit, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 2, 64)
}
