package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"sibyl/internal/council"
	"sibyl/internal/council/persona"
	"sibyl/internal/service"
)

func (c *command) councilAsk() *cobra.Command {
	var f *optionFlagSet[council.Options]
	var name string
	var dryRun bool
	cmd := &cobra.Command{Use: "ask ORACLE...", Short: "Have oracles answer what was said", Args: cobra.MinimumNArgs(1),
		RunE: c.onOneSession(&name, func(ctx context.Context, s councilSession, args []string) error {
			o, err := f.withSettings(s.a.Config)
			if err != nil {
				return err
			}
			o.Session, o.Oracles = s.ID, args
			if dryRun {
				return s.preview(ctx, o, f.sets)
			}
			return s.ask(ctx, o, f.sets)
		})}
	f = optionFlags[council.Options](cmd, "history", "chair", "model")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "print the exact prompt and ask no model")
	return c.withView(withSession(cmd, &name), "one JSON object")
}

// preview prints the prompts that would be sent, and what they leave out; it asks no model. sets says which options the
// person set.
func (s *councilSession) preview(ctx context.Context, o council.Options, sets func(option string) bool) error {
	all, err := s.a.Council.Preview(ctx, service.Request{Owner: s.owner(), Sets: sets}, o)
	if err != nil {
		return withCode(ExitUsage, err)
	}
	if s.asJSON {
		return s.printJSON(all)
	}
	for n, p := range all {
		for _, line := range p.Left {
			s.note("not in the context: %s", line)
		}
		for _, line := range p.Doubted {
			s.note("%s", line)
		}
		if p.Cut != "" {
			s.note("too long for the context: %s", p.Cut)
		}
		if len(all) > 1 {
			s.note("%s, %s", p.Oracle.Name, cmp.Or(p.Model, "no model"))
		}
		if n > 0 {
			fmt.Fprintln(s.Out)
		}
		fmt.Fprintln(s.Out, printable(strings.TrimRight(p.Prompt, "\n")))
	}
	return nil
}

// ask starts a run in which oracles answer, and shows it until it ends. sets says which options the person set.
func (s *councilSession) ask(ctx context.Context, o council.Options, sets func(option string) bool) error {
	r, err := s.startChoosing(ctx, "model", &o.Model, sets, func(sets func(string) bool) (*service.Run, error) {
		return s.start(ctx, s.a, service.Request{Assistant: council.Name, Options: o, Sets: sets})
	})
	if err != nil {
		return err
	}
	return s.showRun(ctx, r)
}

func (c *command) councilOracles() *cobra.Command {
	var check bool
	cmd := &cobra.Command{Use: "oracles", Short: "List the oracles, and check their files", Args: cobra.NoArgs,
		RunE: c.onCouncil(func(ctx context.Context, s councilSession, _ []string) error {
			list, err := s.a.Council.Oracles.List(ctx)
			if err != nil {
				return withCode(ExitUsage, err)
			}
			return s.listOracles(list, check)
		})}
	cmd.Flags().BoolVar(&check, "check", false, "exit with 1 if a file has an error or a warning")
	return c.withJSON(cmd, "one JSON object")
}

// listOracles prints the oracles, and warnings about their files; with check, a warning sets the exit code to 1.
func (s *councilSession) listOracles(list persona.Listing, check bool) error {
	warnings := oracleWarnings(list)
	if check && len(warnings) > 0 {
		s.code = ExitFailed
	}
	if s.asJSON {
		return s.printJSON(list.Brief())
	}
	for _, p := range list.Oracles {
		line := printable(fmt.Sprintf("%s  %-20s  %-2s  %s", p.ID, p.Name, p.Language, p.About))
		if s.OutTTY {
			line = ansi.Truncate(line, max(s.Width-1, oracleLine), "…")
		}
		fmt.Fprintln(s.Out, line)
	}
	s.note("%s", oraclesIn(s.a, len(list.Oracles)))
	if len(list.Oracles) == 0 {
		s.note("‘sibyl council oracle new NAME’ creates one")
	}
	for _, line := range warnings {
		fmt.Fprintln(s.Err, printable("· "+line))
	}
	return nil
}

// oracleLine is the least width to which a terminal's lines of oracles are cut: they end with the first sentence of a
// file.
const oracleLine = 100

func (c *command) councilOracle() *cobra.Command {
	var language string
	make := &cobra.Command{Use: "new NAME...", Short: "Create the file of a new oracle", Args: cobra.MinimumNArgs(1),
		RunE: c.onCouncil(func(ctx context.Context, s councilSession, args []string) error {
			file, err := s.a.Council.Oracles.Create(ctx, strings.Join(args, " "), language)
			if err != nil {
				return withCode(ExitUsage, err)
			}
			return c.printResult(map[string]string{"file": file}, file)
		})}
	make.Flags().StringVar(&language, "language", "en", "language of the file: en, pt or de")
	show := &cobra.Command{Use: "show NAME", Short: "Show an oracle's file", Args: cobra.ExactArgs(1),
		RunE: c.onCouncil(func(ctx context.Context, s councilSession, args []string) error {
			p, err := s.a.Council.Oracles.Find(ctx, args[0])
			if err != nil {
				return withCode(ExitUsage, err)
			}
			if c.asJSON {
				return c.printJSON(p)
			}
			return writeAll(c.Out, printable(p.Content))
		})}
	return group(&cobra.Command{Use: "oracle", Short: "Create and show oracles"}, c.withJSON(make, "one JSON object"),
		c.withJSON(show, "one JSON object"))
}
