package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/tool"
)

// addressVector is a case as docs/vectors.md describes it: an address that is connected to, or one that is to be
// fetched.
type addressVector struct {
	Name    string
	Address string
	Port    uint16
	URL     string
	Allowed bool
}

// addressVectors hold the first and the last address of every range that must not be reached, the well-known ones,
// their neighbours that may be, and spellings of this machine.
func addressVectors(t *testing.T) (all []addressVector) {
	t.Helper()
	raw := assert.Must(os.ReadFile("../../../testdata/vectors/addresses.json"))(t)
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	assert.NoError(t, d.Decode(&all))
	assert.Require(t, len(all) >= 120, "only %d vectors", len(all))
	return all
}

func noLinks() ([]net.Addr, error) { return nil, nil }

func testGuard() *guard {
	g := newGuard(Config{Ports: []uint16{80, 443}})
	g.links = noLinks
	return g
}

func TestDialerDeniesEveryAddressThatIsNotPublic(t *testing.T) {
	for _, v := range addressVectors(t) {
		if v.Allowed || v.Address == "" {
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			addr := netip.AddrPortFrom(netip.MustParseAddr(v.Address), v.Port)
			wantKind(t, testGuard().checkDial(t.Context(), "tcp", addr.String(), nil), tool.Denied)
			if addr.Addr().Zone() != "" || v.Port == 0 {
				return // which no address of a page has
			}
			literal := byName(t, Config{}, "web_fetch")
			_, err := literal.Call(t.Context(), args(t, map[string]any{"url": "http://" + addr.String() + "/"}))
			wantKind(t, err, tool.Denied)

			named := byName(t, Config{Resolver: resolverOf(t, map[string][]string{"site.test": {v.Address}})}, "web_fetch")
			_, err = named.Call(t.Context(),
				args(t, map[string]any{"url": fmt.Sprintf("http://site.test:%d/", v.Port)}))
			wantKind(t, err, tool.Denied)
		})
	}
}

func TestPublicAddressesAreAllowed(t *testing.T) {
	for _, v := range addressVectors(t) {
		if !v.Allowed {
			continue
		}
		assert.Nilf(t, testGuard().checkAddress(netip.AddrPortFrom(netip.MustParseAddr(v.Address), v.Port)), "%s", v.Name)
	}
}

func TestAddressesOfTheVectorsThatNobodyShouldFetchAreNotFetched(t *testing.T) {
	for _, v := range addressVectors(t) {
		if v.URL == "" {
			continue
		}
		fetch := byName(t, Config{Resolver: resolverOf(t, nil)}, "web_fetch")
		_, err := fetch.Call(t.Context(), args(t, map[string]any{"url": v.URL}))
		assert.That(t, err != nil && !v.Allowed, "%s was fetched", v.Name)
	}
}

func TestAddressThatCannotBeReadIsDenied(t *testing.T) {
	for _, address := range []string{"", "example.com:80", "1.2.3.4", "1.2.3.4:http", "[::1:80"} {
		wantKind(t, testGuard().checkDial(t.Context(), "tcp", address, nil), tool.Denied)
	}
}

func TestOnlyWebPortsCanBeReached(t *testing.T) {
	public := netip.MustParseAddr("8.8.8.8")
	for _, port := range []uint16{0, 21, 22, 25, 53, 3306, 5432, 6379, 9200, 11434} {
		wantKind(t, testGuard().checkAddress(netip.AddrPortFrom(public, port)), tool.Denied)
	}
}

func TestNeighboursWithPublicAddressesAreDenied(t *testing.T) {
	g := testGuard()
	g.links = func() ([]net.Addr, error) {
		_, six, _ := net.ParseCIDR("2a02:1234:5678:9::/64")
		return []net.Addr{six, &net.IPNet{IP: net.IPv4(93, 184, 216, 34), Mask: net.CIDRMask(32, 32)}}, nil
	}
	for _, ip := range []string{"2a02:1234:5678:9::7", "93.184.216.34"} {
		wantKind(t, g.checkAddress(netip.AddrPortFrom(netip.MustParseAddr(ip), 80)), tool.Denied)
	}
	for _, ip := range []string{"2a02:1234:5678:a::7", "93.184.216.35"} {
		assert.Nilf(t, g.checkAddress(netip.AddrPortFrom(netip.MustParseAddr(ip), 80)), "%s is no neighbour", ip)
	}
}

func TestWithoutTheNetworksOfThisMachineNothingIsReachedAndThatIsTold(t *testing.T) {
	w := New(Config{})
	assert.NoError(t, w.Check())
	w.guard.links = func() ([]net.Addr, error) { return nil, errors.New("no permission") }
	e := wantKind(t, w.guard.checkAddress(netip.MustParseAddrPort("8.8.8.8:80")), tool.Denied)
	assert.Contains(t, "what a call is told", e.Message+e.Hint, "no permission", "sibyl doctor")
	err := w.Check()
	assert.That(t, err != nil && strings.Contains(err.Error(), "no permission"), "the check says %v", err)
}

// A server that counts, and that no test may reach.
func forbiddenServer(t *testing.T) (address string, hits *atomic.Int32) {
	t.Helper()
	hits = new(atomic.Int32)
	s := serve(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) })
	return s.URL, hits
}

func TestOddSpellingsOfLoopbackReachNothing(t *testing.T) {
	address, hits := forbiddenServer(t)
	port := address[strings.LastIndex(address, ":")+1:]
	for _, host := range []string{"2130706433", "0x7f000001", "0x7f.1", "127.1", "0177.0.0.1", "localhost", "LOCALHOST",
		"localhost.",
		"127.0.0.1.", "①②⑦.0.0.1", "127。0。0。1", "[::1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]"} {
		fetch := byName(t, Config{Resolver: resolverOf(t, nil)}, "web_fetch")
		_, err := fetch.Call(t.Context(),
			args(t, map[string]any{"url": "http://" + host + ":" + port + "/"}))
		assert.That(t, err != nil, "%s was fetched", host)
	}
	n := hits.Load()
	assert.That(t, n == 0, "the server on this machine was reached %d times", n)
}

func TestNameThatChangesItsAddressIsJudgedAtEveryConnection(t *testing.T) {
	good := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "hello") })
	listener, err := net.Listen("tcp", "127.0.0.2:"+portOf(good.Listener.Addr()))
	if err != nil {
		t.Skipf("this system has no second loopback address: %v", err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	reached := make(chan struct{}, 10)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			reached <- struct{}{}
			_ = conn.Close()
		}
	}()
	fetch := byName(t, Config{
		AllowAddr: allowOnly(good),
		Resolver:  resolverOf(t, map[string][]string{"rebind.test": {"127.0.0.1", "127.0.0.2"}}),
	}, "web_fetch")
	call := args(t, map[string]any{"url": withHost(t, good, "rebind.test")})
	_, err = fetch.Call(t.Context(), call)
	assert.Require(t, err == nil, "while the name led to an allowed address: %v", err)
	_, err = fetch.Call(t.Context(), call)
	wantKind(t, err, tool.Denied)
	assert.That(t, len(reached) == 0, "the address that is not allowed was connected to")
}

func portOf(addr net.Addr) string {
	_, port, _ := net.SplitHostPort(addr.String())
	return port
}

func TestFailedLookupIsAnErrorNotAConnection(t *testing.T) {
	fetch := byName(t, Config{Resolver: resolverOf(t, nil)}, "web_fetch")
	_, err := fetch.Call(t.Context(), args(t, map[string]any{"url": "http://nowhere.test/"}))
	wantKind(t, err, tool.NotFound)
}

func TestRedirectsAreJudgedLikeTheFirstAddress(t *testing.T) {
	inside, hits := forbiddenServer(t)
	for name, target := range map[string]string{
		"private address": inside,
		"metadata":        "http://169.254.169.254/latest/meta-data/",
		"private name":    "http://inside.test/",
		"file":            "file:///etc/passwd",
		"gopher":          "gopher://127.0.0.1:6379/_FLUSHALL",
		"credentials":     "http://user:pass@site.test/",
		"other port":      "http://8.8.8.8:22/",
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", target)
				w.WriteHeader(http.StatusFound)
			})
			fetch := byName(t, Config{
				AllowAddr: allowOnly(s),
				Resolver:  resolverOf(t, map[string][]string{"inside.test": {"10.1.2.3"}}),
			}, "web_fetch")
			_, err := fetch.Call(t.Context(), args(t, map[string]any{"url": s.URL}))
			wantKind(t, err, tool.Denied)
		})
	}
	assert.That(t, hits.Load() == 0, "a redirect reached a server that is not allowed")
}

func TestFiveRedirectsAreFollowedAndSixAreNot(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var left int
		if _, err := fmt.Sscanf(r.URL.Path, "/%d", &left); err != nil || left == 0 {
			_, _ = fmt.Fprint(w, "arrived")
			return
		}
		http.Redirect(w, r, fmt.Sprintf("/%d#part", left-1), http.StatusFound)
	})
	fetch := byName(t, Config{AllowAddr: allowOnly(s)}, "web_fetch")
	result := assert.Must(fetch.Call(t.Context(), args(t, map[string]any{"url": s.URL + "/5"})))(t)
	got, want := result.Refs[0].URL, s.URL+"/0"
	assert.That(t, got == want, "the source is %s, want the last address without its fragment, %s", got, want)
	_, err := fetch.Call(t.Context(), args(t, map[string]any{"url": s.URL + "/6"}))
	wantKind(t, err, tool.Failed)
}

func TestAddressesNobodyShouldFetchAreDenied(t *testing.T) {
	fetch := byName(t, Config{}, "web_fetch")
	for _, u := range []string{"file:///etc/passwd", "ftp://example.com/x", "javascript:alert(1)", "data:text/html,x",
		"http://user@example.com/", "https://user:secret-word@example.com/"} {
		_, err := fetch.Call(t.Context(), args(t, map[string]any{"url": u}))
		e := wantKind(t, err, tool.Denied)
		assert.That(t, !strings.Contains(e.Message+e.Hint, "secret-word"), "the error shows the password: %v", e.Message)
	}
}

func TestNothingIsCarriedFromOneHopToTheNextNorThroughAProxy(t *testing.T) {
	var second http.Header
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/first" {
			http.SetCookie(w, &http.Cookie{Name: "id", Value: "1"})
			http.Redirect(w, r, "/second", http.StatusFound)
			return
		}
		second = r.Header.Clone()
		_, _ = fmt.Fprint(w, "ok")
	})
	fetch := byName(t, Config{
		AllowAddr: allowOnly(s),
		// a plain loopback address would never be proxied
		Resolver: resolverOf(t, map[string][]string{"site.test": {"127.0.0.1"}}),
	}, "web_fetch")
	assert.Must(fetch.Call(t.Context(),
		args(t, map[string]any{"url": withHost(t, s, "site.test") + "/first"})))(t)
	for _, name := range []string{"Cookie", "Referer", "Authorization"} {
		assert.Equalf(t, second.Get(name), "", "the second hop was sent %s", name)
	}
	assert.Equalf(t, second.Get("User-Agent"), userAgent, "User-Agent")
}

func TestHostsThatAreNotAllowedAreReachedOnNoHop(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			w.Header().Set("Location", "http://other.test/")
			w.WriteHeader(http.StatusFound)
			return
		}
		_, _ = w.Write([]byte("a page"))
	})
	for _, c := range []struct {
		name, url   string
		allow, deny []string
		opens       bool
	}{
		{"nothing said", s.URL, nil, nil, true},
		{"allowed", s.URL, []string{"127.0.0.1"}, nil, true},
		{"not allowed", s.URL, []string{"example.org"}, nil, false},
		{"no host allowed", s.URL, []string{}, nil, false},
		{"denied", s.URL, nil, []string{"127.0.0.1"}, false},
		{"denied and allowed", s.URL, []string{"127.0.0.1"}, []string{"127.0.0.1"}, false},
		{"below one that is denied", "http://www.Evil.example./", nil, []string{"evil.example"}, false},
		{"leads to one that is not allowed", s.URL + "/away", []string{"127.0.0.1"}, nil, false},
		{"leads to one that is denied", s.URL + "/away", nil, []string{"other.test"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			fetch := byName(t, Config{AllowAddr: allowOnly(s), Allow: c.allow, Deny: c.deny,
				Resolver: resolverOf(t, map[string][]string{})}, "web_fetch")
			_, err := fetch.Call(t.Context(), args(t, map[string]any{"url": c.url}))
			if c.opens {
				assert.NoError(t, err)
				return
			}
			wantKind(t, err, tool.Denied)
		})
	}
}
