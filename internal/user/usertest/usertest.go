// Package usertest holds the suite that every user.Store passes. Each guarantee that
// package user states is a subtest named after it.
package usertest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sibyl/internal/user"
)

// Run checks a Store. Each call of open returns an empty one, and closes it after the test.
func Run(t *testing.T, open func(t *testing.T) user.Store) {
	for group, tests := range map[string]map[string]func(*suite){
		"Users": userTests, "Tokens": tokenTests, "End": endTests, "Forget": forgetTests, "Calls": callTests,
	} {
		t.Run(group, func(t *testing.T) {
			for name, test := range tests {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					test(&suite{T: t, ctx: t.Context(), store: open(t)})
				})
			}
		})
	}
}

// RunShared checks what holds for a Store that several processes share and that outlives them. place makes an empty place for one, and
// returns a function that opens what is there, also while it is open elsewhere, and closes it after the test.
func RunShared(t *testing.T, place func(t *testing.T) (open func() user.Store)) {
	for name, test := range sharedTests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open := place(t)
			test(&suite{T: t, ctx: t.Context(), store: open()}, &suite{T: t, ctx: t.Context(), store: open()})
		})
	}
}

// noon is the moment the tests start from.
var noon = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

func after(d time.Duration) time.Time { return noon.Add(d) }

type suite struct {
	*testing.T
	ctx   context.Context
	store user.Store
}

func (s *suite) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatalf("unexpected error: %v", err)
	}
}

// fails wants err to match target.
func (s *suite) fails(err, target error) {
	s.Helper()
	if !errors.Is(err, target) {
		s.Errorf("error is %v, want one that matches %q", err, target)
	}
}

func (s *suite) same(what string, got, want any) {
	s.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		s.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// hashOf is the hash of the token that is called name in a test.
func hashOf(name string) user.Hash { return user.HashOf("secret of " + name) }

// tokenOf is a bearer of an hour, called name.
func tokenOf(owner, name string) user.Token {
	return user.Token{ID: name, User: owner, Kind: user.Bearer, Scope: user.Write, CreatedAt: noon, ExpiresAt: after(time.Hour)}
}

func ofKind(t user.Token, kind user.Kind) user.Token {
	t.Kind = kind
	return t
}

func userOf(name string) user.User { return user.User{Name: name, Scope: user.Write, CreatedAt: noon} }

// addUser adds a user whose first token is called as they are.
func (s *suite) addUser(name string) {
	s.Helper()
	s.ok(s.store.AddUser(s.ctx, userOf(name), tokenOf(name, name), hashOf(name)))
}

// add adds a token, called by its id.
func (s *suite) add(t user.Token) {
	s.Helper()
	s.ok(s.store.AddToken(s.ctx, t, hashOf(t.ID)))
}

func (s *suite) token(name string) user.Token {
	s.Helper()
	t, err := s.store.Token(s.ctx, hashOf(name))
	s.ok(err)
	return t
}

func (s *suite) users() []user.User {
	s.Helper()
	all, err := s.store.Users(s.ctx)
	s.ok(err)
	return all
}

// live names the tokens that are live at a time.
func (s *suite) live(now time.Time) (names []string) {
	s.Helper()
	tokens, err := s.store.Tokens(s.ctx, now)
	s.ok(err)
	for _, t := range tokens {
		names = append(names, t.ID)
	}
	return names
}

// refuses wants do to fail so, and to change nothing.
func (s *suite) refuses(target error, do func() error) {
	s.Helper()
	users, tokens := s.users(), s.live(noon)
	s.fails(do(), target)
	s.same("users after a refused call", s.users(), users)
	s.same("tokens after a refused call", s.live(noon), tokens)
}
