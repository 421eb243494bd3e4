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

	"golang.org/x/text/unicode/norm"
)

const maxCandidates = 8 // that an error names

// The kinds of errors of Find, for errors.Is.
var (
	ErrNotFound  = errors.New("no such oracle")
	ErrAmbiguous = errors.New("several oracles match")
	ErrDeleted   = errors.New("the oracle was deleted")
)

// FindError is why Find gave none.
type FindError struct {
	Kind       error     // ErrNotFound, ErrAmbiguous or ErrDeleted
	Candidates []Persona // what may have been meant, the nearest first
	text       string
}

func (e *FindError) Error() string { return e.text }

func (e *FindError) Unwrap() error { return e.Kind }

// Find gives the oracle that is meant: by its id, else its name, else its slug, else the beginning of one of them, if that is the beginning
// of one oracle's alone. Case and accents do not matter. The errors are *FindError, and those of List.
func (s *Shelf) Find(ctx context.Context, name string) (Persona, error) {
	done, err := s.take(ctx)
	if err != nil {
		return Persona{}, err
	}
	defer done()
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
	other := again.ID != found.ID && fold(again.Name) != fold(found.Name)
	if failed == nil && (err != nil || other) { // “an” may mean another oracle than a moment ago
		if gone := s.gone(found, name); gone != nil {
			return Persona{}, gone
		}
	}
	return again, err
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

// gone is the error for an oracle that was in the list and can no longer be used; nil if it can be, under another name.
func (s *Shelf) gone(p Persona, asked string) error {
	e := &FindError{Kind: ErrDeleted, Candidates: s.listing.nearest(fold(asked))}
	for _, skipped := range s.listing.Skipped {
		if skipped.File == p.File {
			e.text = fmt.Sprintf("the oracle “%s” can no longer be used: %s: %s", p.Name, p.File, skipped.Reason)
			return e
		}
	}
	if _, err := os.Stat(p.File); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	e.text = fmt.Sprintf("the oracle “%s” was deleted: %s is no longer there", p.Name, p.File)
	if len(e.Candidates) > 0 {
		e.text += "; available: " + named(e.Candidates, false)
	}
	return e
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
			return Persona{}, &FindError{Kind: ErrAmbiguous, Candidates: found,
				text: fmt.Sprintf("“%s” may be several oracles: %s", oneLine(asked), named(found, true))}
		}
	}
	return Persona{}, l.unknown(asked, key)
}

// nearest gives all oracles, those first that are called most alike.
func (l Listing) nearest(key string) []Persona {
	near := slices.Clone(l.Oracles)
	distance := make(map[string]int, len(near))
	for _, p := range near {
		distance[p.File] = maxName
		for _, name := range p.names() {
			distance[p.File] = min(distance[p.File], editDistance(key, name))
		}
	}
	slices.SortStableFunc(near, func(a, b Persona) int { return cmp.Compare(distance[a.File], distance[b.File]) })
	return near
}

func (l Listing) unknown(asked, key string) error {
	near := l.nearest(key)
	e := &FindError{Kind: ErrNotFound, Candidates: near}
	switch {
	case len(near) == 0:
		e.text = "there are no oracles yet: each Markdown file in the folder of oracles is one; ‘sibyl council oracle new NAME’ creates one"
	case key == "":
		e.text = "no oracle is given; available: " + named(near, false)
	default:
		e.text = fmt.Sprintf("no oracle is called “%s”; available: %s", oneLine(asked), named(near, false))
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
