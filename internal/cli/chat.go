package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/journal"
	"sibyl/internal/service"
	"sibyl/internal/taskchat"
)

// chatFlags are the flags of ‘sibyl chat’.
type chatFlags struct{ conversation, model string }

// newConversation is the conversation that begins with a message.
const newConversation = "new"

func (c *command) chatCommand() *cobra.Command {
	var f chatFlags
	cmd := &cobra.Command{Use: "chat [MESSAGE | -]", Short: "Keep your to-do list in conversation",
		Long: "Talks to the assistant that keeps your to-do list: “remind me to buy groceries”, “show my tasks”,\n" +
			"“complete task 2”, “rename the first one to …”, “delete it”, “undo”. With a model it understands any\n" +
			"language; without one, plain commands in English, German and Portuguese. It asks before it deletes\n" +
			"anything or when it is not sure. Given a message, it answers that one; without, it holds a\n" +
			"conversation until an empty line or Ctrl-D.\n\n" +
			"It continues the last conversation unless --conversation names another; ‘--conversation new’ begins\n" +
			"one. Conversations that nobody uses are removed after 30 days.\n\n" +
			"Exit codes: 0 answered or asked, 1 failed, 2 bad input, 5 journal problem, 130 you stopped it.",
		Example: "  sibyl chat \"remind me to buy groceries\"\n  sibyl chat \"show my tasks\"\n  sibyl chat \"complete task 1\"\n" +
			"  sibyl chat --json --user ada --conversation new \"was steht an?\"\n  sibyl chat",
		RunE: c.onApp(func(ctx context.Context, a *app.App, args []string) error { return c.chat(ctx, a, f, args) })}
	fl := cmd.Flags()
	fl.StringVar(&f.conversation, "conversation", "", "continue this conversation; new: begin one (default: the last one)")
	fl.StringVarP(&f.model, "model", "m", "", "provider:model; offline:rules for none (default: the first one available, see ‘sibyl models’)")
	return c.withView(cmd, "one JSON object per message")
}

func (c *command) chat(ctx context.Context, a *app.App, f chatFlags, args []string) error {
	t, err := c.talkOf(ctx, a, f)
	if err != nil {
		return err
	}
	text := strings.Join(args, " ")
	switch {
	case len(args) == 0 && c.InTTY:
		err = c.converse(ctx, t)
	case len(args) == 0 || text == "-":
		raw, readErr := io.ReadAll(io.LimitReader(c.In, 8*taskchat.MaxMessage))
		if readErr != nil {
			return withCode(ExitUsage, fmt.Errorf("reading the message from standard input: %w", readErr))
		}
		err = t.say(ctx, string(raw))
	default:
		err = t.say(ctx, text)
	}
	return errors.Join(err, c.retire(ctx, a, t.owner))
}

// talk is a conversation at a terminal.
type talk struct {
	c     *command
	a     *app.App
	owner journal.Owner
	id    string
	model string
}

// talkOf finds the conversation to go on with.
func (c *command) talkOf(ctx context.Context, a *app.App, f chatFlags) (*talk, error) {
	t := &talk{c: c, a: a, owner: c.owner(), model: f.model}
	switch f.conversation {
	case newConversation:
		return t, nil
	case "":
		last, err := a.Service.Sessions(ctx, t.owner, journal.SessionFilter{Assistant: taskchat.Name, Limit: 1})
		if err != nil {
			return nil, err
		}
		if len(last) > 0 {
			t.id = last[0].ID
		}
		return t, nil
	}
	s, err := a.Service.FindSession(ctx, t.owner, taskchat.Name, f.conversation)
	if errors.Is(err, journal.ErrNotFound) {
		err = withCode(ExitUsage, fmt.Errorf("%w; ‘--conversation new’ begins one", err))
	}
	t.id = s.ID
	return t, err
}

// converse answers line by line, until there is none. Stopping it is an error.
func (c *command) converse(ctx context.Context, t *talk) error {
	fmt.Fprintln(c.Err, "· an empty line ends the conversation")
	d := c.newDialogue()
	for {
		words, err := d.ask(ctx, "> ")
		if errors.Is(err, errNoMore) || err == nil && words == "" {
			return nil
		}
		if err != nil {
			return err
		}
		err = t.say(ctx, words)
		var refused *exitError
		if errors.As(err, &refused) && refused.code == ExitFailed { // it was told, and the conversation goes on
			err = nil
		}
		if err != nil {
			return err
		}
	}
}

// say sends one message and prints the response.
func (t *talk) say(ctx context.Context, words string) error {
	r, err := t.c.startChoosing(ctx, &t.model, func() (*service.Run, error) {
		return t.a.Service.Start(ctx, t.owner, service.Request{Assistant: taskchat.Name, Session: t.id, Words: words, Options: taskchat.Options{Model: t.model}})
	})
	if err != nil {
		return err
	}
	t.id = r.Session
	p, res, err := t.c.watch(ctx, r)
	if err != nil {
		return err
	}
	if t.c.asJSON {
		err = newJSON(t.c.Out).Encode(res.Outcome)
	} else {
		_, err = fmt.Fprintln(t.c.Out, printable(res.Answer))
	}
	if !t.c.asJSON {
		for _, w := range res.Warnings { // also where it is quiet: what was not done is never left out
			fmt.Fprintln(t.c.Err, p.screen.dim("· "+w, t.c.ErrTTY))
		}
		if costs := costsOf(t.c.prices, res.Usage); costs != "" {
			p.say("%s", costs)
		}
	}
	switch {
	case err == nil && res.Failure != nil:
		t.c.code = ExitFailed
	case err == nil && len(res.Warnings) > 0:
		t.c.code = ExitPartial
	}
	return err
}
