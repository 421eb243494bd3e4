package user

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// How long tokens last. A bearer's time is chosen within the bounds.
const (
	MinExpiry = time.Minute
	MaxExpiry = 3650 * day // ten years

	signInLasts    = 5 * time.Minute
	cookieLasts    = 30 * day
	tokenRetention = 30 * day // after its end

	day = 24 * time.Hour
)

// Service is what can be done with users and tokens. It is safe for concurrent use, and remembers nothing: what one
// process revokes has ended in all of them. Secrets are returned by the call that makes them, and by none after it.
type Service struct {
	store Store
	now   func() time.Time
}

// New makes a Service over a store. now is the time of day.
func New(store Store, now func() time.Time) *Service { return &Service{store, now} }

// Add adds a user and returns a bearer that lasts for expires, with its secret. A revoked user is there again, with all
// that is theirs. ErrExists, ErrInvalid.
func (s *Service) Add(ctx context.Context, name string, scope Scope, expires time.Duration) (Token, string, error) {
	if err := checkExpiry(expires); err != nil {
		return Token{}, "", err
	}
	u := User{Name: name, Scope: scope, CreatedAt: s.now()}
	return s.issue(ctx, u, Bearer, expires, func(ctx context.Context, t Token, hash Hash) error {
		return s.store.AddUser(ctx, u, t, hash)
	})
}

// Rotate returns a bearer of the user's scope that lasts for expires, with its secret. The bearers before it end at
// once; cookies do not. ErrNotFound, ErrInvalid.
func (s *Service) Rotate(ctx context.Context, name string, expires time.Duration) (Token, string, error) {
	if err := checkExpiry(expires); err != nil {
		return Token{}, "", err
	}
	u, err := s.store.User(ctx, name)
	if err != nil {
		return Token{}, "", err
	}
	return s.issue(ctx, u, Bearer, expires, s.store.ReplaceTokens)
}

// Revoke ends a user and every token of theirs at once. What the user owns stays. ErrNotFound, ErrInvalid.
func (s *Service) Revoke(ctx context.Context, name string) error {
	return s.store.RevokeUser(ctx, name, s.now())
}

// Listed is a user with the tokens that are live.
type Listed struct {
	User
	Tokens []Token `json:"tokens"`
}

// List lists all users by name, the revoked ones too, each with the tokens that are live, the oldest first.
func (s *Service) List(ctx context.Context) ([]Listed, error) {
	users, err := s.store.Users(ctx)
	if err != nil {
		return nil, err
	}
	tokens, err := s.store.Tokens(ctx, s.now())
	if err != nil {
		return nil, err
	}
	of := map[string][]Token{}
	for _, t := range tokens {
		of[t.User] = append(of[t.User], t)
	}
	list := make([]Listed, len(users))
	for i, u := range users {
		list[i] = Listed{u, append([]Token{}, of[u.Name]...)}
	}
	return list, nil
}

// Any says whether there is a user that is not revoked.
func (s *Service) Any(ctx context.Context) (bool, error) {
	users, err := s.store.Users(ctx)
	for _, u := range users {
		if u.RevokedAt.IsZero() {
			return true, err
		}
	}
	return false, err
}

// Check returns the live bearer or cookie of a secret, and ErrUnknown for anything else. It asks the store once, and
// not at all for a text that has not the form of a secret.
func (s *Service) Check(ctx context.Context, secret string) (Token, error) {
	return s.findToken(ctx, secret, Bearer, Cookie)
}

// Invite returns a sign-in token of the user's scope with its secret, which SignIn takes once, within five minutes.
// ErrNotFound, ErrInvalid.
func (s *Service) Invite(ctx context.Context, name string) (Token, string, error) {
	u, err := s.store.User(ctx, name)
	if err != nil {
		return Token{}, "", err
	}
	return s.issue(ctx, u, SignIn, signInLasts, s.store.AddToken)
}

// Welcome invites a user. One that does not exist is added first, with this scope and without a bearer token. The error
// is ErrInvalid for a name or scope that can't be.
func (s *Service) Welcome(ctx context.Context, name string, scope Scope) (t Token, secret string, err error) {
	t, secret, err = s.Invite(ctx, name)
	if !errors.Is(err, ErrNotFound) {
		return t, secret, err
	}
	u := User{Name: name, Scope: scope, CreatedAt: s.now()}
	return s.issue(ctx, u, SignIn, signInLasts, func(ctx context.Context, t Token, hash Hash) error {
		return s.store.AddUser(ctx, u, t, hash)
	})
}

// SignIn uses up the secret of a sign-in token and returns a cookie of its scope that lasts for 30 days, with the
// cookie's secret. ErrUnknown for whatever is no live sign-in token.
func (s *Service) SignIn(ctx context.Context, once string) (Token, string, error) {
	used, err := s.endToken(ctx, once, SignIn)
	if err != nil {
		return Token{}, "", err
	}
	t, secret, err := s.issue(ctx, User{Name: used.User, Scope: used.Scope}, Cookie, cookieLasts, s.store.AddToken)
	return t, secret, asUnknown(err) // the user may have been revoked in between
}

// SignOut ends the cookie of a secret. ErrUnknown for whatever is no live cookie.
func (s *Service) SignOut(ctx context.Context, secret string) error {
	_, err := s.endToken(ctx, secret, Cookie)
	return err
}

// Forget removes the tokens that had ended for more than 30 days at that time, so that what is kept does not grow
// without end.
func (s *Service) Forget(ctx context.Context, at time.Time) error {
	return s.store.ForgetTokens(ctx, at.Add(-tokenRetention))
}

// endToken ends the live token of a secret and a kind, once. It looks the token up first, so that a guess never writes.
func (s *Service) endToken(ctx context.Context, secret string, kind Kind) (Token, error) {
	if _, err := s.findToken(ctx, secret, kind); err != nil {
		return Token{}, err
	}
	t, err := s.store.EndToken(ctx, HashOf(secret), kind, s.now())
	return t, asUnknown(err)
}

// findToken returns the live token of a secret, if it is of one of the kinds.
func (s *Service) findToken(ctx context.Context, secret string, kinds ...Kind) (Token, error) {
	if len(secret) != len(Prefix)+secretChars || !strings.HasPrefix(secret, Prefix) { // nothing else is looked for
		return Token{}, ErrUnknown
	}
	t, err := s.store.Token(ctx, HashOf(secret))
	if err == nil && !(slices.Contains(kinds, t.Kind) && t.Live(s.now())) {
		err = ErrNotFound
	}
	if err != nil {
		return Token{}, asUnknown(err)
	}
	return t, nil
}

// asUnknown makes ErrUnknown of each reason why a secret is not valid.
func asUnknown(err error) error {
	if errors.Is(err, ErrNotFound) {
		return ErrUnknown
	}
	return err
}

// issue makes a token of a user, and returns its secret if the token was kept.
func (s *Service) issue(ctx context.Context, u User, kind Kind, lasts time.Duration,
	keep func(context.Context, Token, Hash) error) (Token, string, error) {
	now := s.now()
	t, err := NewToken(Token{ID: random(idBytes), User: u.Name, Kind: kind, Scope: u.Scope, CreatedAt: now,
		ExpiresAt: now.Add(lasts)})
	if err != nil {
		return Token{}, "", err
	}
	secret := Prefix + random(secretBytes)
	if err := keep(ctx, t, HashOf(secret)); err != nil {
		return Token{}, "", err
	}
	return t, secret, nil
}

func checkExpiry(lasts time.Duration) error {
	if lasts < MinExpiry || lasts > MaxExpiry {
		return invalidError(fmt.Sprintf("a token lasts from 1 minute to %d days", MaxExpiry/day))
	}
	return nil
}
