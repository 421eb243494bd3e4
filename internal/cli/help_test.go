package cli

import (
	"strings"
	"testing"
)

func TestEveryTextOfHelpIsOfACommand(t *testing.T) {
	root := Commands()
	for _, part := range strings.Split("\n"+helpText, "\n# ")[1:] {
		path, _, _ := strings.Cut(part, "\n")
		if cmd, _, err := root.Find(strings.Fields(path)[1:]); err != nil || cmd.CommandPath() != path ||
			cmd.Long+cmd.Example == "" {
			t.Errorf("there is no command %q with a text (%v)", path, err)
		}
	}
	for line := range strings.Lines(helpText) {
		if n := len([]rune(strings.TrimSpace(line))); n > 100 && !strings.HasPrefix(line, "  ") {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}
