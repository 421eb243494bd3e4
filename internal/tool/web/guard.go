package web

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"sibyl/internal/tool"
)

const (
	maxRedirects    = 5
	maxHeaderBytes  = 128 << 10
	connectTimeout  = 10 * time.Second
	maxURLBytes     = 2048
	onlyPublicPages = "only pages on the public web can be fetched"
)

// zone is a range of addresses that is not the public web, with its name.
type zone struct {
	prefix netip.Prefix
	name   string
}

// deniedZones lists the ranges that the IANA special-purpose registries (RFC 6890 and its updates) do not mark as
// globally reachable, those that wrap an IPv4 address which would escape the check, and one cloud's metadata address in
// public space. For IPv6, only 2000::/3 is ever assigned for public use (RFC 4291): everything outside is denied
// without a list.
func deniedZones() []zone {
	list := []struct{ prefix, name string }{
		{"0.0.0.0/8", "the local network"},
		{"10.0.0.0/8", "a private network"},
		{"100.64.0.0/10", "a carrier's private network"},
		{"127.0.0.0/8", "this machine"},
		{"169.254.0.0/16", "the local link"},
		{"168.63.129.16/32", "a cloud's metadata service"},
		{"172.16.0.0/12", "a private network"},
		{"192.0.0.0/24", "reserved for protocols"},
		{"192.0.2.0/24", "reserved for documentation"},
		{"192.88.99.0/24", "a 6to4 relay"},
		{"192.168.0.0/16", "a private network"},
		{"198.18.0.0/15", "reserved for benchmarks"},
		{"198.51.100.0/24", "reserved for documentation"},
		{"203.0.113.0/24", "reserved for documentation"},
		{"224.0.0.0/4", "multicast"},
		{"240.0.0.0/4", "reserved, or broadcast"},

		{"2001::/23", "reserved for protocols (Teredo, ORCHID, benchmarks)"},
		{"2001:db8::/32", "reserved for documentation"},
		{"2002::/16", "6to4, which wraps an IPv4 address"},
		{"3fff::/20", "reserved for documentation"},
	}
	zones := make([]zone, len(list))
	for i, z := range list {
		zones[i] = zone{netip.MustParsePrefix(z.prefix), z.name}
	}
	return zones
}

// guard decides to which addresses connections may be made. Nothing else does.
type guard struct {
	zones      []zone
	globalIPv6 netip.Prefix
	ports      []uint16
	allow      func(netip.AddrPort) bool
	links      func() ([]net.Addr, error) // the networks to which this machine is attached
}

func newGuard(cfg Config) *guard {
	return &guard{
		zones:      deniedZones(),
		globalIPv6: netip.MustParsePrefix("2000::/3"),
		ports:      cfg.Ports,
		allow:      cfg.AllowAddr,
		links:      net.InterfaceAddrs,
	}
}

// checkDial is called by the dialer for each address of each connection, after resolving and before sending.
func (g *guard) checkDial(_ context.Context, _, address string, _ syscall.RawConn) error {
	addr, err := netip.ParseAddrPort(address)
	if err != nil {
		return tool.Errorf(tool.Denied, onlyPublicPages, "the address cannot be judged: %w", err)
	}
	return g.checkAddress(addr)
}

func (g *guard) checkAddress(addr netip.AddrPort) error {
	if g.allow != nil && g.allow(addr) {
		return nil
	}
	if !slices.Contains(g.ports, addr.Port()) {
		return tool.Errorf(tool.Denied, fmt.Sprintf("these ports can: %v", g.ports), "port %d cannot be fetched from",
			addr.Port())
	}
	if name := g.zoneOf(addr.Addr()); name != "" {
		return tool.Errorf(tool.Denied, onlyPublicPages, "the address is not public: %s", name)
	}
	return g.checkLinks(addr.Addr())
}

// zoneOf names the zone of an address that is not public; "": the address is public.
func (g *guard) zoneOf(ip netip.Addr) string {
	switch {
	case ip.Is4In6():
		return "IPv6 that wraps an IPv4 address"
	case ip.IsLoopback():
		return "this machine"
	case ip.Is6() && !g.globalIPv6.Contains(ip.WithZone("")):
		return "IPv6 outside of the range for public use"
	}
	for _, z := range g.zones {
		if z.prefix.Contains(ip.WithZone("")) {
			return z.name
		}
	}
	return ""
}

// checkLinks denies the addresses of this machine and its neighbours, which may be public: with IPv6 the printer in the
// same room has one, and no firewall is between.
func (g *guard) checkLinks(ip netip.Addr) error {
	links, err := g.neighbours()
	if err != nil {
		return tool.Errorf(tool.Denied, "no page can be opened until they are: ‘sibyl doctor’ says what it takes", "%w", err)
	}
	for _, link := range links {
		prefix, err := netip.ParsePrefix(link.String())
		if err == nil && prefix.Contains(ip) {
			return tool.Errorf(tool.Denied, onlyPublicPages, "the address is in a network this machine is attached to")
		}
	}
	return nil
}

// neighbours are the networks to which this machine is attached. Without them no address can be allowed.
func (g *guard) neighbours() ([]net.Addr, error) {
	links, err := g.links()
	if err != nil {
		return nil, fmt.Errorf("the networks of this machine are not known: %w", err)
	}
	return links, nil
}

// newGuardedClient makes a client that can reach only what the guard allows.
func newGuardedClient(g *guard, resolver *net.Resolver, cfg Config) *http.Client {
	dialer := &net.Dialer{Timeout: connectTimeout, ControlContext: g.checkDial, Resolver: resolver}
	client := &http.Client{Transport: newTransport(dialer)}
	client.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return tool.Errorf(tool.Failed, "", "the page redirects more than %d times", maxRedirects)
		}
		req.Header.Del("Referer")
		return cfg.checkPage(req.URL)
	}
	return client
}

// newTransport makes a transport that keeps no connections, so that nothing outlives a call, and does not decompress:
// readBody does, which bounds both sides.
func newTransport(dialer *net.Dialer) *http.Transport {
	return &http.Transport{
		Proxy:                  nil,
		DialContext:            dialer.DialContext,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    connectTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
}

// checkPageURL checks what the dialer does not see of an address. It is called for the first one and for every
// redirect.
func checkPageURL(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return tool.Errorf(tool.Denied, "only http and https addresses can be fetched", "the scheme is %.20q", u.Scheme)
	case u.Hostname() == "":
		return tool.Errorf(tool.InvalidArgs, "write it as https://host/path", "the address names no host")
	case u.User != nil:
		return tool.Errorf(tool.Denied, "leave user and password out", "the address holds credentials")
	case len(u.String()) > maxURLBytes:
		return tool.Errorf(tool.InvalidArgs, "", "the address is longer than %d bytes", maxURLBytes)
	}
	return nil
}

// checkPage is checkPageURL, and also checks the hosts that the person allows and denies.
func (c Config) checkPage(u *url.URL) error {
	if err := checkPageURL(u); err != nil {
		return err
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	below := func(of string) bool { return host == of || strings.HasSuffix(host, "."+of) }
	switch {
	case slices.ContainsFunc(c.Deny, below):
		return tool.Errorf(tool.Denied, "look for another source",
			"pages of %s are not opened: web.deny in the settings says so", host)
	case c.Allow != nil && !slices.ContainsFunc(c.Allow, below):
		return tool.Errorf(tool.Denied, "look for another source",
			"pages of %s are not opened: web.allow in the settings does not name it", host)
	}
	return nil
}
