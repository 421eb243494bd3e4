package usertest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"sibyl/internal/user"
)

// Memory is a user.Store in this process. It keeps every guarantee but durability.
type Memory struct {
	mu     sync.Mutex
	users  map[string]user.User
	tokens map[user.Hash]user.Token
}

var _ user.Store = (*Memory)(nil)

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{users: map[string]user.User{}, tokens: map[user.Hash]user.Token{}}
}

// alone runs do while nobody else reads or writes. What do returns an error for, it must not have begun to change.
func (m *Memory) alone(ctx context.Context, do func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return do()
}

func (m *Memory) user(name string) (user.User, error) {
	if err := user.CheckName(name); err != nil {
		return user.User{}, err
	}
	if u, ok := m.users[name]; ok && u.RevokedAt.IsZero() {
		return u, nil
	}
	return user.User{}, user.NotFound(name)
}

// free says that there is no token of this hash.
func (m *Memory) free(hash user.Hash) error {
	if _, taken := m.tokens[hash]; taken {
		return fmt.Errorf("token: %w", user.ErrExists)
	}
	return nil
}

// token returns a token that is wanted.
func (m *Memory) token(hash user.Hash, wanted func(user.Token) bool) (user.Token, error) {
	if t, ok := m.tokens[hash]; ok && wanted(t) {
		return t, nil
	}
	return user.Token{}, fmt.Errorf("token: %w", user.ErrNotFound)
}

// revoke ends the tokens that are wanted and not revoked.
func (m *Memory) revoke(at time.Time, wanted func(user.Token) bool) {
	for hash, t := range m.tokens {
		if t.RevokedAt.IsZero() && wanted(t) {
			t.RevokedAt = user.Millis(at)
			m.tokens[hash] = t
		}
	}
}

func (m *Memory) AddUser(ctx context.Context, u user.User, first user.Token, hash user.Hash) error {
	u, first, err := user.NewUser(u, first)
	if err != nil {
		return err
	}
	return m.alone(ctx, func() error {
		if _, err := m.user(u.Name); err == nil {
			return user.Exists(u.Name)
		}
		if err := m.free(hash); err != nil {
			return err
		}
		m.users[u.Name], m.tokens[hash] = u, first
		return nil
	})
}

func (m *Memory) User(ctx context.Context, name string) (found user.User, err error) {
	err = m.alone(ctx, func() (err error) {
		found, err = m.user(name)
		return err
	})
	return found, err
}

func (m *Memory) Users(ctx context.Context) (all []user.User, err error) {
	err = m.alone(ctx, func() error {
		all = slices.SortedFunc(maps.Values(m.users), func(a, b user.User) int { return strings.Compare(a.Name, b.Name) })
		return nil
	})
	return all, err
}

func (m *Memory) RevokeUser(ctx context.Context, name string, at time.Time) error {
	return m.alone(ctx, func() error {
		u, err := m.user(name)
		if err != nil {
			return err
		}
		u.RevokedAt = user.Millis(at)
		m.users[name] = u
		m.revoke(at, func(t user.Token) bool { return t.User == name })
		return nil
	})
}

func (m *Memory) AddToken(ctx context.Context, t user.Token, hash user.Hash) error {
	return m.add(ctx, t, hash, func(user.Token) bool { return false })
}

func (m *Memory) ReplaceTokens(ctx context.Context, t user.Token, hash user.Hash) error {
	return m.add(ctx, t, hash, func(other user.Token) bool { return other.User == t.User && other.Kind == t.Kind })
}

// add adds a token, and revokes those that it replaces.
func (m *Memory) add(ctx context.Context, t user.Token, hash user.Hash, replaced func(user.Token) bool) error {
	t, err := user.NewToken(t)
	if err != nil {
		return err
	}
	return m.alone(ctx, func() error {
		if _, err := m.user(t.User); err != nil {
			return err
		}
		if err := m.free(hash); err != nil {
			return err
		}
		m.revoke(t.CreatedAt, replaced)
		m.tokens[hash] = t
		return nil
	})
}

func (m *Memory) Token(ctx context.Context, hash user.Hash) (found user.Token, err error) {
	err = m.alone(ctx, func() (err error) {
		found, err = m.token(hash, func(user.Token) bool { return true })
		return err
	})
	return found, err
}

func (m *Memory) Tokens(ctx context.Context, now time.Time) (live []user.Token, err error) {
	err = m.alone(ctx, func() error {
		for _, t := range m.tokens {
			if t.Live(now) {
				live = append(live, t)
			}
		}
		slices.SortFunc(live, func(a, b user.Token) int {
			return cmp.Or(strings.Compare(a.User, b.User), a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
		})
		return nil
	})
	return live, err
}

func (m *Memory) EndToken(ctx context.Context, hash user.Hash, kind user.Kind, at time.Time) (ended user.Token, err error) {
	err = m.alone(ctx, func() (err error) {
		if ended, err = m.token(hash, func(t user.Token) bool { return t.Kind == kind && t.Live(at) }); err == nil {
			ended.RevokedAt = user.Millis(at)
			m.tokens[hash] = ended
		}
		return err
	})
	return ended, err
}

func (m *Memory) ForgetTokens(ctx context.Context, before time.Time) error {
	return m.alone(ctx, func() error {
		maps.DeleteFunc(m.tokens, func(_ user.Hash, t user.Token) bool { return t.EndedBefore(before) })
		return nil
	})
}
