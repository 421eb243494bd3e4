package digest

import (
	"strings"
	"testing"
)

func TestADigestSaysFirstThatRulesMadeIt(t *testing.T) {
	for code, l := range languages() {
		first, _, _ := strings.Cut(Write(Frame{}, []Entry{{ID: "t1", Sequence: 1, Text: "Wir treffen uns am 3. Mai in Bremen."}}, code), "\n")
		if first != "*"+l.say["made"]+"*" {
			t.Errorf("%s: the first line is %q", code, first)
		}
	}
}
