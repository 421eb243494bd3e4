package api

import (
	"context"
	"crypto/rand"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"sibyl/internal/journal"
	"sibyl/internal/user"
)

// exchange is what is known of one request: first from where it comes, then who asks, then what it was about.
type exchange struct {
	id     string     // fresh: what a client calls it is not believed
	peer   netip.Addr // of who asks, as far as proxies can be believed; the zero address is not known
	near   bool       // it comes from this machine, and nothing says that it was passed on
	host   string     // by which it was asked, with a port if there is one
	secure bool       // over TLS, at least as far as the proxy
	open   bool       // it comes from another machine, neither encrypted nor by a proxy

	token  user.Token
	secret string // of the cookie that stands for who asks; empty for a bearer
	run    string // that it was about

	tell func(text string) string // what it is answered, without the folders of this machine; nil: as it is
}

type exchangeKey struct{}

// exchangeOf is the exchange of a request that is being served.
func exchangeOf(ctx context.Context) *exchange { return ctx.Value(exchangeKey{}).(*exchange) }

// owner owns what the user does who asks.
func (x *exchange) owner() journal.Owner { return journal.Owner(x.token.User) }

// about notes the run that a request was about. It was found, so its id is no word of a stranger.
func about(ctx context.Context, run string) { exchangeOf(ctx).run = run }

// forwarding are the headers that those set who pass a request on.
var forwarding = []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip"}

// newExchange looks at where a request comes from. A proxy of the settings is believed, anybody else is not.
func (s *Server) newExchange(r *http.Request) *exchange {
	x := &exchange{id: rand.Text(), host: r.Host, secure: r.TLS != nil}
	if remote, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		x.peer = remote.Addr().Unmap().WithZone("")
	}
	x.near = x.peer.IsLoopback() && !slices.ContainsFunc(forwarding, func(name string) bool { return r.Header[name] != nil })
	if !s.isProxy(x.peer) {
		x.open = r.TLS == nil && x.peer.IsValid() && !x.peer.IsLoopback()
		return x
	}
	x.peer = s.client(x.peer, r.Header["X-Forwarded-For"])
	if proto := last(r.Header["X-Forwarded-Proto"]); proto != "" {
		x.secure = strings.EqualFold(proto, "https")
	}
	if host := last(r.Header["X-Forwarded-Host"]); host != "" {
		x.host = host
	}
	return x
}

func (s *Server) isProxy(a netip.Addr) bool {
	return slices.ContainsFunc(s.config.Proxies, func(p netip.Prefix) bool { return p.Contains(a) })
}

// client is the last address before the proxies: each of them has added the one that it was asked from, and what stands before those
// anybody may have written.
func (s *Server) client(proxy netip.Addr, forwarded []string) netip.Addr {
	hops := strings.Split(strings.Join(forwarded, ","), ",")
	for _, hop := range slices.Backward(hops) {
		a, err := netip.ParseAddr(strings.Trim(strings.TrimSpace(hop), "[]"))
		if err != nil {
			if with, portErr := netip.ParseAddrPort(strings.TrimSpace(hop)); portErr == nil {
				a, err = with.Addr(), nil
			}
		}
		if err != nil {
			return proxy
		}
		if proxy = a.Unmap().WithZone(""); !s.isProxy(proxy) {
			return proxy
		}
	}
	return proxy
}

// last is the last element of a header that may be a list: the one that the nearest proxy has added.
func last(values []string) string {
	all := strings.Split(strings.Join(values, ","), ",")
	return strings.TrimSpace(all[len(all)-1])
}

// port is the port that the client asked.
func (x *exchange) port() string {
	_, port := splitHost(x.host, x.secure)
	return port
}

// splitHost takes a host apart. The port is the usual one where none is given, and empty where the host is malformed.
func splitHost(host string, secure bool) (name, port string) {
	name, port, err := net.SplitHostPort(host)
	switch {
	case err == nil:
		return name, port
	case strings.ContainsAny(strings.Trim(host, "[]"), ":") && !strings.HasPrefix(host, "["):
		return "", ""
	case secure:
		return strings.Trim(host, "[]"), "443"
	}
	return strings.Trim(host, "[]"), "80"
}

// knows says whether this server is called so: by a loopback name and the port that it listens on, or by a name of the settings and that
// port, the usual one, or the one that stands beside the name.
func (s *Server) knows(x *exchange, r *http.Request) bool {
	name, port := splitHost(x.host, x.secure)
	if name == "" {
		return false
	}
	local, tcp := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	ours := !tcp || port == strconv.Itoa(local.Port) // a socket in the file system has no port
	if a, err := netip.ParseAddr(name); ours && (strings.EqualFold(name, "localhost") || err == nil && a.Unmap().IsLoopback()) {
		return true
	}
	usual := port == "80" && !x.secure || port == "443" && x.secure
	return slices.ContainsFunc(s.config.Hosts, func(known string) bool {
		return strings.EqualFold(known, x.host) || (ours || usual) && strings.EqualFold(strings.Trim(known, "[]"), name)
	})
}
