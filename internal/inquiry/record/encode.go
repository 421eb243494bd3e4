package record

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"sibyl/internal/jsonobject"
)

// Defaults makes the lists of a session ones of nothing, where its text does not say.
func (s *Session) Defaults() { s.Pairs, s.AuditTrail = []Pair{}, []TrailEntry{} }

// Defaults makes the list of gaps one of nothing, where the text does not say.
func (g *GapAnalysis) Defaults() { g.Gaps = []Gap{} }

// Defaults makes the lists of an audit ones of nothing, where its text does not say.
func (a *Audit) Defaults() { a.Contradictions, a.RemainingGaps = []Contradiction{}, []RemainingGap{} }

// Unmarshal reads a session. Members that are not known here are kept. The error says what can't be read, and where; whether the rules hold is asked
// of Validate, or of Check.
func Unmarshal(content []byte) (s Session, err error) {
	if err = jsonobject.Decode(content, &s); err != nil {
		return Session{}, fmt.Errorf("the session %w", err)
	}
	return s, nil
}

// Marshal gives a session as its file has it: indented, with a line break at its end, and with all that it was read with.
func Marshal(s Session) ([]byte, error) { return jsonobject.Encode(&s) }

// MarshalJSON gives what the file has.
func (s Session) MarshalJSON() ([]byte, error) { return Marshal(s) }

// UnmarshalJSON is Unmarshal.
func (s *Session) UnmarshalJSON(content []byte) (err error) {
	*s, err = Unmarshal(content)
	return err
}

var (
	_ json.Marshaler   = Session{}
	_ json.Unmarshaler = &Session{}
)

// longestShown is how many characters of a text from outside a message shows.
const longestShown = 60

// short is a text from outside as a message shows it: in one line, bounded, without what can't be seen.
func short(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return -1
	}, strings.Join(strings.Fields(strings.ToValidUTF8(text, "\ufffd")), " "))
	if all := []rune(text); len(all) > longestShown {
		return string(all[:longestShown-1]) + "…"
	}
	return text
}
