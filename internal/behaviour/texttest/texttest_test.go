package texttest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
)

func TestTextIsTakenApartIntoScenariosAndLines(t *testing.T) {
	all, err := parseScenarios("# One\nask  a thing \n  // of no account\n\n  asks again\n# Two: b\n\task for more\n",
		[]string{"ask", "ask for", "asked"})
	want := []scenario{{"One", []Line{{2, false, "ask", "a thing", "ask  a thing "},
		{5, true, "", "asks again", "  asks again"}}},
		{"Two: b", []Line{{7, true, "ask for", "more", "\task for more"}}}}
	diff := cmp.Diff(want, all, cmp.AllowUnexported(scenario{}))
	assert.That(t, err == nil && diff == "", "%v (-want +got):\n%s", err, diff)
}

func TestScenarioThatWouldNotBePlayedIsRefused(t *testing.T) {
	for text, says := range map[string]string{"ask\n# One\nask": "line 1 stands under no name",
		"# One\n# Two\nask":        "nothing happens in One",
		"# One\nask\n# One\nask\n": "another scenario One"} {
		_, err := parseScenarios(text, nil)
		assert.That(t, err != nil && strings.Contains(err.Error(), says), "%q: %v; want %s", text, err, says)
	}
}

func TestEachMannerHoldsAndDoesNot(t *testing.T) {
	for manner, said := range map[string][2]string{"is": {"tea tea", "tea"}, "is not": {"tea", "tea tea"},
		"has": {"a t", "milk"}, "lacks": {"milk", "tea"},
		"begins": {"tea", "ea"}, "once": {"a t", "tea"}} {
		good, bad := Wrong(manner, "tea tea", said[0]), Wrong(manner, "tea tea", said[1])
		assert.That(t, good == "" && bad != "", "%s: %q, %q", manner, good, bad)
	}
	assert.That(t, Wrong("lacks", "tea", "") != "" && Wrong("smells", "tea", "tea") != "", "what says nothing holds")
}
