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

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.uber.org/goleak"
	"golang.org/x/net/dns/dnsmessage"

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

// names is a resolver that knows only the given names. Each lookup of a name takes the next address of its list, and
// the last one stays.
func names(t *testing.T, table map[string][]string) *net.Resolver {
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
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return tool.Call{Args: raw}
}

// byName returns one of the tools that cfg offers.
func byName(t *testing.T, cfg Config, name string) tool.Tool {
	t.Helper()
	registry, err := tool.NewSet(New(cfg).Tools()...)
	if err != nil {
		t.Fatal(err)
	}
	found, ok := registry.Get(name)
	if !ok {
		t.Fatalf("%s is not offered", name)
	}
	return found
}

func wantKind(t *testing.T, err error, kind tool.Kind) tool.Error {
	t.Helper()
	var e *tool.Error
	if !errors.As(err, &e) {
		t.Fatalf("error = %v (%T), want a *tool.Error of kind %s", err, err, kind)
	}
	if e.Kind != kind {
		t.Fatalf("error = %v, of kind %s, want %s", err, e.Kind, kind)
	}
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
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = net.JoinHostPort(host, u.Port())
	return u.String()
}

func TestSearchIsOfferedOnlyWithAUsableServer(t *testing.T) {
	for _, c := range []struct {
		searxng string
		tools   []string
	}{
		{"", []string{"web_fetch"}},
		{"http://127.0.0.1:8888", []string{"web_fetch", "web_search"}},
		{"https://user:hunter2-hunter2@search.test/sub/", []string{"web_fetch", "web_search"}},
		{"ftp://search.test", []string{"web_fetch"}},
		{"http://", []string{"web_fetch"}},
		{"http://user:hunter2-hunter2@[bad/", []string{"web_fetch"}},
	} {
		w := New(Config{SearXNG: c.searxng})
		var got []string
		for _, offered := range w.Tools() {
			got = append(got, offered.Spec().Name)
		}
		if strings.Join(got, " ") != strings.Join(c.tools, " ") {
			t.Errorf("SearXNG %q: tools = %v, want %v", c.searxng, got, c.tools)
		}
	}
}

func TestToolsAreForeignAndOnlyRead(t *testing.T) {
	for _, offered := range New(Config{SearXNG: "http://127.0.0.1:1"}).Tools() {
		spec := offered.Spec()
		if spec.Source != tool.Web || spec.Effect != tool.Repeatable || !spec.Foreign {
			t.Errorf("%s: source %q, effect %q, foreign %v", spec.Name, spec.Source, spec.Effect, spec.Foreign)
		}
		if spec.Search != (spec.Name == "web_search") {
			t.Errorf("%s: Search = %v", spec.Name, spec.Search)
		}
	}
}

// The model sees the schema and the decoder judges the call, so they must agree.
func TestSchemaAndDecoderTakeTheSameArguments(t *testing.T) {
	cases := map[string][]struct {
		raw string
		ok  bool
	}{
		"web_fetch": {
			{`{"url":"https://example.com/a?b=c"}`, true},
			{`{"url":"https://example.com","max_chars":1,"offset":0}`, true},
			{`{"url":"https://example.com","max_chars":40000,"offset":104857600}`, true},
			{`{"url":"https://example.com","max_chars":40001}`, false},
			{`{"url":"https://example.com","max_chars":0}`, false},
			{`{"url":"https://example.com","max_chars":"5"}`, false},
			{`{"url":"https://example.com","offset":-1}`, false},
			{`{"url":"https://example.com","offset":1.5}`, false},
			{`{"url":"https://example.com","method":"POST"}`, false},
			{`{"url":""}`, false},
			{`{"url":7}`, false},
			{`{}`, false},
			{`[]`, false},
			{`{"url":"https://example.com/` + strings.Repeat("a", maxURLBytes) + `"}`, false},
		},
		"web_search": {
			{`{"query":"go generics"}`, true},
			{`{"query":"go generics","limit":20,"time_range":"week"}`, true},
			{`{"query":"x","limit":21}`, false},
			{`{"query":"x","limit":0}`, false},
			{`{"query":"x","time_range":"decade"}`, false},
			{`{"query":"x","engine":"google"}`, false},
			{`{"query":""}`, false},
			{`{}`, false},
			{`{"query":"` + strings.Repeat("ö", 400) + `"}`, true},
			{`{"query":"` + strings.Repeat("ö", 401) + `"}`, false},
		},
	}
	withdrawn, cancel := context.WithCancel(t.Context()) // after the arguments are read, nothing is done
	cancel()
	for _, offered := range New(Config{SearXNG: "http://127.0.0.1:1"}).Tools() {
		spec := offered.Spec()
		schema := compileSchema(t, spec)
		for _, c := range cases[spec.Name] {
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(c.raw))
			if err != nil {
				t.Fatal(err)
			}
			bySchema := schema.Validate(value) == nil
			_, err = offered.Call(withdrawn, tool.Call{Args: json.RawMessage(c.raw)})
			var failed *tool.Error
			taken := errors.As(err, &failed) && failed.Kind == tool.Cancelled
			if bySchema != c.ok || taken != c.ok {
				t.Errorf("%s %.80s: schema takes it: %v, the call says %v, want ok = %v", spec.Name, c.raw, bySchema, err, c.ok)
			}
		}
	}
}

func compileSchema(t *testing.T, spec tool.Spec) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(spec.Schema)))
	if err != nil {
		t.Fatalf("%s: the schema is not JSON: %v", spec.Name, err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("args.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("args.json")
	if err != nil {
		t.Fatalf("%s: %v", spec.Name, err)
	}
	return schema
}

func TestMalformedArgumentsAreInvalidArguments(t *testing.T) {
	fetch := byName(t, Config{}, "web_fetch")
	for _, raw := range []string{``, `null`, `{`, `"x"`, `{"url":"https://a.test"}{}`, `{"url":"https://a.test"} x`, `{"url":"a.test/x"}`,
		`{"url":"https://a b.test/"}`, `{"url":"https:///path"}`, `{"url":"  "}`} {
		_, err := fetch.Call(t.Context(), tool.Call{Args: json.RawMessage(raw)})
		wantKind(t, err, tool.InvalidArgs)
	}
}
