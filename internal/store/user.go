package store

import (
	"context"
	"fmt"
	"time"

	"sibyl/internal/server/user"
)

var _ user.Store = (*DB)(nil)

const (
	selectPerson = `SELECT name, scope, created_at, revoked_at FROM person `
	tokenColumns = `id, person, kind, scope, created_at, expires_at, revoked_at`
	selectToken  = `SELECT ` + tokenColumns + ` FROM token `
)

var errNoToken = fmt.Errorf("token: %w", user.ErrNotFound)

func scanPerson(r row, u *user.User) error {
	return r.Scan(&u.Name, &u.Scope, millis{&u.CreatedAt}, millis{&u.RevokedAt})
}

func scanToken(r row, t *user.Token) error {
	return r.Scan(&t.ID, &t.User, &t.Kind, &t.Scope, millis{&t.CreatedAt}, millis{&t.ExpiresAt}, millis{&t.RevokedAt})
}

// AddUser implements user.Store.
func (db *DB) AddUser(ctx context.Context, u user.User, first user.Token, hash user.Hash) error {
	u, first, err := user.NewUser(u, first)
	if err != nil {
		return err
	}
	return db.write(ctx, func(t *tx) error {
		t.requireRow(user.Exists(u.Name), `
			INSERT INTO person (name, scope, created_at) VALUES ($1, $2, $3)
			ON CONFLICT (name) DO UPDATE SET scope = excluded.scope, created_at = excluded.created_at, revoked_at = NULL
			WHERE person.revoked_at IS NOT NULL RETURNING name`,
			u.Name, string(u.Scope), u.CreatedAt.UnixMilli())
		t.addToken(first, hash)
		return nil
	})
}

// User implements user.Store.
func (db *DB) User(ctx context.Context, name string) (user.User, error) {
	if err := user.CheckName(name); err != nil {
		return user.User{}, err
	}
	found, err := readRows(ctx, db, scanPerson, selectPerson+`WHERE name = $1 AND revoked_at IS NULL`, name)
	return onlyRow(found, err, user.NotFound(name))
}

// Users implements user.Store.
func (db *DB) Users(ctx context.Context) ([]user.User, error) {
	return readRows(ctx, db, scanPerson, selectPerson+`ORDER BY name`)
}

// RevokeUser implements user.Store.
func (db *DB) RevokeUser(ctx context.Context, name string, at time.Time) error {
	if err := user.CheckName(name); err != nil {
		return err
	}
	return db.write(ctx, func(t *tx) error {
		t.setProof(`SELECT 1 FROM person WHERE name = $1 AND revoked_at = $2`, name, at.UnixMilli())
		t.requireRow(user.NotFound(name),
			`UPDATE person SET revoked_at = $2 WHERE name = $1 AND revoked_at IS NULL RETURNING name`,
			name, at.UnixMilli())
		t.run(`UPDATE token SET revoked_at = $2 WHERE person = $1 AND revoked_at IS NULL`, name, at.UnixMilli())
		return nil
	})
}

// AddToken implements user.Store.
func (db *DB) AddToken(ctx context.Context, token user.Token, hash user.Hash) error {
	token, err := user.NewToken(token)
	if err != nil {
		return err
	}
	return db.write(ctx, func(t *tx) error {
		t.addToken(token, hash)
		return nil
	})
}

// ReplaceTokens implements user.Store.
func (db *DB) ReplaceTokens(ctx context.Context, token user.Token, hash user.Hash) error {
	token, err := user.NewToken(token)
	if err != nil {
		return err
	}
	return db.write(ctx, func(t *tx) error {
		t.run(`SELECT name FROM person WHERE name = $1 FOR NO KEY UPDATE`, token.User) // concurrent calls wait for each other
		t.run(`UPDATE token SET revoked_at = $3 WHERE person = $1 AND kind = $2 AND revoked_at IS NULL`,
			token.User, string(token.Kind), token.CreatedAt.UnixMilli())
		t.addToken(token, hash)
		return nil
	})
}

// addToken adds a token. It locks the user against revocation, and fails if there is none or the hash exists.
func (t *tx) addToken(token user.Token, hash user.Hash) {
	t.setProof(`SELECT 1 FROM token WHERE hash = $1`, hash[:])
	t.requireRow(user.NotFound(token.User), `SELECT name FROM person WHERE name = $1 AND revoked_at IS NULL FOR SHARE`,
		token.User)
	t.requireRow(fmt.Errorf("token: %w", user.ErrExists), `
		INSERT INTO token (hash, id, person, kind, scope, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (hash) DO NOTHING RETURNING id`,
		hash[:], token.ID, token.User, string(token.Kind), string(token.Scope), token.CreatedAt.UnixMilli(),
		token.ExpiresAt.UnixMilli())
}

// Token implements user.Store.
func (db *DB) Token(ctx context.Context, hash user.Hash) (user.Token, error) {
	found, err := readRows(ctx, db, scanToken, selectToken+`WHERE hash = $1`, hash[:])
	return onlyRow(found, err, errNoToken)
}

// Tokens implements user.Store.
func (db *DB) Tokens(ctx context.Context, now time.Time) ([]user.Token, error) {
	return readRows(ctx, db, scanToken, selectToken+`
		WHERE revoked_at IS NULL AND expires_at > $1 ORDER BY person, created_at, id`, now.UnixMilli())
}

// EndToken implements user.Store.
func (db *DB) EndToken(
	ctx context.Context, hash user.Hash, kind user.Kind, at time.Time,
) (ended user.Token, err error) {
	err = db.write(ctx, func(t *tx) error {
		t.setProof(`SELECT 1 FROM token WHERE hash = $1 AND revoked_at = $2`, hash[:], at.UnixMilli())
		queryChecked(t, scanToken, func(found []user.Token) (err error) {
			ended, err = onlyRow(found, nil, errNoToken)
			return err
		}, `
			UPDATE token SET revoked_at = $3 WHERE hash = $1 AND kind = $2 AND revoked_at IS NULL AND expires_at > $3 RETURNING `+tokenColumns,
			hash[:], string(kind), at.UnixMilli())
		return nil
	})
	if err != nil {
		return user.Token{}, err
	}
	return ended, nil
}

// ForgetTokens implements user.Store. It does not wait for locks: it leaves locked tokens to the next call.
func (db *DB) ForgetTokens(ctx context.Context, before time.Time) error {
	return db.write(ctx, func(t *tx) error {
		t.run(`
			DELETE FROM token WHERE hash IN (SELECT hash FROM token WHERE expires_at < $1 OR revoked_at < $1 FOR UPDATE SKIP LOCKED)`,
			before.UnixMilli())
		return nil
	})
}
