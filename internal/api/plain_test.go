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
	"sibyl/internal/behaviour/assert"
)

func TestHealthIsAnsweredAlwaysAndReadinessAsItIs(t *testing.T) {
	h := newHouse(t)
	var trouble error
	h.config.Ready = func(ctx context.Context) error {
		_, bounded := ctx.Deadline()
		assert.That(t, bounded, "readiness is waited for without an end")
		return trouble
	}
	h.open()
	for _, path := range []string{"/healthz", "/readyz"} {
		a := h.ask(question{path: path, token: "-"})
		assert.That(t, a.status == 200 && string(a.body) == "ok\n", "%s: %d %s", path, a.status, a.body)
	}
	trouble = errors.New("dial tcp 10.9.8.7:5432: refused")
	h.users.broken = trouble
	a := h.refused("not ready", question{path: "/readyz", token: "-"}, 503, "not_ready")
	assert.That(t, !strings.Contains(string(a.body), "10.9.8.7"), "the answer tells of the server: %s", a.body)
	h.log.waitFor(t, "10.9.8.7")
	a = h.ask(question{path: "/healthz"})
	assert.That(t, a.status == 200, "health: %d", a.status)
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
		assert.That(t, w.Code == c.status && (c.status != 403 || strings.Contains(w.Body.String(), `"not_encrypted"`)),
			"%s from %s: %d %s; want %d", c.path, c.from, w.Code, w.Body, c.status)
	}
}

func TestPageUsesItsOwnFilesAlone(t *testing.T) {
	h := newHouse(t).open()
	a := h.get(question{path: "/", token: "-"}, nil)
	policy := a.header.Get("Content-Security-Policy")
	assert.Contains(t, "the policy of the page", policy, "default-src 'none'", "script-src 'self'", "connect-src 'self'",
		"frame-ancestors 'none'", "form-action 'none'", "base-uri 'none'",
		"require-trusted-types-for 'script'", "manifest-src 'self'",
		"trusted-types svelte-trusted-html sibyl-markdown sibyl-worker")
	html := string(a.body)
	if strings.Contains(html, "<style") || regexp.MustCompile(`<script[^>]*>[^<]|\son\w+=|style=`).MatchString(html) {
		t.Errorf("the page holds what its policy forbids:\n%s", html)
	}
	for _, address := range regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(html, -1) {
		assert.That(t, strings.HasPrefix(address[1], "/") && !strings.HasPrefix(address[1], "//"),
			"the page uses %s", address[1])
		h.get(question{path: address[1], token: "-"}, nil)
	}
	if script := h.get(question{path: h.script(), token: "-"},
		nil); !strings.HasPrefix(script.header.Get("Content-Type"), "text/javascript") || len(script.body) == 0 {
		t.Errorf("the script is %d bytes of %s", len(script.body), script.header.Get("Content-Type"))
	}
	assert.Equalf(t, api.SignInAddress("http://127.0.0.1:7777", "sibyl_x"), "http://127.0.0.1:7777/#sibyl_x",
		"the address to sign in")
}

func TestPageIsSentPackedAndNotAgainWhileItIsTheSame(t *testing.T) {
	h := newHouse(t).open()
	script := h.script()
	ask := func(header map[string]string) answer {
		return h.ask(question{path: script, token: "-", header: header})
	}
	plain, packed := ask(map[string]string{"Accept-Encoding": "br, gzip;q=0"}),
		ask(map[string]string{"Accept-Encoding": "br, gzip"})
	r := assert.Must(gzip.NewReader(bytes.NewReader(packed.body)))(t)
	text, err := io.ReadAll(r)
	assert.That(t, err == nil && bytes.Equal(text, plain.body) && len(packed.body) <= len(plain.body)/2,
		"%d bytes are sent as %d, %v", len(plain.body), len(packed.body), err)
	again := ask(map[string]string{"If-None-Match": packed.header.Get("ETag")})
	assert.That(t, again.status == http.StatusNotModified && len(again.body) == 0,
		"what is known is answered with %d and %d bytes", again.status, len(again.body))
	other := ask(map[string]string{"If-None-Match": `"other"`})
	assert.That(t, other.status == http.StatusOK, "what was another is answered with %d", other.status)
}

// script is the address of the script of the page.
func (h *house) script() string {
	h.Helper()
	html := string(h.get(question{path: "/", token: "-"}, nil).body)
	found := regexp.MustCompile(`<script [^>]*src="([^"]+)"`).FindStringSubmatch(html)
	assert.Require(h, found != nil, "the page has no script:\n%s", html)
	return found[1]
}

func TestOverTLSTheCookieIsForTLSAlone(t *testing.T) {
	h := newHouse(t)
	server := httptest.NewUnstartedServer(nil)
	server.Config = api.HTTPServer(h.handler(), slog.New(slog.DiscardHandler))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	ask := func(method, path, body string, header map[string]string) (a answer, protocol string) {
		r := assert.Must(http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body)))(t)
		r.Header.Set("Content-Type", "application/json")
		for name, value := range header {
			r.Header.Set(name, value)
		}
		resp, err := server.Client().Do(r)
		assert.NoError(t, err)
		defer func() { _ = resp.Body.Close() }()
		text := assert.Must(io.ReadAll(resp.Body))(t)
		return answer{resp.StatusCode, resp.Header, text}, resp.Proto
	}
	signedIn, protocol := ask("POST", "/api/sign-in", `{"token":"`+adasOnce+`"}`,
		map[string]string{"Sec-Fetch-Site": "same-origin"})
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "https://"), ":")
	cookie, err := http.ParseSetCookie(signedIn.header.Get("Set-Cookie"))
	assert.Require(t, err == nil && protocol == "HTTP/2.0" && cookie.Name == "sibyl_"+port && cookie.Secure,
		"%s %d: the cookie is %v, %v", protocol, signedIn.status, cookie, err)
	with := map[string]string{"Cookie": cookie.Name + "=" + cookie.Value}
	a, _ := ask("POST", "/api/runs", `{"assistant":"panel","words":"Tea?","options":{"personas":["ada"]}}`,
		with)
	assert.That(t, a.status == 201, "a run over HTTP/2: %d %s", a.status, a.body)
	a, _ = ask("POST", "/api/runs", strings.Repeat(" ", 2<<20+1), with)
	assert.That(t, a.status == 413, "a large body over HTTP/2: %d %s", a.status, a.body)
	a, _ = ask("GET", "/api/me", "", map[string]string{"Cookie": with["Cookie"],
		"Sec-Fetch-Site": "same-site"})
	assert.That(t, a.status == 403, "by a page of another port: %d %s", a.status, a.body)
}
