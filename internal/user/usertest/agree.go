package usertest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"sibyl/internal/user"
)

// Agree makes the same random calls on a store and one in memory, and wants the same answers and kinds of error from both. The store is
// empty, and nobody else uses it.
func Agree(t *testing.T, store user.Store) {
	var checks int
	memory := NewMemory()
	rapid.Check(t, func(rt *rapid.T) {
		checks++
		p := &pair{T: rt, ctx: t.Context(), got: store, want: memory, check: checks}
		rt.Repeat(map[string]func(*rapid.T){
			"AddUser":       p.addUser,
			"RevokeUser":    p.revokeUser,
			"AddToken":      p.addToken,
			"ReplaceTokens": p.replaceTokens,
			"EndToken":      p.endToken,
			"ForgetTokens":  p.forgetTokens,
			"Look":          p.look,
		})
		p.look(rt)
	})
}

// pair is one check: names and hashes are few, so that calls meet, and bear its number, so that checks do not.
type pair struct {
	*rapid.T
	ctx       context.Context
	got, want user.Store
	check     int
}

// both makes a call on both stores and compares what comes back.
func (p *pair) both(name string, call func(user.Store) (any, error)) {
	got, gotErr := call(p.got)
	want, wantErr := call(p.want)
	if got, want := kind(gotErr), kind(wantErr); got != want {
		p.Fatalf("%s: error is %v, want one like %v", name, gotErr, wantErr)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		p.Fatalf("%s (-want +got):\n%s", name, diff)
	}
}

func (p *pair) bothDo(name string, call func(user.Store) error) {
	p.both(name, func(s user.Store) (any, error) { return nil, call(s) })
}

// kind returns the text of the error of package user that err is, or of err.
func kind(err error) string {
	for _, kind := range []error{user.ErrExists, user.ErrNotFound, user.ErrInvalid} {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	return fmt.Sprint(err)
}

func sample[T any](p *pair, label string, of ...T) T { return rapid.SampledFrom(of).Draw(p.T, label) }

func (p *pair) name() string {
	return fmt.Sprint(sample(p, "name", "ada", "ada", "bob", "a.b", "Ada"), p.check)
}

// secret is one of those that there are, by its number.
func (p *pair) secret() int { return rapid.IntRange(1, secrets).Draw(p.T, "secret") }

const secrets = 6

func (p *pair) hash(secret int) user.Hash { return user.HashOf(fmt.Sprint(secret, p.check)) }

func (p *pair) kind() user.Kind {
	return sample(p, "kind", user.Bearer, user.SignIn, user.SignIn, user.Cookie, "other")
}

func (p *pair) scope() user.Scope {
	return sample(p, "scope", user.Read, user.Write, user.Operate, "all")
}

func (p *pair) time(label string) time.Time {
	return after(time.Duration(rapid.IntRange(0, 4000).Draw(p.T, label)) * 500 * time.Microsecond)
}

// token is one of a user's, with its hash. Tokens that are there at once have different ids, as their secrets differ.
func (p *pair) token(owner string) (user.Token, user.Hash) {
	secret := p.secret()
	return user.Token{ID: fmt.Sprint("t", secret), User: owner, Kind: p.kind(), Scope: p.scope(), CreatedAt: p.time("created"), ExpiresAt: p.time("expires")},
		p.hash(secret)
}

func (p *pair) addUser(*rapid.T) {
	u := user.User{Name: p.name(), Scope: p.scope(), CreatedAt: p.time("added")}
	t, hash := p.token(u.Name)
	p.bothDo("AddUser", func(s user.Store) error { return s.AddUser(p.ctx, u, t, hash) })
}

func (p *pair) revokeUser(*rapid.T) {
	name, at := p.name(), p.time("at")
	p.bothDo("RevokeUser", func(s user.Store) error { return s.RevokeUser(p.ctx, name, at) })
}

func (p *pair) addToken(*rapid.T) {
	t, hash := p.token(p.name())
	p.bothDo("AddToken", func(s user.Store) error { return s.AddToken(p.ctx, t, hash) })
}

func (p *pair) replaceTokens(*rapid.T) {
	t, hash := p.token(p.name())
	p.bothDo("ReplaceTokens", func(s user.Store) error { return s.ReplaceTokens(p.ctx, t, hash) })
}

func (p *pair) endToken(*rapid.T) {
	hash, kind, at := p.hash(p.secret()), p.kind(), p.time("at")
	p.both("EndToken", func(s user.Store) (any, error) { return s.EndToken(p.ctx, hash, kind, at) })
}

func (p *pair) forgetTokens(*rapid.T) {
	before := p.time("before")
	p.bothDo("ForgetTokens", func(s user.Store) error { return s.ForgetTokens(p.ctx, before) })
}

// look compares all that can be seen.
func (p *pair) look(*rapid.T) {
	now := p.time("now")
	p.both("Users", func(s user.Store) (any, error) { return s.Users(p.ctx) })
	p.both("Tokens", func(s user.Store) (any, error) { return s.Tokens(p.ctx, now) })
	for n := range secrets {
		hash := p.hash(n + 1)
		p.both("Token", func(s user.Store) (any, error) { return s.Token(p.ctx, hash) })
	}
	for _, name := range []string{"ada", "bob", "a.b", "Ada"} {
		p.both("User", func(s user.Store) (any, error) { return s.User(p.ctx, fmt.Sprint(name, p.check)) })
	}
}
