package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/journal"
	"sibyl/internal/oracle"
	"sibyl/internal/service/assistant"
)

func (c *command) sourcesCommand() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use: "sources [NUMBER]", Short: "Show the passages that the last answer cites", Args: cobra.MaximumNArgs(1),
		RunE: c.onApp(func(ctx context.Context, a *app.App, args []string) error {
			return c.sources(ctx, a, name, args)
		}),
	}
	cmd.Flags().StringVar(&name, "run", "", "the run that answered (default: the last question's)")
	return c.withPager(cmd)
}

func (c *command) sources(ctx context.Context, a *app.App, name string, args []string) error {
	id, err := c.answering(ctx, a, name)
	if err != nil {
		return err
	}
	res, err := a.Service.Result(ctx, c.owner(), id)
	if err != nil {
		return err
	}
	all, err := a.Service.Passages(ctx, c.owner(), id)
	if err != nil {
		return err
	}
	cited := citedOf(all, res.Sources)
	first := 1
	if len(args) == 1 {
		first, err = strconv.Atoi(args[0])
		if err != nil || first < 1 || first > len(cited) {
			return withCode(ExitUsage, fmt.Errorf("run %s cites %d passages; %s is none of them",
				id, len(cited), printable(args[0])))
		}
		cited = cited[first-1 : first]
	}
	b := &strings.Builder{}
	for i, p := range cited {
		fmt.Fprintf(b, "%d\\. `%s`:\n\n%s\n\n", first+i, p.Cite, p.Fenced())
	}
	if len(cited) == 0 {
		b.WriteString("The answer cites no passage that was read.\n\n")
	}
	if len(res.Files) > 0 {
		b.WriteString("Attached: `" + strings.Join(res.Files, "`, `") + "`")
	}
	return c.paged(ctx, c.newScreen().laidOut(strings.TrimSpace(b.String())))
}

// citedOf are the passages of the places that an answer cites, in their order.
func citedOf(all []assistant.Passage, cites []string) (cited []assistant.Passage) {
	for _, cite := range cites {
		for _, p := range all {
			if p.Cite == cite {
				cited = append(cited, p)
				break
			}
		}
	}
	return cited
}

// answering is the run that a name means; without one the last of a question that has ended.
func (c *command) answering(ctx context.Context, a *app.App, name string) (string, error) {
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

// mostTried is how many runs are looked at for one that has ended.
const mostTried = 20
