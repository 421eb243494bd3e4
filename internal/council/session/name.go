package session

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"sibyl/internal/text"
)

// The maximum lengths of names, in characters.
const (
	maxName      = 200
	longestTitle = 60 // of a name made from the first words
)

// nameFrom names a session that has no name after the first words of a stored text, without a leading "#".
func (s *Session) nameFrom(said string) {
	if s.Name != "" || s.NamedBy != "" {
		return
	}
	said = strings.TrimLeft(strings.TrimPrefix(said, "\ufeff"), "# \t\r\n")
	name := text.Brief(text.Clip(said, 8*longestTitle), longestTitle)
	if whole := strings.LastIndexByte(name, ' '); whole > 0 && strings.HasSuffix(name, "…") {
		name = name[:whole] + "…"
	}
	if name != "" {
		s.Name, s.NamedBy = name, ByWords
	}
}

// cleanName gives a name in one line, redacted, or an *Invalid if it is empty, too long or not UTF-8.
func (s *Store) cleanName(name string) (string, error) {
	clean := s.c.Redact(text.OneLine(name))
	switch n := utf8.RuneCountInString(clean); {
	case !utf8.ValidString(name):
		return "", &Invalid{Kind: Form, What: "the name", Problem: "is not UTF-8 text"}
	case n == 0:
		return "", &Invalid{Kind: Empty, What: "the name", Problem: "is empty"}
	case n > maxName:
		return "", &Invalid{Kind: TooLarge, What: "the name", Problem: fmt.Sprintf("has %d characters; %d at most",
			n, maxName)}
	}
	return clean, nil
}

// CheckLanguage accepts "" and tags such as "pt" and "pt-BR", and returns an *Invalid for anything else.
func CheckLanguage(language string) error {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	first, rest, _ := strings.Cut(language, "-")
	isFirst := (len(first) == 2 || len(first) == 3) && strings.Trim(first, letters) == ""
	if language != "" && (!isFirst || len(language) > 20 || strings.Trim(rest, letters+"0123456789-") != "") {
		return &Invalid{Kind: Form, What: "the language “" + shortened(language) + "”",
			Problem: "is none; it would look like pt, en or de"}
	}
	return nil
}

// namerRank ranks a value of NamedBy: a person over a model over the first words over none.
func namerRank(by string) int {
	switch by {
	case "":
		return 0
	case ByWords:
		return 1
	case ByPerson:
		return 3
	}
	return 2
}

// Rename names a session; by is ByPerson, ByWords, or a model as "provider:model". It changes nothing, without an
// error, if the current name has a higher rank: a person over a model over the first words.
func (s *Store) Rename(ctx context.Context, id, name, by string) (Session, error) {
	name, err := s.cleanName(name)
	if err != nil {
		return Session{}, err
	}
	if by == "" {
		return Session{}, &Invalid{Kind: Form, What: "who names the session", Problem: "is missing"}
	}
	return s.change(ctx, id, "renaming it", func(h *lockedSession) (bool, error) {
		if namerRank(by) < namerRank(h.NamedBy) {
			return false, nil
		}
		h.Name, h.NamedBy = name, by
		return true, nil
	})
}

// Settings are the changes of Set; nil fields stay as they are.
type Settings struct {
	Language          *string // "pt", "en", "de" and so on; "": detected
	IncludeLLMHistory *bool
	SimplifiedButtons *bool
}

// Set changes settings of a session.
func (s *Store) Set(ctx context.Context, id string, set Settings) (Session, error) {
	if set.Language != nil {
		if err := CheckLanguage(*set.Language); err != nil {
			return Session{}, err
		}
	}
	return s.change(ctx, id, "changing its settings", func(h *lockedSession) (bool, error) {
		if set.Language != nil {
			h.Language = *set.Language
		}
		if set.IncludeLLMHistory != nil {
			h.Preferences.IncludeLLMHistory = *set.IncludeLLMHistory
		}
		if set.SimplifiedButtons != nil {
			h.Preferences.SimplifiedButtons = *set.SimplifiedButtons
		}
		return set != Settings{}, nil
	})
}
