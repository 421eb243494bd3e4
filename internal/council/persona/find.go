package persona

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

const maxCandidates = 8 // that an error names

// The kinds of errors of Find, for errors.Is.
var (
	ErrNotFound  = errors.New("no such oracle")
	ErrAmbiguous = errors.New("several oracles match")
)

// FindError is why Find gave none.
type FindError struct {
	Kind       error     // ErrNotFound or ErrAmbiguous
	Candidates []Persona // what may have been meant, the nearest first
	text       string
}

func (e *FindError) Error() string { return e.text }

func (e *FindError) Unwrap() error { return e.Kind }

// Find gives the oracle that is meant: by its id, else its name, else its slug, else the beginning of one of them, if
// that is the beginning of one oracle's alone. Case and accents do not matter. The errors are *FindError, and those of
// List.
func (s *Shelf) Find(ctx context.Context, name string) (Persona, error) {
	now, err := s.refresh(ctx)
	if err != nil {
		return Persona{}, err
	}
	return now.find(name)
}

// names are what an oracle is called by, folded: “Zuhörer” is typed as zuhorer and as zuhoerer.
func (p Persona) names() []string {
	umlauts := strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue")
	return []string{fold(p.Name), fold(umlauts.Replace(strings.ToLower(norm.NFC.String(p.Name)))), p.Slug}
}

// find looks for what is meant in a listing.
func (l Listing) find(asked string) (Persona, error) {
	key := fold(asked)
	slug := Slug(asked)
	if slug == emptySlug && key != emptySlug {
		slug = key
	}
	if key == "" {
		return Persona{}, l.unknownError(asked, key)
	}
	for _, is := range []func(p Persona) bool{
		func(p Persona) bool { return p.ID == key },
		func(p Persona) bool { return fold(p.Name) == key },
		func(p Persona) bool { return p.Slug == slug || slices.Contains(p.names(), key) },
		func(p Persona) bool {
			begins := func(name string) bool { return strings.HasPrefix(name, key) }
			return slices.ContainsFunc(p.names(), begins) || strings.HasPrefix(p.Slug, slug)
		},
		func(p Persona) bool { return strings.HasPrefix(p.ID, key) },
	} {
		found := slices.DeleteFunc(slices.Clone(l.Oracles), func(p Persona) bool { return !is(p) })
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return Persona{}, &FindError{Kind: ErrAmbiguous, Candidates: found,
				text: fmt.Sprintf("“%s” may be several oracles: %s", oneLine(asked), listNames(found, true))}
		}
	}
	return Persona{}, l.unknownError(asked, key)
}

// unknownError is the error for a name that no oracle has. It lists all oracles, those first that begin most alike.
func (l Listing) unknownError(asked, key string) error {
	near := slices.Clone(l.Oracles)
	alike := func(p Persona) (n int) {
		for name := fold(p.Name); n < min(len(name), len(key)) && name[n] == key[n]; n++ {
		}
		return n
	}
	slices.SortStableFunc(near, func(a, b Persona) int { return alike(b) - alike(a) })
	e := &FindError{Kind: ErrNotFound, Candidates: near}
	switch {
	case len(near) == 0:
		e.text = "there are no oracles yet: each Markdown file in the folder of oracles is one; ‘sibyl council " +
			"oracle new NAME’ creates one"
	case key == "":
		e.text = "no oracle is given; available: " + listNames(near, false)
	default:
		e.text = fmt.Sprintf("no oracle is called “%s”; available: %s", oneLine(asked), listNames(near, false))
	}
	return e
}

// listNames lists oracles for an error; apart adds file and id, which tell them apart.
func listNames(all []Persona, apart bool) string {
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
