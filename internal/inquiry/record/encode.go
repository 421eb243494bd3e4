package record

import (
	"bytes"
	"encoding/json"
	"fmt"

	"sibyl/internal/text"
)

// Unmarshal reads a session. The error says what can't be read, and where; whether the rules hold is asked of Validate,
// or of Check.
func Unmarshal(content []byte) (s Session, err error) {
	if err = json.Unmarshal(content, &s); err != nil {
		return Session{}, fmt.Errorf("the session can't be read: %w", err)
	}
	return s, nil
}

// Marshal gives a session as its file has it: indented, with a line break at its end.
func Marshal(s Session) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(s)
	return b.Bytes(), err
}

// longestShown is how many characters of a text from outside a message shows.
const longestShown = 60

// short is a text from outside as a message shows it: in one line, and bounded.
func short(s string) string { return text.Brief(s, longestShown) }
