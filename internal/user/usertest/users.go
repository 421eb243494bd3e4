package usertest

import (
	"context"
	"strings"
	"time"

	"sibyl/internal/user"
)

var userTests = map[string]func(*suite){
	"UserIsKeptAsGivenWithTheFirstToken": func(s *suite) {
		given := user.User{Name: "a.b_c-1", Scope: user.Read, CreatedAt: noon.Add(1500 * time.Microsecond).In(time.FixedZone("east", 3600)), RevokedAt: noon}
		s.ok(s.store.AddUser(s.ctx, given, tokenOf(given.Name, "first"), hashOf("first")))
		want := user.User{Name: given.Name, Scope: user.Read, CreatedAt: after(time.Millisecond)}
		found, err := s.store.User(s.ctx, given.Name)
		s.ok(err)
		s.same("user", found, want)
		s.same("users", s.users(), []user.User{want})
		s.same("live tokens", s.live(noon), []string{"first"})
	},
	"UsersAreListedByNameTheRevokedOnesToo": func(s *suite) {
		for _, name := range []string{"bob", "ada", "b-1", "b.1", "b_1", "0"} {
			s.addUser(name)
		}
		s.ok(s.store.RevokeUser(s.ctx, "bob", after(time.Minute)))
		var names []string
		for _, u := range s.users() {
			names = append(names, u.Name)
		}
		s.same("names", names, []string{"0", "ada", "b-1", "b.1", "b_1", "bob"})
		s.same("when bob was revoked", s.users()[5].RevokedAt, after(time.Minute))
	},
	"NameOfALiveUserCannotBeAddedAgain": func(s *suite) {
		s.addUser("ada")
		s.refuses(user.ErrExists, func() error {
			return s.store.AddUser(s.ctx, user.User{Name: "ada", Scope: user.Read, CreatedAt: after(time.Minute)}, tokenOf("ada", "other"), hashOf("other"))
		})
	},
	"UserIsNotAddedWithATokenThatIsThere": func(s *suite) {
		s.addUser("ada")
		s.refuses(user.ErrExists, func() error { return s.store.AddUser(s.ctx, userOf("bob"), tokenOf("bob", "bob"), hashOf("ada")) })
	},
	"RevokedUserIsThereNoMore": func(s *suite) {
		s.addUser("ada")
		s.ok(s.store.RevokeUser(s.ctx, "ada", noon))
		_, err := s.store.User(s.ctx, "ada")
		s.fails(err, user.ErrNotFound)
		_, err = s.store.User(s.ctx, "nobody")
		s.fails(err, user.ErrNotFound)
		s.refuses(user.ErrNotFound, func() error { return s.store.RevokeUser(s.ctx, "ada", after(time.Minute)) })
		s.refuses(user.ErrNotFound, func() error { return s.store.RevokeUser(s.ctx, "nobody", noon) })
	},
	"RevokingAUserEndsAllTheirTokensAndNoOthers": func(s *suite) {
		s.addUser("ada")
		s.addUser("bob")
		s.add(ofKind(tokenOf("ada", "cookie"), user.Cookie))
		s.add(ofKind(tokenOf("ada", "once"), user.SignIn))
		s.add(ofKind(tokenOf("ada", "ended"), user.Cookie))
		_, err := s.store.EndToken(s.ctx, hashOf("ended"), user.Cookie, after(time.Second))
		s.ok(err)
		s.ok(s.store.RevokeUser(s.ctx, "ada", after(time.Minute)))
		for name, at := range map[string]time.Time{"ada": after(time.Minute), "cookie": after(time.Minute), "once": after(time.Minute), "ended": after(time.Second), "bob": {}} {
			s.same("when "+name+" was revoked", s.token(name).RevokedAt, at)
		}
		s.same("live tokens", s.live(noon), []string{"bob"})
	},
	"RevokedUserThatIsAddedAgainHasNoneOfTheirOldTokens": func(s *suite) {
		s.addUser("ada")
		s.ok(s.store.RevokeUser(s.ctx, "ada", after(time.Minute)))
		again := user.User{Name: "ada", Scope: user.Read, CreatedAt: after(time.Hour)}
		s.ok(s.store.AddUser(s.ctx, again, tokenOf("ada", "second"), hashOf("second")))
		s.same("users", s.users(), []user.User{again})
		s.same("live tokens", s.live(noon), []string{"second"})
		s.refuses(user.ErrExists, func() error { return s.store.AddUser(s.ctx, again, tokenOf("ada", "third"), hashOf("third")) })
	},
	"NamesThatNoUserCanHaveAreRefused": func(s *suite) {
		for _, name := range []string{"", "Ada", "ada lovelace", ".ada", "-ada", "_ada", "ad\x00a", "ad\xffa", "ädä", "a/b", "a\n", "sibyl_ada", strings.Repeat("a", 65)} {
			s.refuses(user.ErrInvalid, func() error { return s.store.AddUser(s.ctx, userOf(name), tokenOf(name, "x"), hashOf("x")) })
			s.refuses(user.ErrInvalid, func() error { return s.store.AddToken(s.ctx, tokenOf(name, "x"), hashOf("x")) })
			s.refuses(user.ErrInvalid, func() error { return s.store.RevokeUser(s.ctx, name, noon) })
			_, err := s.store.User(s.ctx, name)
			s.fails(err, user.ErrInvalid)
			if err != nil && len(name) > 1 && strings.Contains(err.Error(), name) {
				s.Errorf("the error repeats the name: %v", err)
			}
		}
		s.addUser(strings.Repeat("a", 64))
	},
	"UserWithoutAScopeOrWithAForeignTokenIsRefused": func(s *suite) {
		for _, scope := range []user.Scope{"", "admin", "WRITE"} {
			u := userOf("ada")
			u.Scope = scope
			s.refuses(user.ErrInvalid, func() error { return s.store.AddUser(s.ctx, u, tokenOf("ada", "x"), hashOf("x")) })
		}
		s.addUser("bob")
		s.refuses(user.ErrInvalid, func() error { return s.store.AddUser(s.ctx, userOf("ada"), tokenOf("bob", "x"), hashOf("x")) })
	},
}

var callTests = map[string]func(*suite){
	"CallWhoseContextHasEndedChangesNothingAndSaysSo": func(s *suite) {
		s.addUser("ada")
		s.add(ofKind(tokenOf("ada", "once"), user.SignIn))
		ended, cancel := context.WithCancel(s.ctx)
		cancel()
		for name, call := range map[string]func() error{
			"AddUser":       func() error { return s.store.AddUser(ended, userOf("bob"), tokenOf("bob", "bob"), hashOf("bob")) },
			"User":          func() error { _, err := s.store.User(ended, "ada"); return err },
			"Users":         func() error { _, err := s.store.Users(ended); return err },
			"RevokeUser":    func() error { return s.store.RevokeUser(ended, "ada", noon) },
			"AddToken":      func() error { return s.store.AddToken(ended, tokenOf("ada", "x"), hashOf("x")) },
			"ReplaceTokens": func() error { return s.store.ReplaceTokens(ended, tokenOf("ada", "x"), hashOf("x")) },
			"Token":         func() error { _, err := s.store.Token(ended, hashOf("ada")); return err },
			"Tokens":        func() error { _, err := s.store.Tokens(ended, noon); return err },
			"EndToken":      func() error { _, err := s.store.EndToken(ended, hashOf("once"), user.SignIn, noon); return err },
			"ForgetTokens":  func() error { return s.store.ForgetTokens(ended, after(24*time.Hour)) },
		} {
			s.Log(name)
			s.refuses(context.Canceled, call)
		}
		s.same("the tokens", []string{s.token("ada").ID, s.token("once").ID}, []string{"ada", "once"})
	},
}
