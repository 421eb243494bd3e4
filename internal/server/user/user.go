// Package user says who one is over HTTP: people by their names, and the tokens that stand for them. Whoever shows the
// secret of a live token is its user, and journal.Owner(name) owns what that user does.
//
// Guarantees every Store keeps (checked by the tests of package store):
//   - Only the SHA-256 of a secret is kept. A secret holds 256 random bits, so nobody finds it from its hash, and a
//     token is found by its hash alone: how long a look-up takes says nothing about a secret.
//   - What a call did is on the disk when it returns, and every process sees it from then on. A call that fails changes
//     nothing.
//   - A token is live until it expires or is revoked. One that has ended never lives again.
//   - Only a user that is there and not revoked has live tokens, also while tokens are added and the user is revoked at
//     once.
//   - EndToken gives a token to exactly one of those who end it at the same time.
//   - Names and ids hold no byte that a database refuses: ErrInvalid for any other.
//   - Times are kept to the millisecond, in UTC.
package user

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Errors of a Store and a Service. Those of a Store are wrapped, with the name in question; none repeats a secret.
var (
	ErrExists   = errors.New("already exists")
	ErrNotFound = errors.New("not found, or revoked")
	ErrInvalid  = errors.New("not valid")

	// ErrUnknown is all that is said of a secret that opens nothing.
	ErrUnknown = errors.New("the token is unknown, revoked or expired")
)

// NotFound is the ErrNotFound of a user.
func NotFound(name string) error { return fmt.Errorf("user %q: %w", name, ErrNotFound) }

// Exists is the ErrExists of a user.
func Exists(name string) error { return fmt.Errorf("user %q: %w", name, ErrExists) }

// Scope is what a token allows.
type Scope string

// The scopes. Each includes those before it.
const (
	Read    Scope = "read"
	Write   Scope = "write"
	Operate Scope = "operate" // to see how the server works for all of its users, without a word of theirs
)

// Scopes are all there are, the least first.
func Scopes() []Scope { return []Scope{Read, Write, Operate} }

// Allows says that a token of scope s may do what needs the scope needed.
func (s Scope) Allows(needed Scope) bool {
	all := Scopes()
	at := slices.Index(all, needed)
	return at >= 0 && slices.Index(all, s) >= at
}

// Kind is what a token is for.
type Kind string

// The kinds of tokens.
const (
	Bearer Kind = "bearer"  // a program sends it with each request
	SignIn Kind = "sign-in" // a browser hands it in, once, for a cookie
	Cookie Kind = "cookie"  // a browser sends it with each request
)

// User is a person, or a program that acts as one.
type User struct {
	Name      string    `json:"name"`
	Scope     Scope     `json:"scope"`      // of the tokens made for this user
	CreatedAt time.Time `json:"created_at"` // when the user was added, the last time
	RevokedAt time.Time `json:"revoked_at,omitzero"`
}

// Token is what is known of a secret. It does not hold the secret, nor its hash.
type Token struct {
	ID        string    `json:"id"` // tells it from all others, for people
	User      string    `json:"user"`
	Kind      Kind      `json:"kind"`
	Scope     Scope     `json:"scope"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"` // expired from then on
	RevokedAt time.Time `json:"revoked_at,omitzero"`
}

// Store keeps users and tokens. Implementations are safe for concurrent use and, where they are a database, from
// several processes.
type Store interface {
	// AddUser adds a user with a first token, in one transaction. A revoked user is there again, as given. ErrExists if
	// there is one that is not revoked, or a token of this hash.
	AddUser(ctx context.Context, u User, first Token, hash Hash) error
	// User returns a user that is not revoked; ErrNotFound.
	User(ctx context.Context, name string) (User, error)
	// Users lists all users by name, the revoked ones too.
	Users(ctx context.Context) ([]User, error)
	// RevokeUser revokes a user and every token of theirs that is not revoked; ErrNotFound.
	RevokeUser(ctx context.Context, name string, at time.Time) error

	// AddToken adds a token. ErrNotFound if its user is not there or revoked, ErrExists if there is one of this hash.
	AddToken(ctx context.Context, t Token, hash Hash) error
	// ReplaceTokens adds a token as AddToken does and revokes, when it begins, all others of its user and kind, in one
	// transaction.
	ReplaceTokens(ctx context.Context, t Token, hash Hash) error
	// Token returns a token, live or not; ErrNotFound. It is asked with each request: one look-up by an index.
	Token(ctx context.Context, hash Hash) (Token, error)
	// Tokens lists the tokens of all users that are live at now, by user, the oldest first (ties by id).
	Tokens(ctx context.Context, now time.Time) ([]Token, error)
	// EndToken revokes a token that is live at that time and of that kind, and returns it; ErrNotFound for any other.
	// Of several calls at once one gets it.
	EndToken(ctx context.Context, hash Hash, kind Kind, at time.Time) (Token, error)
	// ForgetTokens removes the tokens that expired or were revoked before a time.
	ForgetTokens(ctx context.Context, before time.Time) error
}
