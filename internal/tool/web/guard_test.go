package web

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"sibyl/internal/tool"
)

// deniedAddresses holds the first and the last address of every range that must not be reached, and the well-known ones.
var deniedAddresses = map[string][]string{
	"this network":           {"0.0.0.0", "0.255.255.255"},
	"loopback":               {"127.0.0.1", "127.255.255.255", "::1"},
	"unspecified":            {"::"},
	"RFC 1918":               {"10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0", "192.168.255.255"},
	"carrier-grade NAT":      {"100.64.0.0", "100.100.100.200", "100.127.255.255"},
	"link-local":             {"169.254.0.0", "169.254.169.254", "169.254.255.255", "fe80::1", "febf:ffff::1"},
	"site-local":             {"fec0::1", "feff::1"},
	"unique local":           {"fc00::", "fd00:ec2::254", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
	"multicast":              {"224.0.0.1", "239.255.255.255", "ff02::1", "ff0e::1"},
	"broadcast":              {"255.255.255.255"},
	"reserved":               {"240.0.0.1", "255.255.255.254", "4000::1", "8000::1"},
	"protocol assignments":   {"192.0.0.0", "192.0.0.170", "192.0.0.255", "2001:1::1"},
	"documentation":          {"192.0.2.1", "198.51.100.1", "203.0.113.255", "2001:db8::1", "3fff::1", "3fff:fff:ffff::1"},
	"benchmarks":             {"198.18.0.0", "198.19.255.255", "2001:2::1"},
	"6to4":                   {"192.88.99.1", "2002:7f00:1::1", "2002:a00:1::1"},
	"Teredo":                 {"2001:0:7f00:1::1"},
	"ORCHID":                 {"2001:10::1", "2001:20::1", "2001:3f:ffff::1"},
	"NAT64":                  {"64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::1"},
	"IPv4-mapped":            {"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254"},
	"IPv4-compatible":        {"::7f00:1", "::a00:1"},
	"IPv4-translated":        {"::ffff:0:7f00:1"},
	"discard":                {"100::1"},
	"segment routing":        {"5f00::1"},
	"cloud metadata, public": {"168.63.129.16"},
}

var publicAddresses = []string{
	"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
	"169.253.255.255", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255", "192.169.0.0", "198.17.255.255",
	"198.20.0.0", "223.255.255.255", "2001:200::1", "2001:4860:4860::8888", "2606:4700::1111", "2a00::1", "3ffe::1",
}

func noLinks() ([]net.Addr, error) { return nil, nil }

func testGuard() *guard {
	g := newGuard(Config{Ports: []uint16{80, 443}})
	g.links = noLinks
	return g
}

func TestDialerDeniesEveryAddressThatIsNotPublic(t *testing.T) {
	for name, list := range deniedAddresses {
		for _, ip := range list {
			t.Run(name+"/"+ip, func(t *testing.T) {
				addr := netip.AddrPortFrom(netip.MustParseAddr(ip), 80)
				wantKind(t, testGuard().control(t.Context(), "tcp", addr.String(), nil), tool.Denied)

				literal := byName(t, Config{}, "web_fetch")
				_, err := literal.Call(t.Context(), args(t, map[string]any{"url": "http://" + addr.String() + "/"}))
				wantKind(t, err, tool.Denied)

				named := byName(t, Config{Resolver: names(t, map[string][]string{"site.test": {ip}})}, "web_fetch")
				_, err = named.Call(t.Context(), args(t, map[string]any{"url": "http://site.test/"}))
				wantKind(t, err, tool.Denied)
			})
		}
	}
}

func TestPublicAddressesAreAllowed(t *testing.T) {
	for _, ip := range publicAddresses {
		if err := testGuard().check(netip.AddrPortFrom(netip.MustParseAddr(ip), 443)); err != nil {
			t.Errorf("%s: %v", ip, err)
		}
	}
}

func TestZoneDoesNotHideALinkLocalAddress(t *testing.T) {
	for _, address := range []string{"[fe80::1%eth0]:80", "[::1%lo]:80"} {
		wantKind(t, testGuard().control(t.Context(), "tcp6", address, nil), tool.Denied)
	}
}

func TestAddressThatCannotBeReadIsDenied(t *testing.T) {
	for _, address := range []string{"", "example.com:80", "1.2.3.4", "1.2.3.4:http", "[::1:80"} {
		wantKind(t, testGuard().control(t.Context(), "tcp", address, nil), tool.Denied)
	}
}

func TestOnlyWebPortsCanBeReached(t *testing.T) {
	public := netip.MustParseAddr("8.8.8.8")
	for _, port := range []uint16{0, 21, 22, 25, 53, 3306, 5432, 6379, 9200, 11434} {
		wantKind(t, testGuard().check(netip.AddrPortFrom(public, port)), tool.Denied)
	}
}

func TestNeighboursWithPublicAddressesAreDenied(t *testing.T) {
	g := testGuard()
	g.links = func() ([]net.Addr, error) {
		_, six, _ := net.ParseCIDR("2a02:1234:5678:9::/64")
		return []net.Addr{six, &net.IPNet{IP: net.IPv4(93, 184, 216, 34), Mask: net.CIDRMask(32, 32)}}, nil
	}
	for _, ip := range []string{"2a02:1234:5678:9::7", "93.184.216.34"} {
		wantKind(t, g.check(netip.AddrPortFrom(netip.MustParseAddr(ip), 80)), tool.Denied)
	}
	for _, ip := range []string{"2a02:1234:5678:a::7", "93.184.216.35"} {
		if err := g.check(netip.AddrPortFrom(netip.MustParseAddr(ip), 80)); err != nil {
			t.Errorf("%s is no neighbour: %v", ip, err)
		}
	}
	g.links = func() ([]net.Addr, error) { return nil, errors.New("no permission") }
	wantKind(t, g.check(netip.MustParseAddrPort("8.8.8.8:80")), tool.Denied)
}

// A server that counts, and that no test may reach.
func forbidden(t *testing.T) (address string, hits *atomic.Int32) {
	t.Helper()
	hits = new(atomic.Int32)
	s := serve(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) })
	return s.URL, hits
}

func TestOddSpellingsOfLoopbackReachNothing(t *testing.T) {
	address, hits := forbidden(t)
	port := address[strings.LastIndex(address, ":")+1:]
	for _, host := range []string{"2130706433", "0x7f000001", "0x7f.1", "127.1", "0177.0.0.1", "localhost", "LOCALHOST", "localhost.",
		"127.0.0.1.", "①②⑦.0.0.1", "127。0。0。1", "[::1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]"} {
		fetch := byName(t, Config{Resolver: names(t, nil)}, "web_fetch")
		if _, err := fetch.Call(t.Context(), args(t, map[string]any{"url": "http://" + host + ":" + port + "/"})); err == nil {
			t.Errorf("%s was fetched", host)
		}
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("the server on this machine was reached %d times", n)
	}
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
		Resolver:  names(t, map[string][]string{"rebind.test": {"127.0.0.1", "127.0.0.2"}}),
	}, "web_fetch")
	call := args(t, map[string]any{"url": withHost(t, good, "rebind.test")})
	if _, err := fetch.Call(t.Context(), call); err != nil {
		t.Fatalf("while the name led to an allowed address: %v", err)
	}
	_, err = fetch.Call(t.Context(), call)
	wantKind(t, err, tool.Denied)
	if len(reached) != 0 {
		t.Error("the address that is not allowed was connected to")
	}
}

func portOf(addr net.Addr) string {
	_, port, _ := net.SplitHostPort(addr.String())
	return port
}

func TestFailedLookupIsAnErrorNotAConnection(t *testing.T) {
	fetch := byName(t, Config{Resolver: names(t, nil)}, "web_fetch")
	_, err := fetch.Call(t.Context(), args(t, map[string]any{"url": "http://nowhere.test/"}))
	wantKind(t, err, tool.NotFound)
}

func TestRedirectsAreJudgedLikeTheFirstAddress(t *testing.T) {
	inside, hits := forbidden(t)
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
				Resolver:  names(t, map[string][]string{"inside.test": {"10.1.2.3"}}),
			}, "web_fetch")
			_, err := fetch.Call(t.Context(), args(t, map[string]any{"url": s.URL}))
			wantKind(t, err, tool.Denied)
		})
	}
	if hits.Load() != 0 {
		t.Error("a redirect reached a server that is not allowed")
	}
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
	result, err := fetch.Call(t.Context(), args(t, map[string]any{"url": s.URL + "/5"}))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := result.Refs[0].URL, s.URL+"/0"; got != want {
		t.Errorf("the source is %s, want the last address without its fragment, %s", got, want)
	}
	_, err = fetch.Call(t.Context(), args(t, map[string]any{"url": s.URL + "/6"}))
	wantKind(t, err, tool.Failed)
}

func TestAddressesNobodyShouldFetchAreDenied(t *testing.T) {
	fetch := byName(t, Config{}, "web_fetch")
	for _, u := range []string{"file:///etc/passwd", "ftp://example.com/x", "javascript:alert(1)", "data:text/html,x",
		"http://user@example.com/", "https://user:secret-word@example.com/"} {
		_, err := fetch.Call(t.Context(), args(t, map[string]any{"url": u}))
		if e := wantKind(t, err, tool.Denied); strings.Contains(e.Message+e.Hint, "secret-word") {
			t.Errorf("the error shows the password: %v", e.Message)
		}
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
		Resolver:  names(t, map[string][]string{"site.test": {"127.0.0.1"}}), // a plain loopback address would never be proxied
	}, "web_fetch")
	if _, err := fetch.Call(t.Context(), args(t, map[string]any{"url": withHost(t, s, "site.test") + "/first"})); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Cookie", "Referer", "Authorization"} {
		if value := second.Get(name); value != "" {
			t.Errorf("the second hop was sent %s: %s", name, value)
		}
	}
	if got := second.Get("User-Agent"); got != userAgent {
		t.Errorf("User-Agent = %q", got)
	}
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
			fetch := byName(t, Config{AllowAddr: allowOnly(s), Allow: c.allow, Deny: c.deny, Resolver: names(t, map[string][]string{})}, "web_fetch")
			_, err := fetch.Call(t.Context(), args(t, map[string]any{"url": c.url}))
			if c.opens {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			wantKind(t, err, tool.Denied)
		})
	}
}
