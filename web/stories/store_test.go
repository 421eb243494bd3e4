package stories

import (
	"os"
	"testing"

	"sibyl/internal/store/pgtest"
	"sibyl/internal/store/teststore"
)

// onOneStore skips a story of how the page looks, or of how long it takes, where SIBYL_TEST_STORE asks for PostgreSQL:
// both are the page's alone.
func onOneStore(t testing.TB) {
	t.Helper()
	if onPostgres() {
		t.Skip("what the page looks like, and how much it bears, is looked at with SQLite")
	}
}

func onPostgres() bool { return os.Getenv(teststore.Env) == "postgres" }

// storing is what the program's environment says of its store.
func storing(t testing.TB) []string {
	t.Helper()
	if !onPostgres() {
		return nil
	}
	return []string{"SIBYL_DATABASE=" + pgtest.New(t)}
}
