// Package keys keeps API keys under the names of the providers and search engines they belong to: in the keyring of the
// operating system where one answers, else in a file that is encrypted with age.
//
// The file protects the keys where it goes without its identity: into a backup or a sync of the configuration folder, a
// commit of it, a listing of it on a screen. It does not protect them from whoever has the person's account or is root,
// since the identity lies in the data folder of the same account; nor where both folders are copied together; nor from
// a stolen disk that is not encrypted itself. An identity on another medium, named by SIBYL_AGE_IDENTITY, parts the
// two.
//
// Guarantees:
//   - No key is in an error, a name of a file or an argument of a program. The keyring gets it over its own channel.
//   - A file is written whole or not at all. One that cannot be read is never written over. Programs that write at the
//     same time wait for each other, at most 5 seconds, and lose no key.
//   - A file of keys, or an identity, that others can read is refused; what is written is the person's alone.
//   - The keyring is waited for 2 seconds, or 30 where the settings leave no choice, and on a machine without a session
//     bus not at all. Which keys there are is learnt without it.
//   - A Set that fails leaves the key before it, unless a keyring takes the new one after it was given up.
package keys

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/zalando/go-keyring"

	"sibyl/internal/config"
	"sibyl/internal/redact"
)

// Place is where a key is kept.
type Place string

// The places. A key that is in both is that of the keyring.
const (
	Keyring Place = "keyring"
	File    Place = "file"
)

// ErrNotStored says that no key is kept under a name.
var ErrNotStored = errors.New("no key is stored")

const (
	autoWait   = 2 * time.Second  // for a keyring that may not be there
	forcedWait = 30 * time.Second // for one that the settings ask for: the person may have to unlock it
)

// Store keeps keys. It is safe for concurrent use, also by several programs.
type Store struct {
	places config.KeyPlaces
	ring   ring // nil: there is none
	wait   time.Duration
	file   sealedFile
}

// New makes the store of these places. It reads nothing and connects to nothing.
func New(at config.KeyPlaces) *Store {
	s := &Store{places: at, wait: autoWait, file: sealedFile{at.File, at.Identity, at.IdentityNamed}}
	if at.Use == config.KeysKeyring {
		s.wait = forcedWait
	}
	if mayHaveKeyring() {
		s.ring = systemRing{}
	}
	return s
}

// Names lists the names that have a key in the store of these places, sorted; for config.Options.Stored.
func Names(at config.KeyPlaces) ([]string, error) {
	where, err := New(at).Where()
	return slices.Sorted(maps.Keys(where)), err
}

func (s *Store) usesKeyring() bool { return s.places.Use != config.KeysFile }
func (s *Store) usesFile() bool    { return s.places.Use != config.KeysKeyring }

// Where says where each key is kept, by name, without asking the keyring. On an error it tells those it could learn.
func (s *Store) Where() (map[string]Place, error) {
	where := map[string]Place{}
	if s.places.Folder == "" || s.places.File == "" {
		return where, nil // nobody could have stored one
	}
	var problems []error
	if s.usesFile() {
		kept, err := s.file.read()
		for name := range kept {
			where[name] = File
		}
		problems = append(problems, err)
	}
	if s.usesKeyring() {
		names, err := s.namesInKeyring()
		for _, name := range names {
			where[name] = Keyring
		}
		problems = append(problems, err)
	}
	return where, errors.Join(problems...)
}

// Key implements config.KeyStore. Its error is ErrNotStored where there is no key.
func (s *Store) Key(ctx context.Context, name string) (config.Secret, error) {
	where, err := s.Where()
	switch where[name] {
	case Keyring:
		return s.readFromKeyring(ctx, name)
	case File:
		kept, err := s.file.read()
		return config.NewSecret(kept[name]), err
	}
	if err != nil {
		return config.Secret{}, err
	}
	return config.Secret{}, fmt.Errorf("%w for %s: ‘sibyl config set-key %s’ stores one", ErrNotStored, name, name)
}

// KnownKeys gives all keys that are known without asking the keyring, so that they can be kept out of what is written
// before anybody uses them. Those of a file that can't be read are not among them.
func (s *Store) KnownKeys() []config.Secret {
	if !s.usesFile() || s.places.File == "" {
		return nil
	}
	kept, err := s.file.read()
	if err != nil {
		return nil // Where tells why
	}
	secrets := make([]config.Secret, 0, len(kept))
	for _, key := range kept {
		secrets = append(secrets, config.NewKey(key))
	}
	return secrets
}

func (s *Store) readFromKeyring(ctx context.Context, name string) (config.Secret, error) {
	text, err := s.getFromRing(ctx, name)
	switch {
	case errors.Is(err, keyring.ErrNotFound):
		return config.Secret{}, fmt.Errorf(
			"the keyring has no key for %s any more: store it again with ‘sibyl config set-key %s’", name, name)
	case err != nil:
		return config.Secret{}, fmt.Errorf(
			"the key for %s is in the keyring, which can't be read: %w: unlock it and try again, "+
				"or set the variable of the key", name, err)
	}
	return config.NewSecret(text), nil
}

// Set keeps a key under a name, in the place of one that was there, and says where.
func (s *Store) Set(ctx context.Context, name string, key config.Secret) (Place, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	if s.usesKeyring() {
		err := s.putIntoRing(ctx, name, key.Reveal())
		if err == nil { // what is noted decides that the keyring's is the one
			if _, err := s.updateIndex(name, true); err != nil {
				return Keyring, err
			}
			return Keyring, s.removeFromFile(name)
		}
		if !s.usesFile() || ctx.Err() != nil {
			return "", fmt.Errorf("the keyring does not take the key: %w: unlock it, or choose the encrypted file "+
				"with SIBYL_KEYS=file", err)
		}
	}
	return File, s.storeInFile(ctx, name, key.Reveal())
}

// removeFromFile removes a key from the file. A file that can't be read has no key that counts.
func (s *Store) removeFromFile(name string) error {
	kept, err := s.file.read()
	if err != nil || kept[name] == "" {
		return nil //nolint:nilerr // Where tells why
	}
	delete(kept, name)
	return s.file.write(kept)
}

// storeInFile writes a key into the file, and then takes its name out of the index, so that the file's key counts.
func (s *Store) storeInFile(ctx context.Context, name, key string) error {
	kept, err := s.file.read()
	if err != nil {
		return err
	}
	kept[name] = key
	if err := s.file.write(kept); err != nil {
		return err
	}
	was, err := s.updateIndex(name, false)
	if was && s.usesKeyring() {
		_ = s.deleteFromRing(ctx, name) // it may not answer, and the key in it counts no more
	}
	return err
}

// Delete forgets the key of a name. Its error is ErrNotStored where there is none.
func (s *Store) Delete(ctx context.Context, name string) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	where, err := s.Where()
	place, stored := where[name]
	switch {
	case !stored && err != nil:
		return err
	case !stored:
		return fmt.Errorf("%w for %s", ErrNotStored, name)
	case place == Keyring:
		if err := s.deleteFromRing(ctx, name); err != nil && !errors.Is(err, keyring.ErrNotFound) {
			return fmt.Errorf("the key for %s is still in the keyring: %w: unlock it and try again", name, err)
		}
		if _, err := s.updateIndex(name, false); err != nil {
			return err
		}
	}
	if !s.usesFile() {
		return nil
	}
	return s.removeFromFile(name)
}

// service is the name under which the keyring groups our keys.
const service = "sibyl"

// ring is the keyring of an operating system. Its calls take no context and may wait for a person for ever.
type ring interface {
	Set(service, user, password string) error
	Get(service, user string) (string, error)
	Delete(service, user string) error
}

type systemRing struct{}

func (systemRing) Set(service, user, password string) error {
	return keyring.Set(service, user, password)
}
func (systemRing) Get(service, user string) (string, error) { return keyring.Get(service, user) }
func (systemRing) Delete(service, user string) error        { return keyring.Delete(service, user) }

var errNoKeyring = errors.New("no keyring answers on this machine")

// getFromRing asks the keyring for a key.
func (s *Store) getFromRing(ctx context.Context, name string) (string, error) {
	return s.askRing(ctx, func() (string, error) { return s.ring.Get(service, name) })
}

// putIntoRing stores a key and reads it back: not every keyring says that it failed.
func (s *Store) putIntoRing(ctx context.Context, name, key string) error {
	got, err := s.askRing(ctx, func() (string, error) {
		if err := s.ring.Set(service, name, key); err != nil {
			return "", errors.New(redact.New(key).String(err.Error()))
		}
		return s.ring.Get(service, name)
	})
	if err == nil && got != key {
		return errors.New("it gives back something else")
	}
	return err
}

func (s *Store) deleteFromRing(ctx context.Context, name string) error {
	_, err := s.askRing(ctx, func() (string, error) { return "", s.ring.Delete(service, name) })
	return err
}

// askRing calls the keyring, and waits for it at most s.wait. A call that is given up runs until the keyring answers or
// the program ends: nothing can withdraw it.
func (s *Store) askRing(ctx context.Context, do func() (string, error)) (string, error) {
	if s.ring == nil {
		return "", errNoKeyring
	}
	type reply struct {
		text string
		err  error
	}
	replies := make(chan reply, 1)
	go func() {
		text, err := do()
		replies <- reply{text, err}
	}()
	patience := time.NewTimer(s.wait)
	defer patience.Stop()
	select {
	case r := <-replies:
		return r.text, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	case <-patience.C:
		return "", fmt.Errorf("it did not answer within %s", s.wait)
	}
}
