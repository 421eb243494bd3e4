package config

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"regexp"
	"strings"
	"time"
	"unicode"

	"sibyl/internal/redact"
)

// Secret is a text that no log, error or JSON shows; only Reveal gives it away. The zero value is no secret.
//
// It holds a pointer since methods alone do not protect a string: fmt does not call them for an unexported field or for
// a verb that does not fit, and encoding/json does not for the key of a map.
type Secret struct{ text *string }

// NewSecret makes a Secret; of "" it makes the zero value.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{&text}
}

// NewKey makes the Secret of a key as people paste it: without quotation marks, blanks and line ends around it, and
// without the name of a variable or header, or “Bearer”, before it.
func NewKey(text string) Secret { return NewSecret(cleanKey(text)) }

var keyPrefix = regexp.MustCompile(`(?i)^(?:export\s+)?(?:[A-Z][A-Z0-9_]*_(?:KEY|TOKEN)\s*=|(?:authorization|x-api-key|x-goog-api-key|` +
	`api-key)\s*:|bearer\s+|bearer$)\s*`)

func cleanKey(text string) string {
	for {
		clean := WithoutQuotes(text)
		if clean = keyPrefix.ReplaceAllString(clean, ""); clean == text {
			return clean
		}
		text = clean
	}
}

// WithoutQuotes returns text without what is no part of a value around it.
func WithoutQuotes(text string) string {
	around := func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) ||
			strings.ContainsRune("\"'`´“”„‟‘’‚‛«»‹›＂＇", r)
	}
	clean := strings.TrimFunc(text, around)
	if quoted := strings.TrimRight(clean, ",;"); quoted != clean && strings.TrimRightFunc(quoted, around) != quoted {
		return WithoutQuotes(quoted) // as a line of JSON or code ends
	}
	return clean
}

// wrongKey says what is wrong with the form of a key, without the key; "" if nothing is.
func wrongKey(key string) string {
	switch {
	case strings.ContainsFunc(key, unicode.IsControl):
		return "has more than one line"
	case strings.ContainsFunc(key, unicode.IsSpace):
		return "has a space in it"
	case strings.ContainsFunc(key, func(r rune) bool { return r >= 0x7f }):
		return "has a character that no key has"
	}
	return ""
}

// LongestKey is the most bytes of a key that is stored: some keyrings take no more.
const LongestKey = 2048

// ErrNoKey says that there is nothing where a key was to be typed.
var ErrNoKey = errors.New("no key was given")

// TypedKey makes a key of what a person has typed or pasted, and checks its form. Its errors contain nothing of it.
func TypedKey(text string) (Secret, error) {
	text = WithoutQuotes(text) // some shells begin piped text with a byte order mark
	switch {
	case text == "":
		return Secret{}, ErrNoKey
	case len(text) > LongestKey:
		return Secret{}, fmt.Errorf("the key is longer than %d bytes", LongestKey)
	case strings.ContainsAny(text, "\r\n"):
		return Secret{}, errors.New("there is more than one line: give only the key")
	case strings.ContainsAny(text, " \t"):
		return Secret{}, errors.New("there is a space in the key: give only the key, without its name or ‘Bearer’")
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return Secret{}, errors.New("the key contains an invalid character: copy it again")
	case len(text) < redact.MinSecret:
		return Secret{}, fmt.Errorf("the key has only %d characters; below %d it can't be told from ordinary words, so "+
			"it could not be redacted", len(text), redact.MinSecret)
	}
	return NewSecret(text), nil
}

// OwnerOfKey returns the provider or search engine whose keys begin as this one does; "" if that isn't known.
func OwnerOfKey(key Secret) string {
	for beginning, name := range map[string]string{"sk-ant-": "anthropic", "sk-proj-": "openai", "AIza": "gemini",
		"tvly-": "tavily"} {
		if strings.HasPrefix(key.Reveal(), beginning) {
			return name
		}
	}
	return ""
}

// Reveal returns the text itself.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

const shown = "[secret]"

// String implements fmt.Stringer.
func (s Secret) String() string { return shown }

// Format implements fmt.Formatter, for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, shown) }

// MarshalText implements encoding.TextMarshaler, for JSON, YAML and the rest.
func (s Secret) MarshalText() ([]byte, error) { return []byte(shown), nil }

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(shown) }

const (
	keyCommandTimeout = 10 * time.Second
	maxKeyBytes       = 64 << 10
	// How long a child of the command may hold its output open; a busy machine reads it late.
	outputTimeout = 3 * time.Second
)

func runKeyCommand(ctx context.Context, command []string, timeout time.Duration) (Secret, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // the person's own configuration names it
	cmd.WaitDelay = outputTimeout
	var out boundedOutput
	cmd.Stdout = &out
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return Secret{}, fmt.Errorf("key_command %q did not end within %s: %w", command[0], timeout, ctx.Err())
	case out.overflowed:
		return Secret{}, fmt.Errorf("key_command %q printed more than %d bytes: it must print only the key",
			command[0], maxKeyBytes)
	case errors.As(err, &exit):
		return Secret{}, fmt.Errorf("key_command %q ended with status %d: run it by hand to see why",
			command[0], exit.ExitCode())
	case err != nil && !errors.Is(err, exec.ErrWaitDelay): // it ended well, but left a child behind
		return Secret{}, fmt.Errorf("key_command %q cannot be run: %w", command[0], err)
	}
	switch key := strings.TrimRight(string(out.kept), "\r\n"); {
	case cleanKey(key) == "":
		return Secret{}, fmt.Errorf("key_command %q printed nothing: it must print the key", command[0])
	case strings.ContainsFunc(key, isControl):
		return Secret{}, fmt.Errorf("key_command %q printed more than one line: it must print only the key", command[0])
	default:
		return NewSecret(key), nil
	}
}

// boundedOutput keeps at most maxKeyBytes and refuses the rest, which ends the command.
type boundedOutput struct {
	kept       []byte
	overflowed bool
}

func (b *boundedOutput) Write(p []byte) (int, error) {
	if len(b.kept)+len(p) > maxKeyBytes {
		b.overflowed = true
		return 0, errors.New("too much output")
	}
	b.kept = append(b.kept, p...)
	return len(p), nil
}
