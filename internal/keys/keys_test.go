package keys

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/zalando/go-keyring"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/config"
)

// The person's own keyring is never touched by a test.
func TestMain(m *testing.M) {
	keyring.MockInit()
	if os.Getenv(writerVariable) != "" {
		os.Exit(writer())
	}
	os.Exit(m.Run())
}

const canary = "canary-value-0123456789"

func secret(text string) config.Secret { return config.NewSecret(text) }

// places are those of a person in a fresh home folder.
func places(t *testing.T, use string) config.KeyPlaces {
	t.Helper()
	home := t.TempDir()
	return config.KeyPlaces{Use: use, File: filepath.Join(home, "conf", "keys.age"),
		Folder:   filepath.Join(home, "data"),
		Identity: filepath.Join(home, "data", "keys-identity.txt")}
}

// headless opens a store on a machine without a keyring.
func headless(at config.KeyPlaces) *Store {
	s := New(at)
	s.ring = nil
	return s
}

// desktop opens a store on a machine with that keyring.
func desktop(at config.KeyPlaces, r ring) *Store {
	s := New(at)
	s.ring = r
	return s
}

func mustSet(t *testing.T, s *Store, name, key string, want Place) {
	t.Helper()
	place, err := s.Set(t.Context(), name, secret(key))
	assert.Require(t, err == nil && place == want, "%s went to the %q, want the %q, error %v", name, place, want, err)
}

func wantKey(t *testing.T, s *Store, name, want string) {
	t.Helper()
	key, err := s.Key(t.Context(), name)
	assert.That(t, err == nil && key.Reveal() == want, "key of %s = %q, want %q, error %v", name, key.Reveal(), want, err)
}

func wantWhere(t *testing.T, s *Store, want map[string]Place) {
	t.Helper()
	got := assert.Must(s.Where())(t)
	assert.Same(t, want, got)
}

// memoryRing is a keyring that answers.
type memoryRing map[string]string

func (r memoryRing) Set(_, user, password string) error { r[user] = password; return nil }
func (r memoryRing) Get(_, user string) (string, error) {
	if key, ok := r[user]; ok {
		return key, nil
	}
	return "", keyring.ErrNotFound
}
func (r memoryRing) Delete(_, user string) error {
	if _, ok := r[user]; !ok {
		return keyring.ErrNotFound
	}
	delete(r, user)
	return nil
}

// brokenRing fails every call with an error that holds all it was told.
type brokenRing struct{}

func (brokenRing) Set(service, user, password string) error {
	return fmt.Errorf("no %s/%s for %s", service, user, password)
}
func (brokenRing) Get(string, string) (string, error) { return "", errors.New("locked") }
func (brokenRing) Delete(string, string) error        { return errors.New("locked") }

// silentRing answers when it is closed.
type silentRing chan struct{}

func (r silentRing) Set(string, string, string) error   { <-r; return errors.New("too late") }
func (r silentRing) Get(string, string) (string, error) { <-r; return "", errors.New("too late") }
func (r silentRing) Delete(string, string) error        { <-r; return errors.New("too late") }

// forgetfulRing says yes and keeps nothing.
type forgetfulRing struct{ memoryRing }

func (forgetfulRing) Set(string, string, string) error { return nil }

func TestMachineWithoutAKeyringUsesTheFile(t *testing.T) {
	at := places(t, config.KeysAuto)
	mustSet(t, headless(at), "openai", canary, File)
	mustSet(t, headless(at), "brave", "another-key", File)
	wantKey(t, headless(at), "openai", canary)
	wantKey(t, headless(at), "brave", "another-key")
	names, err := Names(at)
	assert.That(t, err == nil && slices.Equal(names, []string{"brave", "openai"}), "names = %v, error %v", names, err)
}

func TestKeyringIsUsedWhereOneAnswers(t *testing.T) {
	at := places(t, config.KeysAuto)
	s := desktop(at, systemRing{})
	mustSet(t, s, "openai", canary, Keyring)
	wantKey(t, s, "openai", canary)
	got, err := keyring.Get("sibyl", "openai")
	assert.That(t, err == nil && got == canary, "in the keyring: %q, error %v", got, err)
	for _, path := range []string{at.File, at.Identity} {
		_, err := os.Stat(path)
		assert.That(t, errors.Is(err, os.ErrNotExist), "%s was made as well: %v", path, err)
	}
	assert.NoError(t, s.Delete(t.Context(), "openai"))
	_, err = keyring.Get("sibyl", "openai")
	assert.That(t, errors.Is(err, keyring.ErrNotFound), "after Delete the keyring says %v", err)
	wantWhere(t, s, map[string]Place{})
}

func TestNamesAreLearntWithoutTheKeyring(t *testing.T) {
	at := places(t, config.KeysAuto)
	mustSet(t, desktop(at, memoryRing{}), "openai", canary, Keyring)
	wantWhere(t, desktop(at, make(silentRing)), map[string]Place{"openai": Keyring})
}

func TestKeyringThatFailsGivesWayToTheFile(t *testing.T) {
	for name, r := range map[string]ring{"refuses": brokenRing{}, "forgets": forgetfulRing{memoryRing{}}} {
		t.Run(name, func(t *testing.T) {
			s := desktop(places(t, config.KeysAuto), r)
			mustSet(t, s, "openai", canary, File)
			wantKey(t, s, "openai", canary)
		})
	}
}

func TestKeyringThatHangsGivesWayToTheFileInTwoSeconds(t *testing.T) {
	at := places(t, config.KeysAuto)
	synctest.Test(t, func(t *testing.T) {
		silent := make(silentRing)
		defer close(silent)
		ctx, cancel := context.WithTimeout(t.Context(), autoWait*2)
		defer cancel()
		place, err := desktop(at, silent).Set(ctx, "openai", secret(canary))
		assert.That(t, err == nil && place == File, "went to the %q, error %v", place, err)
	})
}

func TestKeyringThatIsDemandedAndFailsIsAnError(t *testing.T) {
	at := places(t, config.KeysKeyring)
	for name, s := range map[string]*Store{"refuses": desktop(at, brokenRing{}),
		"forgets": desktop(at, forgetfulRing{memoryRing{}}), "is not there": headless(at)} {
		_, err := s.Set(t.Context(), "openai", secret(canary))
		assert.That(t, err != nil && strings.Contains(err.Error(), "SIBYL_KEYS=file") &&
			!strings.Contains(err.Error(), "canary"), "%s: error = %v", name, err)
	}
	synctest.Test(t, func(t *testing.T) {
		silent := make(silentRing)
		defer close(silent)
		_, err := desktop(at, silent).Set(t.Context(), "openai", secret(canary))
		assert.That(t, err != nil && strings.Contains(err.Error(), "did not answer within 30s"), "hangs: error = %v", err)
	})
	_, err := os.Stat(at.File)
	assert.That(t, errors.Is(err, os.ErrNotExist), "a file was made: %v", err)
}

func TestFileThatIsDemandedLeavesTheKeyringAlone(t *testing.T) {
	at := places(t, config.KeysFile)
	s := desktop(at, make(silentRing))
	mustSet(t, s, "openai", canary, File)
	wantKey(t, s, "openai", canary)
	assert.Nil(t, s.Delete(t.Context(), "openai"))
}

func TestKeyringThatCannotBeReadSaysWhatToDo(t *testing.T) {
	at := places(t, config.KeysAuto)
	mustSet(t, desktop(at, memoryRing{}), "openai", canary, Keyring)
	for name, c := range map[string]struct {
		ring ring
		want string
	}{
		"locked":  {brokenRing{}, "unlock it"},
		"emptied": {memoryRing{}, "store it again with ‘sibyl config set-key openai’"},
		"gone":    {nil, "no keyring answers on this machine"},
	} {
		_, err := desktop(at, c.ring).Key(t.Context(), "openai")
		assert.That(t, err != nil && strings.Contains(err.Error(), c.want), "%s: error = %v, want %s", name, err, c.want)
	}
	err := desktop(at, brokenRing{}).Delete(t.Context(), "openai")
	assert.That(t, err != nil && strings.Contains(err.Error(), "still in the keyring"), "Delete: error = %v", err)
	wantWhere(t, headless(at), map[string]Place{"openai": Keyring})
}

func TestKeyMovesWithTheLastSet(t *testing.T) {
	at, r := places(t, config.KeysAuto), memoryRing{}
	mustSet(t, headless(at), "openai", "first-in-the-file", File)
	mustSet(t, headless(at), "brave", "stays-in-the-file", File)
	mustSet(t, desktop(at, r), "openai", "then-in-the-keyring", Keyring)
	wantKey(t, desktop(at, r), "openai", "then-in-the-keyring")
	kept, err := headless(at).file.read()
	assert.That(t, err == nil && maps.Equal(kept, map[string]string{"brave": "stays-in-the-file"}),
		"the file holds %v, error %v", kept, err)
	mustSet(t, headless(at), "openai", "back-in-the-file", File)
	wantKey(t, desktop(at, r), "openai", "back-in-the-file")
	wantWhere(t, headless(at), map[string]Place{"openai": File, "brave": File})
}

func TestSetThatFailsLeavesTheKeyBeforeIt(t *testing.T) {
	at, r := places(t, config.KeysAuto), memoryRing{}
	mustSet(t, headless(at), "openai", "before", File)
	if err := os.MkdirAll(headless(at).indexPath(), 0o700); err != nil { // a folder in the place of the index
		t.Fatal(err)
	}
	_, err := desktop(at, r).Set(t.Context(), "openai", secret(canary))
	assert.That(t, err != nil && !strings.Contains(err.Error(), "canary"), "error = %v", err)
	wantKey(t, headless(at), "openai", "before")
}

func TestKeysOfTheFileAreLearntWithoutTheKeyring(t *testing.T) {
	at := places(t, config.KeysAuto)
	mustSet(t, desktop(at, memoryRing{}), "openai", "of-the-keyring", Keyring)
	mustSet(t, headless(at), "brave", canary, File)
	got := desktop(at, make(silentRing)).KnownKeys()
	assert.That(t, len(got) == 1 && got[0].Reveal() == canary, "learnt %d keys", len(got))
	at.Use = config.KeysKeyring
	got = New(at).KnownKeys()
	assert.That(t, len(got) == 0, "with the keyring alone: learnt %d keys", len(got))
}

func TestKeyThatIsNotStoredIsToldApart(t *testing.T) {
	s := headless(places(t, config.KeysAuto))
	_, err := s.Key(t.Context(), "openai")
	assert.That(t, errors.Is(err, ErrNotStored) && strings.Contains(err.Error(), "sibyl config set-key openai"),
		"Key: error = %v", err)
	assert.ErrorIsf(t, s.Delete(t.Context(), "openai"), ErrNotStored, "Delete")
}

func TestUnknownHomeHasNoKeysAndNoPlaceForThem(t *testing.T) {
	s := headless(config.KeyPlaces{Use: config.KeysAuto})
	wantWhere(t, s, map[string]Place{})
	_, err := s.Set(t.Context(), "openai", secret(canary))
	assert.That(t, err != nil && strings.Contains(err.Error(), "set HOME"), "error = %v", err)
}

func TestStoppingEndsTheWaitForTheKeyring(t *testing.T) {
	at := places(t, config.KeysKeyring)
	synctest.Test(t, func(t *testing.T) {
		silent := make(silentRing)
		defer close(silent)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := desktop(at, silent).Set(ctx, "openai", secret(canary))
		assert.That(t, errors.Is(err, context.Canceled), "error = %v", err)
	})
}
