package code

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/redact/redacttest"
	"sibyl/internal/tool"
)

// wantNoSecret says which vectors a result of a tool gives away.
func wantNoSecret(t *testing.T, v redacttest.Vector, how string, res tool.Result) {
	t.Helper()
	for _, leak := range v.Leaks(res.Text + "\n" + string(res.Data)) {
		t.Errorf("%s, %s: %q is in\n%s", v.Name, how, leak, res.Text)
	}
}

func TestSecretsAreTakenOutBeforeLinesAreNumberedOrCut(t *testing.T) {
	for all := range slices.Chunk(redacttest.Vectors(t), 8) { // a search reads all files of a root
		files := map[string]string{}
		for i, v := range all {
			files[fmt.Sprintf("v%03d.md", i)] = v.Text + "\n"
			files[fmt.Sprintf("v%03d.go", i)] = fmt.Sprintf("package p\n\n// Holder%d holds.\nfunc Holder%d() {\n%s\n}\n",
				i, i, v.Text)
		}
		r, _ := rootOf(t, files)
		for i, v := range all {
			name, source := fmt.Sprintf("v%03d.md", i), fmt.Sprintf("v%03d.go", i)
			whole, res := data[ReadData](t, r, "code_read", ReadArgs{Path: name})
			wantNoSecret(t, v, "read whole", res)
			want := strings.Count(v.Text+"\n", "\n")
			assert.That(t, whole.Total == want, "%s has %d lines, want %d", v.Name, whole.Total, want)
			if len(v.Secrets) == 0 && !strings.Contains(strings.Join(whole.Lines, "\n"), strings.Split(v.Text, "\n")[0]) {
				t.Errorf("%s does not stay: %q", v.Name, whole.Lines)
			}
			for start := 2; start <= whole.Total; start++ {
				_, res = data[ReadData](t, r, "code_read", ReadArgs{Path: name, Start: start})
				wantNoSecret(t, v, fmt.Sprintf("read from line %d", start), res)
				_, res = data[ReadData](t, r, "code_read", ReadArgs{Path: name, Start: start, End: start})
				wantNoSecret(t, v, fmt.Sprintf("line %d alone", start), res)
			}
			for _, pattern := range []string{".", "[A-Za-z0-9+/]{20}", "END", "="} {
				_, res = data[SearchData](t, r, "code_search", SearchArgs{Query: pattern, Regex: true, Path: name,
					Limit: 50})
				wantNoSecret(t, v, "found by "+pattern, res)
			}
			_, res = data[SearchData](t, r, "code_search", SearchArgs{Query: fmt.Sprintf("what does Holder%d hold?", i)})
			wantNoSecret(t, v, "searched for", res)
			args, err := json.Marshal(map[string]any{"symbol": fmt.Sprintf("Holder%d", i)})
			assert.NoError(t, err)
			res, err = call(t, r, "code_symbol", string(args))
			assert.That(t, err == nil, "%s: %v", v.Name, err)
			wantNoSecret(t, v, "defined", res)
			_, res = data[ReadData](t, r, "code_read", ReadArgs{Path: source, Around: 5})
			assert.That(t, len(res.Refs) != 0, "%s was not read", source)
			wantNoSecret(t, v, "read around a line", res)
		}
		res := assert.Must(call(t, r, "repo_map", "{}"))(t)
		for _, v := range all {
			wantNoSecret(t, v, "mapped", res)
		}
	}
}

// A key may begin far above the lines that are read, and a token end behind what is shown of a line.
func TestSecretThatReachesBeyondWhatIsShownIsTakenOut(t *testing.T) {
	for _, v := range redacttest.Vectors(t) {
		if v.Name != "PEM: rsa private key" && v.Name != "npm token in .npmrc" {
			continue
		}
		for _, long := range []int{maxLine - 60, maxLine - 40, maxLine - 20, maxLine - 3} {
			r, _ := rootOf(t, map[string]string{"a.md": strings.Repeat("x", long) + " " + v.Text + "\n" +
				strings.Repeat("line\n", 5000)})
			_, res := data[ReadData](t, r, "code_read", ReadArgs{Path: "a.md"})
			shown := res.Text + string(res.Data)
			for _, secret := range v.Secrets {
				assert.That(t, !strings.Contains(v.Name, "npm") || !strings.Contains(shown, secret[:8]),
					"%s after %d: its beginning is shown", v.Name, long)
			}
			wantNoSecret(t, v, "in a long line", res)
		}
	}
}

// Whether a regular expression finds anything would otherwise tell a secret, character by character.
func TestNoSearchTellsWhetherItFitsASecret(t *testing.T) {
	secret := "hQ4w" + "Tz8kP2mN"
	r, _ := rootOf(t, map[string]string{"a.yaml": "password: " + secret + "\n"})
	d, _ := data[SearchData](t, r, "code_search", SearchArgs{Query: "password: " + secret[:6], Regex: true})
	assert.That(t, d.Matched == 0 && len(d.Hits) == 0, "%d files, %d hits", d.Matched, len(d.Hits))
}
