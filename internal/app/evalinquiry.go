package app

import (
	"errors"

	"sibyl/internal/eval/inquiry"
)

// UseDetective says who ‘sibyl eval inquiry’ scores: of a model, "offline:rules" or "provider:model", the two functions that analyse an interview
// and question a witness.
func (a *App) UseDetective(of func(model string) inquiry.Detective) { a.detective = of }

// Detective is the Inquiry as ‘sibyl eval inquiry’ plays it. Without UseDetective there is none.
func (a *App) Detective(model string) (inquiry.Detective, error) {
	if a.detective == nil {
		return inquiry.Detective{}, errors.New("this program has no detective that could be scored")
	}
	return a.detective(model), nil
}
