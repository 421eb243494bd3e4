package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"sibyl/internal/config"
	"sibyl/internal/model"
)

// oneOfMany has the person choose a model where an endpoint has several and that is why a question failed; the choice is kept in the settings. Other
// errors, and any where nobody can be asked, are returned as they are, with the model that was named.
func (c *command) oneOfMany(ctx context.Context, named string, failed error) (string, error) {
	var many *model.ManyError
	if !errors.As(failed, &many) || !c.InTTY || !c.ErrTTY || c.asJSON {
		return named, failed
	}
	id, err := c.newDialogue().choose(ctx, choice{title: fmt.Sprintf("Which model of %s should answer?", many.Provider), prompt: "Number or name", offered: many.Models})
	switch {
	case errors.Is(err, errNoMore) || err == nil && !slices.Contains(many.Models, id):
		return named, failed
	case err != nil:
		return named, err
	}
	name := "providers." + many.Provider + ".model"
	if done, err := config.SetTexts(c.options(), []config.Text{{Name: name, Value: id}}); err != nil {
		fmt.Fprintf(c.Err, "· the choice was not saved: %s\n", printable(err.Error()))
	} else {
		fmt.Fprintf(c.Err, "· saved as %s in %s; -m uses another\n", name, printable(done.File))
	}
	return many.Provider + ":" + id, nil
}
