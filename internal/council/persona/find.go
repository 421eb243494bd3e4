package persona

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const maxCandidates = 8 // that an error names

// The kinds of errors of Find, for errors.Is.
var (
	ErrNotFound  = errors.New("no such oracle")
	ErrAmbiguous = errors.New("several oracles are meant")
	ErrDeleted   = errors.New("the oracle was deleted")
)

// FindError is why Find gave none.
type FindError struct {
	Kind       error     // ErrNotFound, ErrAmbiguous or ErrDeleted
	Asked      string    // what was asked for
	Candidates []Persona // what may have been meant, the nearest first
	text       string
}

func (e *FindError) Error() string { return e.text }

func (e *FindError) Unwrap() error { return e.Kind }

// Find gives the oracle that is meant: by its id, else its name, else its slug, else the beginning of one of them, if that is the beginning
// of one oracle's alone. Case and accents do not matter. The errors are *FindError, and those of List.
func (s *Shelf) Find(ctx context.Context, name string) (Persona, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.look(ctx, false); err != nil {
		return Persona{}, err
	}
	found, failed := s.listing.find(name)
	switch {
	case failed == nil && s.unchanged(found):
		return found, nil
	case failed != nil && s.config.Dir == "":
		return Persona{}, failed
	}
	if err := s.look(ctx, true); err != nil { // a file that is new or changed counts at once
		return Persona{}, err
	}
	again, err := s.listing.find(name)
	if failed == nil && errors.Is(err, ErrNotFound) {
		return Persona{}, s.gone(found, name, err)
	}
	if err != nil {
		return Persona{}, err
	}
	return again, nil
}

// unchanged says that an oracle of the listing is what its file holds.
func (s *Shelf) unchanged(p Persona) bool {
	if s.config.Dir == "" {
		return true
	}
	f := s.known[p.File]
	info, err := os.Stat(p.File)
	return f != nil && f.info != nil && err == nil && same(f.info, info)
}

// gone is the error for an oracle that was in the list and is no longer there under what was asked for.
func (s *Shelf) gone(p Persona, asked string, err error) error {
	failed, _ := errors.AsType[*FindError](err)
	if _, stat := os.Stat(p.File); !errors.Is(stat, fs.ErrNotExist) {
		for _, skipped := range s.listing.Skipped {
			if skipped.File == p.File {
				failed.text = fmt.Sprintf("the oracle “%s” can no longer be used: %s: %s", p.Name, p.File, skipped.Reason)
			}
		}
		return failed
	}
	return &FindError{Kind: ErrDeleted, Asked: asked, Candidates: failed.Candidates,
		text: fmt.Sprintf("the oracle “%s” was deleted: %s is no longer there", p.Name, p.File)}
}

// find looks for what is meant in a listing.
func (l Listing) find(asked string) (Persona, error) {
	key := fold(asked)
	slug := Slug(asked)
	if slug == emptySlug && key != emptySlug {
		slug = key
	}
	for _, is := range []func(p Persona) bool{
		func(p Persona) bool { return p.ID == key },
		func(p Persona) bool { return fold(p.Name) == key },
		func(p Persona) bool { return p.Slug == slug },
		func(p Persona) bool { return strings.HasPrefix(fold(p.Name), key) || strings.HasPrefix(p.Slug, slug) },
		func(p Persona) bool { return strings.HasPrefix(p.ID, key) },
	} {
		if key == "" {
			break
		}
		var found []Persona
		for _, p := range l.Oracles {
			if is(p) {
				found = append(found, p)
			}
		}
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return Persona{}, &FindError{Kind: ErrAmbiguous, Asked: asked, Candidates: found,
				text: fmt.Sprintf("“%s” may be several oracles: %s", oneLine(asked), named(found, true))}
		}
	}
	return Persona{}, l.unknown(asked, key)
}

func (l Listing) unknown(asked, key string) error {
	near := slices.Clone(l.Oracles)
	distance := make(map[string]int, len(near))
	for _, p := range near {
		distance[p.ID] = min(editDistance(key, fold(p.Name)), editDistance(key, p.Slug))
	}
	slices.SortStableFunc(near, func(a, b Persona) int { return cmp.Compare(distance[a.ID], distance[b.ID]) })
	e := &FindError{Kind: ErrNotFound, Asked: asked, Candidates: near}
	switch {
	case len(near) == 0:
		e.text = "there is no oracle yet: each Markdown file in the folder is one"
	case key == "":
		e.text = "no oracle is named; there are " + named(near, false)
	default:
		e.text = fmt.Sprintf("no oracle is called “%s”; there are %s", oneLine(asked), named(near, false))
	}
	return e
}

// named lists oracles for an error, with what tells them apart if that is wanted.
func named(all []Persona, apart bool) string {
	var words []string
	for _, p := range all[:min(len(all), maxCandidates)] {
		if apart {
			words = append(words, fmt.Sprintf("%s (%s, id %s)", p.Name, filepath.Base(p.File), p.ID))
		} else {
			words = append(words, p.Name)
		}
	}
	list := strings.Join(words, ", ")
	if more := len(all) - len(words); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// editDistance is how many letters must be put in, taken out or changed to make one word of the other. Only beginnings are compared.
func editDistance(a, b string) int {
	const most = 64
	from, to := []rune(a), []rune(b)
	from, to = from[:min(len(from), most)], to[:min(len(to), most)]
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range from {
		corner := row[0]
		row[0] = i + 1
		for j, q := range to {
			change := corner
			if r != q {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, corner+1, row[j]+1)
		}
	}
	return row[len(to)]
}
