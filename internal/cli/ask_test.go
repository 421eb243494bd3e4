package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sibyl/internal/config"
	"sibyl/internal/tool"
)

func TestBudgetsOutsideOfTheirBoundsAreToldWithThem(t *testing.T) {
	for _, c := range []struct {
		f    askFlags
		want string // "" for a budget that is fine
	}{
		{askFlags{}, "--max-turns is 0; use 1 to 200"},
		{askFlags{maxTurns: 1, maxTokens: config.MinTokens - 1}, "--max-tokens is 999; use 1000 to 10000000, or 0 for no limit"},
		{askFlags{maxTurns: 1, maxTime: config.MinTime - 1}, "--max-time is 4.999999999s; use 5s to 1h, or 0 for no limit"},
		{askFlags{maxTurns: 1, maxTime: config.MostTime + time.Second}, "--max-time is 1h0m1s; use 5s to 1h,"},
		{askFlags{maxTurns: 1, maxTokens: config.MostTokens, maxTime: config.MostTime}, ""},
		{askFlags{maxTurns: 1}, ""},
	} {
		c.f.given = func(string) bool { return true }
		err := c.f.check()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d turns, %d tokens, %s: %v, not %q", c.f.maxTurns, c.f.maxTokens, c.f.maxTime, err, c.want)
		}
	}
}

func TestTimesAreWrittenWithoutEmptyUnits(t *testing.T) {
	for d, want := range map[time.Duration]string{5 * time.Second: "5s", 10 * time.Second: "10s", time.Minute: "1m", time.Hour: "1h",
		90 * time.Second: "1m30s", 10 * time.Hour: "10h", time.Hour + time.Minute: "1h1m", time.Hour + time.Second: "1h0m1s", 0: "0s"} {
		if got := inWords(d); got != want {
			t.Errorf("%d ns is %q, not %q", d, got, want)
		}
	}
}

func TestNamedIsWhatThePersonWroteAndTheProjectOneStandsInIsLikely(t *testing.T) {
	project, letters, notes := t.TempDir(), t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(project, "go.mod"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		stand string
		f     askFlags
		want  []tool.Source
	}{
		{"a project", project, askFlags{}, nil},
		{"letters", letters, askFlags{}, nil},
		{"letters, named", letters, askFlags{in: letters}, []tool.Source{tool.Code}},
		{"letters, by what they hold", letters, askFlags{code: true}, []tool.Source{tool.Code}},
		{"notes, named", letters, askFlags{vault: notes}, []tool.Source{tool.Vault}},
		{"notes of the settings", letters, askFlags{notes: true}, []tool.Source{tool.Vault}},
		{"all", project, askFlags{in: project, vault: notes, web: true}, []tool.Source{tool.Code, tool.Vault, tool.Web}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(c.stand)
			o, err := c.f.options(notes)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(o.Named, c.want) {
				t.Errorf("%v is named, not %v", o.Named, c.want)
			}
			if got := len(o.Likely) > 0; got != (c.stand == project) {
				t.Errorf("the folder is likely: %v", got)
			}
		})
	}
	if _, err := (askFlags{notes: true}).options(""); err == nil || !strings.Contains(err.Error(), "--vault") {
		t.Errorf("notes are asked for, there are none, and the error is %v", err)
	}
}
