package record

import (
	"bytes"
	"encoding/json"
	"fmt"

	"sibyl/internal/text"
)

// Unmarshal decodes a session. The error says what can't be read, and where. Validate and Check check the rules.
func Unmarshal(content []byte) (s Session, err error) {
	if err = json.Unmarshal(content, &s); err != nil {
		return Session{}, fmt.Errorf("the session can't be read: %w", err)
	}
	return s, nil
}

// Marshal encodes a session as in its file: indented, with a line break at its end.
func Marshal(s Session) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(s)
	return b.Bytes(), err
}

// longestShown bounds the characters of a text from outside in a message.
const longestShown = 60

// short shortens a text from outside for a message, to one line.
func short(s string) string { return text.Brief(s, longestShown) }
