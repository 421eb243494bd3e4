package cleartext

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

// refused says whether a client with that header would send a request there; err is another failure.
func refused(t *testing.T, address string, header http.Header, trusted ...string) bool {
	t.Helper()
	sent := false
	next := roundTrip(func(req *http.Request) (*http.Response, error) {
		sent = true
		return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody, Request: req}, nil
	})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader("a question"))
	assert.NoError(t, err)
	req.Header = header
	resp, err := (&http.Client{Transport: Transport(next, trusted)}).Do(req)
	failed, is := errors.AsType[*Error](err)
	if err == nil {
		_ = resp.Body.Close()
	}
	assert.That(t, is != sent && (err == nil || is), "%s: sent %v, error %v", address, sent, err)
	assert.That(t, !is || (!strings.Contains(err.Error(), "canary") && strings.Contains(failed.Error(), Setting)),
		"%s: the error is %v", address, err)
	return is
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func TestKeyIsSentOverPlainHTTPToThisMachineAlone(t *testing.T) {
	key := http.Header{"Authorization": {"Bearer canary"}}
	for address, want := range map[string]bool{
		"http://llm.example.com/v1": true, "http://93.184.216.34/": true, "http://192.168.1.5:8000/v1": true,
		"http://10.0.0.1/": true, "http://host.docker.internal/": true,
		"http://169.254.169.254/": true, "http://[fe80::1]/": true, "http://[fd00::1]:8000/": true,
		"http://localhost.example.com/": true, "http://notlocalhost/": true,
		"http://127.0.0.1.example.com/": true, "http://0.0.0.0:8000/": true, "http://2130706433/": true,
		"HTTP://LLM.example.com/":    true,
		"https://llm.example.com/v1": false, "http://127.0.0.1:8000/v1": false, "http://127.9.9.9/": false,
		"http://[::1]:8000/": false, "http://localhost/": false,
		"http://LOCALHOST:1/": false, "http://api.localhost/": false, "http://[::ffff:127.0.0.1]/": false,
		"http://localhost./": false,
	} {
		assert.Equalf(t, refused(t, address, key), want, "%s: refused", address)
	}
}

func TestEveryHeaderThatMayHoldASecretCounts(t *testing.T) {
	for _, name := range []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key", "Api-Key", "Cookie",
		"Proxy-Authorization", "X-Subscription-Token", "X-Team", "x-lower"} {
		assert.That(t, refused(t, "http://a.example/", http.Header{name: {"canary"}}), "%s was sent", name)
	}
	assert.That(t, !refused(t, "http://a.example/", http.Header{"Accept": {"*/*"}, "Content-Type": {"application/json"},
		"User-Agent": {"x"}}), "a request without a secret was refused")
	assert.That(t, refused(t, "http://ada:canary@a.example/", http.Header{}), "a password in the address was sent")
}

func TestHostThatIsTrustedGetsTheKey(t *testing.T) {
	key := http.Header{"Authorization": {"Bearer canary"}}
	for address, want := range map[string]bool{
		"http://llm.lan/": false, "http://LLM.lan:8000/": false, "http://other.lan:9/": false,
		"http://other.lan:8/": true, "http://[fd00::1]:5/": false, "http://sub.llm.lan/": true,
	} {
		assert.Equalf(t, refused(t, address, key, "llm.lan", "other.lan:9", "[fd00::1]"), want, "%s: refused", address)
	}
}

func TestNothingIsSentNotEvenAConnection(t *testing.T) {
	dialled := false
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		dialled = true
		return nil, errors.New("no network")
	}}
	req := assert.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, "http://a.example/", nil))(t)
	req.Header.Set("Authorization", "Bearer canary")
	if _, err := Transport(transport, nil).RoundTrip(req); err == nil || dialled { //nolint:bodyclose // there is none
		t.Errorf("%v, dialled %v", err, dialled)
	}
}

func TestRedirectToPlainHTTPIsRefusedToo(t *testing.T) {
	s := httptest.NewServer(http.RedirectHandler("http://a.example/", http.StatusTemporaryRedirect))
	defer s.Close()
	req := assert.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, nil))(t)
	req.Header.Set("X-Api-Key", "canary") // which clients carry along
	client := &http.Client{Transport: Transport(nil, nil)}
	_, err := client.Do(req) //nolint:bodyclose // there is none
	_, is := errors.AsType[*Error](err)
	assert.That(t, is, "got %v", err)
}
