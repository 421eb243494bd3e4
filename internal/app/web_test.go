package app

import (
	"slices"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/oracle"
	"sibyl/internal/tool"
)

func TestWebThatIsOffHasNoTool(t *testing.T) {
	for name, c := range map[string]struct{ setting, run, has bool }{
		"as usual": {false, false, true}, "by the setting": {true, false, false}, "for one run": {false, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.Config.Web.Off = c.setting
			set, closeTools, err := b.Tools(t.Context(), oracle.Env{NoWeb: c.run})
			assert.NoError(t, err)
			defer closeTools()
			has := slices.ContainsFunc(set.Specs(), func(s tool.Spec) bool { return s.Source == tool.Web })
			assert.That(t, has == c.has, "a tool of the web is there: %v", has)
		})
	}
}
