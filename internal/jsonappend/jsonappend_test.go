package jsonappend_test

import (
	"encoding/json"
	"testing"

	"sibyl/internal/jsonappend"
)

func FuzzStringIsWhatEncodingJSONGives(f *testing.F) {
	for _, s := range []string{"", "plain", "a\"b\\c", "\b\f\n\r\t\x00\x1f\x7f", "<a & b>", "Grüße 🚀\u2028\u2029", "\xff broken \xc3", "\ufffd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := jsonappend.String([]byte("x"), s); string(got) != "x"+string(want) {
			t.Errorf("%q became %s; encoding/json gives %s", s, got, want)
		}
	})
}
