package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"sibyl/internal/agent"
	"sibyl/internal/app"
	"sibyl/internal/model"
	"sibyl/internal/probe"
	"sibyl/internal/text"
)

func (c *command) modelsTest() *cobra.Command {
	cmd := &cobra.Command{Use: "test [MODEL]",
		Short: "Test what a model can do; Sibyl then asks it accordingly",
		Example: "  sibyl models test                        # the default model\n" +
			"  sibyl models test ollama:qwen3:8b --json",
		Args: cobra.MaximumNArgs(1),
		RunE: c.onPrepared(func(ctx context.Context, a *app.App, args []string) error {
			return c.testModel(ctx, a, nameOr(args, ""))
		})}
	cmd.Flags().BoolVarP(&c.yes, "yes", "y", false, "don't ask before a model elsewhere is tested, which may cost money")
	return c.withJSON(cmd, "what was found, as a JSON object")
}

// testModel tests a model, prints what was found, and keeps it.
func (c *command) testModel(ctx context.Context, a *app.App, named string) error {
	t, err := a.PrepareModelTest(ctx, named)
	if err != nil {
		return withCode(exitOfTest(err), err)
	}
	if err := c.confirmTest(ctx, a, t); err != nil {
		return err
	}
	c.note("testing %s; Ctrl-C stops it, and what was found by then counts", t.ID)
	found, keepErr := a.TestModel(ctx, t, c.showProbe)
	if c.asJSON {
		err = c.printJSON(found)
	} else if about := found.Words(); about != "" {
		_, err = fmt.Fprintln(c.Out, c.wrapped(t.ID+" "+about))
	}
	if keepErr != nil {
		err = errors.Join(err, withCode(ExitFailed, fmt.Errorf("what was found could not be kept: %w", keepErr)))
	}
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return withCode(ExitStopped, context.Cause(ctx))
	case !found.Known():
		return withCode(ExitFailed, fmt.Errorf("%s could not be tested: %s", t.ID,
			a.Redact(found.Of(model.SkillAnswer).Reason)))
	case found.Partial:
		c.code = ExitPartial
	}
	return nil
}

// exitOfTest is the exit code where a test can't begin: the name is wrong, or the provider failed.
func exitOfTest(err error) int {
	if _, failed := errors.AsType[*model.Error](err); failed {
		return ExitFailed
	}
	return ExitUsage
}

// confirmTest says what the test of a model elsewhere takes, and asks, unless --yes is given.
func (c *command) confirmTest(ctx context.Context, a *app.App, t app.ModelTest) error {
	if t.Local {
		return nil
	}
	takes := fmt.Sprintf("the test of %s takes about %s with %d,000 tokens", t.ID, text.Count(t.Requests, "request"),
		(t.Tokens+999)/1000)
	if cost, known := a.Offered.Prices.Of(t.ID, t.Tokens, 0, 0); known {
		takes += fmt.Sprintf(", some %s %s", figure(cost), a.Offered.Prices.Currency)
	}
	switch {
	case c.yes:
		c.note("%s", takes)
		return nil
	case !c.InTTY || !c.ErrTTY || c.asJSON:
		return withCode(ExitUsage, fmt.Errorf("%s: confirm with --yes", takes))
	}
	yes, err := c.confirm(ctx, "· "+text.Capitalize(takes)+". Go on? [y/N] ")
	if err == nil && !yes {
		err = withCode(ExitFailed, errors.New("nothing was tested"))
	}
	return err
}

// showProbe prints a line for a probe: on a terminal also while it goes on.
func (c *command) showProbe(at probe.Progress) {
	head := fmt.Sprintf("%2d/%d  %-33s", at.N, at.Of, at.About)
	if at.Finding == nil {
		if c.ErrTTY {
			fmt.Fprint(c.Err, head+"…")
		}
		return
	}
	f := *at.Finding
	line := head + string(f.Result)
	if f.Form != "" {
		line += ", " + map[model.Form]string{model.FormNative: "as a call", model.FormText: "in its text",
			model.FormEnforced: "enforced", model.FormPlain: "as words describe it"}[f.Form]
	}
	if f.Reason != "" {
		line += ": " + f.Reason
	}
	line += " (" + agent.Seconds(f.TookMS) + ")"
	if c.ErrTTY {
		fmt.Fprint(c.Err, "\r\x1b[K")
	}
	fmt.Fprintln(c.Err, printable(line))
}

// wrapped breaks a text into lines of the terminal's width; where there is none it stays one line.
func (c *command) wrapped(text string) string {
	if !c.OutTTY {
		return printable(text)
	}
	return strings.TrimRight(wrapLine(printable(text), c.width()-1), "\n")
}
