package app

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"sibyl/internal/bt"
	"sibyl/internal/council"
	"sibyl/internal/inquiry"
	"sibyl/internal/oracle"
	"sibyl/internal/taskchat"
	"sibyl/trees"
)

// kind describes the trees of an assistant.
type kind struct {
	assistant string
	trees     []string
	leaves    func() (*bt.Leaves, bt.Options, error)
}

func kinds() []kind {
	return []kind{
		{council.Name, []string{council.Name}, council.Leaves},
		{inquiry.Name, []string{inquiry.Name}, inquiry.Leaves},
		{oracle.Name, []string{oracle.Name, oracle.ShadowTree}, oracle.Leaves},
		{taskchat.Name, []string{taskchat.Name}, taskchat.Leaves},
	}
}

// LoadTree loads a tree for the assistant that its file is named after, or else for the best-fitting one.
func (a *App) LoadTree(t trees.Tree) (best *bt.Tree, err error) {
	name := strings.TrimSuffix(filepath.Base(t.File), ".xml")
	fewest := -1
	for _, k := range kinds() {
		leaves, options, failed := k.leaves()
		if failed != nil {
			return nil, failed
		}
		loaded, loadErr := leaves.Load(t.File, t.Text, options)
		if slices.Contains(k.trees, name) {
			return loaded, loadErr
		}
		problems := 0
		if wrong, ok := errors.AsType[*bt.LoadError](loadErr); ok {
			problems = len(wrong.Problems)
		}
		if fewest < 0 || problems < fewest {
			fewest, best, err = problems, loaded, loadErr
		}
	}
	return best, err
}

func (a *App) Leaves(assistant string) (*bt.Leaves, error) {
	var names []string
	for _, k := range kinds() {
		if k.assistant == assistant {
			leaves, _, err := k.leaves()
			return leaves, err
		}
		names = append(names, k.assistant)
	}
	return nil, fmt.Errorf("there is no assistant %q; there is: %s", assistant, strings.Join(names, ", "))
}
