package redact_test

import (
	"testing"

	"sibyl/internal/redact"
	"sibyl/internal/redact/redacttest"
)

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
