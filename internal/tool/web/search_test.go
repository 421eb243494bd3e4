package web

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/tool"
)

func searchOn(t *testing.T, handler http.HandlerFunc, query map[string]any) (tool.Result, error) {
	t.Helper()
	s := serve(t, handler)
	return byName(t, Config{SearXNG: s.URL + "/sx/", Timeout: time.Minute}, "web_search").Call(t.Context(),
		args(t, query))
}

const searxAnswerJSON = `{"query":"go","number_of_results":0,"results":[
 {"url":"https://go.dev/doc/","title":"The  Go\nManual","content":"How to  use Go.","engine":"duck","engines":["duck"],"publishedDate":"2026-01-02T00:00:00","score":2.0},
 {"url":"https://go.dev/doc/","title":"The same again","content":"","engine":"other","publishedDate":null},
 {"url":"magnet:?xt=1","title":"no page","engine":"torrents"},
 {"url":"https://user:pw@evil.test/","title":"credentials","engine":"x"},
 {"url":"","title":"no address"},
 {"url":"https://tour.test/<b>?q=a b","title":"Tour","content":null,"engine":"duck"},
 {"url":"https://third.test/","title":"Third","content":"x","engine":"duck"}],
 "answers":["42",{"answer":"43"}],"infoboxes":[{}],"suggestions":["go lang"],"unresponsive_engines":[["google","timeout"],["bing","CAPTCHA"]]}`

func TestSearchListsHitsThatNobodyHasRead(t *testing.T) {
	var asked *http.Request
	result := assert.Must(searchOn(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.Clone(t.Context())
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = io.WriteString(w, searxAnswerJSON)
	}, map[string]any{"query": " go  generics&x=1 ", "limit": 2, "time_range": "month"}))(t)
	wantQuery := url.Values{"q": {"go generics&x=1"}, "format": {"json"}, "time_range": {"month"}}
	diff := cmp.Diff(wantQuery, asked.URL.Query())
	assert.That(t, diff == "" && asked.URL.Path == "/sx/search" && asked.Method == http.MethodGet,
		"asked %s %s\n%s", asked.Method, asked.URL.Path, diff)
	want := SearchData{
		Query: "go generics&x=1",
		Results: []SearchResult{
			{Title: "The Go Manual", URL: "https://go.dev/doc/", Snippet: "How to use Go.", Engine: "duck",
				Published: "2026-01-02T00:00:00"},
			{Title: "Tour", URL: "https://tour.test/%3Cb%3E?q=a b", Engine: "duck"},
		},
		Silent: []string{"google: timeout", "bing: CAPTCHA"},
	}
	var got SearchData
	assert.NoError(t, json.Unmarshal(result.Data, &got))
	assert.Same(t, want, got)
	wantRefs := []tool.Ref{
		{Source: tool.Web, URL: "https://go.dev/doc/", Title: "The Go Manual"},
		{Source: tool.Web, URL: "https://tour.test/%3Cb%3E?q=a b", Title: "Tour"},
	}
	diff = cmp.Diff(wantRefs, result.Refs)
	assert.That(t, diff == "" && result.Items == 2, "Items = %d\n%s", result.Items, diff)
	wantText := "1. The Go Manual\n   https://go.dev/doc/\n   Published: 2026-01-02T00:00:00\n   How to use Go.\n" +
		"2. Tour\n   https://tour.test/%3Cb%3E?q=a b\n" +
		"Not looked at: 2 × engine that did not answer: google: timeout, bing: CAPTCHA.\n"
	assert.Same(t, wantText, result.Text)
}

func TestEnginesThatDidNotAnswerAreNamedWhateverTheirForm(t *testing.T) {
	for silent, want := range map[string]string{
		`[["google","Suspended: too many requests"],["bing",null]]`: "google: Suspended: too many requests|bing",
		`["duckduckgo"]`: "duckduckgo", `{"brave":"timeout"}`: "brave: timeout", `[["a","b",true],[],null,7]`: "a: b",
		`[{"engine":"qwant","error_type":"CAPTCHA"}]`: "qwant: CAPTCHA", `null`: "", `"none"`: "",
	} {
		result, err := searchOn(t, body("application/json", `{"results":[],"unresponsive_engines":`+silent+`}`),
			map[string]any{"query": "x"})
		var names []string
		for _, u := range result.Uncovered {
			assert.That(t, u.Reason == tool.Silent && u.Count == len(u.Names), "%+v", u)
			names = append(names, u.Names...)
		}
		assert.That(t, err == nil && strings.Join(names, "|") == want, "%s: %q, %v; want %q", silent, names, err, want)
		assert.That(t, strings.Contains(result.Text, "did not answer") == (want != ""), "%s: %s", silent, result.Text)
	}
}

func TestSearchWithoutAHitCountsNone(t *testing.T) {
	for _, answer := range []string{`{"results":[]}`, `{}`, `{"results":null,"unresponsive_engines":[]}`} {
		result, err := searchOn(t, body("application/json", answer), map[string]any{"query": "nothing like it"})
		assert.That(t, err == nil && result.Items == 0 && len(result.Refs) == 0 &&
			strings.Contains(result.Text, `"nothing like it"`),
			"%s: Items = %d, text %q, error %v", answer, result.Items, result.Text, err)
	}
}

func TestSearchServersThatSayNoTellWhatToDo(t *testing.T) {
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "60")
			w.WriteHeader(code)
			_, _ = io.WriteString(w, "words of a stranger")
		}
	}
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		kind    tool.Kind
		hint    string
	}{
		{"JSON is switched off", status(403), tool.Unavailable, "add json to the formats under search"},
		{"limiter", status(429), tool.Unavailable, "wait 60 seconds"},
		{"password", status(401), tool.Unavailable, "SIBYL_SEARXNG_URL"},
		{"wrong path", status(404), tool.Unavailable, "path"},
		{"failure", status(500), tool.Unavailable, "later"},
		{"HTML", body("text/html", "<html>"), tool.Unavailable, "add json to the formats under search"},
		{"broken JSON", body("application/json", `{"results":[`), tool.Failed, "SearXNG"},
		{"other JSON", body("application/json", `[1,2]`), tool.Failed, "SearXNG"},
		{"too large", body("application/json", `{"x":"`+strings.Repeat("a", maxSearchBytes)+`"}`), tool.TooLarge, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := searchOn(t, c.handler, map[string]any{"query": "x"})
			e := wantKind(t, err, c.kind)
			assert.That(t, strings.Contains(e.Hint, c.hint) && !strings.Contains(e.Message+e.Hint, "stranger"),
				"error = %q, hint = %q, want a hint with %q", e.Message, e.Hint, c.hint)
		})
	}
}

func TestSearchFollowsRedirectsOnItsOwnServerOnly(t *testing.T) {
	elsewhere, hits := forbiddenServer(t)
	_, err := searchOn(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere+r.URL.Path, http.StatusFound)
	}, map[string]any{"query": "x"})
	e := wantKind(t, err, tool.Denied)
	assert.That(t, strings.Contains(e.Hint, "web.searxng"), "hint = %q", e.Hint)
	assert.That(t, hits.Load() == 0, "the other server was reached")
	result, err := searchOn(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/sx/search" {
			http.Redirect(w, r, "/new/search?"+r.URL.RawQuery, http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, searxAnswerJSON)
	}, map[string]any{"query": "x"})
	assert.That(t, err == nil && result.Items == 3, "on the same server: Items = %d, error %v", result.Items, err)
	_, err = searchOn(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.String(), http.StatusFound)
	}, map[string]any{"query": "x"})
	wantKind(t, err, tool.Failed)
}

func TestPasswordOfTheSearchServerIsSentButNeverShown(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		user, password, ok := r.BasicAuth()
		assert.That(t, ok && user == "me" && password == "correct-horse", "credentials were %q and %q", user, password)
		w.WriteHeader(http.StatusInternalServerError)
	})
	withPassword := strings.Replace(s.URL, "http://", "http://me:correct-horse@", 1)
	search := byName(t, Config{SearXNG: withPassword}, "web_search")
	_, err := search.Call(t.Context(), args(t, map[string]any{"query": "x"}))
	wantKind(t, err, tool.Unavailable)
	s.Close()
	_, gone := search.Call(t.Context(), args(t, map[string]any{"query": "x"}))
	wantKind(t, gone, tool.Unavailable)
	shown := fmt.Sprintf("%v %+v %v %+v", err, err, gone, gone)
	assert.That(t, !strings.Contains(shown, "correct-horse"), "an error shows the password: %s", shown)
}

func TestSearchTextIsBounded(t *testing.T) {
	var hits []string
	for i := range 50 {
		hits = append(hits, fmt.Sprintf(`{"url":"https://a.test/%d%s","title":%q,"content":%q}`, i,
			strings.Repeat("x", 1800), strings.Repeat("ü", 5000), strings.Repeat("語", 5000)))
	}
	result := assert.Must(searchOn(t, body("application/json", `{"results":[`+strings.Join(hits, ",")+`]}`),
		map[string]any{"query": "x", "limit": 20}))(t)
	assert.That(t, result.Items == 20 && len(result.Text) <= tool.MaxText,
		"Items = %d, %d bytes", result.Items, len(result.Text))
}
