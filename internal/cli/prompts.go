package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/oracle"
	"sibyl/internal/text"
)

func (c *command) promptsCommand() *cobra.Command {
	return group(&cobra.Command{Use: "prompts", Short: "List the prompt segments, or show the prompt for a question"},
		c.promptsList(), c.promptsShow())
}

func (c *command) promptsList() *cobra.Command {
	return &cobra.Command{Use: "list", Short: "List the segments, when each is included, and how long it is",
		Args: cobra.NoArgs,
		RunE: c.onPrepared(func(_ context.Context, a *app.App, _ []string) error {
			t := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
			for _, s := range a.Prompts.Segments() {
				fmt.Fprintf(t, "%s\t%s\t%d tokens\t%s\n", s.ID, s.File, s.TokenEstimate,
					strings.Join(s.Conditions, ", "))
			}
			return t.Flush()
		})}
}

func (c *command) promptsShow() *cobra.Command {
	var f *optionFlagSet[oracle.Options]
	var large, failed, brief bool
	cmd := &cobra.Command{Use: "show QUESTION",
		Short: "Show all that the first turn of a question sends, without asking a model",
		Args:  cobra.MinimumNArgs(1),
		RunE: c.onPrepared(func(ctx context.Context, a *app.App, args []string) error {
			o, err := questionOptions(f, a.Config)
			if err != nil {
				return err
			}
			t, err := a.Trees.Get(oracle.Name)
			if err != nil {
				return withCode(ExitUsage, err)
			}
			p, err := a.Surroundings().PreviewTurn(ctx, t.File, t.Text, strings.Join(args, " "), o, large, failed)
			switch {
			case err != nil:
				return withCode(ExitUsage, err)
			case c.asJSON:
				return c.printJSON(p)
			}
			return c.showPrompt(p, brief)
		})}
	fl := cmd.Flags()
	f = optionFlags[oracle.Options](cmd, "in", "vault", "model", "system", "preset", "set")
	fl.BoolVar(&large, "long-history", false, "as in a long conversation")
	fl.BoolVar(&failed, "after-error", false, "show also what is said after the first failed call")
	fl.BoolVar(&brief, "segments", false, "show only the segments and their tokens, without the text")
	return c.withJSON(cmd, "one JSON object")
}

// showPrompt prints the first request of a question on stdout, so that it can be piped, and its parts and their tokens
// on stderr. If brief, it prints only the parts, on stdout.
func (c *command) showPrompt(p oracle.Preview, brief bool) error {
	to := c.Err
	if brief {
		to = c.Out
	}
	fmt.Fprintf(to, "%s (%.2f); offered: %s\n", p.Class.QueryType, p.Class.Confidence, strings.Join(p.Offered, ", "))
	for _, m := range p.Class.Matches {
		fmt.Fprintf(to, "  %+.1f  %s: %s\n", m.Weight, m.Feature, printable(strings.Join(m.Words, ", ")))
	}
	t := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, s := range p.Segments {
		where := ""
		if s.Noted {
			where = ", with the question"
		}
		fmt.Fprintf(t, "%d\t tokens  %s (%s%s)\n", s.Tokens, s.ID, s.File, where)
	}
	fmt.Fprintf(t, "%d\t tokens in total, %d of them names of tools; at most %d without those\n",
		p.Tokens, p.NameTokens, p.Limit)
	fmt.Fprintf(t, "%d\t tokens of %s\n", p.ToolTokens, text.Count(len(p.Tools), "tool"))
	if err := t.Flush(); err != nil {
		return err
	}
	for _, l := range p.LeftOut {
		fmt.Fprintf(to, "left out: %s, since %s\n", l.ID, l.Reason)
	}
	if brief {
		return nil
	}
	out := &strings.Builder{}
	part := func(role, said string) { fmt.Fprintf(out, "=== %s ===\n\n%s\n\n", role, said) }
	part("system", p.Prompt)
	for _, one := range p.Tools {
		part("tool "+one.Name, one.Description+"\n\n"+string(one.Schema))
	}
	for _, said := range p.Messages {
		part("user", said)
	}
	if p.Behind != "" {
		part("user, after what was looked up", p.Behind)
	}
	if p.Recovery != "" {
		part("user, after the first call that failed", p.Recovery)
	}
	return writeAll(c.Out, strings.TrimSuffix(out.String(), "\n"))
}
