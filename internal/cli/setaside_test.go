package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sibyl/internal/app"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/store"
)

// What is kept of the run could not even be read; nothing of that is tried.
func TestRunThatIsSetAsideIsListedRefusedAndCancelled(t *testing.T) {
	home := t.TempDir()
	data := filepath.Join(home, "data")
	env := []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "SIBYL_MODEL=offline", "SIBYL_DATA=" + data}
	db := assert.Must(store.OpenFile(t.Context(), app.DatabaseFile(data)))(t)
	now := time.Now().Add(-time.Hour)
	s := journal.Session{ID: "s", Owner: app.Owner, Assistant: "oracle", CreatedAt: now, UpdatedAt: now}
	r := journal.Run{ID: "poisoned", Session: "s", Owner: app.Owner, Assistant: "oracle", Title: "Why?", StartedAt: now}
	err := db.Begin(t.Context(), journal.Beginning{Run: r, Session: &s,
		Records: []journal.Record{{At: now, Kind: "start", Data: []byte(`{}`)}}})
	for n := 0; n < journal.MaxTries && err == nil; n++ {
		err = db.Acquire(t.Context(), app.Owner, r.ID, fmt.Sprint("died ", n), now.Add(time.Duration(n)*time.Minute),
			now.Add(time.Duration(n+1)*time.Minute))
	}
	if err == nil {
		err = db.Close()
	}
	assert.NoError(t, err)
	says := func(wantCode int, args []string, parts ...string) {
		t.Helper()
		code, out, errs := sibyl(t, home, Streams{}, env, args...)
		for _, part := range parts {
			assert.That(t, strings.Contains(out+errs, part), "%v says %q and %q, without %q", args, out, errs, part)
		}
		assert.That(t, code == wantCode, "%v: %d, want %d: %s%s", args, code, wantCode, out, errs)
	}
	says(ExitAnswered, []string{"run", "list"}, "poisoned", "set aside", "Why?", "was taken up 3 times")
	says(ExitAnswered, []string{"run", "list", "--json"}, `"state": "set_aside"`,
		`"why": "run poisoned was taken up 3 times`, `"tries": 3`)
	says(ExitAnswered, []string{"run", "resume"}, "there are no interrupted runs")
	says(ExitFailed, []string{"run", "resume", "poisoned"}, "was taken up 3 times",
		"‘sibyl run resume --force poisoned’", "‘sibyl run stop poisoned’")
	says(ExitUsage, []string{"run", "resume", "--force"}, "--force needs a run")
	says(ExitAnswered, []string{"explain", "poisoned"}, "set aside", "--force poisoned")
	says(ExitAnswered, []string{"run", "stop", "poisoned"}, "poisoned is being stopped")
	says(ExitAnswered, []string{"run", "list"}, "cancelled")
}
