// Package cleartext keeps secrets off connections that anybody on the way can read.
//
// Guarantees:
//   - A request over plain HTTP that holds what may be a secret reaches nobody but this machine and the hosts that the
//     person trusts. It is refused before a connection is made, and no part of it is sent.
//   - What may be a secret is each header that is not known to be none, and a user or password in the address. A header
//     of the settings is one, whatever it is called.
//   - This machine is a loopback address, localhost and the names below it. A private network is none: others share it.
//   - No error holds more of the request than the host.
package cleartext

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Setting is the name of the setting with the hosts that are trusted.
const Setting = "plain_http"

// Error is a request that was refused.
type Error struct{ Host string }

func (e *Error) Error() string {
	return fmt.Sprintf("a key or header of the settings is not sent over plain HTTP to %s, where others can read it "+
		"on the way: use https, or list the host under %s if you trust the network between", e.Host, Setting)
}

// Transport is next without requests that would show a secret. trusted are hosts, with a port or for all of their
// ports.
func Transport(next http.RoundTripper, trusted []string) http.RoundTripper {
	if next == nil {
		next = http.DefaultTransport
	}
	return guard{next, trusted}
}

type guard struct {
	next    http.RoundTripper
	trusted []string
}

// RoundTrip refuses with an *Error, or asks next.
func (g guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if mayHoldSecret(req) && !isPrivate(req.URL, g.trusted) {
		if req.Body != nil {
			_ = req.Body.Close() // as every transport does
		}
		return nil, &Error{req.URL.Host}
	}
	return g.next.RoundTrip(req)
}

// CloseIdleConnections closes those of next.
func (g guard) CloseIdleConnections() {
	if c, ok := g.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// isPrivate says whether nobody on the way can read what is sent to u.
func isPrivate(u *url.URL, trusted []string) bool {
	return u.Scheme != "http" || Local(u) || slices.ContainsFunc(trusted, func(host string) bool {
		return strings.EqualFold(host, u.Host) || strings.EqualFold(strings.Trim(host, "[]"), u.Hostname())
	})
}

// Local says whether an address is one of this machine.
func Local(u *url.URL) bool {
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().IsLoopback()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// mayHoldSecret says whether a request may hold one.
func mayHoldSecret(req *http.Request) bool {
	if req.URL.User != nil {
		return true
	}
	for name := range req.Header {
		if !slices.Contains(harmlessHeaders, http.CanonicalHeaderKey(name)) {
			return true
		}
	}
	return false
}

// harmlessHeaders are the headers that programs of ours send and that hold no secret.
var harmlessHeaders = []string{"Accept", "Accept-Encoding", "Accept-Language", "Anthropic-Version", "Cache-Control",
	"Connection", "Content-Length", "Content-Type", "Last-Event-Id",
	"Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version", "Mcp-Session-Id", "Traceparent", "Tracestate", "User-Agent"}
