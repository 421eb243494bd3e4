package web

import (
	"encoding/json"
	"html"
	"net/http"
	"strings"
	"testing"

	"sibyl/internal/redact/redacttest"
	"sibyl/internal/tool"
)

func showsNone(t *testing.T, v redacttest.Vector, how string, res tool.Result) {
	t.Helper()
	for _, leak := range v.Leaks(strings.ReplaceAll(res.Text, `\`, "") + "\n" + string(res.Data)) {
		t.Errorf("%s, %s: %q is in\n%s", v.Name, how, leak, res.Text)
	}
}

func TestSecretsInPagesAreTakenOutOfWhatToolsSay(t *testing.T) {
	for _, v := range redacttest.Vectors(t) {
		res, _, err := fetchFrom(t, Config{}, body("text/plain", v.Text+"\n."))
		if err != nil {
			t.Fatalf("%s: %v", v.Name, err)
		}
		showsNone(t, v, "as text", res)
		page := "<html><body><h1>About</h1><p>Some words before it.</p><pre>" + html.EscapeString(v.Text) + "</pre><p>And after.</p></body></html>"
		if res, _, err = fetchFrom(t, Config{}, body("text/html", page)); err != nil {
			t.Fatalf("%s: %v", v.Name, err)
		}
		showsNone(t, v, "as a page", res)
		hits, err := json.Marshal(map[string]any{"results": []any{map[string]any{"url": "https://a.test/", "title": "A page", "content": v.Text}}})
		if err != nil {
			t.Fatal(err)
		}
		found, err := searchOn(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(hits)
		}, map[string]any{"query": "x"})
		if err != nil {
			t.Fatalf("%s: %v", v.Name, err)
		}
		showsNone(t, v, "as a hit", found)
	}
}
