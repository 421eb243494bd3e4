package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestSourcesShowsWhatTheLastAnswerCitesAsItWasRead(t *testing.T) {
	home := t.TempDir()
	first, second := filepath.Join(home, "src", "bridge.md"), filepath.Join(home, "src", "road.md")
	write(t, first, "# Bridge\n\nThe bridge was closed because of corrosion, and the bridge was old.\n")
	write(t, second, "# Road\n\nThe road to the bridge was closed as well.\n")
	says := func(code int, args []string, want ...string) (said string) {
		t.Helper()
		got, out, errs := sibyl(t, home, Streams{}, nil, args...)
		for _, part := range want {
			if got != code || !strings.Contains(out+errs, part) {
				t.Errorf("%v: exit %d: %s%s\nwithout %q", args, got, out, errs, part)
			}
		}
		return out
	}
	says(ExitUsage, []string{"sources"}, "there is no answer yet")
	answer := says(ExitAnswered, []string{"ask", "-q", "--in", filepath.Dir(first), "Why was the bridge closed?"},
		"1. `bridge.md:1-3`", "2. `road.md:1-3`", "`sibyl sources 2`")
	if strings.Contains(answer, "The road to the bridge was closed as well.\n```") {
		t.Fatalf("the answer shows more than the best passage:\n%s", answer)
	}
	write(t, second, "# Road\n\nIt is another road now.\n")
	only := says(ExitAnswered, []string{"sources", "2"},
		"2\\. `road.md:1-3`:\n\n```\n# Road\n\nThe road to the bridge was closed as well.\n```")
	if strings.Contains(only, "corrosion") {
		t.Errorf("another passage is shown:\n%s", only)
	}
	says(ExitAnswered, []string{"sources", "--run", "last"}, "1\\. `bridge.md:1-3`:", "2\\. `road.md:1-3`:")
	says(ExitUsage, []string{"sources", "3"}, "cites 2 passages; 3 is none of them")
}
