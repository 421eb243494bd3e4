package app

import (
	"context"
	"sync"
	"sync/atomic"

	"sibyl/internal/config"
	"sibyl/internal/redact"
)

// secrets hands out keys and redacts every one it has handed out.
type secrets struct {
	cfg      config.Config
	redactor atomic.Pointer[redact.Redactor]

	mu   sync.Mutex
	keys map[string]config.Secret // by provider: a command that prints a key is run once
}

func newSecrets(cfg config.Config) *secrets {
	s := &secrets{cfg: cfg, keys: map[string]config.Secret{}}
	s.redactor.Store(cfg.Redactor())
	return s
}

// bytes redacts.
func (s *secrets) bytes(b []byte) []byte { return s.redactor.Load().Bytes(b) }

// key gives the key of a provider. From the moment it is known, it is redacted.
func (s *secrets) key(ctx context.Context, provider string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k, ok := s.keys[provider]; ok {
		return k.Reveal(), nil
	}
	k, err := s.cfg.Providers[provider].Key(ctx)
	if err != nil {
		return "", err
	}
	s.keys[provider] = k
	known := make([]config.Secret, 0, len(s.keys))
	for _, k := range s.keys {
		known = append(known, k)
	}
	s.redactor.Store(s.cfg.Redactor(known...))
	return k.Reveal(), nil
}
