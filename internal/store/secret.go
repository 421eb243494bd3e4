package store

import (
	"context"
	"crypto/rand"
)

// Secrets are what the processes over one database sign with.
type Secrets interface {
	// Secret returns the secret of a name: SecretSize random bytes, made when any process first asks for it, and the same in all of them from
	// then on.
	Secret(ctx context.Context, name string) ([]byte, error)
}

// SecretSize is the length of a secret, in bytes.
const SecretSize = 32

// NewSecret makes a secret.
func NewSecret() []byte {
	b := make([]byte, SecretSize)
	_, _ = rand.Read(b) // never fails: it ends the process instead
	return b
}
