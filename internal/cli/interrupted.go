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
	"sibyl/internal/journal"
	"sibyl/internal/text"
	"sibyl/web/src/words/sentences"
)

// interruptedNote says which paused runs the person was last told of, and when; the data folder keeps it.
type interruptedNote struct {
	At   time.Time `json:"at"`
	Runs []string  `json:"runs"`
}

// covers says whether all these runs are in the note and it is less than a day old.
func (n interruptedNote) covers(runs []string, now time.Time) bool {
	age := now.Sub(n.At)
	return 0 <= age && age < 24*time.Hour &&
		!slices.ContainsFunc(runs, func(id string) bool { return !slices.Contains(n.Runs, id) })
}

// pausedNote says, in a language, which runs are paused, how to go on with them, and how to end them.
func pausedNote(open []journal.Run, language string) string {
	if len(open) == 1 {
		return sentences.Format(language, "“%s” is paused: ‘sibyl run resume %s’ goes on with it, ‘sibyl run stop %s’ ends "+
			"it", printable(text.Brief(open[0].Title, 40)), open[0].ID, open[0].ID)
	}
	return sentences.Format(language, "%d runs are paused: ‘sibyl run resume’ goes on with all, ‘sibyl run list "+
		"--waiting’ lists them, ‘sibyl run stop RUN’ ends one", len(open))
}

// noteInterruptedRuns prints which runs are paused, unless it printed that about all of them within a day.
func (c *command) noteInterruptedRuns(ctx context.Context, a *app.App) error {
	open, err := a.Service.Interrupted(ctx, c.owner())
	if err != nil || len(open) == 0 {
		return err
	}
	now := interruptedNote{At: time.Now()}
	for _, r := range open {
		now.Runs = append(now.Runs, r.ID)
	}
	file := filepath.Join(a.Config.DataDir, "interrupted.json")
	var before interruptedNote
	if raw, err := os.ReadFile(file); err == nil && json.Unmarshal(raw, &before) == nil &&
		before.covers(now.Runs, now.At) {
		return nil
	}
	fmt.Fprintf(c.Err, "· %s\n", pausedNote(open, c.spoken("")))
	if raw, err := json.Marshal(now); err == nil {
		_ = files.Replace(file, raw, 0o600) // if it can't be written, the next command prints it again
	}
	return nil
}
