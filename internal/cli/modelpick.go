package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	conversation "sibyl/internal/cli/talk"
	"sibyl/internal/config"
	"sibyl/internal/model"
	"sibyl/internal/service"
)

// startChoosing calls start with sets, which says what options the person set; nil: all. If that fails because
// several models can be meant, the person chooses one: it is in *named then, and start is called again, with option,
// that of the model, as one of those that are set. Other errors, and all of them where nobody can be asked, are
// returned unchanged.
func (c *command) startChoosing(
	ctx context.Context, option string, named *string, sets func(option string) bool,
	start func(sets func(option string) bool) (*service.Run, error),
) (*service.Run, error) {
	r, err := start(sets)
	several, is := errors.AsType[*conversation.ChoiceError](c.asChoice(err))
	if !is || !c.InTTY || !c.ErrTTY || c.asJSON {
		return r, err
	}
	id, asked := (&dialogue{c}).choose(ctx, choice{title: several.Title, prompt: "Number or name",
		offered: several.Models})
	switch {
	case errors.Is(asked, errNoMore) || asked == nil && !slices.Contains(several.Models, id):
		return r, err
	case asked != nil:
		return nil, asked
	}
	chosen, told := several.Chosen(id)
	if told != "" {
		fmt.Fprintln(c.Err, "· "+told)
	}
	*named = chosen
	return start(func(one string) bool { return one == option || sets == nil || sets(one) })
}

// keepModel saves the model of a provider in the settings; its text says so, or why it could not.
func (c *command) keepModel(provider, id string) string {
	name := "providers." + provider + ".model"
	done, err := config.SetTexts(c.options(), []config.Text{{Name: name, Value: id}})
	if err != nil {
		return "the choice was not saved: " + printable(err.Error())
	}
	return fmt.Sprintf("saved as %s in %s; -m uses another", name, printable(done.File))
}

// asChoice turns an error that several models can be meant into a choice; others are unchanged. The only model of a
// provider is saved, the one that a short name means is not.
func (c *command) asChoice(err error) error {
	if many, is := errors.AsType[*model.ManyModelsError](err); is {
		return &conversation.ChoiceError{Err: err, Title: fmt.Sprintf("Which model of %s should answer?", many.Provider),
			Models: many.Models, Chosen: func(id string) (model, told string) {
				return many.Provider + ":" + id, c.keepModel(many.Provider, id)
			}}
	}
	if some, is := errors.AsType[*model.AmbiguousModelError](err); is {
		return &conversation.ChoiceError{Err: err, Title: fmt.Sprintf("Which model is %s?", printable(some.Name)),
			Models: some.Models, Chosen: func(id string) (model, told string) { return id, "" }}
	}
	return err
}
