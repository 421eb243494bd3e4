package web

import (
	"context"
	"encoding/json"
	"errors"
	"html"
	"net"
	"net/http"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/keys/cleartext"
	"sibyl/internal/redact/redacttest"
	"sibyl/internal/tool"
)

func wantNoSecret(t *testing.T, v redacttest.Vector, how string, res tool.Result) {
	t.Helper()
	for _, leak := range v.Leaks(strings.ReplaceAll(res.Text, `\`, "") + "\n" + string(res.Data)) {
		t.Errorf("%s, %s: %q is in\n%s", v.Name, how, leak, res.Text)
	}
}

func TestSecretsInPagesAreTakenOutOfWhatToolsSay(t *testing.T) {
	for _, v := range redacttest.Vectors(t) {
		res, _, err := fetchFrom(t, Config{}, body("text/plain", v.Text+"\n."))
		assert.NoErrorf(t, err, "%s", v.Name)
		wantNoSecret(t, v, "as text", res)
		page := "<html><body><h1>About</h1><p>Some words before it.</p><pre>" + html.EscapeString(v.Text) +
			"</pre><p>And after.</p></body></html>"
		res, _, err = fetchFrom(t, Config{}, body("text/html", page))
		assert.Require(t, err == nil, "%s: %v", v.Name, err)
		wantNoSecret(t, v, "as a page", res)
		hits := assert.Must(json.Marshal(map[string]any{"results": []any{map[string]any{"url": "https://a.test/",
			"title": "A page", "content": v.Text}}}))(t)
		found, err := searchOn(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(hits)
		}, map[string]any{"query": "x"})
		assert.NoErrorf(t, err, "%s", v.Name)
		wantNoSecret(t, v, "as a hit", found)
	}
}

func TestNoKeyOfAnEngineGoesOverPlainHTTPToAnotherMachine(t *testing.T) {
	key := func(context.Context) (string, error) { return "canary-0123456789", nil }
	for name, cfg := range map[string]Config{
		"Brave":   {Engine: Brave, BaseURL: "http://search.test", Key: key},
		"Tavily":  {Engine: Tavily, BaseURL: "http://10.1.2.3:8080", Key: key},
		"SearXNG": {Engine: SearXNG, SearXNG: "http://ada:canary-0123456789@search.test"},
	} {
		cfg.Resolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
			t.Errorf("%s: a name was looked up", name)
			return nil, errors.New("no network")
		}}
		_, err := byName(t, cfg, "web_search").Call(t.Context(), args(t, map[string]any{"query": "x"}))
		said := wantKind(t, err, tool.Denied)
		assert.That(t, strings.Contains(said.Message, cleartext.Setting) && !strings.Contains(said.Message, "canary"),
			"%s: got %v", name, err)
	}
}
