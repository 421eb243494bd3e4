package sqlite

import (
	"strings"
	"testing"
	"time"

	"sibyl/internal/user"
	"sibyl/internal/user/usertest"
)

func TestUsersKeepTheGuarantees(t *testing.T) {
	usertest.Run(t, func(t *testing.T) user.Store { return openAt(t, newPath(t), unsynced) })
}

func TestUsersAreSharedByHandlesOnOneFile(t *testing.T) {
	usertest.RunShared(t, func(t *testing.T) func() user.Store {
		path := newPath(t)
		return func() user.Store { return openAt(t, path, unsynced) }
	})
}

func TestUsersAreAnsweredForAsInMemory(t *testing.T) {
	usertest.Agree(t, openAt(t, newPath(t), unsynced))
}

func TestUsersAndTokensAreThereAfterReopeningAndNoSecretIs(t *testing.T) {
	path := newPath(t)
	db := openAt(t, path)
	token, secret, err := user.New(db, time.Now).Add(t.Context(), "ada", user.Read, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	closed(t, db)
	if file := content(t, path); strings.Contains(file, strings.TrimPrefix(secret, user.Prefix)) || !strings.Contains(file, token.ID) {
		t.Error("the file holds the secret, or not even the token")
	}
	found, err := user.New(openAt(t, path), time.Now).Check(t.Context(), secret)
	if err != nil || found != token {
		t.Errorf("the secret opens %+v, error %v, want %+v", found, err, token)
	}
}

// Each request asks for a token, so it must not become slower with each that is kept.
func TestTokenIsFoundByAnIndex(t *testing.T) {
	db := openAt(t, newPath(t))
	plan := value(t, db.writer, `EXPLAIN QUERY PLAN `+selectToken+`WHERE hash = x'00'`).text(3)
	if !strings.Contains(plan, "SEARCH token USING PRIMARY KEY") {
		t.Errorf("the plan is %q", plan)
	}
}

func BenchmarkCheck(b *testing.B) {
	db := openAt(b, newPath(b), unsynced)
	users := user.New(db, time.Now)
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
