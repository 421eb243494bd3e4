package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/journal"
	"sibyl/internal/oracle"
	"sibyl/internal/service"
	"sibyl/internal/taskchat"
)

type chatFlags struct {
	*optionFlagSet[taskchat.Options]
	conversation string
}

// newConversation is the value of --conversation that begins a new conversation.
const newConversation = "new"

func (c *command) chatCommand() *cobra.Command {
	var f chatFlags
	cmd := &cobra.Command{Use: "chat [MESSAGE | -]", Short: "Keep your to-do list in conversation",
		RunE: func(cmd *cobra.Command, args []string) error {
			ready := func() {}
			if len(args) == 0 && c.opensConversation() {
				ready = c.awaitConversation(cmd.Context())
			}
			defer ready()
			return c.onApp(func(ctx context.Context, a *app.App, args []string) error {
				return c.chat(ctx, a, f, ready, args)
			})(cmd, args)
		}}
	fl := cmd.Flags()
	fl.StringVar(&f.conversation, "conversation", "",
		"continue this conversation; new: begin one (default: the last one)")
	f.optionFlagSet = optionFlags[taskchat.Options](cmd)
	return c.withView(cmd, "one JSON object per message")
}

func (c *command) chat(ctx context.Context, a *app.App, f chatFlags, ready func(), args []string) error {
	o, err := f.withSettings(a.Config)
	if err != nil {
		return err
	}
	session, err := c.conversationOf(ctx, a, f.conversation)
	if err != nil {
		return err
	}
	switch {
	case len(args) == 0 && c.opensConversation():
		asked, err := questionOptions(optionFlags[oracle.Options](&cobra.Command{}), a.Config)
		if err != nil {
			return err
		}
		asked.Model, c.notices = o.Model, a.Config.Notices
		_, err = c.holdConversation(ctx, a, ready, taskchat.Name, asked, nil, map[string]string{taskchat.Name: session})
		return err
	case len(args) == 0 && c.InTTY:
		err = c.converse(ctx, a, session, o, f.sets)
	default:
		if len(args) == 0 {
			args = []string{"-"}
		}
		var words string
		if words, err = c.words(args, 8*taskchat.MaxMessage); err == nil {
			err = c.say(ctx, a, &session, &o, f.sets, words)
		}
	}
	return errors.Join(err, c.retire(ctx, a))
}

// conversationOf returns the id of the named session of Tasks, by default of the last one; "" begins a new one.
func (c *command) conversationOf(ctx context.Context, a *app.App, name string) (string, error) {
	switch name {
	case newConversation:
		return "", nil
	case "":
		last, err := a.Service.Sessions(ctx, c.owner(), journal.SessionFilter{Assistant: taskchat.Name, Limit: 1})
		if err != nil || len(last) == 0 {
			return "", err
		}
		return last[0].ID, nil
	}
	s, err := a.Service.FindSession(ctx, c.owner(), taskchat.Name, name)
	if errors.Is(err, journal.ErrNotFound) {
		err = withCode(ExitUsage, fmt.Errorf("%w; ‘--conversation new’ begins one", err))
	}
	return s.ID, err
}

// converse reads and answers messages line by line, for terminals that can't be drawn on, until an empty line or the
// end of the input. Cancelling ctx is an error.
func (c *command) converse(
	ctx context.Context, a *app.App, session string, o taskchat.Options, sets func(string) bool,
) error {
	d := &dialogue{c}
	for {
		words, err := d.ask(ctx, "> ")
		if errors.Is(err, errNoMore) || err == nil && words == "" {
			return nil
		}
		if err == nil {
			err = c.say(ctx, a, &session, &o, sets, words)
		}
		if err != nil {
			return err
		}
	}
}

// say sends one message and prints the answer. It sets *session to the session of the run, and o.Model to the model
// that the person chose if several could answer. An answer that only asks back counts as complete.
func (c *command) say(
	ctx context.Context, a *app.App, session *string, o *taskchat.Options, sets func(string) bool, words string,
) error {
	r, err := c.startChoosing(ctx, "model", &o.Model, sets, func(sets func(string) bool) (*service.Run, error) {
		return c.start(ctx, a, service.Request{Assistant: taskchat.Name, Session: *session, Words: words, Options: *o,
			Sets: sets})
	})
	if err != nil {
		return err
	}
	*session = r.Session
	p, res, err := c.showProgress(ctx, r)
	if err != nil {
		return err
	}
	asks := res.Asks // the answer's text asks already
	res.Asks = false
	err = c.printOutcome(p, r, res)
	if asks && c.code == ExitPartial { // a question back is a whole answer
		c.code = ExitAnswered
	}
	return err
}
