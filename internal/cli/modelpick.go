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

// whichModel is the question which model of a provider to use.
func whichModel(many *model.ManyModelsError) string {
	return fmt.Sprintf("Which model of %s should answer?", many.Provider)
}

// startChoosing calls start. If that fails because a provider has several models and none is set, the person chooses
// one: it is saved in the settings and set in *named, and start is called again. Other errors, and all of them where
// nobody can be asked, are returned unchanged.
func (c *command) startChoosing(
	ctx context.Context, named *string, start func() (*service.Run, error),
) (*service.Run, error) {
	r, err := start()
	var many *model.ManyModelsError
	if !errors.As(err, &many) || !c.InTTY || !c.ErrTTY || c.asJSON {
		return r, err
	}
	id, asked := (&dialogue{c}).choose(ctx, choice{title: whichModel(many), prompt: "Number or name",
		offered: many.Models})
	switch {
	case errors.Is(asked, errNoMore) || asked == nil && !slices.Contains(many.Models, id):
		return r, err
	case asked != nil:
		return nil, asked
	}
	fmt.Fprintln(c.Err, "· "+c.keepModel(many.Provider, id))
	*named = many.Provider + ":" + id
	return start()
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

// asChoice turns the error that a provider has several models into a choice for a conversation; others are unchanged.
func (c *command) asChoice(err error) error {
	var many *model.ManyModelsError
	if !errors.As(err, &many) {
		return err
	}
	return &conversation.ChoiceError{Err: err, Title: whichModel(many), Models: many.Models,
		Chosen: func(id string) (model, told string) {
			return many.Provider + ":" + id, c.keepModel(many.Provider, id)
		}}
}
