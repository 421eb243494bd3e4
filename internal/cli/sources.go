package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/journal"
	"sibyl/internal/oracle"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
	"sibyl/internal/text"
)

func (c *command) sourcesCommand() *cobra.Command {
	var name string
	var whole bool
	cmd := &cobra.Command{
		Use: "sources [NUMBER]", Short: "Show the passages that the last answer cites", Args: cobra.MaximumNArgs(1),
		RunE: c.onApp(func(ctx context.Context, a *app.App, args []string) error {
			return c.sources(ctx, a, name, whole, args)
		}),
	}
	cmd.Flags().StringVar(&name, "run", "", "the run that answered (default: the last question's)")
	cmd.Flags().BoolVar(&whole, "all", false,
		"show all that was read of each source, not only the lines that are cited")
	return c.withPager(cmd)
}

func (c *command) sources(ctx context.Context, a *app.App, name string, whole bool, args []string) error {
	id, err := c.answeringRun(ctx, a, name)
	if err != nil {
		return err
	}
	cited, x, err := c.citedSources(ctx, a, id)
	if err != nil {
		return err
	}
	if len(args) == 1 {
		n, _ := strconv.Atoi(args[0]) // no source has the number 0
		all := len(cited)
		cited = slices.DeleteFunc(cited, func(s citedSource) bool { return s.number != n })
		if len(cited) == 0 {
			answer := "the last answer"
			if name != "" {
				answer = "run " + id
			}
			return withCode(ExitUsage, fmt.Errorf("there is no passage %s; %s cites %d", printable(args[0]), answer, all))
		}
	}
	if whole {
		cited = wholePassages(cited)
	}
	b := &strings.Builder{}
	for _, s := range cited {
		fmt.Fprintf(b, "%d\\. %s\n\n", s.number, s)
	}
	isCut := slices.IndexFunc(cited, citedSource.isPart)
	switch {
	case len(cited) == 0:
		b.WriteString("The answer cites no passage that was read.\n\n")
	case isCut >= 0:
		fmt.Fprintf(b, "`sibyl sources %d --all` shows all that was read of it.\n\n", cited[isCut].number)
	}
	if x.Shown != nil && len(x.Shown.Files) > 0 {
		b.WriteString("Attached: `" + strings.Join(x.Shown.Files, "`, `") + "`")
	}
	return c.showInPager(ctx, c.newScreen().renderText(strings.TrimSpace(b.String())))
}

// citedSource is a source that an answer cites, with the lines that are shown of it.
type citedSource struct {
	assistant.Passage
	number int               // by which citations name it
	of     assistant.Passage // that contains it
}

// isPart says whether more was read than is shown.
func (s citedSource) isPart() bool { return len(s.Lines) < len(s.of.Lines) }

// String gives the source in Markdown: its place, how much of it is shown, and the lines.
func (s citedSource) String() string {
	part := ""
	if s.isPart() {
		part = fmt.Sprintf(", %d of %s", len(s.Lines), text.Count(len(s.of.Lines), "line"))
	}
	return fmt.Sprintf("`%s`%s:\n\n%s", s.Cite, part, s.Fenced())
}

// citedSources lists the sources that a run read and its answer cites, in that order, with the cited lines. An answer
// without a model numbers whole passages; its other citations are parts of these and are left out.
func (c *command) citedSources(
	ctx context.Context, a *app.App, id string,
) (all []citedSource, x service.Explanation, err error) {
	if x, err = a.Service.Explain(ctx, c.owner(), id); err != nil {
		return nil, x, err
	}
	heard, err := a.Service.Passages(ctx, c.owner(), id)
	if err != nil {
		return nil, x, err
	}
	byRules := !slices.ContainsFunc(x.Left, func(l assistant.Left) bool { return l.Kind == "model" })
	for _, s := range x.Sources {
		if !s.Cited {
			continue
		}
		one := citedSource{Passage: assistant.Passage{Cite: s.Cite}, number: cmp.Or(s.Number, len(all)+1)}
		start := 0
		for _, l := range s.Lines {
			if l.Marked {
				start = cmp.Or(start, l.Number)
				one.Lines = append(one.Lines, l.Text)
			}
		}
		at := slices.IndexFunc(heard, func(p assistant.Passage) bool { return p.Cite == s.Cite })
		if at < 0 && !byRules {
			at = slices.IndexFunc(heard, func(p assistant.Passage) bool { return p.Holds(s.Cite, start) })
		}
		if at < 0 {
			continue
		}
		one.of, one.Name = heard[at], heard[at].Name
		if len(one.Lines) == 0 { // a page has no numbered lines
			one.Passage = one.of
		}
		if byRules {
			one.number = len(all) + 1
		}
		if !slices.ContainsFunc(all, func(o citedSource) bool { return o.Cite == one.Cite }) {
			all = append(all, one)
		}
	}
	return all, x, nil
}

// wholePassages gives the whole passages that contain sources, each once.
func wholePassages(sources []citedSource) (all []citedSource) {
	for _, s := range sources {
		if !slices.ContainsFunc(all, func(o citedSource) bool { return o.of.Cite == s.of.Cite }) {
			s.Passage = s.of
			all = append(all, s)
		}
	}
	return all
}

// answeringRun is the id of the run with a name; without one, of the latest question that has ended.
func (c *command) answeringRun(ctx context.Context, a *app.App, name string) (string, error) {
	if name != "" {
		r, err := a.Service.FindRun(ctx, c.owner(), name)
		return r.ID, err
	}
	runs, err := a.Service.Runs(ctx, c.owner(), journal.Filter{Assistant: oracle.Name, Limit: mostTried})
	if err != nil {
		return "", err
	}
	for _, r := range runs {
		if r.Status != journal.Running {
			return r.ID, nil
		}
	}
	return "", withCode(ExitUsage, errors.New("there is no answer yet: ask with ‘sibyl ask’"))
}

// mostTried is how many of the latest runs are searched for one that has ended.
const mostTried = 20
