package postgres

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"sibyl/internal/store/postgres/pgtest"
	"sibyl/internal/user"
	"sibyl/internal/user/usertest"
)

func TestUsersKeepTheGuarantees(t *testing.T) {
	p := places{dsn: pgtest.New(t)}
	usertest.Run(t, func(t *testing.T) user.Store { return p.open(t) })
}

func TestUsersAreSharedByHandlesOnOneDatabase(t *testing.T) {
	dsn := pgtest.New(t)
	usertest.RunShared(t, func(t *testing.T) func() user.Store {
		place := newSchema(t, dsn)
		return func() user.Store { return openAt(t, place) }
	})
}

func TestUsersAreAnsweredForAsInMemory(t *testing.T) {
	usertest.Agree(t, openAt(t, pgtest.New(t)))
}

// Each request asks for a token, so it must not become slower with each that is kept.
func TestTokenIsFoundByAnIndex(t *testing.T) {
	db := openAt(t, pgtest.New(t))
	// Of a table without rows every plan is as good, but for its costs.
	execute(t, db, `INSERT INTO person (name, scope, created_at) VALUES ('ada', 'read', 0)`)
	execute(t, db, `
		INSERT INTO token (hash, id, person, kind, scope, created_at, expires_at)
		SELECT sha256(n::text::bytea), n::text, 'ada', 'bearer', 'read', 0, 0 FROM generate_series(1, 5000) AS n`)
	execute(t, db, `ANALYZE token`)
	plan, err := read(t.Context(), db, pgx.RowTo[string], `EXPLAIN `+selectToken+`WHERE hash = 'x'`)
	if err != nil || !strings.Contains(plan[0], "Index Scan using token_pkey") {
		t.Errorf("the plan is %q, error %v", plan, err)
	}
}

func BenchmarkCheck(b *testing.B) {
	users := user.New(openAt(b, pgtest.New(b)), time.Now)
	_, secret, err := users.Add(b.Context(), "ada", user.Write, time.Hour)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := users.Check(b.Context(), secret); err != nil {
			b.Fatal(err)
		}
	}
}
