package app

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"sibyl/internal/config"
	"sibyl/internal/keys"
	"sibyl/internal/redact"
)

// secrets hands out keys. It redacts those it knows from the start, and every one it has handed out.
type secrets struct {
	cfg      config.Config
	store    *keys.Store
	learnt   []config.Secret // of the store
	redactor atomic.Pointer[redact.Redactor]

	mu   sync.Mutex
	keys map[string]config.Secret // by provider or search engine: a command that prints a key is run once
}

func newSecrets(cfg config.Config) *secrets {
	s := &secrets{cfg: cfg, store: keys.New(cfg.Keys), keys: map[string]config.Secret{}}
	s.learnt = s.store.KnownKeys()
	s.redactor.Store(cfg.Redactor(s.learnt...))
	return s
}

func (s *secrets) bytes(b []byte) []byte { return s.redactor.Load().Bytes(b) }

// key returns the key of a provider or search engine, and redacts it from then on.
func (s *secrets) key(ctx context.Context, name string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k, ok := s.keys[name]; ok {
		return k.Reveal(), nil
	}
	k, err := s.cfg.Key(ctx, name, s.store)
	if err != nil {
		return "", err
	}
	s.keys[name] = k
	known := slices.AppendSeq(slices.Clone(s.learnt), maps.Values(s.keys))
	s.redactor.Store(s.cfg.Redactor(known...))
	return k.Reveal(), nil
}
