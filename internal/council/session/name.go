package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"sibyl/internal/redact"
	"sibyl/internal/text/search"
)

// longestTitle is how many characters a name made of the first words has at most.
const longestTitle = 60

// nameFrom names a session that has no name after the first words of a text.
func (s *Session) nameFrom(text string) {
	if s.Name != "" || s.NamedBy != "" {
		return
	}
	if name := firstWords(redact.Text(text)); name != "" {
		s.Name, s.NamedBy = name, ByWords
	}
}

// firstWords are the first whole words of a text. A word that is too long for a name by itself is cut.
func firstWords(text string) string {
	name := ""
	for word := range strings.FieldsSeq(oneLine(beginning(text))) {
		if name == "" {
			name = bounded(word, longestTitle)
			continue
		}
		if utf8.RuneCountInString(name)+1+utf8.RuneCountInString(word) > longestTitle {
			return name + "…"
		}
		name += " " + word
	}
	return name
}

// beginning is enough of a text to make a name of; the mark of a heading is none of its words.
func beginning(text string) string {
	text = strings.TrimLeft(strings.TrimPrefix(text, "\ufeff"), "# \t\r\n")
	return strings.ToValidUTF8(text[:min(len(text), 8*longestTitle)], "")
}

// cleanName is a name as it is kept: in one line.
func cleanName(name string) (string, error) {
	if !utf8.ValidString(name) {
		return "", &Invalid{Kind: Form, What: "the name", Problem: "is not UTF-8 text"}
	}
	clean := oneLine(name)
	switch {
	case clean == "":
		return "", &Invalid{Kind: Empty, What: "the name", Problem: "is empty"}
	case utf8.RuneCountInString(clean) > maxName:
		return "", &Invalid{Kind: TooLarge, What: "the name", Problem: fmt.Sprintf("has %d characters; %d at most", utf8.RuneCountInString(clean), maxName)}
	}
	return clean, nil
}

// CheckLanguage takes "", and tags such as "pt" and "pt-BR". All else is an *Invalid.
func CheckLanguage(language string) error {
	first, _, _ := strings.Cut(language, "-")
	isOther := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-'
	}
	if language != "" && (len(first) < 2 || len(first) > 3 || strings.ContainsAny(first, "0123456789") || len(language) > 20 || strings.ContainsFunc(language, isOther)) {
		return &Invalid{Kind: Form, What: "the language “" + short(language) + "”", Problem: "is none; it would look like pt, en or de"}
	}
	return nil
}

// rank orders who names a session: a person over a model over the first words.
func rank(by string) int { return slices.Index([]string{"", ByWords, "model", ByPerson}, namer(by)) }

func namer(by string) string {
	if by == "" || by == ByWords || by == ByPerson {
		return by
	}
	return "model"
}

// Rename names a session. By is ByPerson, ByWords, or a model as "provider:model". A name stays that somebody of a higher rank gave: a person over a
// model over the first words; then the session comes back as it is.
func (s *Store) Rename(ctx context.Context, id, name, by string) (Session, error) {
	name, err := cleanName(name)
	if err != nil {
		return Session{}, err
	}
	if by == "" {
		return Session{}, &Invalid{Kind: Form, What: "who names the session", Problem: "is missing"}
	}
	return s.change(ctx, id, "renaming it", func(h *held) (bool, error) {
		if rank(by) < rank(h.NamedBy) {
			return false, nil
		}
		h.Name, h.NamedBy = name, by
		return true, nil
	})
}

// Prefer changes the preferences of a session.
func (s *Store) Prefer(ctx context.Context, id string, change func(*Preferences)) (Session, error) {
	return s.change(ctx, id, "changing preferences", func(h *held) (bool, error) {
		change(&h.Preferences)
		return true, nil
	})
}

// SetLanguage says which language is spoken in a session; "": not said.
func (s *Store) SetLanguage(ctx context.Context, id, language string) (Session, error) {
	if err := CheckLanguage(language); err != nil {
		return Session{}, err
	}
	return s.change(ctx, id, "setting the language", func(h *held) (bool, error) {
		h.Language = language
		return true, nil
	})
}

// Move moves a session by an act. An act that its state does not allow is an *Illegal.
func (s *Store) Move(ctx context.Context, id string, act Act) (Session, error) {
	return s.change(ctx, id, "changing its state", func(h *held) (bool, error) {
		next, err := h.State.Next(act, h.pending())
		if err != nil {
			return false, err
		}
		changed := h.State != next
		h.State = next
		return changed, nil
	})
}

// Find finds sessions, the best first: the one of this id; else those whose ids begin so; else those with this part of a name, in whatever case and
// with or without accents. Nothing found is no error.
func (s *Store) Find(ctx context.Context, query string) ([]Session, error) {
	query = strings.TrimSpace(query)
	if query == "" {
		return nil, &Invalid{Kind: Empty, What: "what to look for", Problem: "is empty"}
	}
	if _, _, ok := parseID(query); ok {
		switch m, err := s.Get(ctx, query); {
		case err == nil:
			return []Session{m}, nil
		case !errors.Is(err, ErrNotFound):
			return nil, err
		}
	}
	all, _, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(slices.Clone(all), func(m Session) bool { return !strings.HasPrefix(m.ID, query) })
	if len(found) > 0 {
		return found, nil
	}
	found = slices.DeleteFunc(all, func(m Session) bool { return nameRank(m.Name, query) == 0 })
	slices.SortStableFunc(found, func(a, b Session) int { return nameRank(b.Name, query) - nameRank(a.Name, query) })
	return found, nil
}

// nameRank says how well a name has a part, whatever the case, the accents and what is between words: 4 is it, 3 begins so, 2 has a word that does, 1 has it
// somewhere, 0 not at all. A part without words, such as an emoji, is looked for as it is.
func nameRank(name, part string) int {
	if words := search.Words(part); len(words) > 0 {
		name, part = strings.Join(search.Words(name), " "), strings.Join(words, " ")
	}
	switch {
	case name == "" || part == "":
		return 0
	case name == part:
		return 4
	case strings.HasPrefix(name, part):
		return 3
	case strings.Contains(name, " "+part):
		return 2
	case strings.Contains(name, part):
		return 1
	}
	return 0
}
