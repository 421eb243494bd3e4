package agent

import (
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestStoryOfACallNamesWhatItWasAbout(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"query":"a \"lease\"","limit":3}`: `a "lease"`,
		`{"start":1,"path":"a/b.go"}`:       "a/b.go",
		`{"query":"cut in the mid`:          "cut in the mid…",
		`{"query":"cut in the mid…`:         "cut in the mid…",
		`{"url":"https://a.example/?q=\`:    "https://a.example/?q=…",
		`{"limit":3}`:                       "",
		``:                                  "",
	} {
		assert.Equalf(t, subjectOf(arguments), want, "%s is about", arguments)
	}
	if told := (CallDone{Tool: "code_search", Arguments: `{"query":"lease"}`, Items: 3}).
		Story(); told.Text != "Searched the code for “lease”: 3 found" || told.Code != "story.searched.code" {
		t.Errorf("a search is told as %q (%s)", told.Text, told.Code)
	}
	told := (CallDone{Tool: "thread_seek", Arguments: `{}`, Error: "gone"}).
		Story()
	assert.That(t, told.Text == "thread seek failed: gone", "a failure is told as %q", told.Text)
}
