package bt_test

import (
	"testing"

	"sibyl/internal/bt"
)

func TestReasonIsWordedWithItsValuesAndDescribedWithout(t *testing.T) {
	for reason, want := range map[bt.Reason][2]string{
		"it calls tools":               {"it calls tools", "it calls tools"},
		"%d times “%s”":                {"3 times “why %s”", "{0} times “{1}”"},
		"the classifier is sure, %.2f": {"the classifier is sure, 0.25", "the classifier is sure, {0}"},
	} {
		values := map[bt.Reason][]any{"%d times “%s”": {3, "why %s"}, "the classifier is sure, %.2f": {0.25}}[reason]
		if got := reason.With(values...); got != want[0] {
			t.Errorf("%q is worded as %q", reason, got)
		}
		if got := reason.Template(); got != want[1] {
			t.Errorf("%q is described as %q", reason, got)
		}
	}
}
