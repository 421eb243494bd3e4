package user

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// The rules that hold for every Store, so that an adapter only has to keep rows.

const (
	longestName = 64
	alphabet    = "abcdefghijklmnopqrstuvwxyz0123456789"
	nameChars   = alphabet + "._-"
)

// invalidError is an ErrInvalid that says what would be valid, and repeats nothing that was given: it may be a secret
// in the wrong place.
type invalidError string

func (e invalidError) Error() string { return string(e) }
func (e invalidError) Unwrap() error { return ErrInvalid }

// CheckName says whether a user can have this name: ErrInvalid. No name looks like a secret, since that would be taken
// out of texts.
func CheckName(name string) error {
	if name == "" || len(name) > longestName || strings.Trim(name, nameChars) != "" ||
		!strings.Contains(alphabet, name[:1]) {
		return invalidError(fmt.Sprintf("a user's name has 1 to %d characters of a-z, 0-9, dot, dash and underscore, "+
			"and begins with a letter or digit", longestName))
	}
	if strings.HasPrefix(name, Prefix) {
		return invalidError("a user's name does not begin with " + Prefix + ", as secrets do")
	}
	return nil
}

// NewUser checks a user that is added with a first token and returns both as they are kept.
func NewUser(u User, first Token) (User, Token, error) {
	first, err := NewToken(first)
	switch {
	case err != nil:
	case first.User != u.Name:
		err = invalidError("a user's first token is their own")
	default:
		err = u.Scope.check()
	}
	u.CreatedAt, u.RevokedAt = Millis(u.CreatedAt), time.Time{}
	return u, first, err
}

// NewToken checks a token that is added and returns it as it is kept.
func NewToken(t Token) (Token, error) {
	if err := CheckName(t.User); err != nil {
		return Token{}, err
	}
	if t.ID == "" || len(t.ID) > longestName || strings.Trim(t.ID, nameChars) != "" {
		return Token{}, invalidError(
			fmt.Sprintf("a token's id has 1 to %d characters of a-z, 0-9, dot, dash and underscore", longestName))
	}
	if t.Kind != Bearer && t.Kind != SignIn && t.Kind != Cookie {
		return Token{}, invalidError("a token is a bearer, a sign-in or a cookie")
	}
	t.CreatedAt, t.ExpiresAt, t.RevokedAt = Millis(t.CreatedAt), Millis(t.ExpiresAt), time.Time{}
	if !t.ExpiresAt.After(t.CreatedAt) {
		return Token{}, invalidError("a token expires after it was made")
	}
	return t, t.Scope.check()
}

func (s Scope) check() error {
	if !slices.Contains(Scopes(), s) {
		return invalidError(fmt.Sprintf("a scope is %s, %s or %s", Read, Write, Operate))
	}
	return nil
}

// Live says that t is neither revoked nor expired at now.
func (t Token) Live(now time.Time) bool {
	return t.RevokedAt.IsZero() && t.ExpiresAt.After(Millis(now))
}

// Millis returns t as a Store keeps it: to the millisecond, rounded down, in UTC.
func Millis(t time.Time) time.Time { return time.UnixMilli(t.UnixMilli()).UTC() }
