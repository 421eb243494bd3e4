package app

import (
	"context"
	"errors"
	"maps"
	"slices"

	"sibyl/internal/api"
	"sibyl/internal/config"
	"sibyl/internal/keys"
	"sibyl/internal/model"
)

// Settings changes the settings file for every way in, with the same checks.
type Settings struct {
	Options config.Options
	Guard   func(config.Config) error // has an error for settings that may not result, anyway or not; nil: none
}

// UnfitError says that a value can't work as things are now, such as a folder that is not there. It may be set anyway.
type UnfitError struct{ err error }

func (e *UnfitError) Error() string { return e.err.Error() }

// Unwrap gives what is wrong.
func (e *UnfitError) Unwrap() error { return e.err }

// Set sets one setting, as config.Set does, and returns the words that were written: the short name of a model stands
// for its whole one. Without anyway, what can't work is an *UnfitError, and nothing is written. That a provider does
// not answer now is none.
func (s Settings) Set(
	ctx context.Context, name string, words []string, anyway bool,
) (done config.Change, written []string, err error) {
	written = words
	works := func(cfg config.Config) error {
		if err := s.guarded(cfg); err != nil || anyway {
			return err
		}
		whole, err := checkWorks(ctx, cfg, name)
		if whole != "" {
			written = []string{whole}
		}
		return err
	}
	done, err = config.Set(s.Options, name, words, works)
	if err == nil && !slices.Equal(words, written) {
		done, err = config.Set(s.Options, name, written, nil)
	}
	return done, written, err
}

// Unset takes a setting or section out of the file, as config.Unset does.
func (s Settings) Unset(name string) error {
	_, err := config.Unset(s.Options, name, s.guarded)
	return err
}

func (s Settings) guarded(cfg config.Config) error {
	if s.Guard == nil {
		return nil
	}
	return s.Guard(cfg)
}

// checkWorks returns an error if a setting that is about to be set can't work: a folder that is not there, trees or
// prompts that don't load, a model that no provider has. Of a model it returns the whole name.
func checkWorks(ctx context.Context, cfg config.Config, name string) (whole string, err error) {
	if err := cfg.CheckThere(name); err != nil {
		return "", &UnfitError{errors.New(name + ": " + err.Error())}
	}
	a, err := Prepare(cfg)
	if err != nil {
		if name == "trees" || name == "prompts" {
			return "", &UnfitError{err}
		}
		return "", nil // by another setting's fault
	}
	defer a.closePrepared()
	var ids []string
	switch name {
	case "model":
		ids = []string{cfg.Model}
	case "inquiry.witness":
		ids = []string{cfg.Inquiry.Witness}
	case "fallback.models":
		ids = cfg.Fallback.Models
	}
	for _, id := range ids {
		if id == "" {
			continue
		}
		found, err := a.Models.Find(ctx, id)
		if _, several := errors.AsType[*model.AmbiguousModelError](err); several {
			return "", err
		}
		if err != nil {
			return "", &UnfitError{err}
		}
		if name == "model" {
			whole = found
		}
	}
	return whole, nil
}

// Key says that a key exists and where it comes from, and never the key.
type Key = api.Key

// KeysOf lists, by name, all keys that exist, including stored ones that no setting uses. On an error it lists those it
// could learn.
func KeysOf(cfg config.Config) ([]Key, error) {
	where, err := keys.New(cfg.Keys).Where()
	names := append(cfg.KeyNames(), slices.Collect(maps.Keys(where))...)
	slices.Sort(names)
	all := []Key{}
	for _, name := range slices.Compact(names) {
		from, by := cfg.KeyOrigin(name)
		place, stored := where[name]
		switch {
		case from == config.FromStore, from == "" && stored:
			if from = string(place); place == keys.File {
				by = cfg.Keys.File
			}
		case from == "":
			continue
		}
		all = append(all, Key{Name: name, From: from, By: by})
	}
	return all, err
}
