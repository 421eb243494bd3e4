package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"sibyl/internal/app"
	"sibyl/internal/files"
	"sibyl/internal/text"
)

// mention is what was told of interrupted runs, and when.
type mention struct {
	At   time.Time `json:"at"`
	Runs []string  `json:"runs"`
}

// covers says whether these runs need not be told of again: all were, less than a day ago.
func (m mention) covers(runs []string, now time.Time) bool {
	age := now.Sub(m.At)
	return 0 <= age && age < 24*time.Hour &&
		!slices.ContainsFunc(runs, func(id string) bool { return !slices.Contains(m.Runs, id) })
}

// noteInterruptedRuns tells of runs that a crash left open, so that nobody has to look for them; of each once a day.
func (c *command) noteInterruptedRuns(ctx context.Context, a *app.App) error {
	open, err := a.Service.Interrupted(ctx, c.owner())
	if err != nil || len(open) == 0 {
		return err
	}
	now := mention{At: time.Now()}
	for _, r := range open {
		now.Runs = append(now.Runs, r.ID)
	}
	file := filepath.Join(a.Config.DataDir, "interrupted.json")
	var before mention
	if raw, err := os.ReadFile(file); err == nil && json.Unmarshal(raw, &before) == nil &&
		before.covers(now.Runs, now.At) {
		return nil
	}
	fmt.Fprintf(c.Err, "· %s interrupted: ‘sibyl run resume’ continues\n", text.Count(len(open), "run"))
	if raw, err := json.Marshal(now); err == nil {
		_ = files.Replace(file, raw, 0o600) // where it can't be kept, it is told again
	}
	return nil
}
