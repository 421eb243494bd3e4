package keys

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zalando/go-keyring"

	"sibyl/internal/redact"
)

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

// get asks the keyring for a key.
func (s *Store) get(ctx context.Context, name string) (string, error) {
	return s.ask(ctx, func() (string, error) { return s.ring.Get(service, name) })
}

// put stores a key and reads it back: not every keyring says that it failed.
func (s *Store) put(ctx context.Context, name, key string) error {
	got, err := s.ask(ctx, func() (string, error) {
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

func (s *Store) drop(ctx context.Context, name string) error {
	_, err := s.ask(ctx, func() (string, error) { return "", s.ring.Delete(service, name) })
	return err
}

// ask waits for the keyring, but not for ever. A call that is given up goes on by itself until the keyring answers or the
// program ends: there is no way to withdraw it.
func (s *Store) ask(ctx context.Context, do func() (string, error)) (string, error) {
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
