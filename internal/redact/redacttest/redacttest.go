// Package redacttest reads the published vectors of redaction, testdata/vectors, for the tests of whatever hands texts
// out. docs/vectors.md describes them.
package redacttest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/redact"
)

// Vector is a text with no secret, one or several.
type Vector struct {
	Name    string
	Text    string
	Want    string   // the text with redact.Mark in the place of each secret
	Secrets []string // in the order of the text; none: it stays as it is
}

// part is a piece of a vector's text: plain, or a secret in pieces.
type part struct {
	text   string
	secret []string
}

func (p *part) UnmarshalJSON(raw []byte) error {
	if raw[0] == '"' {
		return json.Unmarshal(raw, &p.text)
	}
	var with struct{ Secret []string }
	err := json.Unmarshal(raw, &with)
	p.secret = with.Secret
	return err
}

// Vectors reads testdata/vectors/redaction.json of the module.
func Vectors(tb testing.TB) []Vector {
	tb.Helper()
	var file struct {
		Vectors []struct {
			Name string
			Text []part
		}
	}
	Read(tb, "redaction.json", &file)
	all := make([]Vector, 0, len(file.Vectors))
	for _, from := range file.Vectors {
		v := Vector{Name: from.Name}
		for _, p := range from.Text {
			secret := strings.Join(p.secret, "")
			if v.Text += p.text + secret; secret != "" {
				v.Secrets = append(v.Secrets, secret)
				p.text = redact.Mark
			}
			v.Want += p.text
		}
		all = append(all, v)
	}
	return all
}

// Read decodes a file of testdata/vectors.
func Read(tb testing.TB, name string, into any) {
	tb.Helper()
	raw, err := os.ReadFile(filepath.Join(root(tb), "testdata", "vectors", name))
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// root is the folder of the module.
func root(tb testing.TB) string {
	tb.Helper()
	folder, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder
		}
		above := filepath.Dir(folder)
		if above == folder {
			tb.Fatal("there is no module around this test")
		}
		folder = above
	}
}

// Leaks are the pieces of the vector's secrets in a text: whole secrets, and lines of them that are long enough to
// matter.
func (v Vector) Leaks(text string) (found []string) {
	const enough = 16
	for _, secret := range v.Secrets {
		if strings.Contains(text, secret) {
			found = append(found, secret)
		}
		for _, piece := range strings.FieldsFunc(secret, func(r rune) bool {
			return strings.ContainsRune(" \n\\\"|>#", r)
		}) {
			if len(piece) >= enough && !strings.HasPrefix(piece, "-----") && strings.Contains(text, piece) {
				found = append(found, piece)
			}
		}
	}
	return found
}
