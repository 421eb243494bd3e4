package run_test

import (
	"encoding/json"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/run"
)

// The page writes events in the same way: web/src/lib/trace.test.ts.
func TestEventIsTracedByItsTypeAndFieldsWhateverTheyAre(t *testing.T) {
	for _, c := range []struct {
		event run.TraceEvent
		want  string
	}{
		{run.TraceEvent{Type: "class.chosen", Data: json.RawMessage(`{"query_type":"code","confidence":0.9,` +
			`"words":"two words","keywords":["a","b"],"why":"it is","why_code":"a.b","why_values":{"x":{}},"none":""}`)},
			`class.chosen query_type=code confidence=0.9 words="two words" keywords=["a","b"] why="it is" why_code=a.b ` +
				`none=""`},
		{run.TraceEvent{Type: "of.a.later.build", Data: json.RawMessage(`{}`)}, "of.a.later.build"},
		{run.TraceEvent{Type: "of.an.older.one"}, "of.an.older.one"},
		{run.TraceEvent{Type: "that.is.damaged", Data: json.RawMessage(`{"a":`)}, `that.is.damaged {"a":`},
		{run.TraceEvent{Key: "turn", Value: "1"}, "turn := 1"},
		{run.TraceEvent{Reason: "nothing to doubt"}, "nothing to doubt"},
		{run.TraceEvent{}, ""},
	} {
		assert.Equalf(t, c.event.String(), c.want, "%+v is traced as", c.event)
	}
}
