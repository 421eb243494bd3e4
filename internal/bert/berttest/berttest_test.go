package berttest_test

import (
	"strings"
	"testing"

	"sibyl/internal/bert/berttest"
)

func TestRulesThatCanNotHoldAreRefused(t *testing.T) {
	for says, err := range map[string]error{
		`"stuck" speaks for "retry", which is none of`: berttest.WriteClassifier(t.TempDir(), map[string]string{"stuck": "retry"}, []string{"go_on"}),
		`"two words" is not one token`:                 berttest.WriteClassifier(t.TempDir(), map[string]string{"two words": "a"}, []string{"a", "b"}),
		`"Error" is not one token`:                     berttest.WriteZeroShot(t.TempDir(), map[string]string{"timeout": "Error"}),
	} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("the error is %v; want %s", err, says)
		}
	}
}
