package agent

import "testing"

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
		if got := subjectOf(arguments); got != want {
			t.Errorf("%s is about %q, want %q", arguments, got, want)
		}
	}
	if told := (CallDone{Tool: "code_search", Arguments: `{"query":"lease"}`, Items: 3}).
		Story(); told.Text != "Searched the code for “lease”: 3 found" || told.Code != "story.searched.code" {
		t.Errorf("a search is told as %q (%s)", told.Text, told.Code)
	}
	if told := (CallDone{Tool: "thread_seek", Arguments: `{}`, Error: "gone"}).
		Story(); told.Text != "thread seek failed: gone" {
		t.Errorf("a failure is told as %q", told.Text)
	}
}
