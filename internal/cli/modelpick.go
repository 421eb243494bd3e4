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

// whichModel asks a person for one of several models.
func whichModel(many *model.ManyModelsError) string {
	return fmt.Sprintf("Which model of %s should answer?", many.Provider)
}

// startChoosing begins a run. Where an endpoint has several models and that is why it can't begin, the person chooses
// one, which is kept in the settings, put in the place of named, and asked. Other errors, and any where nobody can be
// asked, are returned as they are.
func (c *command) startChoosing(
	ctx context.Context, named *string, start func() (*service.Run, error),
) (*service.Run, error) {
	r, err := start()
	var many *model.ManyModelsError
	if !errors.As(err, &many) || !c.InTTY || !c.ErrTTY || c.asJSON {
		return r, err
	}
	id, asked := c.newDialogue().choose(ctx, choice{title: whichModel(many), prompt: "Number or name",
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

// keepModel keeps the choice of a provider's model in the settings, and says so.
func (c *command) keepModel(provider, id string) string {
	name := "providers." + provider + ".model"
	done, err := config.SetTexts(c.options(), []config.Text{{Name: name, Value: id}})
	if err != nil {
		return "the choice was not saved: " + printable(err.Error())
	}
	return fmt.Sprintf("saved as %s in %s; -m uses another", name, printable(done.File))
}

// asChoice is an error as a conversation takes it: one that a choice of a model mends comes with the choice.
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
