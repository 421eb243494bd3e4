package prompts_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"sibyl/internal/behaviour/assert"
	"sibyl/prompts"
)

func TestPromptThatNoModelCanBeToldIsFound(t *testing.T) {
	for name, c := range map[string]struct{ text, wrong string }{
		"as it should be": {"Read it.\n", ""},
		"blank":           {" \n\t", "it is empty"},
		"no UTF-8":        {"R\xffad", "it is not UTF-8"},
		"endless":         {strings.Repeat("a", prompts.MostBytes+1), "it is too long"},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := prompts.Read(fstest.MapFS{"tasks/intent.md": {Data: []byte(c.text)}}, "tasks/intent.md")
			assert.That(t, (err == nil) == (c.wrong == "") && (err == nil || strings.Contains(err.Error(), c.wrong)) &&
				len(text) <= prompts.MostBytes && strings.HasPrefix(text, c.text[:1]), "%d bytes, %v", len(text), err)
		})
	}
	_, err := prompts.Read(fstest.MapFS{}, "tasks/intent.md")
	assert.That(t, err != nil, "a file that is not there is read")
}

func TestPromptsThatAreBuiltInCanAllBeUsed(t *testing.T) {
	names, err := prompts.Names()
	assert.Require(t, err == nil && len(names) >= 20, "%d prompts, %v", len(names), err)
	for _, name := range names {
		_, err := prompts.Read(prompts.FS, name)
		assert.That(t, err == nil, "%s: %v", name, err)
	}
}
