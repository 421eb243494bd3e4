package app

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"sibyl/internal/bt"
	"sibyl/internal/council"
	"sibyl/internal/inquiry"
	"sibyl/internal/oracle"
	"sibyl/internal/taskchat"
	"sibyl/trees"
)

// kind is what trees of an assistant are made of.
type kind struct {
	assistant string
	trees     []string
	leaves    *bt.Leaves
	options   bt.Options
}

func (a *App) kinds() (all []kind, err error) {
	for _, one := range []struct {
		assistant string
		trees     []string
		leaves    func() (*bt.Leaves, bt.Options, error)
	}{
		{council.Name, []string{council.Name}, council.Leaves},
		{inquiry.Name, []string{inquiry.Name}, inquiry.Leaves},
		{oracle.Name, []string{oracle.Name, oracle.ShadowTree}, oracle.Leaves},
		{taskchat.Name, []string{taskchat.Name}, taskchat.Leaves},
	} {
		leaves, options, err := one.leaves()
		if err != nil {
			return nil, err
		}
		all = append(all, kind{one.assistant, one.trees, leaves, options})
	}
	return all, nil
}

// LoadTree loads a tree for the assistant that its file is named after; one of another name for the assistant that it fits best.
func (a *App) LoadTree(t trees.Tree) (best *bt.Tree, err error) {
	all, err := a.kinds()
	if err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(filepath.Base(t.File), ".xml")
	fewest := -1
	for _, k := range all {
		loaded, loadErr := k.leaves.Load(t.File, t.Text, k.options)
		for _, known := range k.trees {
			if known == name {
				return loaded, loadErr
			}
		}
		var wrong *bt.LoadError
		problems := 0
		if errors.As(loadErr, &wrong) {
			problems = len(wrong.Problems)
		}
		if fewest < 0 || problems < fewest {
			fewest, best, err = problems, loaded, loadErr
		}
	}
	return best, err
}

// Leaves are the leaves of an assistant.
func (a *App) Leaves(assistant string) (*bt.Leaves, error) {
	all, err := a.kinds()
	if err != nil {
		return nil, err
	}
	for _, k := range all {
		if k.assistant == assistant {
			return k.leaves, nil
		}
	}
	return nil, fmt.Errorf("there is no assistant %q; there is: %s", assistant, strings.Join(namesOf(all), ", "))
}

// TreeAssistants are the assistants that Leaves knows.
func (a *App) TreeAssistants() ([]string, error) {
	all, err := a.kinds()
	return namesOf(all), err
}

func namesOf(all []kind) (names []string) {
	for _, k := range all {
		names = append(names, k.assistant)
	}
	return names
}
