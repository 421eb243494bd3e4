package api

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sibyl/internal/journal"
	"sibyl/internal/keys/cleartext"
	"sibyl/internal/server/user"
)

// requestInfo is what is known of one request: where it comes from, who sent it, and which run it is about.
type requestInfo struct {
	malformed bool // huma found a fault in it

	id         string     // fresh: what a client calls it is not believed
	client     netip.Addr // of the client, as far as proxies can be believed; zero: not known
	host       string     // by which it was asked, with a port if there is one
	isSecure   bool       // over TLS, at least as far as the proxy
	inTheClear bool       // it comes from another machine, neither encrypted nor by a proxy

	token     user.Token
	secret    string // of the cookie; empty for a bearer
	overLimit bool   // it may cost more than the day's limit
	wantsJSON bool   // whoever asks wants a whole answer, and no stream
	hasKey    bool   // it may be sent again under its Idempotency-Key
	run       string // that it began, or is about where its address does not name it

	hideFolders func(text string) string // takes folders of this machine out of answers; nil: nothing does
}

type requestInfoKey struct{}

// infoOf is what is known of the request that is being served.
func infoOf(ctx context.Context) *requestInfo { return ctx.Value(requestInfoKey{}).(*requestInfo) }

// owner is the owner of what the requesting user does.
func (x *requestInfo) owner() journal.Owner { return journal.Owner(x.token.User) }

// ownerOf is the owner of what the requesting user does.
func ownerOf(ctx context.Context) journal.Owner { return infoOf(ctx).owner() }

// newRequestInfo finds where a request comes from. Only proxies of the settings are believed.
func (s *Server) newRequestInfo(r *http.Request) *requestInfo {
	over := r.Header.Get("Over-Limit") == "true"
	x := &requestInfo{id: rand.Text(), host: r.Host, isSecure: r.TLS != nil, overLimit: over,
		wantsJSON: wantsJSON(r.Header)}
	if remote, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		x.client = remote.Addr().Unmap().WithZone("")
	}
	if !s.isProxy(x.client) {
		x.inTheClear = r.TLS == nil && x.client.IsValid() && !x.client.IsLoopback()
		return x
	}
	x.client = s.clientBefore(x.client, r.Header["X-Forwarded-For"])
	if proto := lastElement(r.Header["X-Forwarded-Proto"]); proto != "" {
		x.isSecure = strings.EqualFold(proto, "https")
	}
	if host := lastElement(r.Header["X-Forwarded-Host"]); host != "" {
		x.host = host
	}
	return x
}

func (s *Server) isProxy(a netip.Addr) bool {
	return slices.ContainsFunc(s.config.Proxies, func(p netip.Prefix) bool { return p.Contains(a) })
}

// clientBefore is the last address before the proxies. Each proxy adds the address that asked it; anybody may have
// written what stands before those.
func (s *Server) clientBefore(proxy netip.Addr, forwarded []string) netip.Addr {
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

// lastElement is the last element of a header that may be a list: the one that the nearest proxy has added.
func lastElement(values []string) string {
	all := strings.Split(strings.Join(values, ","), ",")
	return strings.TrimSpace(all[len(all)-1])
}

// port is the port that the client asked.
func (x *requestInfo) port() string {
	_, port := splitHost(x.host, x.isSecure)
	return port
}

// splitHost takes a host apart. The port is the usual one where none is given, and empty where the host is malformed.
func splitHost(host string, secure bool) (name, port string) {
	name, port, err := net.SplitHostPort(host)
	_, portErr := strconv.ParseUint(port, 10, 16)
	switch {
	case err == nil && portErr != nil:
		return "", ""
	case err == nil:
		return name, port
	case strings.ContainsAny(strings.Trim(host, "[]"), ":") && !strings.HasPrefix(host, "["):
		return "", ""
	case secure:
		return strings.Trim(host, "[]"), "443"
	}
	return strings.Trim(host, "[]"), "80"
}

// isKnownHost says whether a request names this server: by a loopback name and the port that it listens on, or by a
// name of the settings. There a port may be any, or left out: it is the proxy's, which may not pass it on.
func (s *Server) isKnownHost(x *requestInfo, r *http.Request) bool {
	name, port := splitHost(x.host, x.isSecure)
	if name == "" {
		return false
	}
	local, tcp := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	ours := !tcp || port == strconv.Itoa(local.Port) // a socket in the file system has no port
	if a, err := netip.ParseAddr(name); ours && (strings.EqualFold(name, "localhost") || err == nil &&
		a.Unmap().IsLoopback()) {
		return true
	}
	return slices.ContainsFunc(s.origins, func(u *url.URL) bool { return isNamed(u, name) })
}

// isNamed says that an origin has a name.
func isNamed(origin *url.URL, name string) bool { return strings.EqualFold(origin.Hostname(), name) }

// requestID is the header of an answer that names its request, as the log does.
const requestID = "X-Request-Id"

// setSecurityHeaders sets the headers of every answer against caches, frames, other sites and guessed content types.
func setSecurityHeaders(h http.Header, x *requestInfo) {
	h.Set(requestID, x.id)
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
}

// checkAddress refuses what no route should see: paths that are not spelt plainly, names by which this server is not
// known, and what other machines send in the clear, where others could read its token. Whether the process is up may be
// asked by any name and in the clear: those who look after it often know an address only.
func (s *Server) checkAddress(x *requestInfo, r *http.Request) *Problem {
	escaped := r.URL.EscapedPath()
	plain := path.Clean(escaped)
	if plain != "/" && strings.HasSuffix(escaped, "/") {
		plain += "/"
	}
	switch {
	case !strings.HasPrefix(escaped, "/") || plain != escaped:
		return noRoute()
	case escaped == healthPath || escaped == readyPath:
		return nil
	case x.inTheClear:
		return newProblem(http.StatusForbidden, "not_encrypted",
			"The request was sent in the clear, past the proxy that encrypts.", "Ask the proxy, over https.")
	case s.isKnownHost(x, r):
		return nil
	}
	return newProblem(http.StatusForbidden, "unknown_host",
		"This server is not known by the name that the request has for it.",
		"Use the name that the server was started with, or have it added to the server's hosts.")
}

func noRoute() *Problem {
	return newProblem(http.StatusNotFound, "no_route", "There is nothing at this address.",
		"The description at /openapi.json has all routes.")
}

// isFromAnotherSite says that a page of another site or port made a request. The rule for requests that change
// something holds for all of them, since an answer is for this server's own pages too.
func (s *Server) isFromAnotherSite(r *http.Request) bool {
	asIfChanging := *r
	asIfChanging.Method = http.MethodPost
	return s.forgery.Check(&asIfChanging) != nil
}

// isForgeable says that a page of another site or port made a request for which no header vouches: only a cookie would.
func (s *Server) isForgeable(r *http.Request) bool {
	return r.Header["Authorization"] == nil && s.isFromAnotherSite(r) // no browser adds this header by itself
}

func crossSite(hint string) *Problem {
	return newProblem(http.StatusForbidden, "cross_site", "A page of another site or port made this request.", hint)
}

func noToken() *Problem {
	return unauthorized(`Bearer realm="sibyl"`, "no_token", "The request does not say who asks.")
}

func unauthorized(challenge, kind, detail string) *Problem {
	return newProblem(http.StatusUnauthorized, kind, detail,
		"Send a token as ‘Authorization: Bearer TOKEN’, or sign in at /.").with("WWW-Authenticate", challenge)
}

// cookieName is the name of the cookie for the port that the client asked: servers on one machine share their cookies.
func cookieName(x *requestInfo) string { return "sibyl_" + x.port() }

// identify finds the user of a request by its token.
func (s *Server) identify(x *requestInfo, r *http.Request) *Problem {
	if s.isForgeable(r) {
		return crossSite("Programs send a token in the header Authorization.")
	}
	secret, kind := secretOf(x, r)
	if kind == "" {
		return noToken()
	}
	t, err := s.config.Users.Check(r.Context(), secret)
	switch {
	case errors.Is(err, user.ErrUnknown) || err == nil && t.Kind != kind:
		return s.wrongToken(x)
	case err != nil:
		return s.problem(r.Context(), err)
	}
	x.token = t
	if kind == user.Cookie {
		x.secret = secret
	}
	return nil
}

// secretOf is the secret that a request shows, and the kind of token that it has to be: a bearer in the header or, if
// there is no such header, the cookie. What is not in its form, or there twice, is no secret, and opens nothing. Kind
// is empty if nothing is shown.
func secretOf(x *requestInfo, r *http.Request) (secret string, kind user.Kind) {
	if given := r.Header["Authorization"]; len(given) > 0 {
		scheme, rest, _ := strings.Cut(given[0], " ")
		if len(given) > 1 || !strings.EqualFold(scheme, "Bearer") {
			return "", user.Bearer
		}
		return rest, user.Bearer
	}
	switch cookies := r.CookiesNamed(cookieName(x)); len(cookies) {
	case 0:
		return "", ""
	case 1:
		return cookies[0].Value, user.Cookie
	}
	return "", user.Cookie
}

// checkAccess checks whether a request may reach a route, and reads its body into memory unless the route takes files.
func (s *Server) checkAccess(w http.ResponseWriter, r *http.Request, op *huma.Operation, needed user.Scope) *Problem {
	x := infoOf(r.Context())
	if isOpen(op) {
		if p := s.checkPage(x, r); p != nil {
			return p
		}
		if s.isForgeable(r) {
			return crossSite("Open the address that you were given in a browser, as it is. A proxy must pass its name on, " +
				"in the header Host.")
		}
		return s.readBody(w, r, op)
	}
	if p := s.identify(x, r); p != nil {
		return p
	}
	if !x.token.Scope.Allows(needed) {
		return scopeProblem(needed)
	}
	if p := s.spendRequest(x); p != nil || op.Metadata[filesKey] == true {
		return p
	}
	return s.readBody(w, r, op)
}

// scopeProblem is the problem of a token that allows less than a route needs.
func scopeProblem(needed user.Scope) *Problem {
	detail := "The token may only read."
	if needed == user.Operate {
		detail = "The token shows nothing of how the server works for others."
	}
	return newProblem(http.StatusForbidden, "scope", detail, fmt.Sprintf("Take one with the scope %s.", needed)).
		with("WWW-Authenticate", fmt.Sprintf(`Bearer realm="sibyl", error="insufficient_scope", scope="%s"`, needed))
}

// checkPage refuses a page of this server that was opened over plain HTTP by a name that is only reached over TLS:
// browsers would not keep the cookie that signs in, and say nothing of it.
func (s *Server) checkPage(x *requestInfo, r *http.Request) *Problem {
	page, err := url.Parse(r.Header.Get("Origin"))
	isPlain := err == nil && page.Scheme == "http" && !cleartext.Local(page)
	if !isPlain {
		return nil
	}
	ours := slices.DeleteFunc(slices.Clone(s.origins), func(u *url.URL) bool { return !isNamed(u, page.Hostname()) })
	if len(ours) == 0 || slices.ContainsFunc(ours, func(u *url.URL) bool { return u.Scheme == "http" }) {
		return nil
	}
	return newProblem(http.StatusForbidden, "not_encrypted",
		"This page was opened over http, by a name that the settings have for https. A browser would not keep who signed in.",
		"Open it over https. If the name is reached without TLS, write it with http:// in server.hosts, such as "+
			"http://sibyl.lan.")
}

// readBody reads the body of a request, bounded in size and time, so that no handler waits for a slow client.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request, op *huma.Operation) *Problem {
	x, most := infoOf(r.Context()), s.config.Limits.Body
	if r.ContentLength == 0 {
		return nil
	}
	if op.Metadata[textsKey] == true {
		most = s.config.Limits.Texts
	}
	if op.RequestBody != nil && !isJSON(r.Header) {
		return newProblem(http.StatusUnsupportedMediaType, "not_json", "The body must be JSON.",
			"Send it with ‘Content-Type: application/json’, not compressed.").closing()
	}
	if r.ContentLength > most {
		return tooLarge(most)
	}
	if x.token.User != "" && r.ContentLength > 0 {
		if p := s.spendBytes(x, int(r.ContentLength)); p != nil {
			return p.closing()
		}
	}
	// It ends with the body. Where it can't be set the server's own bound holds.
	within := s.config.Limits.Read + time.Duration(max(0, r.ContentLength)>>17)*time.Second
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(within))
	body, err := io.ReadAll(io.LimitReader(r.Body, most+1))
	var netErr net.Error
	switch {
	case errors.As(err, &netErr) && netErr.Timeout():
		return slowBody(fmt.Sprintf("Send it within %s.", within))
	case err != nil:
		return brokenBody()
	case int64(len(body)) > most:
		return tooLarge(most)
	case op.RequestBody == nil && len(body) > 0:
		return badRequest("This route takes no body.", "Send it without one.")
	}
	if x.token.User != "" && r.ContentLength < 0 {
		if p := s.spendBytes(x, len(body)); p != nil {
			return p
		}
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

func slowBody(hint string) *Problem {
	return newProblem(http.StatusRequestTimeout, "slow_body", "The body took too long to arrive.", hint).closing()
}

func tooLarge(most int64) *Problem {
	return newProblem(http.StatusRequestEntityTooLarge, "too_large", "The body is too large.",
		fmt.Sprintf("It may have %d bytes.", most)).closing()
}

// isJSON says that a body is said to be JSON, as it is.
func isJSON(h http.Header) bool {
	kind, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && kind == jsonType && strings.EqualFold(cmp.Or(params["charset"], "utf-8"), "utf-8") &&
		h.Get("Content-Encoding") == ""
}
