package cli

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/schema"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
	"sibyl/internal/text"
)

// extraAssistants are the assistants of this build without a command of their own, except companions.
func (c *command) extraAssistants() []*assistant.Assistant {
	if c.Also == nil {
		return nil
	}
	all, err := c.Also(nil)
	if err != nil {
		return nil // opening the program reports it
	}
	return slices.DeleteFunc(all, func(a *assistant.Assistant) bool { return a.Options == nil || a.Companion })
}

// otherAssistants gives each extra assistant a command with its name and with flags for its options.
func (c *command) otherAssistants() (all []*cobra.Command) {
	for _, a := range c.extraAssistants() {
		all = append(all, c.assistantCommand(a))
	}
	return all
}

// words joins the arguments; for a lone - it reads standard input, and ignores what follows the first most bytes.
func (c *command) words(args []string, most int64) (string, error) {
	words := strings.Join(args, " ")
	if words != "-" {
		return words, nil
	}
	raw, err := io.ReadAll(io.LimitReader(c.In, most))
	if err != nil {
		return "", withCode(ExitUsage, fmt.Errorf("reading standard input: %w", err))
	}
	return string(raw), nil
}

// mostWords limits the bytes that are read from standard input.
const mostWords = 1 << 20

func (c *command) assistantCommand(a *assistant.Assistant) *cobra.Command {
	var session string
	options, given := a.Options.New(nil), map[*schema.Field]bool{}
	cmd := &cobra.Command{Use: a.Name + " WORDS... | -", Args: cobra.MinimumNArgs(1),
		Short: text.Capitalize(a.About), Example: fmt.Sprintf("  sibyl %s \"…\"", a.Name),
		RunE: c.onApp(func(ctx context.Context, app *app.App, args []string) error {
			words, err := c.words(args, mostWords)
			if err == nil {
				err = applySettings(a.Options, options, given, app.Config)
			}
			if err != nil {
				return err
			}
			r := service.Request{Assistant: a.Name, Words: words, Options: reflect.ValueOf(options).Elem().Interface()}
			if session != "" {
				s, err := app.Service.FindSession(ctx, c.owner(), a.Name, session)
				if err != nil {
					return err
				}
				r.Session = s.ID
			}
			begun, err := c.start(ctx, app, r)
			if err != nil {
				return err
			}
			return c.showRun(ctx, begun)
		})}
	bindFlags(cmd, a.Options, options, given, nil)
	cmd.Flags().StringVarP(&session, "session", "s", "", "continue this session")
	return c.withView(cmd, "one JSON object")
}
