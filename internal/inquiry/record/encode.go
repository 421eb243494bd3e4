package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// Unmarshal reads a session. The error says what can't be read, and where; whether the rules hold is asked of Validate, or of Check.
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
