package cli

import (
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestEachListHasTheLimitThatIsUsualForIt(t *testing.T) {
	for line, want := range map[string]int{"session list": 20, "run list": 20, "shadow report": longestReport,
		"task list": 0, "task list --limit 3": 3} {
		c := &command{}
		cmd, args, err := c.root().Find(strings.Fields(line))
		if err == nil {
			err = cmd.ParseFlags(args)
		}
		if err == nil {
			err = cmd.PreRunE(cmd, nil)
		}
		assert.That(t, err == nil && c.limit == want, "%s: the limit is %d, error %v; want %d", line, c.limit, err, want)
	}
}
