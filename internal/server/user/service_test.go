package user_test

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/redact"
	"sibyl/internal/server/user"
	"sibyl/internal/store/teststore"
)

const day = 24 * time.Hour

// desk is a service over an empty store, on a clock that stands still.
type desk struct {
	*testing.T
	*user.Service
	store *watched
	now   time.Time
}

func newDesk(t *testing.T) *desk {
	d := &desk{T: t, store: &watched{Store: teststore.Empty(t)}, now: time.Date(2026, time.March, 1, 12, 0, 0, 999_999,
		time.UTC)}
	d.Service = user.New(d.store, func() time.Time { return d.now })
	return d
}

// watched counts what is looked up, and fails or does something else when told so.
type watched struct {
	user.Store
	lookUps atomic.Int64
	endings atomic.Int64
	broken  error
	between func() // after a token was ended
}

func (w *watched) Token(ctx context.Context, hash user.Hash) (user.Token, error) {
	w.lookUps.Add(1)
	if w.broken != nil {
		return user.Token{}, w.broken
	}
	return w.Store.Token(ctx, hash)
}

func (w *watched) EndToken(ctx context.Context, hash user.Hash, kind user.Kind, at time.Time) (user.Token, error) {
	w.endings.Add(1)
	t, err := w.Store.EndToken(ctx, hash, kind, at)
	if w.between != nil {
		w.between()
	}
	return t, err
}

func (d *desk) add(name string, scope user.Scope) (secret string) {
	d.Helper()
	_, secret, err := d.Add(d.Context(), name, scope, 90*day)
	assert.NoError(d, err)
	return secret
}

func (d *desk) invite(name string) (secret string) {
	d.Helper()
	_, secret, err := d.Invite(d.Context(), name)
	assert.NoError(d, err)
	return secret
}

func (d *desk) signIn(once string) (secret string) {
	d.Helper()
	_, secret, err := d.SignIn(d.Context(), once)
	assert.NoError(d, err)
	return secret
}

func (d *desk) fails(err, target error) {
	d.Helper()
	assert.That(d, errors.Is(err, target), "error is %v, want one that matches %q", err, target)
}

// opens wants a secret to be that of a token of so many.
func (d *desk) opens(secret, name string, kind user.Kind, scope user.Scope) {
	d.Helper()
	t, err := d.Check(d.Context(), secret)
	assert.That(d, err == nil && t.User == name && t.Kind == kind && t.Scope == scope,
		"the secret opens %+v, error %v; want a %s of %s to %s", t, err, kind, name, scope)
}

// shut wants a secret to open nothing, and nothing more to be said.
func (d *desk) shut(about, secret string) {
	d.Helper()
	if t, err := d.Check(d.Context(), secret); err != user.ErrUnknown || t != (user.Token{}) { //nolint:errorlint // no other error says as little
		d.Errorf("%s: the secret opens %+v, error %v; want ErrUnknown and nothing else", about, t, err)
	}
}

func TestSecretIsRandomAndBeginsWithThePrefix(t *testing.T) {
	d := newDesk(t)
	seen := map[string]bool{}
	for _, name := range []string{"a", "b", "c"} {
		for _, secret := range []string{d.add(name, user.Write), d.signIn(d.invite(name))} {
			assert.That(t, regexp.MustCompile(`^sibyl_[0-9a-v]{52}$`).MatchString(secret), "the secret has the form %q", secret)
			assert.That(t, !seen[secret], "%q was made twice", secret)
			seen[secret] = true
		}
	}
}

func TestSecretIsTakenOutOfTexts(t *testing.T) {
	d := newDesk(t)
	for _, secret := range []string{d.add("ada", user.Write), d.invite("ada"), d.signIn(d.invite("ada"))} {
		got, want := redact.New().String("curl -H 'X: "+secret+"' and "+secret[:50]), "curl -H 'X: "+redact.Mark+
			"' and "+redact.Mark
		assert.That(t, got == want, "got %q, want %q", got, want)
	}
}

func TestBearerOpensUntilItExpires(t *testing.T) {
	d := newDesk(t)
	begun := d.now
	token, secret, err := d.Add(t.Context(), "ada", user.Read, 90*day)
	assert.NoError(d, err)
	want := user.Token{ID: token.ID, User: "ada", Kind: user.Bearer, Scope: user.Read,
		CreatedAt: begun.Truncate(time.Millisecond), ExpiresAt: begun.Truncate(time.Millisecond).Add(90 * day)}
	diff := cmp.Diff(want, token)
	assert.That(t, diff == "" && token.ID != "", "token %q (-want +got):\n%s", token.ID, diff)
	d.now = want.ExpiresAt.Add(-time.Millisecond)
	d.opens(secret, "ada", user.Bearer, user.Read)
	d.now = want.ExpiresAt
	d.shut("expired", secret)
}

func TestOfOtherTextsNothingIsSaidAndMostAreNotLookedUp(t *testing.T) {
	d := newDesk(t)
	secret := d.add("ada", user.Write)
	other := "sibyl_" + strings.Repeat("0", 52)
	for about, text := range map[string]string{
		"empty": "", "prefix": "sibyl_", "no prefix": secret[6:], "cut": secret[:57], "longer": secret + "0",
		"huge":       strings.Repeat("sibyl_", 1<<20),
		"upper case": strings.ToUpper(secret), "with a word": "Bearer " + secret,
	} {
		d.shut(about, text)
	}
	n := d.store.lookUps.Load()
	assert.That(t, n == 0, "%d texts were looked up that have not the form of a secret", n)
	d.shut("unknown", other)
	d.opens(secret, "ada", user.Bearer, user.Write)
	n = d.store.lookUps.Load()
	assert.That(t, n == 2, "%d look-ups for two secrets", n)
}

func TestBrokenStoreIsNotTakenForAnUnknownToken(t *testing.T) {
	d := newDesk(t)
	secret := d.add("ada", user.Write)
	d.store.broken = errors.New("the disk is gone")
	token, err := d.Check(t.Context(), secret)
	assert.That(t, errors.Is(err, d.store.broken) && !errors.Is(err, user.ErrUnknown) && token == (user.Token{}),
		"got %+v, error %v, want that of the store alone", token, err)
}

func TestRotationEndsTheOldBearerAtOnceAndKeepsScopeAndCookie(t *testing.T) {
	d := newDesk(t)
	first := d.add("ada", user.Read)
	cookie := d.signIn(d.invite("ada"))
	others := d.add("bob", user.Write)
	token, second, err := d.Rotate(t.Context(), "ada", time.Hour)
	assert.NoError(d, err)
	lasts := token.ExpiresAt.Sub(token.CreatedAt)
	assert.That(t, lasts == time.Hour, "it lasts for %v, want an hour", lasts)
	d.shut("rotated", first)
	d.opens(second, "ada", user.Bearer, user.Read)
	d.opens(cookie, "ada", user.Cookie, user.Read)
	d.opens(others, "bob", user.Bearer, user.Write)
}

func TestRevokedUserEndsWithAllTokensAndMayBeAddedAgain(t *testing.T) {
	d := newDesk(t)
	bearer, invited := d.add("ada", user.Write), d.invite("ada")
	cookie := d.signIn(d.invite("ada"))
	assert.NoError(d, d.Revoke(t.Context(), "ada"))
	d.shut("bearer", bearer)
	d.shut("cookie", cookie)
	_, _, err := d.SignIn(t.Context(), invited)
	d.fails(err, user.ErrUnknown)
	for name, call := range map[string]func() error{
		"Rotate": func() error { _, _, err := d.Rotate(t.Context(), "ada", time.Hour); return err },
		"Invite": func() error { _, _, err := d.Invite(t.Context(), "ada"); return err },
		"Revoke": func() error { return d.Revoke(t.Context(), "ada") },
	} {
		if err := call(); !errors.Is(err, user.ErrNotFound) || !strings.Contains(err.Error(), `"ada"`) {
			t.Errorf("%s: error is %v, want ErrNotFound with the name", name, err)
		}
	}
	again := d.add("ada", user.Read)
	d.opens(again, "ada", user.Bearer, user.Read)
	d.shut("of before", bearer)
	_, _, err = d.Add(t.Context(), "ada", user.Write, time.Hour)
	d.fails(err, user.ErrExists)
	d.opens(again, "ada", user.Bearer, user.Read)
}

func TestSignInTakesASecretOnceWithinFiveMinutes(t *testing.T) {
	d := newDesk(t)
	d.add("ada", user.Read)
	used, late, inTime := d.invite("ada"), d.invite("ada"), d.invite("ada")
	token, cookie, err := d.SignIn(t.Context(), used)
	assert.NoError(d, err)
	if lasts := token.ExpiresAt.Sub(token.CreatedAt); lasts != 30*day || token.Kind != user.Cookie {
		t.Errorf("a %s for %v, want a cookie for 30 days", token.Kind, lasts)
	}
	d.opens(cookie, "ada", user.Cookie, user.Read)
	refuse := func(about, secret string) {
		t.Helper()
		if _, _, err := d.SignIn(t.Context(), secret); err != user.ErrUnknown { //nolint:errorlint // no other error says as little
			t.Errorf("%s: error is %v, want ErrUnknown and nothing else", about, err)
		}
	}
	refuse("used", used)
	d.now = d.now.Add(5*time.Minute - time.Millisecond)
	d.signIn(inTime)
	d.now = d.now.Add(time.Millisecond)
	refuse("late", late)
	refuse("a cookie", cookie)
	refuse("a bearer", d.add("bob", user.Write))
	refuse("no secret", "once")
}

// Else who guesses would keep others from writing.
func TestWelcomeAddsWhoIsNotThereAndNobodyTwice(t *testing.T) {
	d := newDesk(t)
	for range 2 {
		_, secret, err := d.Welcome(t.Context(), "local", user.Write)
		assert.NoError(d, err)
		token, cookie, err := d.SignIn(t.Context(), secret)
		assert.NoError(d, err)
		d.opens(cookie, "local", user.Cookie, user.Write)
		assert.That(t, token.Scope == user.Write, "the scope is %s", token.Scope)
	}
	users := assert.Must(d.List(t.Context()))(d)
	assert.That(t, len(users) == 1 && len(users[0].Tokens) == 2,
		"users are %+v, want one with two cookies and no bearer", users)
	d.add("ada", user.Read)
	_, secret, err := d.Welcome(t.Context(), "ada", user.Write)
	assert.NoError(d, err)
	if token, _, err := d.SignIn(t.Context(), secret); err != nil || token.Scope != user.Read {
		t.Errorf("who is there gets the scope %s, %v; want that of before", token.Scope, err)
	}
	_, _, err = d.Welcome(t.Context(), "no name", user.Write)
	d.fails(err, user.ErrInvalid)
}

func TestGuessAtASignInOrACookieWritesNothing(t *testing.T) {
	d := newDesk(t)
	bearer := d.add("ada", user.Write)
	for _, guess := range []string{"sibyl_" + strings.Repeat("0", 52), bearer, "guess"} {
		_, _, err := d.SignIn(t.Context(), guess)
		d.fails(err, user.ErrUnknown)
		d.fails(d.SignOut(t.Context(), guess), user.ErrUnknown)
	}
	n := d.store.endings.Load()
	assert.That(t, n == 0, "%d guesses reached a write", n)
}

func TestOfThoseWhoSignInAtOnceWithOneSecretOneGetsIn(t *testing.T) {
	d := newDesk(t)
	d.add("ada", user.Write)
	once := d.invite("ada")
	errs := make(chan error)
	for range 8 {
		go func() {
			_, _, err := d.SignIn(t.Context(), once)
			errs <- err
		}()
	}
	in := 0
	for range 8 {
		if err := <-errs; err == nil {
			in++
		} else {
			d.fails(err, user.ErrUnknown)
		}
	}
	assert.That(t, in == 1, "%d got in, want one", in)
}

func TestSignInSecretIsNoBearer(t *testing.T) {
	d := newDesk(t)
	d.add("ada", user.Write)
	d.shut("to sign in", d.invite("ada"))
}

func TestUserWhoIsRevokedWhileSigningInGetsNothing(t *testing.T) {
	d := newDesk(t)
	d.add("ada", user.Write)
	once := d.invite("ada")
	d.store.between = func() { assert.NoError(d, d.Revoke(t.Context(), "ada")) }
	token, secret, err := d.SignIn(t.Context(), once)
	assert.That(t, errors.Is(err, user.ErrUnknown) && secret == "" && token == (user.Token{}),
		"got %+v with a secret of %d bytes, error %v, want ErrUnknown alone", token, len(secret), err)
}

func TestSignOutEndsTheCookieAndNothingElse(t *testing.T) {
	d := newDesk(t)
	bearer := d.add("ada", user.Write)
	here, there := d.signIn(d.invite("ada")), d.signIn(d.invite("ada"))
	assert.NoError(d, d.SignOut(t.Context(), here))
	d.shut("signed out", here)
	d.opens(there, "ada", user.Cookie, user.Write)
	for _, secret := range []string{here, bearer, "cookie"} {
		d.fails(d.SignOut(t.Context(), secret), user.ErrUnknown)
	}
	d.opens(bearer, "ada", user.Bearer, user.Write)
}

func TestTimesOutsideOfTheBoundsAreRefusedAndNothingIsMade(t *testing.T) {
	d := newDesk(t)
	d.add("ada", user.Write)
	for _, lasts := range []time.Duration{0, -time.Hour, time.Minute - 1, 3650*day + 1, 1<<63 - 1} {
		_, secret, err := d.Add(t.Context(), "bob", user.Write, lasts)
		d.fails(err, user.ErrInvalid)
		_, rotated, err := d.Rotate(t.Context(), "ada", lasts)
		d.fails(err, user.ErrInvalid)
		assert.That(t, secret+rotated == "", "%v: a secret was made", lasts)
	}
	all := assert.Must(d.List(t.Context()))(d)
	assert.That(t, len(all) == 1 && len(all[0].Tokens) == 1, "there are %+v, want ada and her first token", all)
	for i, lasts := range []time.Duration{time.Minute, 3650 * day} {
		_, _, err := d.Add(t.Context(), string(rune('p'+i)), user.Write, lasts)
		assert.NoError(d, err)
	}
}

func TestWhatIsNotValidIsRefusedWithoutRepeatingIt(t *testing.T) {
	d := newDesk(t)
	secret := d.add("ada", user.Write)
	for _, c := range []struct {
		name  string
		scope user.Scope
	}{{"bob", "sudo"}, {"bob", ""}, {"Bob!", user.Read}, {secret, user.Read}} {
		_, made, err := d.Add(t.Context(), c.name, c.scope, time.Hour)
		assert.That(t, errors.Is(err, user.ErrInvalid) && made == "" && !strings.Contains(err.Error(), "sudo") &&
			!strings.Contains(err.Error(), "Bob") && !strings.Contains(err.Error(), secret),
			"%+v: error is %v, want ErrInvalid that does not repeat it", c, err)
	}
	for name, call := range map[string]func() error{
		"Rotate": func() error { _, _, err := d.Rotate(t.Context(), secret, time.Hour); return err },
		"Invite": func() error { _, _, err := d.Invite(t.Context(), secret); return err },
		"Revoke": func() error { return d.Revoke(t.Context(), secret) },
	} {
		if err := call(); !errors.Is(err, user.ErrInvalid) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: error is %v, want ErrInvalid without the secret", name, err)
		}
	}
}

func TestListShowsUsersWithTheirLiveTokensAlone(t *testing.T) {
	d := newDesk(t)
	if all, err := d.List(t.Context()); all == nil || len(all) != 0 || err != nil {
		t.Errorf("without users: %v, error %v, want an empty list", all, err)
	}
	d.add("bob", user.Write)
	d.add("ada", user.Read)
	d.signIn(d.invite("ada"))
	d.invite("ada")
	_, _, err := d.Rotate(t.Context(), "ada", time.Minute)
	assert.NoError(d, err)
	assert.NoError(d, d.Revoke(t.Context(), "bob"))
	shown := func() (all []string) {
		t.Helper()
		list := assert.Must(d.List(t.Context()))(d)
		for _, one := range list {
			all = append(all, one.Name)
			for _, token := range one.Tokens {
				all = append(all, one.Name+" "+string(token.Kind)+" "+string(token.Scope))
			}
			assert.That(t, one.Tokens != nil, "%s has a list of tokens that is nil, and null in JSON", one.Name)
		}
		slices.Sort(all) // tokens of one moment are in the order of their random ids
		return all
	}
	same := func(want ...string) {
		t.Helper()
		assert.NoDiff(t, cmp.Diff(want, shown()), "listed (-want +got)")
	}
	same("ada", "ada bearer read", "ada cookie read", "ada sign-in read", "bob")
	d.now = d.now.Add(time.Minute)
	same("ada", "ada cookie read", "ada sign-in read", "bob")
}

func TestAnyKnowsWhetherThereIsAUserThatIsNotRevoked(t *testing.T) {
	d := newDesk(t)
	want := func(want bool) {
		t.Helper()
		any, err := d.Any(t.Context())
		assert.That(t, any == want && err == nil, "Any is %v, error %v, want %v", any, err, want)
	}
	want(false)
	d.add("ada", user.Write)
	d.add("bob", user.Write)
	assert.NoError(d, d.Revoke(t.Context(), "ada"))
	want(true)
	assert.NoError(d, d.Revoke(t.Context(), "bob"))
	want(false)
}

func TestEndedTokensAreForgottenAfterThirtyDays(t *testing.T) {
	d := newDesk(t)
	_, secret, err := d.Add(t.Context(), "ada", user.Write, time.Minute)
	assert.NoError(d, err)
	kept := func() bool {
		t.Helper()
		assert.NoError(d, d.Forget(t.Context(), d.now))
		_, err := d.store.Token(t.Context(), user.HashOf(secret))
		return err == nil
	}
	d.now = d.now.Add(time.Minute + 30*day)
	assert.That(t, kept(), "it is gone after 30 days")
	d.now = d.now.Add(time.Millisecond)
	assert.That(t, !kept(), "it is there after more than 30 days")
}

func TestWriteIncludesReadAndNothingElseDoes(t *testing.T) {
	for _, c := range []struct {
		has, needed user.Scope
		want        bool
	}{
		{user.Write, user.Write, true}, {user.Write, user.Read, true}, {user.Read, user.Read, true},
		{user.Read, user.Write, false},
		{user.Write, "other", false}, {"", user.Read, false}, {"", "", false}, {"other", "other", false},
		{user.Read, "", false},
	} {
		assert.Equalf(t, c.has.Allows(c.needed), c.want, "%q allows %q", c.has, c.needed)
	}
}
