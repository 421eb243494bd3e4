package api_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"sibyl/internal/store/teststore"
	"sibyl/internal/user"
)

// people are the users of the house, in memory. They can't be looked up while something is broken.
type people struct {
	teststore.Store
	broken error
}

func newPeople(t testing.TB) *people {
	p := &people{Store: teststore.Empty(t)}
	p.add(t, "ada", user.Bearer, user.Write, adasToken)
	p.add(t, "eve", user.Bearer, user.Write, evesToken)
	p.add(t, "ada", user.Bearer, user.Read, adasReader)
	p.add(t, "ops", user.Bearer, user.Operate, operators)
	p.add(t, "ada", user.Cookie, user.Write, adasCookie)
	p.add(t, "ada", user.SignIn, user.Write, adasOnce)
	return p
}

// add adds a token of a user, who is made with the first.
func (p *people) add(t testing.TB, name string, kind user.Kind, scope user.Scope, secret string) {
	t.Helper()
	year := func(n int) time.Time { return time.Date(n, 1, 1, 0, 0, 0, 0, time.UTC) }
	token := user.Token{ID: strings.TrimPrefix(secret, user.Prefix), User: name, Kind: kind, Scope: scope, CreatedAt: year(2020), ExpiresAt: year(2099)}
	err := p.AddUser(t.Context(), user.User{Name: name, Scope: scope, CreatedAt: year(2020)}, token, user.HashOf(secret))
	if errors.Is(err, user.ErrExists) {
		err = p.AddToken(t.Context(), token, user.HashOf(secret))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (p *people) Token(ctx context.Context, hash user.Hash) (user.Token, error) {
	if p.broken != nil {
		return user.Token{}, p.broken
	}
	return p.Store.Token(ctx, hash)
}
