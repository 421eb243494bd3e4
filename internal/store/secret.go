package store

import (
	"context"
	"crypto/rand"
)

// Secrets are what all processes over one database share besides its contents: signing secrets, and values that the
// first process has chosen for all.
type Secrets interface {
	// Secret returns the secret of a name: SecretSize random bytes. The first call of any process makes and stores it;
	// all others return the same.
	Secret(ctx context.Context, name string) ([]byte, error)
	// Agreed returns the value of a name: that of the first call of any process, which stores it. Nil, if none is stored
	// and value is nil.
	Agreed(ctx context.Context, name string, value []byte) ([]byte, error)
}

// SecretSize is the length of a secret, in bytes.
const SecretSize = 32

var _ Secrets = (*DB)(nil)

// Secret implements Secrets.
func (db *DB) Secret(ctx context.Context, name string) ([]byte, error) {
	fresh := make([]byte, SecretSize)
	_, _ = rand.Read(fresh) // never fails: it would end the process
	return db.Agreed(ctx, name, fresh)
}

// Agreed implements Secrets.
func (db *DB) Agreed(ctx context.Context, name string, value []byte) ([]byte, error) {
	find := func() ([][]byte, error) {
		return readRows(ctx, db, scanValue[[]byte], `SELECT value FROM secret WHERE name = $1`, name)
	}
	found, err := find()
	if err == nil && len(found) == 0 {
		if value == nil {
			return nil, nil
		}
		err = db.write(ctx, func(t *tx) error {
			t.run(`INSERT INTO secret (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`, name, value)
			return nil
		})
		if err == nil {
			found, err = find()
		}
	}
	return onlyRow(found, err, nil)
}
