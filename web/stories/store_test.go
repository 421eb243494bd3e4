package stories

import (
	"os"
	"sync"
	"testing"

	"sibyl/internal/app/teststore"
	"sibyl/internal/store/postgres/pgtest"
)

// onEachStore are the stories that are told with PostgreSQL too: the main flow of each view.
var onEachStore sync.Map

// eachStore has a story told with PostgreSQL too, where SIBYL_TEST_STORE asks for it.
func eachStore(t *testing.T) { onEachStore.Store(testing.TB(t), true) }

// storing is what the program's environment says of its store. With PostgreSQL it skips the stories that are told with SQLite alone.
func storing(t testing.TB) []string {
	t.Helper()
	if os.Getenv(teststore.Env) != "postgres" {
		return nil
	}
	if _, ok := onEachStore.Load(t); !ok {
		t.Skip("this story is told with SQLite alone")
	}
	return []string{"SIBYL_DATABASE=" + pgtest.New(t)}
}
