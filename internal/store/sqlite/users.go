package sqlite

import (
	"context"
	"fmt"
	"time"

	"sibyl/internal/user"
)

var _ user.Store = (*DB)(nil)

const (
	selectPerson = `SELECT name, scope, created_at, revoked_at FROM person `
	selectToken  = `SELECT id, person, kind, scope, created_at, expires_at, revoked_at FROM token `
)

func scanPerson(r row) user.User {
	return user.User{Name: r.text(0), Scope: user.Scope(r.text(1)), CreatedAt: r.time(2), RevokedAt: r.time(3)}
}

func scanToken(r row) user.Token {
	return user.Token{ID: r.text(0), User: r.text(1), Kind: user.Kind(r.text(2)), Scope: user.Scope(r.text(3)),
		CreatedAt: r.time(4), ExpiresAt: r.time(5), RevokedAt: r.time(6)}
}

// AddUser implements user.Store.
func (db *DB) AddUser(ctx context.Context, u user.User, first user.Token, hash user.Hash) error {
	u, first, err := user.NewUser(u, first)
	if err != nil {
		return err
	}
	return db.write(ctx, func(t tx) error {
		added, err := t.change(`
			INSERT INTO person (name, scope, created_at) VALUES (?, ?, ?)
			ON CONFLICT (name) DO UPDATE SET scope = excluded.scope, created_at = excluded.created_at, revoked_at = NULL
			WHERE revoked_at IS NOT NULL`,
			u.Name, string(u.Scope), u.CreatedAt.UnixMilli())
		if err == nil && added == 0 {
			err = user.Exists(u.Name)
		}
		if err != nil {
			return err
		}
		return t.addToken(first, hash)
	})
}

// User implements user.Store.
func (db *DB) User(ctx context.Context, name string) (user.User, error) {
	if err := user.CheckName(name); err != nil {
		return user.User{}, err
	}
	found, err := read(ctx, db, everything, scanPerson, selectPerson+`WHERE name = ? AND revoked_at IS NULL`, name)
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
	return read(ctx, db, everything, scanPerson, selectPerson+`ORDER BY name`)
}

// RevokeUser implements user.Store.
func (db *DB) RevokeUser(ctx context.Context, name string, at time.Time) error {
	if err := user.CheckName(name); err != nil {
		return err
	}
	return db.write(ctx, func(t tx) error {
		revoked, err := t.change(`UPDATE person SET revoked_at = ? WHERE name = ? AND revoked_at IS NULL`, at.UnixMilli(), name)
		if err == nil && revoked == 0 {
			err = user.NotFound(name)
		}
		if err != nil {
			return err
		}
		return t.run(`UPDATE token SET revoked_at = ? WHERE person = ? AND revoked_at IS NULL`, at.UnixMilli(), name)
	})
}

// AddToken implements user.Store.
func (db *DB) AddToken(ctx context.Context, token user.Token, hash user.Hash) error {
	token, err := user.NewToken(token)
	if err != nil {
		return err
	}
	return db.write(ctx, func(t tx) error { return t.addToken(token, hash) })
}

// ReplaceTokens implements user.Store.
func (db *DB) ReplaceTokens(ctx context.Context, token user.Token, hash user.Hash) error {
	token, err := user.NewToken(token)
	if err != nil {
		return err
	}
	return db.write(ctx, func(t tx) error {
		if err := t.run(`UPDATE token SET revoked_at = ? WHERE person = ? AND kind = ? AND revoked_at IS NULL`,
			token.CreatedAt.UnixMilli(), token.User, string(token.Kind)); err != nil {
			return err
		}
		return t.addToken(token, hash)
	})
}

// addToken adds a token of a user that is there and not revoked.
func (t tx) addToken(token user.Token, hash user.Hash) error {
	owner, err := rows(t, scanPerson, selectPerson+`WHERE name = ? AND revoked_at IS NULL`, token.User)
	if err == nil && len(owner) == 0 {
		err = user.NotFound(token.User)
	}
	if err != nil {
		return err
	}
	added, err := t.change(`
		INSERT INTO token (hash, id, person, kind, scope, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (hash) DO NOTHING`,
		hash[:], token.ID, token.User, string(token.Kind), string(token.Scope), token.CreatedAt.UnixMilli(), token.ExpiresAt.UnixMilli())
	if err == nil && added == 0 {
		err = fmt.Errorf("token: %w", user.ErrExists)
	}
	return err
}

// Token implements user.Store.
func (db *DB) Token(ctx context.Context, hash user.Hash) (user.Token, error) {
	return onlyToken(read(ctx, db, everything, scanToken, selectToken+`WHERE hash = ?`, hash[:]))
}

// Tokens implements user.Store.
func (db *DB) Tokens(ctx context.Context, now time.Time) ([]user.Token, error) {
	return read(ctx, db, everything, scanToken, selectToken+`
		WHERE revoked_at IS NULL AND expires_at > ? ORDER BY person, created_at, id`, now.UnixMilli())
}

// EndToken implements user.Store.
func (db *DB) EndToken(ctx context.Context, hash user.Hash, kind user.Kind, at time.Time) (ended user.Token, err error) {
	err = db.write(ctx, func(t tx) (err error) {
		ended, err = onlyToken(rows(t, scanToken, selectToken+`
			WHERE hash = ? AND kind = ? AND revoked_at IS NULL AND expires_at > ?`, hash[:], string(kind), at.UnixMilli()))
		if err != nil {
			return err
		}
		ended.RevokedAt = user.Millis(at)
		return t.run(`UPDATE token SET revoked_at = ? WHERE hash = ?`, at.UnixMilli(), hash[:])
	})
	if err != nil {
		return user.Token{}, err
	}
	return ended, nil
}

// ForgetTokens implements user.Store.
func (db *DB) ForgetTokens(ctx context.Context, before time.Time) error {
	return db.write(ctx, func(t tx) error {
		return t.run(`DELETE FROM token WHERE expires_at < ?1 OR revoked_at < ?1`, before.UnixMilli())
	})
}

// onlyToken returns the one token that a query by its hash has found.
func onlyToken(found []user.Token, err error) (user.Token, error) {
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("token: %w", user.ErrNotFound)
	}
	if err != nil {
		return user.Token{}, err
	}
	return found[0], nil
}
