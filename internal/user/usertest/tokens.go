package usertest

import (
	"errors"
	"sync"
	"time"

	"sibyl/internal/user"
)

var tokenTests = map[string]func(*suite){
	"TokenIsKeptAsGivenAndFoundByItsHashAlone": func(s *suite) {
		s.addUser("ada")
		given := user.Token{ID: "t1", User: "ada", Kind: user.Cookie, Scope: user.Read, CreatedAt: noon.Add(1900 * time.Microsecond).In(time.FixedZone("east", 3600)),
			ExpiresAt: after(time.Hour + 1900*time.Microsecond), RevokedAt: noon}
		s.add(given)
		want := given
		want.CreatedAt, want.ExpiresAt, want.RevokedAt = after(time.Millisecond), after(time.Hour+time.Millisecond), time.Time{}
		s.same("token", s.token("t1"), want)
		near := hashOf("t1")
		near[len(near)-1]++
		for _, hash := range []user.Hash{near, {}, hashOf("nothing")} {
			_, err := s.store.Token(s.ctx, hash)
			s.fails(err, user.ErrNotFound)
		}
	},
	"OnlyAUserThatIsThereAndNotRevokedGetsTokens": func(s *suite) {
		s.addUser("ada")
		s.ok(s.store.RevokeUser(s.ctx, "ada", noon))
		for _, name := range []string{"ada", "nobody"} {
			s.refuses(user.ErrNotFound, func() error { return s.store.AddToken(s.ctx, tokenOf(name, "x"), hashOf("x")) })
			s.refuses(user.ErrNotFound, func() error { return s.store.ReplaceTokens(s.ctx, tokenOf(name, "x"), hashOf("x")) })
			_, err := s.store.Token(s.ctx, hashOf("x"))
			s.fails(err, user.ErrNotFound)
		}
	},
	"HashThatIsTakenIsRefused": func(s *suite) {
		s.addUser("ada")
		s.addUser("bob")
		s.add(tokenOf("bob", "more"))
		for _, add := range []func(user.Token, user.Hash) error{
			func(t user.Token, hash user.Hash) error { return s.store.AddToken(s.ctx, t, hash) },
			func(t user.Token, hash user.Hash) error { return s.store.ReplaceTokens(s.ctx, t, hash) },
		} {
			s.refuses(user.ErrExists, func() error { return add(tokenOf("bob", "x"), hashOf("ada")) })
			s.refuses(user.ErrExists, func() error { return add(tokenOf("bob", "x"), hashOf("bob")) })
		}
		s.same("whose the token is", s.token("ada").User, "ada")
	},
	"TokensThatMakeNoSenseAreRefused": func(s *suite) {
		s.addUser("ada")
		for name, spoil := range map[string]func(*user.Token){
			"no id":                      func(t *user.Token) { t.ID = "" },
			"NUL in the id":              func(t *user.Token) { t.ID = "a\x00" },
			"no UTF-8 in the id":         func(t *user.Token) { t.ID = "a\xff" },
			"no kind":                    func(t *user.Token) { t.Kind = "" },
			"unknown kind":               func(t *user.Token) { t.Kind = "password" },
			"no scope":                   func(t *user.Token) { t.Scope = "" },
			"unknown scope":              func(t *user.Token) { t.Scope = "admin" },
			"no expiry":                  func(t *user.Token) { t.ExpiresAt = time.Time{} },
			"expired from the beginning": func(t *user.Token) { t.ExpiresAt = t.CreatedAt.Add(999 * time.Microsecond) },
		} {
			s.Log(name)
			t := tokenOf("ada", "x")
			spoil(&t)
			s.refuses(user.ErrInvalid, func() error { return s.store.AddToken(s.ctx, t, hashOf("x")) })
			s.refuses(user.ErrInvalid, func() error { return s.store.ReplaceTokens(s.ctx, t, hashOf("x")) })
			s.refuses(user.ErrInvalid, func() error {
				t.User = "bob"
				return s.store.AddUser(s.ctx, userOf("bob"), t, hashOf("x"))
			})
		}
	},
	"LiveTokensAreListedByUserTheOldestFirst": func(s *suite) {
		s.addUser("bob")
		s.addUser("ada")
		for id, made := range map[string]time.Time{"b": after(time.Minute), "a": after(time.Minute), "c": after(time.Second)} {
			t := tokenOf("ada", id)
			t.CreatedAt = made
			s.add(t)
		}
		short := tokenOf("ada", "short")
		short.ExpiresAt = after(time.Minute)
		s.add(short)
		s.same("just before one expires", s.live(after(time.Minute-time.Millisecond)), []string{"ada", "short", "c", "a", "b", "bob"})
		s.same("from its expiry on", s.live(after(time.Minute)), []string{"ada", "c", "a", "b", "bob"})
		s.same("when all are expired", s.live(after(time.Hour)), []string(nil))
	},
	"ReplacingEndsTheOthersOfItsUserAndKindOnly": func(s *suite) {
		s.addUser("ada")
		s.addUser("bob")
		s.add(tokenOf("ada", "second"))
		s.add(ofKind(tokenOf("ada", "cookie"), user.Cookie))
		next := tokenOf("ada", "third")
		next.CreatedAt = after(time.Minute)
		s.ok(s.store.ReplaceTokens(s.ctx, next, hashOf("third")))
		s.same("live tokens", s.live(noon), []string{"cookie", "third", "bob"})
		s.same("when the first was revoked", s.token("ada").RevokedAt, after(time.Minute))
		s.same("the token", s.token("third"), next)
	},
	"OfTokensThatReplaceEachOtherAtOnceOneStays": func(s *suite) {
		s.addUser("ada")
		names := []string{"a", "b", "c", "d", "e", "f"}
		together(len(names), func(i int) {
			if err := s.store.ReplaceTokens(s.ctx, tokenOf("ada", names[i]), hashOf(names[i])); err != nil {
				s.Error(err)
			}
		})
		if live := s.live(noon); len(live) != 1 {
			s.Errorf("live are %q, want one", live)
		}
	},
	"NoTokenOutlivesAUserThatIsRevokedWhileItIsAdded": func(s *suite) {
		names := []string{"a", "b", "c", "d", "e", "f"}
		s.addUser("ada")
		together(len(names), func(i int) {
			var err error
			switch {
			case i == len(names)/2:
				err = s.store.RevokeUser(s.ctx, "ada", noon)
			case i%2 == 0:
				err = s.store.AddToken(s.ctx, tokenOf("ada", names[i]), hashOf(names[i]))
			default:
				err = s.store.ReplaceTokens(s.ctx, tokenOf("ada", names[i]), hashOf(names[i]))
			}
			if err != nil && !errors.Is(err, user.ErrNotFound) {
				s.Error(err)
			}
		})
		s.same("live tokens", s.live(noon), []string(nil))
	},
}

var endTests = map[string]func(*suite){
	"TokenIsEndedOnceAndComesBackAsItEnded": func(s *suite) {
		s.addUser("ada")
		given := ofKind(tokenOf("ada", "once"), user.SignIn)
		given.Scope = user.Read
		s.add(given)
		ended, err := s.store.EndToken(s.ctx, hashOf("once"), user.SignIn, after(time.Second+time.Microsecond))
		s.ok(err)
		want := given
		want.RevokedAt = after(time.Second)
		s.same("the ended token", ended, want)
		s.same("the kept token", s.token("once"), want)
		_, err = s.store.EndToken(s.ctx, hashOf("once"), user.SignIn, after(time.Second))
		s.fails(err, user.ErrNotFound)
		s.same("the kept token", s.token("once"), want)
		s.same("live tokens", s.live(noon), []string{"ada"})
	},
	"OfThoseWhoEndATokenAtOnceOneGetsIt": func(s *suite) {
		s.addUser("ada")
		s.add(ofKind(tokenOf("ada", "once"), user.SignIn))
		wins := endAtOnce(s, s)
		s.same("who got it", wins, 1)
	},
	"OnlyALiveTokenOfThatKindIsEnded": func(s *suite) {
		s.addUser("ada")
		s.addUser("bob")
		s.add(ofKind(tokenOf("ada", "once"), user.SignIn))
		s.add(ofKind(tokenOf("bob", "bobs"), user.SignIn))
		s.ok(s.store.RevokeUser(s.ctx, "bob", after(time.Second)))
		for about, c := range map[string]struct {
			name string
			kind user.Kind
			at   time.Time
		}{
			"another kind": {"once", user.Cookie, noon}, "a bearer": {"ada", user.SignIn, noon}, "no kind": {"once", "", noon},
			"expired": {"once", user.SignIn, after(time.Hour)}, "revoked": {"bobs", user.SignIn, after(time.Second)}, "unknown": {"nothing", user.SignIn, noon},
		} {
			s.Log(about)
			s.refuses(user.ErrNotFound, func() error { _, err := s.store.EndToken(s.ctx, hashOf(c.name), c.kind, c.at); return err })
		}
		_, err := s.store.EndToken(s.ctx, hashOf("once"), user.SignIn, after(time.Hour-time.Millisecond))
		s.ok(err)
	},
}

var forgetTests = map[string]func(*suite){
	"OnlyTokensThatEndedBeforeAreForgotten": func(s *suite) {
		s.addUser("ada")
		for name, ends := range map[string]time.Duration{"past": time.Minute - time.Millisecond, "now": time.Minute, "later": 2 * time.Minute} {
			t := tokenOf("ada", "expires"+name)
			t.ExpiresAt = after(ends)
			s.add(t)
			t = ofKind(tokenOf("ada", "revoked"+name), user.Cookie)
			s.add(t)
			_, err := s.store.EndToken(s.ctx, hashOf(t.ID), user.Cookie, after(ends))
			s.ok(err)
		}
		s.ok(s.store.ForgetTokens(s.ctx, after(time.Minute)))
		for name, stays := range map[string]bool{"expirespast": false, "revokedpast": false, "expiresnow": true, "revokednow": true,
			"expireslater": true, "revokedlater": true, "ada": true} {
			_, err := s.store.Token(s.ctx, hashOf(name))
			if gone := errors.Is(err, user.ErrNotFound); gone == stays {
				s.Errorf("token %s: error is %v, want it to stay: %v", name, err, stays)
			}
		}
		s.same("users", s.users(), []user.User{userOf("ada")})
	},
	"ForgottenTokenLeavesRoomForAnother": func(s *suite) {
		s.addUser("ada")
		s.ok(s.store.ForgetTokens(s.ctx, after(2*time.Hour)))
		s.add(tokenOf("ada", "ada"))
		s.same("live tokens", s.live(noon), []string{"ada"})
	},
}

// sharedTests are given two handles on one place.
var sharedTests = map[string]func(one, two *suite){
	"WhatOneHandleRevokesHasEndedForTheOtherAtOnce": func(one, two *suite) {
		one.addUser("ada")
		two.add(ofKind(tokenOf("ada", "cookie"), user.Cookie))
		one.same("live tokens", one.live(noon), []string{"ada", "cookie"})
		two.ok(two.store.ReplaceTokens(two.ctx, tokenOf("ada", "next"), hashOf("next")))
		one.same("the old bearer is live", one.token("ada").Live(noon), false)
		one.ok(one.store.RevokeUser(one.ctx, "ada", noon))
		two.same("the cookie is live", two.token("cookie").Live(noon), false)
		two.fails(two.store.AddToken(two.ctx, tokenOf("ada", "x"), hashOf("x")), user.ErrNotFound)
	},
	"OfHandlesThatEndATokenAtOnceOneGetsIt": func(one, two *suite) {
		for range 5 {
			one.addUser("ada")
			one.add(ofKind(tokenOf("ada", "once"), user.SignIn))
			one.same("who got it", endAtOnce(one, two), 1)
			one.ok(one.store.RevokeUser(one.ctx, "ada", noon))
			one.ok(one.store.ForgetTokens(one.ctx, after(time.Hour)))
		}
	},
	"NoTokenOutlivesAUserThatAnotherHandleRevokes": func(one, two *suite) {
		for range 5 {
			one.addUser("ada")
			together(2, func(i int) {
				var err error
				if i == 0 {
					err = one.store.RevokeUser(one.ctx, "ada", noon)
				} else {
					err = two.store.AddToken(two.ctx, tokenOf("ada", "x"), hashOf("x"))
				}
				if err != nil && !errors.Is(err, user.ErrNotFound) {
					one.Error(err)
				}
			})
			one.same("live tokens", one.live(noon), []string(nil))
			one.ok(one.store.ForgetTokens(one.ctx, after(time.Hour)))
		}
	},
}

// endAtOnce has many end the sign-in token that is called once, and counts those who get it.
func endAtOnce(suites ...*suite) (wins int) {
	var mu sync.Mutex
	together(8, func(i int) {
		s := suites[i%len(suites)]
		_, err := s.store.EndToken(s.ctx, hashOf("once"), user.SignIn, noon)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err == nil:
			wins++
		case !errors.Is(err, user.ErrNotFound):
			s.Error(err)
		}
	})
	return wins
}

// together calls do with each number below n at once.
func together(n int, do func(i int)) {
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		all.Go(func() {
			<-start
			do(i)
		})
	}
	close(start)
	all.Wait()
}
