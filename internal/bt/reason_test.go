package bt_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
)

func TestReasonHasWordsForPeopleAndACodeWithValuesForPrograms(t *testing.T) {
	const plain, sure, outer bt.Reason = "a.b: it calls tools", "a.sure: {n} times {sure}",
		"a.outer: {why}, so: not {n}"
	for want, got := range map[string]bt.Why{
		`{"why":"it calls tools","why_code":"a.b"}`: plain.With(),
		`{"why":"3 times 0.25","why_code":"a.sure","why_values":{"n":{"why":"3"},"sure":{"why":"0.25"}}}`: sure.With(3,
			0.25),
		`{"why":"{n}, so: not x","why_code":"a.outer","why_values":{"n":{"why":"x"},"why":{"why":"{n}"}}}`: outer.With(
			"{n}", "x"),
		`{"why":"of a model's own"}`: bt.Because("of a model's own"),
	} {
		raw, err := json.Marshal(got)
		diff := cmp.Diff(want, string(raw))
		assert.That(t, diff == "" && err == nil, "%v %s", err, diff)
	}
	nested := outer.With(plain.With(), 1)
	assert.That(t, nested.Text == "it calls tools, so: not 1" && nested.Values["why"].Code == plain.Code(),
		"a reason in a reason is %+v", nested)
	assert.That(t, outer.Template() == "{why}, so: not {n}", "it is described as %q", outer.Template())
}

func TestEventOfAnOldJournalHasItsWords(t *testing.T) {
	var told struct{ bt.Why }
	err := json.Unmarshal([]byte(`{"why":"it calls tools"}`), &told)
	assert.That(t, err == nil && told.Text == "it calls tools" && told.Code == "", "%+v, %v", told, err)
}
