package web

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/tool"
)

const searchKey = "BSA-canary-c0ffee0123456789"

func fixedKey(key string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return key, nil }
}

// keyedSearch is web_search over an engine with a key that asks this server.
func keyedSearch(t *testing.T, engine string, s *httptest.Server, adjust ...func(*Config)) tool.Tool {
	t.Helper()
	cfg := Config{Engine: engine, BaseURL: s.URL, Key: fixedKey(searchKey), Timeout: time.Minute}
	for _, f := range adjust {
		f(&cfg)
	}
	return byName(t, cfg, "web_search")
}

func keyedSearchOn(t *testing.T, engine string, handler http.HandlerFunc, query map[string]any) (tool.Result, error) {
	t.Helper()
	return keyedSearch(t, engine, serve(t, handler)).Call(t.Context(), args(t, query))
}

func keyedEngines() []string { return []string{Brave, Tavily} }

const braveAnswerJSON = `{"type":"search","query":{"original":"go"},"mixed":{"type":"mixed"},"news":{"results":[{"title":"no","url":"https://no.test"}]},
 "web":{"type":"search","results":[
 {"title":"The Go &amp; Manual","url":"https://go.dev/doc/","is_source_local":false,"description":"How to use <strong>Go&#x27;s</strong> <b>maps</b>: a &lt; b &quot;c&quot;",
  "page_age":"2026-01-02T03:04:05","age":"January 2, 2026","profile":{"name":"Go"},"language":"en","extra_snippets":["x"]},
 {"title":"The same again","url":"https://go.dev/doc/","description":""},
 {"title":"no page","url":"javascript:alert(1)","description":"x"},
 {"title":"Tour","url":"https://tour.test/","description":null,"age":"3 days ago"},
 {"title":"Third","url":"https://third.test/","description":"x"}]}}`

const tavilyAnswerJSON = `{"query":"go","follow_up_questions":null,"answer":null,"images":[],"results":[
 {"title":"The Go &amp; Manual","url":"https://go.dev/doc/","content":"How to use Go&#x27;s maps: Map<K, V>,\n a &lt; b","score":0.98,"raw_content":null,"published_date":"Fri, 02 Jan 2026 03:04:05 GMT"},
 {"title":"Tour","url":"https://tour.test/","content":null,"score":0.5},
 {"title":"Third","url":"https://third.test/","content":"x","score":0.1}],"response_time":1.09,"request_id":"r"}`

func TestBraveIsAskedAndReadAsItsAPISays(t *testing.T) {
	var asked *http.Request
	result := assert.Must(keyedSearchOn(t, Brave, func(w http.ResponseWriter, r *http.Request) {
		asked = r.Clone(t.Context())
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		zip := gzip.NewWriter(w)
		_, _ = io.WriteString(zip, braveAnswerJSON)
		_ = zip.Close()
	}, map[string]any{"query": " go  generics&x=1 ", "limit": 2, "time_range": "month"}))(t)
	wantQuery := url.Values{"q": {"go generics&x=1"}, "count": {"2"}, "freshness": {"pm"}}
	diff := cmp.Diff(wantQuery, asked.URL.Query())
	assert.That(t, diff == "" && asked.URL.Path == "/res/v1/web/search" && asked.Method == http.MethodGet,
		"asked %s %s\n%s", asked.Method, asked.URL.Path, diff)
	assert.That(t, asked.Header.Get("X-Subscription-Token") == searchKey && asked.Header.Get("User-Agent") == userAgent,
		"asked with %v", asked.Header)
	checkFound(t, result, SearchData{Query: "go generics&x=1", Results: []SearchResult{
		{Title: "The Go & Manual", URL: "https://go.dev/doc/", Snippet: `How to use Go's maps: a < b "c"`,
			Engine: Brave, Published: "2026-01-02T03:04:05"},
		{Title: "Tour", URL: "https://tour.test/", Engine: Brave, Published: "3 days ago"},
	}})
}

func TestTavilyIsAskedAndReadAsItsAPISays(t *testing.T) {
	var asked *http.Request
	var sent map[string]any
	result := assert.Must(keyedSearchOn(t, Tavily, func(w http.ResponseWriter, r *http.Request) {
		asked = r.Clone(t.Context())
		assert.Nil(t, json.NewDecoder(r.Body).Decode(&sent))
		_, _ = io.WriteString(w, tavilyAnswerJSON)
	}, map[string]any{"query": " go  generics&x=1 ", "limit": 2, "time_range": "week"}))(t)
	want := map[string]any{"query": "go generics&x=1", "max_results": 2.0, "time_range": "week"}
	if diff := cmp.Diff(want, sent); diff != "" || asked.URL.Path != "/search" || asked.Method != http.MethodPost {
		t.Errorf("asked %s %s\n%s", asked.Method, asked.URL.Path, diff)
	}
	assert.That(t, asked.Header.Get("Authorization") == "Bearer "+searchKey &&
		asked.Header.Get("Content-Type") == "application/json", "asked with %v", asked.Header)
	checkFound(t, result, SearchData{Query: "go generics&x=1", Results: []SearchResult{
		{Title: "The Go & Manual", URL: "https://go.dev/doc/", Snippet: "How to use Go's maps: Map<K, V>, a < b",
			Engine: Tavily, Published: "Fri, 02 Jan 2026 03:04:05 GMT"},
		{Title: "Tour", URL: "https://tour.test/", Engine: Tavily},
	}})
}

func checkFound(t *testing.T, result tool.Result, want SearchData) {
	t.Helper()
	var got SearchData
	assert.NoError(t, json.Unmarshal(result.Data, &got))
	assert.Same(t, want, got)
	assert.That(t, result.Items == len(want.Results) && len(result.Refs) == result.Items && !result.Refs[0].Opened,
		"Items = %d, Refs = %v", result.Items, result.Refs)
}

func TestKeyedSearchWithoutAHitCountsNone(t *testing.T) {
	for engine, answers := range map[string][]string{
		Brave:  {`{"type":"search"}`, `{"web":{"results":[]}}`, `{"web":null}`},
		Tavily: {`{"results":[]}`},
	} {
		for _, answer := range answers {
			result, err := keyedSearchOn(t, engine, body("application/json", answer),
				map[string]any{"query": "nothing like it"})
			assert.That(t, err == nil && result.Items == 0 && len(result.Refs) == 0 &&
				strings.Contains(result.Text, `"nothing like it"`),
				"%s %s: Items = %d, text %q, error %v", engine, answer, result.Items, result.Text, err)
		}
	}
}

func TestKeyedEnginesThatSayNoTellWhatToDo(t *testing.T) {
	status := func(code int, said string, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
			_, _ = io.WriteString(w, said+" words of a stranger "+r.Header.Get("Authorization")+
				r.Header.Get("X-Subscription-Token"))
		}
	}
	invalidToken := body("application/json",
		`{"type":"ErrorResponse","error":{"status":422,"code":"SUBSCRIPTION_TOKEN_INVALID","detail":"stranger"}}`)
	for _, engine := range keyedEngines() {
		for _, c := range []struct {
			name    string
			handler http.HandlerFunc
			kind    tool.Kind
			hint    string
		}{
			{"unknown key", status(401, ""), tool.Unavailable, "sibyl config set-key " + engine},
			{"forbidden key", status(403, ""), tool.Unavailable, "check the key for " + engine},
			{"too fast", status(429, "", "Retry-After", "60"), tool.Unavailable, "wait 60 seconds"},
			{"too fast, no word of when", status(429, ""), tool.Unavailable, "later"},
			{
				"too fast, by the second of two windows",
				status(429, "", "X-RateLimit-Remaining", "1, 0", "X-RateLimit-Reset", "1, 1419704"), tool.Unavailable,
				"wait 1419704 seconds",
			},
			{
				"too fast, by the first of two windows",
				status(429, "", "X-RateLimit-Remaining", "0, 5", "X-RateLimit-Reset", "1, 1419704"), tool.Unavailable,
				"wait 1 seconds",
			},
			{
				"too fast, by both of two windows",
				status(429, "", "X-RateLimit-Remaining", "0,0", "X-RateLimit-Reset", "7,1419704"), tool.Unavailable,
				"wait 1419704 seconds",
			},
			{"too fast, with odd windows", status(429, "", "X-RateLimit-Remaining", "0,0", "X-RateLimit-Reset", "soon"),
				tool.Unavailable, "later"},
			{"no credit", status(402, ""), tool.Unavailable, "account"},
			{"plan used up", status(432, ""), tool.Unavailable, "account"},
			{"search not taken", status(422, ""), tool.InvalidArgs, "keywords"},
			{"bad request", status(400, ""), tool.InvalidArgs, "keywords"},
			{"failure", status(503, ""), tool.Unavailable, "later"},
			{"HTML", body("text/html", "<html>stranger"), tool.Failed, "another engine"},
			{"broken JSON", body("application/json", `{"results":[`), tool.Failed, "another engine"},
			{"other JSON", body("application/json", `[1,2]`), tool.Failed, "another engine"},
			{"nothing", body("application/json", ``), tool.Failed, "another engine"},
			{"too large", body("application/json", `{"x":"`+strings.Repeat("a", maxSearchBytes)+`"}`),
				tool.TooLarge, ""},
		} {
			t.Run(engine+" "+c.name, func(t *testing.T) {
				_, err := keyedSearchOn(t, engine, c.handler, map[string]any{"query": "x"})
				e := wantKind(t, err, c.kind)
				shown := fmt.Sprintf("%s %s %v", e.Message, e.Hint, e.Err)
				assert.That(t, strings.Contains(e.Hint, c.hint) && !strings.Contains(shown, "stranger") &&
					!strings.Contains(shown, searchKey), "error = %q, hint = %q, want a hint with %q", e.Message, e.Hint, c.hint)
			})
		}
	}
	_, err := keyedSearchOn(t, Tavily, body("application/json", `{"detail":"x"}`), map[string]any{"query": "x"})
	wantKind(t, err, tool.Failed)
	_, err = keyedSearchOn(t, Brave, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnprocessableEntity)
		invalidToken(w, r)
	}, map[string]any{"query": "x"})
	e := wantKind(t, err, tool.Unavailable)
	assert.That(t, strings.Contains(e.Hint, "sibyl config set-key brave"), "Brave's own word for an unknown key: %v", e)
}

func TestKeyFollowsNoRedirect(t *testing.T) {
	elsewhere, hits := forbiddenServer(t)
	for _, engine := range keyedEngines() {
		for _, code := range []int{http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
			for _, target := range []string{elsewhere + "/" + searchKey, "/moved"} { // another origin, and the same one
				asked := 0
				_, err := keyedSearchOn(t, engine, func(w http.ResponseWriter, r *http.Request) {
					asked++
					http.Redirect(w, r, target, code)
				}, map[string]any{"query": "x"})
				if e := wantKind(t, err, tool.Denied); asked != 1 || strings.Contains(e.Message+e.Hint, searchKey) {
					t.Errorf("%s, %d to %s: %d requests, error %v", engine, code, target, asked, e)
				}
			}
		}
	}
	assert.That(t, hits.Load() == 0, "the other server was reached")
}

func TestKeyThatTheEngineEchoesIsInNoResult(t *testing.T) {
	hit := fmt.Sprintf(`{"title":"t %[1]s","url":"https://x.test/?k=%[1]s","description":"%[1]s","content":"%[1]s","age":"%[1]s","published_date":"%[1]s"}`, searchKey)
	escaped := strings.ReplaceAll(hit, "BSA-", `\u0042SA&#45;`)
	for _, engine := range keyedEngines() {
		result, err := keyedSearchOn(t, engine, body("application/json", `{"web":{"results":[`+hit+`]},"results":[`+
			escaped+`]}`), map[string]any{"query": "x"})
		assert.Require(t, err == nil && result.Items == 1, "%s: Items = %d, error %v", engine, result.Items, err)
		shown := fmt.Sprintf("%s %s %v", result.Text, result.Data, result.Refs)
		assert.That(t, !strings.Contains(shown, searchKey) && strings.Contains(shown, "[key]"),
			"%s: the result shows the key: %s", engine, shown)
	}
}

func TestKeyIsAskedForBeforeEverySearch(t *testing.T) {
	for _, engine := range keyedEngines() {
		keys := []string{"first", " second\n"}
		var got []string
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			got = append(got, r.Header.Get("X-Subscription-Token")+strings.TrimPrefix(r.Header.Get("Authorization"),
				"Bearer "))
			_, _ = io.WriteString(w, `{"results":[]}`)
		})
		search := keyedSearch(t, engine, s, func(c *Config) {
			c.Key = func(context.Context) (string, error) {
				key := keys[0]
				keys = keys[1:]
				return key, nil
			}
		})
		for range 2 {
			assert.Must(search.Call(t.Context(), args(t, map[string]any{"query": "x"})))(t)
		}
		assert.NoDiff(t, cmp.Diff([]string{"first", "second"}, got), "%s: keys (-want +got)", engine)
	}
}

func TestWithoutAUsableKeyNothingIsAsked(t *testing.T) {
	_, hits := forbiddenServer(t)
	for _, engine := range keyedEngines() {
		for name, key := range map[string]func(context.Context) (string, error){
			"none":       fixedKey(" \n"),
			"locked":     func(context.Context) (string, error) { return "", errors.New("the keyring is locked") },
			"line break": fixedKey("BSA-first\nBSA-second"),
			"no ASCII":   fixedKey("BSA-“quoted”"),
		} {
			s := serve(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) })
			_, err := keyedSearch(t, engine, s, func(c *Config) {
				c.Key = key
			}).Call(t.Context(), args(t, map[string]any{"query": "x"}))
			e := wantKind(t, err, tool.Unavailable)
			assert.That(t, strings.Contains(e.Hint, "sibyl config set-key "+engine) && !strings.Contains(e.Error(), "BSA-"),
				"%s %s: error %v", engine, name, e)
			assert.That(t, name != "locked" || strings.Contains(e.Message, "the keyring is locked"),
				"%s: why the key cannot be read is not said: %v", engine, e)
		}
	}
	assert.That(t, hits.Load() == 0, "a request was made")
}

func TestKeyThatIsAwaitedIsBoundedLikeTheSearch(t *testing.T) {
	wait := func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() }
	s := serve(t, func(http.ResponseWriter, *http.Request) {})
	search := keyedSearch(t, Brave, s, func(c *Config) { c.Key, c.Timeout = wait, 30*time.Millisecond })
	_, err := search.Call(t.Context(), args(t, map[string]any{"query": "x"}))
	wantKind(t, err, tool.Timeout)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = search.Call(ctx, args(t, map[string]any{"query": "x"}))
	wantKind(t, err, tool.Cancelled)
}

func TestBraveIsNotAskedMoreWordsThanItTakes(t *testing.T) {
	s := serve(t, body("application/json", `{}`))
	search := keyedSearch(t, Brave, s)
	if _, err := search.Call(t.Context(),
		args(t, map[string]any{"query": strings.Repeat("go ", maxBraveWords)})); err != nil {
		t.Error(err)
	}
	_, err := search.Call(t.Context(), args(t, map[string]any{"query": strings.Repeat("go ", maxBraveWords+1)}))
	wantKind(t, err, tool.InvalidArgs)
}

func TestEngineIsTheOneChosenOrSearXNG(t *testing.T) {
	const searxng, secret = "http://127.0.0.1:1", "BSA-secret"
	key := fixedKey(secret)
	for _, c := range []struct {
		cfg   Config
		place string // of the engine; "" if none is offered
	}{
		{Config{}, ""},
		{Config{Key: key}, ""}, // nobody says whose key it is
		{Config{SearXNG: searxng}, "SearXNG"},
		{Config{SearXNG: searxng, Key: key}, "SearXNG"},
		{Config{SearXNG: "ftp://x", Key: key}, ""}, // a server of one's own is not replaced by a stranger's
		{Config{Engine: SearXNG, SearXNG: searxng}, "SearXNG"},
		{Config{Engine: SearXNG, Key: key}, ""},
		{Config{Engine: Brave, SearXNG: searxng, Key: key}, "Brave Search at api.search.brave.com"},
		{Config{Engine: Tavily, Key: key}, "Tavily at api.tavily.com"},
		{Config{Engine: Brave, SearXNG: searxng}, ""},
		{Config{Engine: Tavily}, ""},
		{Config{Engine: Tavily, Key: key, BaseURL: "https://" + secret + "@gate.test/"}, "Tavily at gate.test"},
		{Config{Engine: Brave, Key: key, BaseURL: secret}, ""},
		{Config{Engine: secret, Key: key}, ""},
	} {
		w := New(c.cfg)
		var place string
		if w.search != nil {
			place = w.search.displayName()
		}
		assert.That(t, strings.Contains(place, c.place) && (place == "") == (c.place == "") &&
			!strings.Contains(place, secret) && len(w.Tools()) == map[bool]int{true: 1, false: 2}[c.place == ""],
			"%+v: engine %q with %d tools; want %q", c.cfg, place, len(w.Tools()), c.place)
	}
}

func TestKeyedSearchTimesOutAndNamesTheEngine(t *testing.T) {
	for _, engine := range keyedEngines() {
		s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		})
		_, err := keyedSearch(t, engine, s, func(c *Config) { c.Timeout = 50 * time.Millisecond }).
			Call(t.Context(), args(t, map[string]any{"query": "x"}))
		e := wantKind(t, err, tool.Timeout)
		assert.That(t, strings.Contains(strings.ToLower(e.Message), engine), "error %v does not name %s", e, engine)
		s.Close()
		_, err = keyedSearch(t, engine, s).Call(t.Context(), args(t, map[string]any{"query": "x"}))
		e = wantKind(t, err, tool.Unavailable)
		assert.That(t, strings.Contains(e.Message, "refused the connection"), "error %v does not say that nothing answers", e)
	}
}
