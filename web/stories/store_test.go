package stories

import (
	"os"
	"testing"

	"sibyl/internal/app"
	"sibyl/internal/config"
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

// database opens what the program keeps everything in, and closes it when the story has had its way with it.
func (h *house) database(use func(app.Database) error) {
	h.Helper()
	cfg, err := config.Load(config.Options{Environ: h.env})
	if err != nil {
		h.Fatal(err)
	}
	db, err := app.OpenDatabase(h.Context(), cfg)
	if err != nil {
		h.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			h.Error(err)
		}
	}()
	if err := use(db); err != nil {
		h.Fatal(err)
	}
}
