package api_test

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/server/user"
)

// Every route is behind the same door: nobody finds one that was forgotten.
func TestEveryRouteWantsToKnowWhoAsks(t *testing.T) {
	h := newHouse(t).open()
	for _, op := range h.operations() {
		path := strings.NewReplacer("{run}", "0pgdi58m60estr0o", "{session}", "0pgdi58m60estr0o", "{seq}", "1",
			"{oracle}", "a1b2c3d4").Replace(op.path)
		open := op.id == "signIn"
		a := h.ask(question{method: op.method, path: path, token: "-"})
		assert.That(t, (a.status != 401) == open, "%s without a token: %d %s", op.id, a.status, a.body)
		foreign := question{method: op.method, path: path, cookie: "sibyl_" + h.port() + "=" + adasCookie,
			header: map[string]string{"Sec-Fetch-Site": "cross-site"}}
		h.refused(op.id+" by a page of another site", foreign, 403, "cross_site")
		h.refused(op.id+" by another name", question{method: op.method, path: path, host: "evil.example:" + h.port()},
			403, "unknown_host")
		changesNothing := op.id == "replayRun" || op.id == "replayRuns"
		if op.method != http.MethodGet && !open && op.id != "signOut" && !changesNothing {
			h.refused(op.id+" with the scope read", question{method: op.method, path: path, token: adasReader}, 403,
				"scope")
		}
	}
	for _, method := range []string{"GET", "POST", "DELETE", "PROPFIND"} {
		h.refused(method+" of what is no route, by nobody", question{method: method, path: "/api/nope", token: "-"},
			401, "no_token")
		h.refused(method+" of what is no route", question{method: method, path: "/api/nope"}, 404, "no_route")
	}
}

func TestServerIsKnownByLoopbackNamesOfItsPortAndByThoseOfTheSettings(t *testing.T) {
	h := newHouse(t).open()
	port := h.port()
	for host, status := range map[string]int{
		"127.0.0.1:" + port:              200,
		"localhost:" + port:              200,
		"LocalHost:" + port:              200,
		"127.8.9.10:" + port:             200,
		"[::1]:" + port:                  200,
		"[::ffff:127.0.0.1]:" + port:     200,
		"sibyl.example:" + port:          200,
		"SIBYL.example":                  200,
		"sibyl.example:80":               200,
		"sibyl.example:443":              200,
		"sibyl.example:8443":             200,
		"gate.example:8443":              200,
		"gate.example":                   200,
		"gate.example:" + port:           200,
		"www.sibyl.example":              403,
		"sibyl.example.evil.example":     403,
		"sibyl.example:x":                403,
		"sibyl.example.:" + port:         403,
		"localhost":                      403,
		"localhost:1":                    403,
		"127.0.0.1":                      403,
		"127.0.0.1:1":                    403,
		"127.1:" + port:                  403,
		"2130706433:" + port:             403,
		"0x7f000001:" + port:             403,
		"0.0.0.0:" + port:                403,
		"[::]:" + port:                   403,
		"10.0.0.1:" + port:               403,
		"evil.example:" + port:           403,
		"localhost.evil.example":         403,
		"127.0.0.1.nip.io:" + port:       403,
		"localhost:" + port + ":" + port: 403,
		"x@localhost:" + port:            403,
	} {
		a, err := h.try(question{path: "/api/me", host: host})
		if err != nil && status == 403 { // this side would not even send it
			continue
		}
		assert.That(t, err == nil && a.status == status, "%s: %d %v; want %d", host, a.status, err, status)
		page, err := h.try(question{path: "/", host: host, token: "-"})
		assert.That(t, err == nil && page.status == status, "the page by %s: %d %v; want %d", host, page.status, err, status)
	}
	for about, request := range map[string]string{
		"no host": "GET /api/me HTTP/1.0\r\nAuthorization: Bearer " + adasToken + "\r\n\r\n",
		"empty host": "GET /api/me HTTP/1.1\r\nHost:\r\nAuthorization: Bearer " + adasToken +
			"\r\n\r\n",
		"foreign name in the address": "GET http://evil.example/api/me HTTP/1.1\r\nHost: " + h.addr +
			"\r\nAuthorization: Bearer " + adasToken + "\r\n\r\n",
		"forwarded name of a stranger": "GET /api/me HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: " + h.addr +
			"\r\nAuthorization: Bearer " + adasToken + "\r\n\r\n",
	} {
		status, _ := h.raw(request)
		assert.That(t, status == 403, "%s: %d", about, status)
	}
	a := h.ask(question{path: "/healthz", host: "10.1.2.3:" + port, token: "-"})
	assert.That(t, a.status == 200, "health by an address: %d", a.status)
}

func TestPagesOfOtherSitesAndPortsGetNothingByACookie(t *testing.T) {
	h := newHouse(t).open()
	cookie := "sibyl_" + h.port() + "=" + adasCookie
	here := "http://" + h.addr
	for _, c := range []struct {
		about  string
		header map[string]string
		get    int // the status of a request that reads
		post   int // of one that changes something
	}{
		{"a program", nil, 200, 201},
		{"the page itself", map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": here}, 200, 201},
		{"typed by the person", map[string]string{"Sec-Fetch-Site": "none"}, 200, 201},
		{"the page in an old browser", map[string]string{"Origin": here}, 200, 201},
		{"another site", map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}, 403, 403},
		{"another port of this machine", map[string]string{"Sec-Fetch-Site": "same-site",
			"Origin": "http://127.0.0.1:1"}, 403, 403},
		{"an image or link of another port", map[string]string{"Sec-Fetch-Site": "same-site",
			"Sec-Fetch-Mode": "no-cors"}, 403, 403},
		{"another site in an old browser", map[string]string{"Origin": "https://evil.example"}, 403, 403},
		{"another port in an old browser", map[string]string{"Origin": "http://127.0.0.1:1"}, 403, 403},
		{"a sandboxed frame", map[string]string{"Origin": "null"}, 403, 403},
		{"a value that no browser sends", map[string]string{"Sec-Fetch-Site": "Same-Origin"}, 403, 403},
	} {
		if a := h.ask(question{path: "/api/me", cookie: cookie, header: c.header}); a.status != c.get {
			t.Errorf("%s reads: %d %s; want %d", c.about, a.status, a.body, c.get)
		}
		a := h.ask(question{method: "POST", path: "/api/runs", cookie: cookie, header: c.header, body: asking("Tea?")})
		assert.That(t, a.status == c.post, "%s writes: %d %s; want %d", c.about, a.status, a.body, c.post)
		if c.post == 403 {
			h.refused(c.about+" signs in", question{method: "POST", path: "/api/sign-in", token: "-", header: c.header,
				body: map[string]string{"token": adasOnce}}, 403, "cross_site")
		}
		for _, header := range []string{"Access-Control-Allow-Origin", "Access-Control-Allow-Credentials"} {
			assert.That(t, a.header.Get(header) == "", "%s: the answer has %s", c.about, header)
		}
	}
	preflight := h.ask(question{method: "OPTIONS", path: "/api/runs", token: "-",
		header: map[string]string{"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}})
	assert.That(t, preflight.status/100 != 2 && preflight.header.Get("Access-Control-Allow-Origin") == "",
		"a preflight gets %d %v", preflight.status, preflight.header)
}

func TestBrowserSignsInOnceAndOut(t *testing.T) {
	h := newHouse(t).open()
	once := map[string]string{"token": adasOnce}
	a := h.get(question{method: "POST", path: "/api/sign-in", token: "-", body: once,
		header: map[string]string{"Sec-Fetch-Site": "same-origin"}}, nil)
	assert.That(t, strings.Contains(string(a.body), `"user":"ada"`), "signed in as %s", a.body)
	cookie := assert.Must(http.ParseSetCookie(a.header.Get("Set-Cookie")))(t)
	assert.That(t, cookie.Name == "sibyl_"+h.port() && cookie.HttpOnly && cookie.SameSite == http.SameSiteStrictMode &&
		cookie.Path == "/" && cookie.Domain == "" && !cookie.Secure && cookie.MaxAge > 0, "the cookie is %v", cookie)
	h.refused("the token again", question{method: "POST", path: "/api/sign-in", token: "-", body: once}, 401,
		"wrong_token")
	with := cookie.Name + "=" + cookie.Value
	h.get(question{path: "/api/me", cookie: with}, nil)
	h.refused("a program that signs out", question{method: "POST", path: "/api/sign-out"}, 400, "no_cookie")
	out := h.get(question{method: "POST", path: "/api/sign-out", cookie: with}, nil)
	ended, err := http.ParseSetCookie(out.header.Get("Set-Cookie"))
	assert.That(t, err == nil && ended.Name == cookie.Name && ended.MaxAge < 0 && ended.Value == "",
		"signing out sets %v, %v", ended, err)
	h.refused("the cookie afterwards", question{path: "/api/me", cookie: with}, 401, "wrong_token")
	h.get(question{path: "/api/me", token: adasToken}, nil)
}

// A proxy may pass a request on without a word of how it came, and by the address of this server.
func TestCookieIsForTLSAloneWhereTheServerHasANameThatIsReachedOverTLS(t *testing.T) {
	for _, c := range []struct {
		origins []string
		named   string // by which name; "": by the address
		secure  bool
	}{
		{[]string{"https://sibyl.example"}, "sibyl.example", true},
		{[]string{"https://sibyl.example"}, "", true},
		{[]string{"https://sibyl.example:8443"}, "sibyl.example:8443", true},
		{[]string{"http://sibyl.example"}, "sibyl.example", false},
		{[]string{"http://sibyl.example"}, "", false},
		{[]string{"http://old.example", "https://sibyl.example"}, "old.example", false},
		{[]string{"http://old.example", "https://sibyl.example"}, "SIBYL.example", true},
		{[]string{"http://old.example", "https://sibyl.example"}, "", true},
		{nil, "", false},
	} {
		t.Run(fmt.Sprint(c.named, " of ", c.origins), func(t *testing.T) {
			h := newHouse(t)
			h.config.Origins = c.origins
			h.open()
			host := cmp.Or(c.named, h.addr)
			a := h.get(question{method: "POST", path: "/api/sign-in", token: "-", host: host,
				body: map[string]string{"token": adasOnce}}, nil)
			cookie := assert.Must(http.ParseSetCookie(a.header.Get("Set-Cookie")))(t)
			assert.Equalf(t, cookie.Secure, c.secure, "whether the cookie is for TLS alone")
			h.get(question{path: "/api/me", host: host, cookie: cookie.Name + "=" + cookie.Value}, nil)
		})
	}
}

// Over plain HTTP browsers say nothing but the origin of a page, and keep no cookie that is for TLS alone.
func TestSignInOverPlainHTTPWorksOrSaysWhatToSet(t *testing.T) {
	for _, c := range []struct {
		origins      []string
		named, page  string // the Host, "": the server's address; and the Origin
		refused, now string // the kind of the problem, and an Origin that then signs in with the same token
	}{
		{[]string{"https://sibyl.lan"}, "sibyl.lan", "http://sibyl.lan", "not_encrypted", "https://sibyl.lan"},
		{[]string{"https://sibyl.lan"}, "", "http://sibyl.lan", "not_encrypted", ""},
		{[]string{"https://sibyl.lan"}, "sibyl.lan:8080", "http://sibyl.lan:8080", "not_encrypted", ""},
		{[]string{"http://old.lan", "https://sibyl.lan"}, "", "http://sibyl.lan", "not_encrypted", ""},
		{[]string{"http://old.lan", "https://sibyl.lan"}, "", "http://old.lan", "cross_site", ""},
		{[]string{"http://sibyl.lan"}, "", "http://other.lan", "cross_site", ""},
		{[]string{"http://old.lan", "https://sibyl.lan"}, "old.lan", "http://old.lan", "", ""},
		{[]string{"http://sibyl.lan"}, "sibyl.lan", "http://sibyl.lan", "", ""},
		{[]string{"http://sibyl.lan"}, "", "http://sibyl.lan", "", ""},
		{[]string{"http://sibyl.lan:8080"}, "", "http://sibyl.lan:8080", "", ""},
	} {
		t.Run(fmt.Sprint(c.page, " as ", c.named, " of ", c.origins), func(t *testing.T) {
			h := newHouse(t)
			h.config.Origins = c.origins
			h.open()
			q := question{method: "POST", path: "/api/sign-in", token: "-", host: cmp.Or(c.named, h.addr),
				body: map[string]string{"token": adasOnce}, header: map[string]string{"Origin": c.page}}
			if c.refused != "" {
				a := h.refused("it", q, 403, c.refused)
				assert.Contains(t, "the hint", a.problem().Hint,
					map[string]string{"not_encrypted": "server.hosts", "cross_site": "Host"}[c.refused])
				if c.now == "" {
					return
				}
				q.header["Origin"] = c.now
			}
			a := h.get(q, nil)
			cookie := assert.Must(http.ParseSetCookie(a.header.Get("Set-Cookie")))(t)
			assert.Equalf(t, cookie.Secure, c.refused != "", "whether the cookie is for TLS alone")
		})
	}
}

func TestReaderSignsOutToo(t *testing.T) {
	h := newHouse(t)
	h.users.add(t, "ada", user.Cookie, user.Read, nobodys)
	h.open()
	h.get(question{method: "POST", path: "/api/sign-out", cookie: "sibyl_" + h.port() + "=" + nobodys}, nil)
}

func TestUsersThatCannotBeLookedUpAreNoWrongTokens(t *testing.T) {
	h := newHouse(t)
	h.users.broken = errDown
	h.open()
	a := h.refused("a right token", question{path: "/api/me"}, 500, "internal")
	assert.That(t, !strings.Contains(string(a.body), errDown.Error()), "the answer tells of the server: %s", a.body)
	h.log.waitFor(t, errDown.Error())
}

func TestOthersIDsAreAnsweredLikeIDsThatNeverWere(t *testing.T) {
	h := newHouse(t)
	h.store = strict{h.store, t}
	h.open()
	evening := h.holds("ada")
	defer evening()
	b := h.begin(evesToken, "Tea?")
	h.answers("ada")
	done := h.begin(evesToken, "Milk?")
	h.ended(evesToken, done.Run)
	var never answer
	for i, ids := range [][2]string{{"0000000000000000", "0000000000000000"}, {b.Run, b.Session},
		{done.Run, done.Session}, {b.Session, b.Run},
		{strings.Repeat("x", 64), strings.Repeat("x", 64)}, {strings.Repeat("x", 5000), strings.Repeat("x", 5000)},
		{"%00", "a%00b"}, {"%ff%fe", "..%2f.."}, {"'%20OR%201=1", "last"}} {
		for _, q := range []question{
			{path: "/api/runs/" + ids[0]},
			{path: "/api/runs/" + ids[0] + "/explanation"},
			{path: "/api/runs/" + ids[0] + "/tree"},
			{path: "/api/runs/" + ids[0] + "/receipts/1"},
			{method: "POST", path: "/api/runs/" + ids[0] + "/replay", body: map[string]string{"tree": "<root/>"}},
			{method: "POST", path: "/api/runs/" + ids[0] + "/cancel"},
			{method: "POST", path: "/api/runs/" + ids[0] + "/resume"},
			{path: "/api/sessions/" + ids[1]},
			{path: "/api/sessions/" + ids[1] + "/export"},
			{path: "/api/sessions/" + ids[1] + "/audit"},
			{method: "PATCH", path: "/api/sessions/" + ids[1], body: map[string]string{"title": "mine"}},
			{method: "DELETE", path: "/api/sessions/" + ids[1]},
		} {
			a := h.refused(fmt.Sprintf("ids %d, %s %s", i, q.method, q.path), q, 404, "not_found")
			if i == 0 && never.body == nil {
				never = a
			}
			assert.That(t, string(a.body) == string(never.body) && len(a.header) == len(never.header),
				"ids %d, %s %s: %s %v; one that never was has %s %v", i, q.method, q.path, a.body, a.header, never.body,
				never.header)
		}
	}
	request := asking("Sugar?")
	for _, id := range []string{"0000000000000000", b.Session, "a\x00b", "\xff", strings.Repeat("x", 64)} {
		request["session"] = id
		h.refused("going on with session "+id, question{method: "POST", path: "/api/runs", body: request}, 404,
			"not_found")
	}
	for _, path := range []string{"/api/runs", "/api/runs?open=true", "/api/runs?session=" + b.Session, "/api/sessions",
		"/api/runs?assistant=panel",
		"/api/runs?waiting=true", "/api/find?q=tea", "/api/find?q=TEA&assistant=panel"} {
		a := h.get(question{path: path}, nil)
		assert.That(t, strings.Contains(string(a.body), ":[]}"), "%s: %s", path, a.body)
	}
	var eves struct{ Runs []any }
	h.get(question{path: "/api/runs", token: evesToken}, &eves)
	assert.That(t, len(eves.Runs) == 2, "eve has %d runs", len(eves.Runs))
}
