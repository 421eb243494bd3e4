package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"sibyl/internal/user"
)

var _ user.Store = (*DB)(nil)

const (
	selectPerson = `SELECT name, scope, created_at, revoked_at FROM person `
	tokenColumns = `id, person, kind, scope, created_at, expires_at, revoked_at`
	selectToken  = `SELECT ` + tokenColumns + ` FROM token `
)

func scanPerson(r pgx.CollectableRow) (u user.User, err error) {
	return u, r.Scan(&u.Name, &u.Scope, millis{&u.CreatedAt}, millis{&u.RevokedAt})
}

func scanToken(r pgx.CollectableRow) (t user.Token, err error) {
	return t, r.Scan(&t.ID, &t.User, &t.Kind, &t.Scope, millis{&t.CreatedAt}, millis{&t.ExpiresAt}, millis{&t.RevokedAt})
}

// AddUser implements user.Store.
func (db *DB) AddUser(ctx context.Context, u user.User, first user.Token, hash user.Hash) error {
	u, first, err := user.NewUser(u, first)
	if err != nil {
		return err
	}
	return db.write(ctx, func(t *tx) error {
		t.change(some(user.Exists(u.Name)), `
			INSERT INTO person (name, scope, created_at) VALUES ($1, $2, $3)
			ON CONFLICT (name) DO UPDATE SET scope = excluded.scope, created_at = excluded.created_at, revoked_at = NULL
			WHERE person.revoked_at IS NOT NULL`,
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
	found, err := read(ctx, db, scanPerson, selectPerson+`WHERE name = $1 AND revoked_at IS NULL`, name)
	if err == nil && len(found) == 0 {
		err = user.NotFound(name)
	}
	if err != nil {
		return user.User{}, err
	}
	return found[0], nil
}

// Users implements user.Store.
func (db *DB) Users(ctx context.Context) ([]user.User, error) {
	return read(ctx, db, scanPerson, selectPerson+`ORDER BY name`)
}

// RevokeUser implements user.Store.
func (db *DB) RevokeUser(ctx context.Context, name string, at time.Time) error {
	if err := user.CheckName(name); err != nil {
		return err
	}
	return db.write(ctx, func(t *tx) error {
		t.provable(`SELECT FROM person WHERE name = $1 AND revoked_at = $2`, name, at.UnixMilli())
		t.change(some(user.NotFound(name)), `UPDATE person SET revoked_at = $2 WHERE name = $1 AND revoked_at IS NULL`, name, at.UnixMilli())
		t.change(nil, `UPDATE token SET revoked_at = $2 WHERE person = $1 AND revoked_at IS NULL`, name, at.UnixMilli())
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
		t.change(nil, `SELECT FROM person WHERE name = $1 FOR NO KEY UPDATE`, token.User) // one after the other
		t.change(nil, `UPDATE token SET revoked_at = $3 WHERE person = $1 AND kind = $2 AND revoked_at IS NULL`,
			token.User, string(token.Kind), token.CreatedAt.UnixMilli())
		t.addToken(token, hash)
		return nil
	})
}

// addToken adds a token of a user that is there and not revoked, and is not meanwhile.
func (t *tx) addToken(token user.Token, hash user.Hash) {
	t.provable(`SELECT FROM token WHERE hash = $1`, hash[:])
	t.change(some(user.NotFound(token.User)), `SELECT FROM person WHERE name = $1 AND revoked_at IS NULL FOR SHARE`, token.User)
	t.change(some(fmt.Errorf("token: %w", user.ErrExists)), `
		INSERT INTO token (hash, id, person, kind, scope, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (hash) DO NOTHING`,
		hash[:], token.ID, token.User, string(token.Kind), string(token.Scope), token.CreatedAt.UnixMilli(), token.ExpiresAt.UnixMilli())
}

// Token implements user.Store.
func (db *DB) Token(ctx context.Context, hash user.Hash) (user.Token, error) {
	found, err := read(ctx, db, scanToken, selectToken+`WHERE hash = $1`, hash[:])
	if err != nil {
		return user.Token{}, err
	}
	return onlyToken(found)
}

// Tokens implements user.Store.
func (db *DB) Tokens(ctx context.Context, now time.Time) ([]user.Token, error) {
	return read(ctx, db, scanToken, selectToken+`
		WHERE revoked_at IS NULL AND expires_at > $1 ORDER BY person, created_at, id`, now.UnixMilli())
}

// EndToken implements user.Store.
func (db *DB) EndToken(ctx context.Context, hash user.Hash, kind user.Kind, at time.Time) (ended user.Token, err error) {
	err = db.write(ctx, func(t *tx) error {
		t.provable(`SELECT FROM token WHERE hash = $1 AND revoked_at = $2`, hash[:], at.UnixMilli())
		rows(t, scanToken, func(found []user.Token) (err error) {
			ended, err = onlyToken(found)
			return err
		}, `UPDATE token SET revoked_at = $3 WHERE hash = $1 AND kind = $2 AND revoked_at IS NULL AND expires_at > $3 RETURNING `+tokenColumns,
			hash[:], string(kind), at.UnixMilli())
		return nil
	})
	if err != nil {
		return user.Token{}, err
	}
	return ended, nil
}

// ForgetTokens implements user.Store. It waits for nobody: a token that somebody changes is left to the next time.
func (db *DB) ForgetTokens(ctx context.Context, before time.Time) error {
	return db.write(ctx, func(t *tx) error {
		t.change(nil, `
			DELETE FROM token WHERE hash IN (SELECT hash FROM token WHERE expires_at < $1 OR revoked_at < $1 FOR UPDATE SKIP LOCKED)`,
			before.UnixMilli())
		return nil
	})
}

// onlyToken returns the one token that a query by its hash has found.
func onlyToken(found []user.Token) (user.Token, error) {
	if len(found) == 0 {
		return user.Token{}, fmt.Errorf("token: %w", user.ErrNotFound)
	}
	return found[0], nil
}
