package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"sibyl/internal/behaviour/assert"
)

// Key material in these tests is made up, and spelled in pieces so that no scanner takes this file for a leak.
var (
	letters = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA"
	line    = strings.Repeat("MIIEvQIBADANBgkq", 4)
	pem     = "-----BEGIN PRIVATE" + " KEY-----\n" + line + "\n" + line + "\nAbCd==\n-----END PRIVATE" + " KEY-----"
)

func TestTokensAreKnownByTheirShape(t *testing.T) {
	for name, token := range map[string]string{
		"OpenAI":               "sk-" + letters + letters[:16],
		"OpenAI project":       "sk-proj-" + letters + "-" + letters + "_" + letters,
		"Anthropic":            "sk-ant-api03-" + letters + "-" + letters + "AA",
		"OpenRouter":           "sk-or-v1-" + strings.Repeat("0123456789abcdef", 4),
		"Stripe":               "sk_live_" + letters[:24],
		"GitHub":               "ghp_" + letters + "abcd",
		"GitHub, for a server": "ghs_" + letters + "abcd",
		"GitHub, fine-grained": "github_pat_" + letters[:22] + "_" + letters + letters[:27],
		"GitLab":               "glpat-" + letters[:20],
		"AWS":                  "AKIA" + "IOSFODNN7EXAMPLE",
		"AWS, for a session":   "ASIA" + "IOSFODNN7EXAMPLE",
		"Google":               "AIza" + letters + "_-x",
		"Slack":                "xoxb-123456789012-1234567890123-" + letters[:24],
		"Hugging Face":         "hf_" + letters + "ab",
		"Groq":                 "gsk_" + letters + letters[:20],
		"Sibyl":                "sibyl_" + strings.ToLower(letters) + letters[1:2] + "0123456789abcdefghi",
		"JSON web token":       "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0." + letters,
		"age":                  "AGE-SECRET-KEY-1" + strings.ToUpper(letters+letters[:26]),
		"PEM":                  pem,
		"PEM, older":           strings.ReplaceAll(pem, "PRIVATE", "RSA PRIVATE"),
		"PEM with headers": strings.Replace(pem, "\n",
			"\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123ABCD\n\n", 1),
		"PEM, quoted by lines":  strings.ReplaceAll(pem, "\n", `\n"`+" +\n\t"+`"`),
		"PEM with escaped ends": strings.ReplaceAll(pem, "\n", `\n`),
		"PGP": strings.NewReplacer("KEY-----", "KEY BLOCK-----", "BEGIN ", "BEGIN PGP ", "END ",
			"END PGP ").Replace(pem),
	} {
		for _, frame := range []string{"%s", "key=%s.", "a \"%s\" b", "'%s',", "\n%s\n", `x\n%s\n`, `\u0022%s\u0022`,
			"k%%3D%s&", "(%s)", "x: %s, y"} {
			in, want := fmt.Sprintf(frame, token), fmt.Sprintf(frame, Mark)
			assert.Equalf(t, New().String(in), want, "%s: %q became", name, in)
		}
	}
}

func TestBearerStaysAndItsTokenGoes(t *testing.T) {
	for _, token := range []string{letters, letters + "+/" + letters + "==", "abc." + letters, "0123456789abcdef0123"} {
		for _, word := range []string{"Bearer", "bearer", "BEARER"} {
			got, want := New().String("Authorization: "+word+" "+token+"\r\n"), "Authorization: "+word+" "+Mark+"\r\n"
			assert.That(t, got == want, "got %q, want %q", got, want)
		}
	}
	assert.Equalf(t, New().String(`{"h":"Bearer ab12cd34ef56\/gh78ij90"}`), `{"h":"Bearer `+Mark+`"}`,
		"with an escaped slash")
}

func TestNamedValueIsTakenToItsEnd(t *testing.T) {
	for in, want := range map[string]string{
		"?a=1&amp;sid=5887328e015c3caf&amp;b=2":           "?a=1&amp;sid=" + Mark + "&amp;b=2",
		`{"token":"MIIBIjANB\u002F` + letters + `"}`:      `{"token":"` + Mark + `"}`,
		`pw = "` + letters + `"`:                          `pw = "` + Mark + `"`,
		`Name: "DB_TOKEN", Value: "i3e01nf61b6t23bvfm"`:   `Name: "DB_TOKEN", Value: "` + Mark + `"`,
		"token: " + strings.Repeat(letters, 40) + " next": "token: " + Mark + " next",
		`("SECRET", '` + letters + `')`:                   `("SECRET", '` + Mark + `')`,
	} {
		assert.Equalf(t, New().String(in), want, "%q became", in)
	}
}

func TestKeyThatWasCutOffIsRedacted(t *testing.T) {
	begin := pem[:strings.Index(pem, "\n")+1]
	for _, after := range []string{"\nand so on; more",
		"\n\nAnd then there is another thing.\n\n## 2026-11-22 t-e775b701ebcc0e26\n"} {
		got, want := New().String(begin+line+"\n"+line[:20]+after), Mark+after
		assert.That(t, got == want, "got %q, want %q", got, want)
	}
}

func TestOrdinaryCodeAndProseAreLeftAlone(t *testing.T) {
	r := New("correct horse battery staple")
	for _, text := range []string{
		"", "a", "sk", "eyJ", "-----BEGIN ",
		"commit 94787ff0c1d2e3f4a5b6c7d8e9f0a1b2c3d4e5f6 (HEAD -> main)",
		"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"golang.org/x/net v0.58.0 h1:8C9Mu4SMsqaDS4iSD2OmTD3fhDK1bUzQ3ZRkPkGcTUA=",
		"550e8400-e29b-41d4-a716-446655440000",
		"task-oriented-programming-1234567890abcdef", "risk-assessment2024report00000000",
		".sk-fading-circle .sk-circle-fade-dot1 { }", "sk-learn-contrib-project-template", "sk-SK.UTF-8",
		"disk-usage-by-directory-0123456789abcdef",
		"func ghp_test_helper_for_the_thing()", "highlight_mode_for_hf_transformers_pipeline",
		"ASIAPACIFICSOUTHEAST", "AKIAIOSFODNN7EXAMPLEandmore", "xAKIAIOSFODNN7EXAMPLE", "AIzaTooShort",
		"Bearer authentication is described in RFC 6750", "the bearer internationalization-of-documents",
		`"Bearer " + token`,
		"cookie string = res.Cookies()[0]", "Authorization: Bearer ${ACCESS_TOKEN_FROM_ENVIRONMENT1}",
		"Bearer <your-token-here-please>", "Bearer AbstractTokenProvider",
		"sibyl_runs_total", "sibyl_effect_duration_seconds_bucket{le=1}", "sibyl_internationalization", "eyJust.a.word",
		"monkeyJson.parse.everything", "keyJoin.something_long.something_else",
		"-----BEGIN CERTIFICATE-----\n" + line + "\n-----END CERTIFICATE-----",
		"-----BEGIN PUBLIC" + " KEY-----\n" + line + "\n-----END PUBLIC" + " KEY-----",
		`const begin = "-----BEGIN RSA PRIVATE` + ` KEY-----"` + "\n" + `const end = "-----END RSA PRIVATE` +
			` KEY-----"`,
		"-----BEGIN PRIVATE" + " KEY-----\n(your key here)\n-----END PRIVATE" + " KEY-----",
		strings.Repeat("-", 500), "| --- | --- |", "correct horse battery", strings.Repeat("Be ey sk gh ", 50),
	} {
		got := r.String(text)
		assert.That(t, got == text, "%q became %q", text, got)
	}
}

func TestOwnSourceIsLeftAlone(t *testing.T) {
	r := New()
	files, err := filepath.Glob("../*/*.go")
	assert.Require(t, err == nil && len(files) != 0, "no source was found: %v", err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue // these may hold made-up keys
		}
		content := assert.Must(os.ReadFile(name))(t)
		got := r.Bytes(content)
		assert.That(t, bytes.Equal(got, content), "%s would be changed", name)
	}
}

func TestTextsOfTheRepositoryAreLeftAlone(t *testing.T) {
	r, size := New(), 0
	for _, folder := range []string{"docs", "prompts", "trees", "eval", "scripts"} {
		err := filepath.WalkDir(filepath.Join("..", "..", folder), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			content, err := os.ReadFile(name)
			size += len(content)
			got := r.Bytes(content)
			assert.That(t, bytes.Equal(got, content), "%s would be changed", name)
			return err
		})
		assert.NoError(t, err)
	}
	assert.That(t, size >= 1<<20, "only %d bytes were found", size)
}

func TestRandomValuesAreSecretsAndWordsAreNone(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const tries = 10_000
	alphabets := map[string]string{"hexadecimal": "0123456789abcdef", "letters and digits": letters[:31] +
		"CDFGHIJKLMOPRTVXZcdfghijklmoprtvxz", "small": "abcdefghijklmnopqrstuvwxyz0123456789"}
	r := New()
	for name, alphabet := range alphabets {
		missed := 0
		for range tries {
			value := make([]byte, 20)
			for i := range value {
				value[i] = alphabet[random.IntN(len(alphabet))]
			}
			if strings.Contains(r.String("api_key = \""+string(value)+"\""), string(value)) {
				missed++
			}
		}
		assert.That(t, missed <= tries/100, "%s: %d of %d were missed", name, missed, tries)
	}
	var words []byte
	for _, file := range []string{"glossary", "oracle", "council", "inquiry"} {
		text := assert.Must(os.ReadFile("../../docs/" + file + ".md"))(t)
		words = append(words, text...)
	}
	fields := strings.FieldsFunc(string(words), func(c rune) bool { return !isAlnum(byte(c)) || c > 127 })
	tried, taken := 0, 0
	for i := 3; i < len(fields); i++ {
		for _, sign := range []string{"-", "_", ".", "/", ""} {
			text := "secret: \"" + strings.Join(fields[i-3:i], sign) + "\""
			if tried++; r.String(text) != text {
				taken++
			}
		}
	}
	assert.That(t, taken <= tries/1000 && tried >= 10_000, "%d of %d words were taken for secrets", taken, tried)
}

func TestLinesKeepTheirNumber(t *testing.T) {
	text := "a\n" + pem + "\nb password=" + letters + "\n"
	got := Text(text)
	want := "a\n" + strings.Repeat(Mark+"\n", strings.Count(pem, "\n")+1) + "b password=" + Mark + "\n"
	assert.That(t, got == want, "got %q, want %q", got, want)
	same := "nothing to hide\n"
	assert.That(t, Text(same) == same && string(Lines([]byte(same))) == same, "text without a secret was changed")
}

func TestNamedSecretGoesWhereAnotherBreaksTheJSON(t *testing.T) {
	in := `{"password":"` + letters + `","n":12345678}`
	got, want := New("12345678").String(in), `{"password":"`+Mark+`","n":"`+Mark+`"}`
	assert.That(t, got == want, "got %s, want %s", got, want)
}

func TestKnownSecretIsFoundInEveryForm(t *testing.T) {
	for _, secret := range []string{
		"correct horse", `pa"ss\word`, "naïve-Schlüssel", "line one\nline two", "<b>&amp;</b>", "a/b/c/d/e",
		"smile😀smile", "tab\tand more",
		`nnnnnnnn`, `"quoted"`, "12345678",
	} {
		r := New(secret)
		once := marshal(t, map[string]string{"v": "say " + secret + " twice " + secret})
		twice := marshal(t, map[string]string{"arguments": once})
		ascii := "x " + jsonWriter{ascii: true}.escape(secret) + " x"
		slashed := "x " + jsonWriter{slash: true}.escape(secret) + " x"
		link := "https://example.com/" + url.PathEscape(secret) + "?key=" + url.QueryEscape(secret) + "&x=1"
		for in, want := range map[string]string{
			"say " + secret + "!":         "say " + Mark + "!",
			secret + ".":                  Mark + ".",
			secret + secret + ".":         strings.Repeat(Mark, 2) + ".",
			once:                          `{"v":"say ` + Mark + ` twice ` + Mark + `"}`,
			twice:                         `{"arguments":"{\"v\":\"say ` + Mark + ` twice ` + Mark + `\"}"}`,
			ascii:                         "x " + Mark + " x",
			slashed:                       "x " + Mark + " x",
			link:                          "https://example.com/" + Mark + "?key=" + Mark + "&x=1",
			`{"` + plain(secret) + `":1}`: `{"` + Mark + `":1}`,
		} {
			got := r.String(in)
			if in == secret+secret+"." && strings.Trim(secret, secret[:1]) == "" {
				want = Mark + "." // one run of the same character
			}
			assert.That(t, got == want, "secret %q: %q became %q, want %q", secret, in, got, want)
		}
	}
}

func plain(secret string) string { return jsonWriter{}.escape(secret) }

func marshal(t interface{ Fatal(...any) }, value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestShortSecretsAreNotSearchedFor(t *testing.T) {
	assert.Equal(t, New("", "a", "1234567").String("a 1234567 b"), "a 1234567 b")
}

func TestOverlappingSecretsLeaveNothing(t *testing.T) {
	for _, c := range []struct {
		secrets  []string
		in, want string
	}{
		{[]string{"12345678", "5678abcd"}, "x12345678abcdx", "x" + Mark + "x"},
		{[]string{"12345678", "123456789012"}, "x123456789012x", "x" + Mark + "x"},
		{[]string{"secret in " + "words"}, "Bearer 0123456789abcdef01secret in words.", "Bearer " + Mark + "."},
		{[]string{letters}, "sk-" + letters + "-more", Mark},
		{[]string{"12345678"}, "12345678 1234567812345678", Mark + " " + Mark + Mark},
	} {
		assert.Equalf(t, New(c.secrets...).String(c.in), c.want, "%q became", c.in)
	}
}

func TestJSONStaysJSON(t *testing.T) {
	for _, c := range []struct{ name, secret, in, want string }{
		{"number", "12345678", `{"id":1234567890,"s":"12345678"}`, `{"id":"[redacted]","s":"[redacted]"}`},
		{"negative number", "12345678", `[-12345678.5e+3]`, `["[redacted]"]`},
		{"an escape's letter", "nineteen", `["\nineteen","x nineteen"]`, `["[redacted]","x [redacted]"]`},
		{"an escape's digits", "0041bcde", `["x\u0041bcde"]`, `["[redacted]"]`},
		{"the escape of a quote", `passpass\`, `["passpass\" and more","y"]`, `["[redacted]","y"]`},
		{"from one string to the next", `x","y":"`, `{"a":"x","y":"z"}`, `{"a":"[redacted]"}`},
		{"structure", `":{"abc":`, `{"k":{"abc":1}}`, `{"k":{"abc":1}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := New(c.secret).String(c.in)
			assert.That(t, json.Valid([]byte(got)), "no JSON any more: %s", got)
			assert.That(t, c.name == "from one string to the next" || got == c.want, "got %s, want %s", got, c.want)
		})
	}
}

// The journal redacts records that hold JSON within JSON, so this is the promise it relies on.
func TestRedactedJSONIsValidAndHoldsNoSecret(t *testing.T) {
	alphabet := []rune("\"\\/\n\tnrtbfu0041<&>é😀{}[]:, ab-")
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOfN(rapid.SampledFrom(alphabet), 0, 12, -1)
		secret := rapid.StringOfN(rapid.SampledFrom(alphabet), 4, 12, -1).Filter(func(s string) bool {
			return len(s) >= MinSecret
		}).Draw(t, "secret")
		hiding := word.Draw(t, "before") + secret + word.Draw(t, "after")
		inner := marshal(t, map[string]any{word.Draw(t, "k"): hiding, "list": []any{1, true, nil, word.Draw(t, "w")}})
		outer := marshal(t, map[string]any{"args": inner, hiding: word.Draw(t, "v"), "n": rapid.Int().Draw(t, "n")})

		redacted := New(secret).Bytes([]byte(outer))
		var value any
		err := json.Unmarshal(redacted, &value)
		assert.Require(t, err == nil, "%v\nbefore %s\nafter  %s", err, outer, redacted)
		for _, s := range append(stringsIn(value), string(redacted)) {
			assert.Require(t, !strings.Contains(s, secret), "%q still holds %q", s, secret)
			var within any
			if json.Unmarshal([]byte(s), &within) == nil {
				for _, deep := range stringsIn(within) {
					assert.Require(t, !strings.Contains(deep, secret), "%q still holds %q within", s, secret)
				}
			}
		}
	})
}

func stringsIn(value any) []string {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		var all []string
		for _, item := range v {
			all = append(all, stringsIn(item)...)
		}
		return all
	case map[string]any:
		var all []string
		for key, item := range v {
			all = append(append(all, key), stringsIn(item)...)
		}
		return all
	}
	return nil
}

func TestInputIsNeverChanged(t *testing.T) {
	in := []byte("say correct horse")
	kept := string(in)
	got := New("correct horse").Bytes(in)
	assert.That(t, string(got) == "say "+Mark && string(in) == kept, "got %q, input is %q", got, in)
}

func TestZeroRedactorReplacesNothing(t *testing.T) {
	var r Redactor
	assert.That(t, r.String(pem) == pem, "the zero value changed the text")
}

// ordinary is text of the kinds that the journal holds, with many beginnings of what might be a token.
func ordinary(size int) string {
	const sample = `{"role":"assistant","text":"The key to the right task is here: Because they asked, see internal/oracle/oracle.go:120-140.\n` +
		"```go\\nfunc (r *Registry) Get(name string) (Tool, bool) {\\n\\tt, ok := r.byName[name]\\n\\treturn t, " +
		"ok\\n}\\n```" +
		`","hash":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}` + "\n"
	return strings.Repeat(sample, size/len(sample)+1)[:size]
}

func TestTextWithoutSecretsIsNotCopied(t *testing.T) {
	r := New("correct horse battery staple", `another "secret"`)
	text := ordinary(64<<10) + "-----BEGIN CERTIFICATE-----\n" + line + "\n-----END CERTIFICATE-----\n" +
		"Bearer none eyJ.x.y sk-x"
	b := []byte(text)
	got := r.Bytes(b)
	assert.That(t, &got[0] == &b[0], "the text was copied")
	if got := r.String(text); unsafe.StringData(got) != unsafe.StringData(text) {
		t.Error("the string was copied")
	}
}
