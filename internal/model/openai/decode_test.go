package openai

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzDecode checks that an event is what encoding/json says it is.
func FuzzDecode(f *testing.F) {
	f.Add(`{"id":"x","choices":[{"index":0,"delta":{"content":"\u00fc\ud83d\ude80","tool_calls":[{"index":1,"id":"a",` +
		`"function":{"name":"f","arguments":"{}"}}]},"finish_reason":null}],"usage":{"prompt_tokens":1,"prompt_tokens_details":null}}`)
	f.Add(`{"choices":[{"message":{"content":"hi","refusal":"no"}},{"index":1}],"usage":null,"error":{"a":1}}`)
	f.Add(`{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":{"q":[1]}}}]}}]} x`)
	f.Fuzz(func(t *testing.T, event string) {
		if len(event) > maxFast {
			t.Skip("large events are read by encoding/json")
		}
		var got, want part
		wantErr := json.Unmarshal([]byte(event), &want)
		err := decode([]byte(event), &got)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q gives %v; encoding/json says %v", event, err, wantErr)
		}
		if diff := cmp.Diff(want, got); err == nil && diff != "" {
			t.Errorf("%q (-encoding/json +decode):\n%s", event, diff)
		}
	})
}
