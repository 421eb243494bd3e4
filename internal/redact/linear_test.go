package redact

import (
	"encoding/json"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
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

// mostGrowth is how much longer a text may become: the shortest secret that is known by its place has two bytes, and
// stands between two others at least.
const mostGrowth = 3

// FuzzRedactedTextKeepsItsKind: JSON stays JSON, lines stay lines, what was told is gone, twice is as once, and nothing
// grows beyond a bound.
func FuzzRedactedTextKeepsItsKind(f *testing.F) {
	f.Add("secret-1", `{"a":"secret-1"}`)
	f.Add(`a"\u0041b`, `["a\"\\u0041b",12]`)
	f.Add("12345678", pem)
	f.Add("correct horse", strings.Repeat("correct horse", 2))
	for _, seed := range []string{
		`{"args":"{\"api_key\":\"` + letters + `\"}"}`, "password=" + letters, "password: \\\"", "token=\\", "a=\"",
		":", "=", ">", ",", "x:", "\"value\":\"", "://a:b@c", "https://:@",
		"machine a login b password c", "h:5432:d:u:", "*:*:*:*:*", "Authorization: Basic", "Cookie: =;=", "--password",
		"-u a:", "AKIA" + letters[:2], "SG..", "LS0tLS1CRUdJTi" + letters,
		"Private-Lines: 1\n" + line, line + "\n-----END PRIVATE" + " KEY-----", "12345678:AA" + letters + "abc",
		strings.Repeat("0123456789abcdef", 2) + "-us1", "<token>" + letters, "---- BEGIN ",
	} {
		f.Add("12345678", seed)
	}
	f.Fuzz(func(t *testing.T, secret, in string) {
		r := New(secret)
		got := r.String(in)
		assert.That(t, string(r.Bytes([]byte(in))) == got, "String and Bytes differ")
		assert.That(t, len(secret) < MinSecret || strings.Contains(Mark, secret) || !strings.Contains(in, secret) ||
			json.Valid([]byte(in)) || !strings.Contains(strings.ReplaceAll(got, Mark, "\x00"), secret),
			"%q still holds %q", got, secret)
		assert.That(t, !json.Valid([]byte(in)) || json.Valid([]byte(got)), "%q is no JSON any more: %q", in, got)
		lines := string(r.Lines([]byte(in)))
		assert.That(t, strings.Count(lines, "\n") == strings.Count(in, "\n"), "%q has other lines: %q", in, lines)
		again := r.String(got)
		assert.That(t, again == got, "twice: %q -> %q", got, again)
		again = string(r.Lines([]byte(lines)))
		assert.That(t, again == lines, "twice by lines: %q -> %q", lines, again)
		assert.That(t, len(got) <= mostGrowth*len(in)+len(Mark) && len(lines) <= (len(Mark)+1)*(len(in)+1),
			"%d bytes became %d, and %d by lines", len(in), len(got), len(lines))
	})
}
