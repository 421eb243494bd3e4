package redact

import (
	"strings"
	"testing"

	"sibyl/internal/behaviour/lineartest"
)

// worst are repeated: each makes a careless reader look at the same text again and again.
var worst = []string{"token=", "ya29.", "ATBB=", "SG.", "eyJ.", "eyJaaaaaaaaaaa.", "-----BEGIN PRIVATE" + " KEY-----\n",
	"Private-Lines: aaaaaaaaaaaaaaaa ", "LS0tLS1CRUdJTi/",
	"machine login x password ", "a:5432:", "https://a:b@", "\"value\":", "value=key ", "Cookie: a=b; ",
	"Authorization: Bearer ", "--password ", "-u a:b ", "AKIA", "glc_%",
	"aaaaaaaaaaaaaaaa-----END PRIVATE" + " KEY-----", "token=a1B2c3D4e5F6g7 ", "0123456789:AA", "name:value:",
	"sk-" + letters + ".", `{"token":"a1B2c3D4e5F6g7`, `\\\\`, `\u003c`, "=", ":::: ",
	"correct horse battery stapl", "hooks.slack.com/services/a/", "login ", "\\nlogin\\n", "a=a&", "$", "https://a",
	"::5432:*:a:"}

func TestTimeAndMemoryAreLinearInTheSize(t *testing.T) {
	r := New("correct horse battery staple")
	for _, unit := range worst {
		ratios := lineartest.Check(t, 4<<10, func(size int) func() {
			text := strings.Repeat(unit, size/len(unit)+1)
			return func() { r.String(text); r.Lines([]byte(text)) } // Bytes remembers the text
		})
		t.Logf("%q: %s", unit, ratios)
	}
}

// A JSON text is redacted literal by literal where a whole one would break it.
func TestJSONIsRedactedInLinearTimeAndMemory(t *testing.T) {
	r := New(`a"b"c"d"e`)
	for _, unit := range []string{`"a\"b\"c\"d\"e",`, `"token=a1B2c3D4e5F6g7h8",`, `"password","a1B2c3D4e5F6g7h8",`,
		`{"token":"a1B2c3D4e5F6g7h8"},`, `12,`, `"x",`} {
		ratios := lineartest.Check(t, 4<<10, func(size int) func() {
			text := []byte("[" + strings.Repeat(unit, size/len(unit)+1) + `"token\":a1B2c3D4e5F6g7h8","` +
				letters + `"]`)
			return func() { r.Bytes(text) }
		})
		t.Logf("%q: %s", unit, ratios)
	}
}
