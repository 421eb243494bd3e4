package run

import (
	"encoding/json"
	"testing"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
)

// What is encoded by hand is what encoding/json gives: other builds read it, and digests are made of it.
func TestReceiptsAndEndsAreEncodedAsTheirFieldsSay(t *testing.T) {
	odd := "a \"quoted\" <tag> & a\tline\n\xffß"
	fault := &bt.Fault{Kind: odd, Node: "n", Reason: odd}
	for _, record := range []any{
		&EndRecord{}, &EndRecord{Status: journal.Done, Now: 1},
		&EndRecord{Status: journal.Failed, Reason: odd, Fault: fault, Now: -7, Outcome: json.RawMessage(`{"answer":"<b>\n</b>"}`)},
		&CompletionRecord{}, &CompletionRecord{Op: 1<<64 - 1, Leaf: odd, Kind: odd, Label: odd, Digest: "d", Payload: json.RawMessage(`{"a":[1,2]}`),
			Once: true, Found: true, Now: 5, TookMS: 6, Result: json.RawMessage(`"x"`), Err: fault},
	} {
		want, err := marshal(record)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := encode("test", record); err != nil || string(got) != string(want) {
			t.Errorf("%v\n%s\nwant\n%s", err, got, want)
		}
	}
}
