package web

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/net/dns/dnsmessage"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/tool"
)

// A proxy that answers nobody: the first request of a process settles which one net/http knows, so it must be named
// before any test. Every test that fetches by name fails if it is used.
func TestMain(m *testing.M) {
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"} {
		if err := os.Setenv(name, "http://127.0.0.1:1"); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}

// allowOnly exempts the addresses of the given test servers, and nothing else on this machine.
func allowOnly(servers ...*httptest.Server) func(netip.AddrPort) bool {
	return func(addr netip.AddrPort) bool {
		for _, s := range servers {
			if s.Listener.Addr().String() == addr.String() {
				return true
			}
		}
		return false
	}
}

// resolverOf is a resolver that knows only the given names. Each lookup of a name takes the next address of its list,
// and the last one stays.
func resolverOf(t *testing.T, table map[string][]string) *net.Resolver {
	t.Helper()
	used := map[string]int{}
	answer := func(q dnsmessage.Question) dnsmessage.Message {
		msg := dnsmessage.Message{Questions: []dnsmessage.Question{q}}
		msg.Response, msg.Authoritative = true, true
		name := strings.TrimSuffix(q.Name.String(), ".")
		list, known := table[name]
		if !known {
			msg.RCode = dnsmessage.RCodeNameError
			return msg
		}
		ip := netip.MustParseAddr(list[min(used[name], len(list)-1)])
		header := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
		switch {
		case q.Type == dnsmessage.TypeA && ip.Is4():
			used[name]++
			msg.Answers = []dnsmessage.Resource{{Header: header, Body: &dnsmessage.AResource{A: ip.As4()}}}
		case q.Type == dnsmessage.TypeAAAA && !ip.Is4():
			used[name]++
			msg.Answers = []dnsmessage.Resource{{Header: header, Body: &dnsmessage.AAAAResource{AAAA: ip.As16()}}}
		}
		return msg
	}
	asks := make(chan dnsmessage.Question)
	replies := make(chan dnsmessage.Message)
	done := make(chan struct{})
	t.Cleanup(func() { close(done) })
	go func() {
		for {
			select {
			case q := <-asks:
				replies <- answer(q)
			case <-done:
				return
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go serveDNS(server, func(q dnsmessage.Question) dnsmessage.Message { asks <- q; return <-replies })
		return client, nil
	}}
}

// serveDNS answers one connection in the framing of DNS over TCP.
func serveDNS(conn net.Conn, answer func(dnsmessage.Question) dnsmessage.Message) {
	defer func() { _ = conn.Close() }()
	for {
		var size [2]byte
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			return
		}
		packet := make([]byte, int(size[0])<<8|int(size[1]))
		if _, err := io.ReadFull(conn, packet); err != nil {
			return
		}
		var query dnsmessage.Message
		if query.Unpack(packet) != nil || len(query.Questions) != 1 {
			return
		}
		reply := answer(query.Questions[0])
		reply.ID = query.ID
		packed, err := reply.AppendPack([]byte{0, 0})
		if err != nil {
			return
		}
		packed[0], packed[1] = byte((len(packed)-2)>>8), byte(len(packed)-2)
		if _, err := conn.Write(packed); err != nil {
			return
		}
	}
}

func args(t *testing.T, value any) tool.Call {
	t.Helper()
	raw := assert.Must(json.Marshal(value))(t)
	return tool.Call{Args: raw}
}

// byName returns one of the tools that cfg offers.
func byName(t *testing.T, cfg Config, name string) tool.Tool {
	t.Helper()
	registry := tool.NewSet(New(cfg).Tools()...)
	found, ok := registry.Get(name)
	assert.Require(t, ok, "%s is not offered", name)
	return found
}

func wantKind(t *testing.T, err error, kind tool.Kind) tool.Error {
	t.Helper()
	var e *tool.Error
	assert.Require(t, errors.As(err, &e), "error = %v (%T), want a *tool.Error of kind %s", err, err, kind)
	assert.Require(t, e.Kind == kind, "error = %v, of kind %s, want %s", err, e.Kind, kind)
	return *e
}

func serve(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s
}

// withHost returns the address of s under another name, which a test's resolver must know.
func withHost(t *testing.T, s *httptest.Server, host string) string {
	t.Helper()
	u := assert.Must(url.Parse(s.URL))(t)
	u.Host = net.JoinHostPort(host, u.Port())
	return u.String()
}

func TestToolsAreForeignAndOnlyRead(t *testing.T) {
	for _, offered := range New(Config{SearXNG: "http://127.0.0.1:1"}).Tools() {
		spec := offered.Spec()
		assert.That(t, spec.Source == tool.Web && spec.Effect == tool.Repeatable && spec.Foreign,
			"%s: source %q, effect %q, foreign %v", spec.Name, spec.Source, spec.Effect, spec.Foreign)
		assert.That(t, spec.Search == (spec.Name == "web_search"), "%s: Search = %v", spec.Name, spec.Search)
	}
}

func TestMalformedArgumentsAreInvalidArguments(t *testing.T) {
	fetch := byName(t, Config{}, "web_fetch")
	for _, raw := range []string{``, `null`, `{`, `"x"`, `{"url":"https://a.test"}{}`, `{"url":"https://a.test"} x`,
		`{"url":"a.test/x"}`,
		`{"url":"https://a b.test/"}`, `{"url":"https:///path"}`, `{"url":"  "}`} {
		_, err := fetch.Call(t.Context(), tool.Call{Args: json.RawMessage(raw)})
		wantKind(t, err, tool.InvalidArgs)
	}
}
