package api_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"sibyl/internal/api"
)

func TestHealthIsAnsweredAlwaysAndReadinessAsItIs(t *testing.T) {
	h := newHouse(t)
	var trouble error
	h.config.Ready = func(ctx context.Context) error {
		if _, bounded := ctx.Deadline(); !bounded {
			t.Error("readiness is waited for without an end")
		}
		return trouble
	}
	h.open()
	for _, path := range []string{"/healthz", "/readyz"} {
		if a := h.ask(question{path: path, token: "-"}); a.status != 200 || string(a.body) != "ok\n" {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	trouble = errors.New("dial tcp 10.9.8.7:5432: refused")
	h.users.broken = trouble
	a := h.refused("not ready", question{path: "/readyz", token: "-"}, 503, "not_ready")
	if strings.Contains(string(a.body), "10.9.8.7") {
		t.Errorf("the answer tells of the server: %s", a.body)
	}
	h.log.waitFor(t, "10.9.8.7")
	if a := h.ask(question{path: "/healthz"}); a.status != 200 {
		t.Errorf("health: %d", a.status)
	}
}

func TestMetricsAreForThisMachineAndForUsers(t *testing.T) {
	h := newHouse(t)
	h.config.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "sibyl_runs 7\n") })
	h.open()
	for _, q := range []question{{token: "-"}, {token: adasReader}, {token: adasReader, header: map[string]string{"X-Forwarded-For": "10.0.0.1"}}} {
		q.path = "/metrics"
		if a := h.get(q, nil); string(a.body) != "sibyl_runs 7\n" {
			t.Errorf("with %v: %s", q, a.body)
		}
	}
	for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Forwarded", "Via", "X-Real-Ip"} {
		h.refused("passed on with "+name, question{path: "/metrics", token: "-", header: map[string]string{name: "127.0.0.1"}}, 401, "no_token")
	}
	h.refused("wrong token from this machine", question{path: "/metrics", token: "sibyl_wrong"}, 401, "wrong_token")
	h.refused("by a page of another port", question{path: "/metrics", token: "-", header: map[string]string{"Sec-Fetch-Site": "same-site"}}, 403, "cross_site")
	h.refused("by a foreign name", question{path: "/metrics", token: "-", host: "evil.example:" + h.port()}, 403, "unknown_host")
}

// passedOn is a request that a proxy passes on.
func passedOn(q question, forwarded, proto, host string) question {
	q.header = map[string]string{"X-Forwarded-For": forwarded, "X-Forwarded-Proto": proto, "X-Forwarded-Host": host}
	return q
}

func TestProxyOfTheSettingsIsBelievedAndNobodyElse(t *testing.T) {
	h := newHouse(t)
	h.config.Limits.Wrong = 1
	h.config.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("10.0.0.0/8")}
	h.open()
	once := map[string]string{"token": adasOnce}
	me := question{path: "/api/me"}
	h.get(passedOn(me, "203.0.113.7", "https", "sibyl.example"), nil)
	h.get(passedOn(me, "203.0.113.7", "https", "evil.example, gate.example:8443"), nil)
	h.refused("a name of the settings that only the client wrote", passedOn(me, "203.0.113.7", "https", "sibyl.example, evil.example"), 403, "unknown_host")
	h.refused("another port than the proxy's", passedOn(me, "203.0.113.7", "https", "sibyl.example:80"), 403, "unknown_host")

	a := h.get(passedOn(question{method: "POST", path: "/api/sign-in", token: "-", body: once}, "203.0.113.7", "https", "sibyl.example"), nil)
	cookie, err := http.ParseSetCookie(a.header.Get("Set-Cookie"))
	if err != nil || cookie.Name != "sibyl_443" || !cookie.Secure {
		t.Errorf("over TLS the cookie is %v, %v", cookie, err)
	}

	wrong := func(forwarded string) question {
		return passedOn(question{path: "/api/me", token: "sibyl_wrong"}, forwarded, "https", "sibyl.example")
	}
	// Each address has one wrong token.
	h.refused("the first of one", wrong("203.0.113.7"), 401, "wrong_token")
	h.refused("the second of it", wrong("203.0.113.7"), 429, "too_many_wrong_tokens")
	h.refused("the second of it, with a forged address before it", wrong("198.51.100.1, 203.0.113.7"), 429, "too_many_wrong_tokens")
	h.refused("the second of it, by two proxies", wrong("198.51.100.1, 203.0.113.7, 10.1.2.3"), 429, "too_many_wrong_tokens")
	h.refused("the second of it, with a port", wrong("203.0.113.7:4711"), 429, "too_many_wrong_tokens")
	h.refused("the first of another", wrong("203.0.113.8"), 401, "wrong_token")
	h.refused("the first of a network", wrong("2001:db8::1"), 401, "wrong_token")
	h.refused("the second of it", wrong("[2001:db8::ffff]"), 429, "too_many_wrong_tokens")
	h.refused("the first of the proxy itself", wrong("no address"), 401, "wrong_token")
	h.refused("the second of it", wrong("203.0.113.9, also none"), 429, "too_many_wrong_tokens")
}

func TestRequestOfAnotherMachineInTheClearIsAnsweredOnlyByAProxy(t *testing.T) {
	h := newHouse(t)
	h.config.Proxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	handler := h.handler()
	for _, c := range []struct {
		from, path string
		over       *tls.ConnectionState
		status     int
	}{
		{"192.0.2.1:4711", "/api/me", nil, 403},
		{"[2001:db8::1]:4711", "/", nil, 403},
		{"192.0.2.1:4711", "/healthz", nil, 200},
		{"192.0.2.1:4711", "/readyz", nil, 200},
		{"192.0.2.1:4711", "/api/me", &tls.ConnectionState{}, 200},
		{"10.1.2.3:4711", "/api/me", nil, 200},
		{"127.0.0.1:4711", "/api/me", nil, 200},
		{"@", "/api/me", nil, 200}, // a socket in the file system
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, c.path, nil)
		r.Host, r.RemoteAddr, r.TLS = "sibyl.example", c.from, c.over
		r.Header.Set("Authorization", "Bearer "+adasToken)
		r.Header.Set("X-Forwarded-For", "127.0.0.1")
		r.Header.Set("X-Forwarded-Proto", "https")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != c.status || c.status == 403 && !strings.Contains(w.Body.String(), `"not_encrypted"`) {
			t.Errorf("%s from %s: %d %s; want %d", c.path, c.from, w.Code, w.Body, c.status)
		}
	}
}

func TestStrangerIsNotBelievedToPassARequestOn(t *testing.T) {
	h := newHouse(t)
	h.config.Limits.Wrong = 1
	h.config.Proxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	h.open()
	a := h.get(passedOn(question{method: "POST", path: "/api/sign-in", token: "-", body: map[string]string{"token": adasOnce}}, "10.0.0.1", "https", "sibyl.example"), nil)
	if cookie, err := http.ParseSetCookie(a.header.Get("Set-Cookie")); err != nil || cookie.Name != "sibyl_"+h.port() || cookie.Secure {
		t.Errorf("the cookie is %v, %v", cookie, err)
	}
	wrong := question{path: "/api/me", token: "sibyl_wrong"}
	h.refused("the first", passedOn(wrong, "203.0.113.7", "", ""), 401, "wrong_token")
	h.refused("the second, as another", passedOn(wrong, "203.0.113.8", "", ""), 429, "too_many_wrong_tokens")
}

func TestPageUsesItsOwnFilesAlone(t *testing.T) {
	h := newHouse(t).open()
	a := h.get(question{path: "/", token: "-"}, nil)
	policy := a.header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'", "form-action 'none'", "base-uri 'none'",
		"require-trusted-types-for 'script'", "trusted-types svelte-trusted-html sibyl-markdown"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy of the page is %q, without %s", policy, want)
		}
	}
	html := string(a.body)
	if strings.Contains(html, "<style") || regexp.MustCompile(`<script[^>]*>[^<]|\son\w+=|style=`).MatchString(html) {
		t.Errorf("the page holds what its policy forbids:\n%s", html)
	}
	for _, address := range regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(html, -1) {
		if !strings.HasPrefix(address[1], "/") || strings.HasPrefix(address[1], "//") {
			t.Errorf("the page uses %s", address[1])
		}
		h.get(question{path: address[1], token: "-"}, nil)
	}
	if script := h.get(question{path: h.script(), token: "-"}, nil); !strings.HasPrefix(script.header.Get("Content-Type"), "text/javascript") || len(script.body) == 0 {
		t.Errorf("the script is %d bytes of %s", len(script.body), script.header.Get("Content-Type"))
	}
	if address := api.SignInAddress("http://127.0.0.1:7777", "sibyl_x"); address != "http://127.0.0.1:7777/#sibyl_x" {
		t.Errorf("the address to sign in is %s", address)
	}
}

func TestPageIsSentPackedAndNotAgainWhileItIsTheSame(t *testing.T) {
	h := newHouse(t).open()
	script := h.script()
	ask := func(header map[string]string) answer {
		return h.ask(question{path: script, token: "-", header: header})
	}
	plain, packed := ask(map[string]string{"Accept-Encoding": "br, gzip;q=0"}), ask(map[string]string{"Accept-Encoding": "br, gzip"})
	r, err := gzip.NewReader(bytes.NewReader(packed.body))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(text, plain.body) || len(packed.body) > len(plain.body)/2 {
		t.Errorf("%d bytes are sent as %d, %v", len(plain.body), len(packed.body), err)
	}
	again := ask(map[string]string{"If-None-Match": packed.header.Get("ETag")})
	if again.status != http.StatusNotModified || len(again.body) > 0 {
		t.Errorf("what is known is answered with %d and %d bytes", again.status, len(again.body))
	}
	if other := ask(map[string]string{"If-None-Match": `"other"`}); other.status != http.StatusOK {
		t.Errorf("what was another is answered with %d", other.status)
	}
}

// script is the address of the script of the page.
func (h *house) script() string {
	h.Helper()
	html := string(h.get(question{path: "/", token: "-"}, nil).body)
	found := regexp.MustCompile(`<script [^>]*src="([^"]+)"`).FindStringSubmatch(html)
	if found == nil {
		h.Fatalf("the page has no script:\n%s", html)
	}
	return found[1]
}

func TestFilesWithTheirHashInTheNameAreKeptForGood(t *testing.T) {
	h := newHouse(t).open()
	for path, want := range map[string]string{"/": "no-cache", "/icon.svg": "no-cache", h.script(): "public, max-age=31536000, immutable"} {
		if got := h.get(question{path: path, token: "-"}, nil).header.Get("Cache-Control"); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	for _, gone := range []string{"/assets/index-0000.js", "/assets/", "/.vite/manifest.json", "/index.html"} {
		h.refused("a file that is not of this page", question{path: gone, token: "-"}, 404, "no_route")
	}
}

func TestOverTLSTheCookieIsForTLSAlone(t *testing.T) {
	h := newHouse(t)
	server := httptest.NewUnstartedServer(nil)
	server.Config = api.HTTPServer(h.handler(), slog.New(slog.DiscardHandler))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	ask := func(method, path, body string, header map[string]string) (a answer, protocol string) {
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		for name, value := range header {
			r.Header.Set(name, value)
		}
		resp, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer{resp.StatusCode, resp.Header, text}, resp.Proto
	}
	signedIn, protocol := ask("POST", "/api/sign-in", `{"token":"`+adasOnce+`"}`, map[string]string{"Sec-Fetch-Site": "same-origin"})
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "https://"), ":")
	cookie, err := http.ParseSetCookie(signedIn.header.Get("Set-Cookie"))
	if err != nil || protocol != "HTTP/2.0" || cookie.Name != "sibyl_"+port || !cookie.Secure {
		t.Fatalf("%s %d: the cookie is %v, %v", protocol, signedIn.status, cookie, err)
	}
	with := map[string]string{"Cookie": cookie.Name + "=" + cookie.Value}
	if a, _ := ask("POST", "/api/runs", `{"assistant":"panel","words":"Tea?","options":{"personas":["ada"]}}`, with); a.status != 201 {
		t.Errorf("a run over HTTP/2: %d %s", a.status, a.body)
	}
	if a, _ := ask("POST", "/api/runs", strings.Repeat(" ", 2<<20+1), with); a.status != 413 {
		t.Errorf("a large body over HTTP/2: %d %s", a.status, a.body)
	}
	if a, _ := ask("GET", "/api/me", "", map[string]string{"Cookie": with["Cookie"], "Sec-Fetch-Site": "same-site"}); a.status != 403 {
		t.Errorf("by a page of another port: %d %s", a.status, a.body)
	}
}
