package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/server/node"
	"sibyl/internal/server/user"
)

// hashOf is the hash of the token that is called name in a test.
func hashOf(name string) user.Hash { return user.HashOf("secret of " + name) }

// tokenOf is a token of an hour, called name.
func tokenOf(owner, name string, kind user.Kind) user.Token {
	return user.Token{ID: name, User: owner, Kind: kind, Scope: user.Write, CreatedAt: noon,
		ExpiresAt: after(time.Hour)}
}

func userOf(name string) user.User { return user.User{Name: name, Scope: user.Write, CreatedAt: noon} }

// addUsers adds users, the first token of each of which is called as they are.
func (s *suite) addUsers(names ...string) {
	s.Helper()
	for _, name := range names {
		assert.NoError(s, s.db.AddUser(s.ctx, userOf(name), tokenOf(name, name, user.Bearer), hashOf(name)))
	}
}

// addToken adds a token, called by its id.
func (s *suite) addToken(t user.Token) error { return s.db.AddToken(s.ctx, t, hashOf(t.ID)) }

// replace adds a token in place of others.
func (s *suite) replace(t user.Token) error { return s.db.ReplaceTokens(s.ctx, t, hashOf(t.ID)) }

func (s *suite) endToken(name string, kind user.Kind, at time.Time) error {
	return errOf(s.db.EndToken(s.ctx, hashOf(name), kind, at))
}

func (s *suite) token(name string) user.Token {
	s.Helper()
	return assert.Must(s.db.Token(s.ctx, hashOf(name)))(s)
}

// live wants these tokens to be live at a time, in this order.
func (s *suite) live(now time.Time, want ...string) {
	s.Helper()
	tokens := assert.Must(s.db.Tokens(s.ctx, now))(s)
	s.same("live tokens", idsOf(tokens, func(t user.Token) string { return t.ID }), want)
}

// refuses wants a call to fail so, and to change nothing.
func (s *suite) refuses(target error, calls ...func() error) {
	s.Helper()
	s.unchanged(func() {
		for _, call := range calls {
			s.fails(target, call())
		}
	})
}

var userTests = map[string]func(*suite){
	"UserIsKeptAsGivenWithTheFirstToken": func(s *suite) {
		given := user.User{Name: "a.b_c-1", Scope: user.Read, CreatedAt: noon.Add(1500 * time.Microsecond).
			In(time.FixedZone("east", 3600)), RevokedAt: noon}
		assert.NoError(s, s.db.AddUser(s.ctx, given, tokenOf(given.Name, "first", user.Bearer), hashOf("first")))
		want := user.User{Name: given.Name, Scope: user.Read, CreatedAt: after(time.Millisecond)}
		s.same("user", assert.Must(s.db.User(s.ctx, given.Name))(s), want)
		s.same("users", assert.Must(s.db.Users(s.ctx))(s), []user.User{want})
		s.live(noon, "first")
	},
	"UsersAreListedByNameTheRevokedOnesToo": func(s *suite) {
		s.addUsers("bob", "ada", "b-1", "b.1", "b_1", "0")
		assert.NoError(s, s.db.RevokeUser(s.ctx, "bob", after(time.Minute)))
		users := assert.Must(s.db.Users(s.ctx))(s)
		s.same("names", idsOf(users, func(u user.User) string {
			return u.Name
		}), []string{"0", "ada", "b-1", "b.1", "b_1", "bob"})
		s.same("when bob was revoked", users[5].RevokedAt, after(time.Minute))
	},
	"RevokingAUserEndsAllTheirTokensAndNoOthers": func(s *suite) {
		s.addUsers("ada", "bob")
		assert.NoError(s, s.addToken(tokenOf("ada", "cookie", user.Cookie)))
		assert.NoError(s, s.addToken(tokenOf("ada", "ended", user.Cookie)))
		assert.NoError(s, s.endToken("ended", user.Cookie, after(time.Second)))
		assert.NoError(s, s.db.RevokeUser(s.ctx, "ada", after(time.Minute)))
		for name, at := range map[string]time.Time{"ada": after(time.Minute), "cookie": after(time.Minute),
			"ended": after(time.Second), "bob": {}} {
			s.same("when "+name+" was revoked", s.token(name).RevokedAt, at)
		}
		s.live(noon, "bob")
		s.refuses(user.ErrNotFound,
			func() error { return errOf(s.db.User(s.ctx, "ada")) },
			func() error { return errOf(s.db.User(s.ctx, "nobody")) },
			func() error { return s.db.RevokeUser(s.ctx, "ada", after(time.Hour)) },
			func() error { return s.db.RevokeUser(s.ctx, "nobody", noon) },
			func() error { return s.addToken(tokenOf("ada", "x", user.Bearer)) },
			func() error { return s.replace(tokenOf("nobody", "x", user.Bearer)) })
		again := user.User{Name: "ada", Scope: user.Read, CreatedAt: after(time.Hour)}
		assert.NoError(s, s.db.AddUser(s.ctx, again, tokenOf("ada", "second", user.Bearer), hashOf("second")))
		s.same("user who is added again", assert.Must(s.db.User(s.ctx, "ada"))(s), again)
		s.live(noon, "second", "bob")
	},
	"WhatIsTakenExists": func(s *suite) {
		s.addUsers("ada", "bob")
		s.refuses(user.ErrExists,
			func() error { return s.db.AddUser(s.ctx, userOf("ada"), tokenOf("ada", "x", user.Bearer), hashOf("x")) },
			func() error {
				return s.db.AddUser(s.ctx, userOf("cy"), tokenOf("cy", "cy", user.Bearer), hashOf("ada"))
			},
			func() error { return s.db.AddToken(s.ctx, tokenOf("bob", "x", user.Bearer), hashOf("ada")) },
			func() error { return s.db.ReplaceTokens(s.ctx, tokenOf("bob", "x", user.Bearer), hashOf("bob")) })
	},
	"WhatMakesNoSenseIsRefusedAndNotRepeated": func(s *suite) {
		s.addUsers("ada", strings.Repeat("a", 64))
		for _, name := range []string{"", "Ada", "ada lovelace", ".ada", "-ada", "_ada", "ad\x00a", "ad\xffa", "ädä",
			"a/b", "a\n", "sibyl_ada", strings.Repeat("a", 65)} {
			err := errOf(s.db.User(s.ctx, name))
			assert.That(s, err == nil || len(name) <= 1 || !strings.Contains(err.Error(), name),
				"the error repeats the name: %v", err)
			s.refuses(user.ErrInvalid,
				func() error { return err },
				func() error { return s.db.AddUser(s.ctx, userOf(name), tokenOf(name, "x", user.Bearer), hashOf("x")) },
				func() error { return s.addToken(tokenOf(name, "x", user.Bearer)) },
				func() error { return s.db.RevokeUser(s.ctx, name, noon) })
		}
		for what, spoil := range map[string]func(*user.User, *user.Token){
			"no scope of the user":      func(u *user.User, _ *user.Token) { u.Scope = "" },
			"unknown scope of the user": func(u *user.User, _ *user.Token) { u.Scope = "admin" },
			"another's token":           func(_ *user.User, t *user.Token) { t.User = "ada" },
			"no id":                     func(_ *user.User, t *user.Token) { t.ID = "" },
			"NUL in the id":             func(_ *user.User, t *user.Token) { t.ID = "a\x00" },
			"no UTF-8 in the id":        func(_ *user.User, t *user.Token) { t.ID = "a\xff" },
			"no kind":                   func(_ *user.User, t *user.Token) { t.Kind = "" },
			"unknown kind":              func(_ *user.User, t *user.Token) { t.Kind = "password" },
			"no scope":                  func(_ *user.User, t *user.Token) { t.Scope = "" },
			"unknown scope":             func(_ *user.User, t *user.Token) { t.Scope = "admin" },
			"no expiry":                 func(_ *user.User, t *user.Token) { t.ExpiresAt = time.Time{} },
			"expired from the beginning": func(_ *user.User, t *user.Token) {
				t.ExpiresAt = t.CreatedAt.Add(999 * time.Microsecond)
			},
		} {
			s.Log(what)
			u, t := userOf("bob"), tokenOf("bob", "x", user.Bearer)
			spoil(&u, &t)
			s.refuses(user.ErrInvalid, func() error { return s.db.AddUser(s.ctx, u, t, hashOf("x")) })
			if t.User = "ada"; t != tokenOf("ada", "x", user.Bearer) {
				s.refuses(user.ErrInvalid, func() error { return s.addToken(t) }, func() error { return s.replace(t) })
			}
		}
	},
	"EndedContextEndsEveryCallOnUsers": func(s *suite) {
		s.addUsers("ada")
		assert.NoError(s, s.addToken(tokenOf("ada", "once", user.SignIn)))
		token := tokenOf("ada", "x", user.Bearer)
		s.ended(func(ctx context.Context) map[string]error {
			return map[string]error{
				"AddUser":       s.db.AddUser(ctx, userOf("bob"), tokenOf("bob", "bob", user.Bearer), hashOf("bob")),
				"User":          errOf(s.db.User(ctx, "ada")),
				"Users":         errOf(s.db.Users(ctx)),
				"RevokeUser":    s.db.RevokeUser(ctx, "ada", noon),
				"AddToken":      s.db.AddToken(ctx, token, hashOf("x")),
				"ReplaceTokens": s.db.ReplaceTokens(ctx, token, hashOf("x")),
				"Token":         errOf(s.db.Token(ctx, hashOf("ada"))),
				"Tokens":        errOf(s.db.Tokens(ctx, noon)),
				"EndToken":      errOf(s.db.EndToken(ctx, hashOf("once"), user.SignIn, noon)),
				"ForgetTokens":  s.db.ForgetTokens(ctx, after(24*time.Hour)),
			}
		})
	},
}

var tokenTests = map[string]func(*suite){
	"TokenIsKeptAsGivenAndFoundByItsHashAlone": func(s *suite) {
		s.addUsers("ada")
		given := user.Token{ID: "t1", User: "ada", Kind: user.Cookie, Scope: user.Read,
			CreatedAt: noon.Add(1900 * time.Microsecond).In(time.FixedZone("east", 3600)),
			ExpiresAt: after(time.Hour + 1900*time.Microsecond), RevokedAt: noon}
		assert.NoError(s, s.addToken(given))
		want := given
		want.CreatedAt, want.ExpiresAt, want.RevokedAt = after(time.Millisecond), after(time.Hour+time.Millisecond),
			time.Time{}
		s.same("token", s.token("t1"), want)
		near := hashOf("t1")
		near[len(near)-1]++
		for _, hash := range []user.Hash{near, {}, hashOf("nothing")} {
			s.fails(user.ErrNotFound, errOf(s.db.Token(s.ctx, hash)))
		}
	},
	"LiveTokensAreListedByUserTheOldestFirst": func(s *suite) {
		s.addUsers("bob", "ada")
		for id, made := range map[string]time.Duration{"b": time.Minute, "a": time.Minute, "c": time.Second,
			"short": 0} {
			t := tokenOf("ada", id, user.Bearer)
			if t.CreatedAt = after(made); id == "short" {
				t.ExpiresAt = after(time.Minute)
			}
			assert.NoError(s, s.addToken(t))
		}
		s.live(after(time.Minute-time.Millisecond), "ada", "short", "c", "a", "b", "bob")
		s.live(after(time.Minute), "ada", "c", "a", "b", "bob")
		s.live(after(time.Hour))
	},
	"ReplacingEndsTheOthersOfItsUserAndKindOnly": func(s *suite) {
		s.addUsers("ada", "bob")
		assert.NoError(s, s.addToken(tokenOf("ada", "second", user.Bearer)))
		assert.NoError(s, s.addToken(tokenOf("ada", "cookie", user.Cookie)))
		next := tokenOf("ada", "third", user.Bearer)
		next.CreatedAt = after(time.Minute)
		assert.NoError(s, s.replace(next))
		s.live(noon, "cookie", "third", "bob")
		s.same("when the first was revoked", s.token("ada").RevokedAt, after(time.Minute))
		s.same("the token", s.token("third"), next)
		assert.NoError(s, errors.Join(together(6, func(i int) error {
			return s.replace(tokenOf("bob", fmt.Sprint(i), user.Bearer))
		})...))
		s.same("bob's after many that replaced each other", len(assert.Must(s.db.Tokens(s.ctx, noon))(s)), 3)
	},
	"OnlyALiveTokenOfThatKindIsEndedOnce": func(s *suite) {
		s.addUsers("ada", "bob")
		given := tokenOf("ada", "once", user.SignIn)
		given.Scope = user.Read
		assert.NoError(s, s.addToken(given))
		assert.NoError(s, s.addToken(tokenOf("bob", "bobs", user.SignIn)))
		assert.NoError(s, s.db.RevokeUser(s.ctx, "bob", after(time.Second)))
		s.refuses(user.ErrNotFound,
			func() error { return s.endToken("once", user.Cookie, noon) },
			func() error { return s.endToken("once", "", noon) },
			func() error { return s.endToken("once", user.SignIn, after(time.Hour)) },
			func() error { return s.endToken("ada", user.SignIn, noon) },
			func() error { return s.endToken("bobs", user.SignIn, after(time.Second)) },
			func() error { return s.endToken("nothing", user.SignIn, noon) })
		want := given
		want.RevokedAt = after(time.Hour - time.Millisecond)
		ended := assert.Must(s.db.EndToken(s.ctx, hashOf("once"), user.SignIn, want.RevokedAt.Add(time.Microsecond)))(s)
		s.same("the ended token", ended, want)
		s.same("the kept token", s.token("once"), want)
		s.refuses(user.ErrNotFound, func() error { return s.endToken("once", user.SignIn, noon) })
		s.live(noon, "ada")
	},
	"OnlyTokensThatEndedBeforeAreForgotten": func(s *suite) {
		s.addUsers("ada")
		for name, ends := range map[string]time.Duration{"past": time.Minute - time.Millisecond, "now": time.Minute,
			"later": 2 * time.Minute} {
			t := tokenOf("ada", "expires-"+name, user.Bearer)
			t.ExpiresAt = after(ends)
			assert.NoError(s, s.addToken(t))
			assert.NoError(s, s.addToken(tokenOf("ada", "revoked-"+name, user.Cookie)))
			assert.NoError(s, s.endToken("revoked-"+name, user.Cookie, after(ends)))
		}
		assert.NoError(s, s.db.ForgetTokens(s.ctx, after(time.Minute)))
		for name, stays := range map[string]bool{"expires-past": false, "revoked-past": false, "expires-now": true,
			"revoked-now":   true,
			"expires-later": true, "revoked-later": true, "ada": true} {
			gone := errors.Is(errOf(s.db.Token(s.ctx, hashOf(name))), user.ErrNotFound)
			assert.That(s, gone != stays, "token %q: it stays: %v, want %v", name, !gone, stays)
		}
		assert.NoError(s, s.db.ForgetTokens(s.ctx, after(2*time.Hour)))
		assert.NoError(s, s.addToken(tokenOf("ada", "ada", user.Bearer))) // there is room for it again
		s.same("users", assert.Must(s.db.Users(s.ctx))(s), []user.User{userOf("ada")})
	},
}

func nodeOf(holder string, started, seen time.Duration) node.Node {
	return node.Node{Holder: holder, Name: "name of " + holder, Build: "b", Address: "127.0.0.1:1",
		StartedAt: after(started), SeenAt: after(seen), Most: 3}
}

// nodes wants these to be known.
func (s *suite) nodes(now time.Duration, want ...node.Node) {
	s.Helper()
	s.same("nodes", assert.Must(s.db.Nodes(s.ctx, after(now)))(s), want)
}

var nodeTests = map[string]func(*suite){
	"NodesAreListedAsTheyStandWithTheRunsThatTheyDrive": func(s *suite) {
		a, b, early := nodeOf("a", 0, 0), nodeOf("b", 0, 0), nodeOf("z", -time.Second, 0)
		for _, n := range []node.Node{b, early, a} {
			assert.NoError(s, s.db.Keep(s.ctx, n))
		}
		for id, r := range map[string]journal.Run{
			"r1": leased(runOf(ada, "s", "r1"), "b", time.Minute), "r2": leased(runOf(ada, "s", "r2"), "b",
				time.Minute),
			"ran out": leased(runOf(ada, "s", "r3"), "z", 0), "free": runOf(ada, "s", "r4"),
		} {
			s.Log(id)
			s.start(r, nil)
		}
		a.SeenAt, a.Draining, a.Most = after(time.Second), true, 0
		assert.NoError(s, s.db.Keep(s.ctx, a))
		b.Runs = 2
		s.nodes(0, early, a, b)
		assert.NoError(s, s.db.Leave(s.ctx, "b"))
		assert.NoError(s, s.db.Leave(s.ctx, "nobody"))
		s.nodes(0, early, a)
		b.Runs = 0
		assert.NoError(s, s.db.Keep(s.ctx, b))
		s.nodes(0, early, a, b) // its leases ended
	},
	"NodeThatWasNotSeenForLongIsForgotten": func(s *suite) {
		a, b := nodeOf("a", 0, 0), nodeOf("b", 0, time.Minute)
		assert.NoError(s, s.db.Keep(s.ctx, a))
		assert.NoError(s, s.db.Keep(s.ctx, b))
		s.nodes(node.NodeRetention, a, b)
		s.nodes(node.NodeRetention+time.Second, b)
		s.nodes(0, b)
	},
	"DutyIsTakenOnceEachTimeThatItIsDue": func(s *suite) {
		for _, c := range []struct {
			name  string
			after time.Duration
			want  bool
		}{
			{"sweep", 0, true}, {"sweep", 0, false}, {"sweep", time.Hour - time.Millisecond, false}, {"other", 0, true},
			{"sweep", time.Hour, true}, {"sweep", 2*time.Hour - time.Millisecond, false},
			{"sweep", 9 * time.Hour, true}, {"sweep", 9 * time.Hour, false},
			{"sweep", 9*time.Hour - time.Second, false}, {"sweep", 365 * 24 * time.Hour, true},
			{"sweep", 10 * time.Hour, true}, {"sweep", 10 * time.Hour, false},
		} {
			s.same(fmt.Sprint(c.name, " after ", c.after),
				assert.Must(s.db.TakeDuty(s.ctx, c.name, after(c.after), time.Hour))(s), c.want)
		}
	},
	"OfSixteenOneTakesADuty": func(s *suite) {
		for round := range 5 {
			at := after(time.Duration(round) * time.Hour)
			s.oneWins(16, errAct, func(int) error {
				mine, err := s.db.TakeDuty(s.ctx, "sweep", at, time.Hour)
				if err == nil && !mine {
					err = errAct
				}
				return err
			})
		}
	},
	"TimeOfTheDatabaseGoesOn": func(s *suite) {
		before, now := assert.Must(s.db.Now(s.ctx))(s), assert.Must(s.db.Now(s.ctx))(s)
		assert.That(s, !now.Before(before) && time.Since(now).Abs() <= time.Hour, "it was %v, then %v", before, now)
	},
}
