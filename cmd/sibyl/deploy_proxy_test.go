package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
)

// proxied is a server behind nginx, with the block that docs/server.md has for it, and a second one that passes requests
// on and says nothing of them.
type proxied struct {
	*served
	roots       *x509.CertPool
	full, plain string // the addresses of the two
}

const proxiedName = "sibyl.example.org"

func newProxied(t *testing.T) *proxied {
	t.Helper()
	p := &proxied{served: &served{story: newStory(t), t: t, tokens: map[string]string{}}}
	p.config = filepath.Join(p.data, "served.yaml")
	write(t, p.config, fmt.Sprintf("server:\n  listen: 127.0.0.1:0\n  hosts: [%s]\n  proxies: [127.0.0.1]\n", proxiedName))
	out, _ := p.sibyl(t, "", "user", "add", "ada", "--config", p.config)
	p.tokens["ada"] = strings.TrimSpace(string(out))
	p.serve()
	p.full, p.plain = freeAddress(t), freeAddress(t)
	folder := t.TempDir()
	p.certificate(folder)

	guide := string(read(t, "../../docs/server.md"))
	_, block, found := strings.Cut(guide, "```nginx\n")
	block, _, closed := strings.Cut(block, "```")
	assert.Require(t, found && closed, "docs/server.md has no block for nginx")
	upstream := strings.TrimPrefix(p.url, "http://")
	for _, change := range [][2]string{{"listen 443 ", "listen " + p.full + " "}, {"127.0.0.1:7333", upstream},
		{"/etc/ssl/sibyl.pem", folder + "/sibyl.pem"}, {"/etc/ssl/sibyl.key", folder + "/sibyl.key"}} {
		assert.Require(t, strings.Count(block, change[0]) == 1, "the block for nginx has not one %q", change[0])
		block = strings.Replace(block, change[0], change[1], 1)
	}
	begin, _, _ := strings.Cut(block, "\tlocation")
	plain := strings.Replace(begin, p.full, p.plain, 1) + "\tlocation / { proxy_pass http://" + upstream + "; }\n}\n"
	user := ""
	if os.Geteuid() == 0 {
		user = "user root;\n" // whose files these are
	}
	write(t, folder+"/nginx.conf", fmt.Sprintf("%sdaemon off;\nworker_processes 1;\npid %s/pid;\nerror_log stderr;\nevents {}\nhttp {\n"+
		"access_log off;\nclient_body_temp_path %[2]s/body;\nproxy_temp_path %[2]s/proxy;\nfastcgi_temp_path %[2]s/fastcgi;\n"+
		"uwsgi_temp_path %[2]s/uwsgi;\nscgi_temp_path %[2]s/scgi;\n%s%s}\n", user, folder, block, plain))
	p.nginx(folder)
	return p
}

// freeAddress is one of this machine's that nobody listens to.
func freeAddress(t *testing.T) string {
	t.Helper()
	l := assert.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	assert.NoError(t, l.Close())
	return l.Addr().String()
}

// certificate writes a certificate of the name, and trusts it.
func (p *proxied) certificate(folder string) {
	p.t.Helper()
	key := assert.Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(p.t)
	own := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{proxiedName}, NotAfter: time.Now().Add(time.Hour)}
	signed := assert.Must(x509.CreateCertificate(rand.Reader, own, own, key.Public(), key))(p.t)
	secret := assert.Must(x509.MarshalPKCS8PrivateKey(key))(p.t)
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})
	write(p.t, folder+"/sibyl.pem", string(public))
	write(p.t, folder+"/sibyl.key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
	p.roots = x509.NewCertPool()
	p.roots.AppendCertsFromPEM(public)
}

// nginx starts nginx, which ends with the test, and waits until it listens.
func (p *proxied) nginx(folder string) {
	p.t.Helper()
	var said bytes.Buffer
	cmd := exec.Command("nginx", "-p", folder, "-c", folder+"/nginx.conf")
	cmd.Stderr = &said
	assert.NoError(p.t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	p.t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		<-ended
		if p.t.Failed() {
			p.t.Logf("nginx says:\n%s", &said)
		}
	})
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	defer cancel()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", p.plain)
		if err == nil {
			_ = conn.Close()
			return
		}
		select {
		case err := <-ended:
			ended <- err
			p.t.Fatalf("nginx has ended: %v\n%s", err, &said)
		case <-ctx.Done():
			p.t.Fatalf("nginx does not listen: %v", err)
		case <-again.C:
		}
	}
}

// from is a client at an address of this machine, which reaches the name at one of the two proxies.
func (p *proxied) from(address, proxy string) *http.Client {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	return &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: p.roots},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, proxy)
		}}}
}

// sent is what a request is answered, with a body that ends with the test.
type sent struct {
	status int
	proto  string
	header http.Header
	body   io.Reader
}

// send sends a request to the name at the port of a proxy, with headers in pairs.
func (p *proxied) send(client *http.Client, proxy, method, path string, body io.Reader, headers ...string) sent {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	p.t.Cleanup(cancel)
	_, port, _ := net.SplitHostPort(proxy)
	req := assert.Must(http.NewRequestWithContext(ctx, method, "https://"+proxiedName+":"+port+path, body))(p.t)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := client.Do(req)
	assert.NoError(p.t, err)
	p.t.Cleanup(func() { _ = resp.Body.Close() })
	return sent{resp.StatusCode, resp.Proto, resp.Header, resp.Body}
}

// signsIn signs a browser in through a proxy, and gives its cookie.
func (p *proxied) signsIn(client *http.Client, proxy string) *http.Cookie {
	p.t.Helper()
	o := p.run(p.t, "", 0, []string{"user", "sign-in", "ada", "--config", p.config})
	once := strings.TrimSpace(o.out)
	assert.Contains(p.t, "what is printed", o.err, "· open https://"+proxiedName+"/#"+once)
	body := assert.Must(json.Marshal(map[string]string{"token": once}))(p.t)
	resp := p.send(client, proxy, http.MethodPost, "/api/sign-in", bytes.NewReader(body), "Content-Type", "application/json",
		"Sec-Fetch-Site", "same-origin")
	text, err := io.ReadAll(resp.body)
	assert.Require(p.t, err == nil && resp.status == http.StatusOK && resp.proto == "HTTP/2.0", "signing in: %s %d %s %v",
		resp.proto, resp.status, text, err)
	return assert.Must(http.ParseSetCookie(resp.header.Get("Set-Cookie")))(p.t)
}

func TestServerWorksBehindNginxAsItsGuideHasIt(t *testing.T) {
	needs.Program(t, "nginx")
	p := newProxied(t)
	client := p.from("127.0.0.1", p.full)
	cookie := p.signsIn(client, p.full)
	_, port, _ := net.SplitHostPort(p.full)
	assert.That(t, cookie.Secure && cookie.Name == "sibyl_"+port, "the cookie is %v", cookie)
	with := []string{"Cookie", cookie.Name + "=" + cookie.Value, "Sec-Fetch-Site", "same-origin"}

	// The model answers once the first event has arrived: what holds it back never ends.
	first := make(chan struct{})
	p.server.before(func() {
		select {
		case <-first:
		case <-t.Context().Done():
		}
	})
	question := assert.Must(json.Marshal(map[string]any{"question": "What does greet do?"}))(t)
	resp := p.send(client, p.full, http.MethodPost, "/api/ask", bytes.NewReader(question), append(with, "Content-Type",
		"application/json", "Accept", "text/event-stream")...)
	assert.Require(t, resp.status == http.StatusOK, "a question: %d", resp.status)
	in := bufio.NewReader(resp.body)
	line, err := in.ReadString('\n')
	assert.That(t, err == nil, "the first line of a stream: %q, %v", line, err)
	close(first)
	rest, err := io.ReadAll(in)
	assert.That(t, err == nil && strings.Contains(string(rest), "It greets by name"), "the stream goes on with %s, %v", rest, err)

	// A file larger than nginx takes by itself.
	created := p.send(client, p.full, http.MethodPost, "/api/council/sessions", strings.NewReader("{}"), append(with, "Content-Type",
		"application/json")...)
	var s struct {
		ID string `json:"session_id"`
	}
	assert.Require(t, json.NewDecoder(created.body).Decode(&s) == nil && s.ID != "", "a session: %d", created.status)
	recording := append(tone(), make([]byte, 3<<20)...)
	added := p.send(client, p.full, http.MethodPost, "/api/council/sessions/"+s.ID+"/entries?name=a.wav", bytes.NewReader(recording),
		append(with, "Content-Type", "audio/wav")...)
	assert.Equalf(t, added.status, http.StatusCreated, "the status of a file of 3 MiB")

	assert.Equalf(t, p.send(client, p.full, http.MethodGet, "/metrics", nil).status, http.StatusUnauthorized,
		"the status of metrics without a token")
}

// What one client guesses wrong is counted for its own address, whatever it says of where it comes from.
func TestAddressOfAClientIsTheOneThatNginxSaw(t *testing.T) {
	needs.Program(t, "nginx")
	p := newProxied(t)
	guesses := p.from("127.0.0.2", p.full)
	last := 0
	for n := range 30 {
		last = p.send(guesses, p.full, http.MethodGet, "/api/me", nil, "Authorization", "Bearer wrong", "X-Forwarded-For",
			fmt.Sprintf("203.0.113.%d", n)).status
	}
	assert.Equalf(t, last, http.StatusTooManyRequests, "the status of the thirtieth wrong token of an address")
	other := p.send(p.from("127.0.0.3", p.full), p.full, http.MethodGet, "/api/me", nil, "Authorization", "Bearer wrong")
	assert.Equalf(t, other.status, http.StatusUnauthorized, "the status of the first of another address")
}

// A proxy that tells nothing looks as a program on this machine does.
func TestProxyThatTellsNothingOpensNothing(t *testing.T) {
	needs.Program(t, "nginx")
	p := newProxied(t)
	client := p.from("127.0.0.1", p.plain)
	cookie := p.signsIn(client, p.plain)
	assert.That(t, cookie.Secure, "the cookie is %v", cookie)
	me := p.send(client, p.plain, http.MethodGet, "/api/me", nil, "Cookie", cookie.Name+"="+cookie.Value, "Sec-Fetch-Site", "same-origin")
	assert.Equalf(t, me.status, http.StatusOK, "the status of who signed in")
	assert.Equalf(t, p.send(client, p.plain, http.MethodGet, "/metrics", nil).status, http.StatusUnauthorized,
		"the status of metrics without a token")
}
