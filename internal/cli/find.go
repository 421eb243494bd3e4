package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/service"
	"sibyl/internal/text/search"
)

// period is the first and the last day of a list, as typed; "" sets no limit.
type period struct{ since, until string }

func (p *period) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.since, "since", "", "only from this day on, such as 2026-10-01")
	cmd.Flags().StringVar(&p.until, "until", "", "only up to this day, which counts")
}

// bounds gives the beginning of the first day and the end of the last; zero where there is no limit.
func (p *period) bounds() (from, to time.Time, err error) {
	if from, err = dayOf(p.since); err != nil {
		return from, to, err
	}
	if to, err = dayOf(p.until); err == nil && !to.IsZero() {
		to = to.AddDate(0, 0, 1)
	}
	return from, to, err
}

func dayOf(text string) (at time.Time, err error) {
	if text == "" {
		return at, nil
	}
	if at, err = time.ParseInLocation(time.DateOnly, text, time.Local); err != nil {
		err = withCode(ExitUsage, fmt.Errorf("%.20q is not a day: write it as 2026-10-01", text))
	}
	return at, err
}

// mostLooks limits how often a search is repeated while older runs are still being indexed.
const mostLooks = 30

func (c *command) findCommand() *cobra.Command {
	var q service.Query
	var days period
	cmd := &cobra.Command{Use: "find WORDS...", Args: cobra.MinimumNArgs(1),
		Short: "Find words in everything asked, answered, said and planned",
		RunE: c.onApp(func(ctx context.Context, a *app.App, args []string) (err error) {
			q.Words, q.Limit = strings.Join(args, " "), c.limit
			if q.From, q.To, err = days.bounds(); err != nil {
				return err
			}
			var found service.Hits
			for range mostLooks {
				if found, err = a.Service.Find(ctx, c.owner(), q); err != nil {
					return err
				}
				if !found.Behind {
					break
				}
			}
			if found.Behind {
				c.note("older runs have not been looked through yet: ask again")
			}
			if len(found.Hits) == 0 {
				c.note("nothing was found")
			}
			return printList(c, found.Hits, hitLine)
		})}
	cmd.Flags().StringVar(&q.Assistant, "assistant", "", "only what is of this assistant, such as oracle or council")
	days.flags(cmd)
	return c.withJSON(c.withLimit(cmd, 20, "maximum number to show"), "a JSON array")
}

// hitLine is a line for a hit, with the ids that other commands take, and its excerpt on a second line.
func hitLine(h service.Hit) string {
	id := strings.TrimSpace(h.Session + " " + h.Entry)
	if h.Task != 0 {
		id = fmt.Sprintf("task %d", h.Task)
	}
	line := listLine(id, h.At, fmt.Sprintf("%-8s", h.Assistant), withoutMarks(h.Title))
	if len(h.Excerpt) > 0 {
		line += "\n    " + printable(strings.TrimSpace(withoutMarks(h.Excerpt)))
	}
	return line
}

// withoutMarks is the text of spans, without the marks of what matches.
func withoutMarks(spans []search.Span) string {
	b := &strings.Builder{}
	for _, s := range spans {
		b.WriteString(s.Text)
	}
	return b.String()
}
