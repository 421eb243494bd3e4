package redact_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/redact"
	"sibyl/internal/redact/redacttest"
)

func TestVectorsAreRedactedAsPublished(t *testing.T) {
	r, secret, stay := redact.New(), 0, 0
	for _, v := range redacttest.Vectors(t) {
		got := r.String(v.Text)
		assert.That(t, got == v.Want, "%s:\n got  %q\n want %q\n from %q", v.Name, got, v.Want, v.Text)
		if len(v.Secrets) > 0 {
			secret++
		} else {
			stay++
		}
	}
	assert.That(t, secret >= 100 && stay >= 20, "%d vectors with secrets and %d without were found", secret, stay)
}

// The journal redacts records: JSON, with the JSON of arguments and structured results in it.
func TestVectorsAreRedactedWithinJSON(t *testing.T) {
	r := redact.New()
	for _, v := range redacttest.Vectors(t) {
		once := assert.Must(json.Marshal(map[string]any{"text": v.Text, "n": 1}))(t)
		twice := assert.Must(json.Marshal(map[string]any{"arguments": string(once)}))(t)
		indented := assert.Must(json.MarshalIndent(map[string]any{"lines": strings.Split(v.Text, "\n")}, "", "  "))(t)
		for name, in := range map[string][]byte{"once": once, "twice": twice, "by lines": indented} {
			got := r.Bytes(in)
			assert.That(t, json.Valid(got), "%s, %s: no JSON any more: %s", v.Name, name, got)
			for _, leak := range v.Leaks(string(got)) {
				t.Errorf("%s, %s: %q is in %s", v.Name, name, leak, got)
			}
			assert.That(t, len(v.Secrets) != 0 || string(got) == string(in), "%s, %s: does not stay: %s", v.Name, name, got)
		}
	}
}

// What was numbered, quoted or marked by a tool of others comes as one text: the shape of a key is known all the same.
func TestKeysAreKnownBehindDecoration(t *testing.T) {
	r := redact.New()
	for _, v := range redacttest.Vectors(t) {
		if !strings.HasPrefix(v.Name, "PEM") {
			continue
		}
		for _, form := range []string{"%4d| ", "%5d  ", "%d: ", "%d\t", "> ", "+", "# ", "//  ", "* "} {
			var text strings.Builder
			for i, line := range strings.Split(v.Text, "\n") {
				number := form
				if strings.Contains(form, "%") {
					number = fmt.Sprintf(form, i+1)
				}
				text.WriteString(number + line + "\n")
			}
			for _, leak := range v.Leaks(r.String(text.String())) {
				t.Errorf("%s behind %q: %q", v.Name, form, leak)
			}
		}
	}
}

func TestVectorsTripNoScannerThemselves(t *testing.T) {
	raw := assert.Must(os.ReadFile("../../testdata/vectors/redaction.json"))(t)
	if got := redact.New().Bytes(raw); string(got) != string(raw) {
		at := 0
		for at < len(got) && got[at] == raw[at] {
			at++
		}
		t.Errorf("the file holds a secret as it is written: %.200s", raw[max(0, at-100):])
	}
}

func TestLimitWordsAndSecretsWithoutANameOrAShapeStay(t *testing.T) {
	for _, text := range []string{
		`password: "correct horse battery staple"`, "password: hunter2", "the code is " + "kQ7zW2mX9pL4vB8n",
		"my cat is called " + "Tr0ub4dor&3", "Password: Butterfly",
	} {
		got := redact.New().String(text)
		assert.That(t, got == text, "%q became %q", text, got)
	}
}

// FuzzVectorsAmongAnyLines: whatever lines stand around a text with a secret, the secret is gone.
func FuzzVectorsAmongAnyLines(f *testing.F) {
	var secret []redacttest.Vector
	for _, v := range redacttest.Vectors(f) {
		if len(v.Secrets) > 0 {
			secret = append(secret, v)
		}
	}
	for i, v := range secret {
		f.Add(uint(i)+1, "", v.Text)
		f.Add(uint(i)+1, v.Text, "")
	}
	r := redact.New()
	f.Fuzz(func(t *testing.T, n uint, before, after string) {
		v := secret[n%uint(len(secret))]
		if len(v.Leaks(before+"\n"+after)) > 0 {
			return // it stands there, too, where nothing says that it is one
		}
		text := before + "\n\n" + v.Text + "\n\n" + after
		for how, got := range map[string]string{"whole": r.String(text), "by lines": redact.Text(text)} {
			for _, leak := range v.Leaks(got) {
				t.Errorf("%s, %s: %q is in %q", v.Name, how, leak, got)
			}
		}
	})
}
