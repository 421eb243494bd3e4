package cli

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// confirm asks a question at the terminal, and says whether the answer is yes. Stopping it is an error.
func (c *command) confirm(ctx context.Context, question string) (bool, error) {
	typed, err := c.newDialogue().ask(ctx, question)
	if errors.Is(err, errNoMore) {
		return false, nil
	}
	return slices.Contains([]string{"y", "yes"}, strings.ToLower(typed)), err
}
