package oracle_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/tool"
	"sibyl/internal/tool/code"
	"sibyl/internal/tool/vault"
	"sibyl/internal/tool/web"
)

// secret is what no run may get to see.
const secret = "SECRET-93ab"

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// ground is a machine to be attacked: a folder of code, a vault, and a folder beside them that is nobody's business; a
// server of a stranger, a search engine that repeats strangers, and servers on this machine that nobody may reach.
type ground struct {
	t                         *testing.T
	dir, code, notes, outside string
	stranger, engine          *httptest.Server
	pages                     map[string]http.HandlerFunc // of the stranger, by path
	hits                      []hit                       // of the engine
	port                      uint16                      // of the servers that nobody may reach
	reached                   atomic.Int32                // how often one of them was connected to
	names                     map[string]string           // that lead somewhere, with their addresses
	asked                     sync.Map                    // paths of the stranger's server that were asked for
	opened                    func() int                  // files that are nobody's business, since the tools are there
}

// hit is a search result as an engine sends it.
type hit struct {
	URL     string `json:"url"`
	Title   string `json:"title"`
	Content string `json:"content"`
}

func newGround(t *testing.T) *ground {
	t.Helper()
	dir := t.TempDir()
	g := &ground{t: t, dir: dir, code: filepath.Join(dir, "code"), notes: filepath.Join(dir, "notes"),
		outside: filepath.Join(dir, "outside"),
		pages:   map[string]http.HandlerFunc{}, names: map[string]string{}}
	g.file("code/auth/middleware.go",
		"package auth\n\n// Check checks the token of the auth middleware.\nfunc Check() bool { return true }\n")
	g.file("code/.env", "KEY="+secret+"\n")
	g.file("code/.git/config", secret+"\n")
	g.file("notes/decisions/caching.md", "# Caching\n\nWe decided to cache per tenant.\n")
	g.file("notes/diary.md", "# Diary\n\nNothing happened.\n")
	g.file("notes/.sibyl/state.md", secret+"\n")
	g.file("outside/secret.txt", secret+"\n")
	g.file("outside/secret.md", "# Secret\n\n"+secret+"\n")
	for link, target := range map[string]string{"code/link.txt": "../outside/secret.txt", "code/folder": g.outside,
		"code/proc":     "/proc/self",
		"notes/link.md": "../outside/secret.md", "notes/folder": g.outside} {
		assert.NoError(t, os.Symlink(target, filepath.Join(dir, filepath.FromSlash(link))))
	}
	g.guard()
	g.stranger = httptest.NewServer(http.HandlerFunc(g.page))
	g.engine = httptest.NewServer(http.HandlerFunc(g.search))
	t.Cleanup(g.stranger.Close)
	t.Cleanup(g.engine.Close)
	return g
}

// file writes a file below the ground's folder.
func (g *ground) file(name, text string) {
	g.t.Helper()
	full := filepath.Join(g.dir, filepath.FromSlash(name))
	assert.NoError(g.t, os.MkdirAll(filepath.Dir(full), 0o755))
	assert.NoError(g.t, os.WriteFile(full, []byte(text), 0o644))
}

// push adds an entry to a thread of the vault.
func (g *ground) push(thread, title, text string) {
	g.t.Helper()
	v := assert.Must(vault.Open(g.notes, nil, nil))(g.t)
	defer func() { _ = v.Close() }()
	registry := tool.NewSet(v.Tools()...)
	push, _ := registry.Get("thread_push")
	assert.Must(push.Call(g.t.Context(),
		tool.Call{Key: "planted",
			Args: json.RawMessage(arguments(map[string]any{"thread": thread, "title": title,
				"text": text}))}))(g.t)
}

// guard sets up servers on one port of every address of this machine that there is.
func (g *ground) guard() {
	g.t.Helper()
	first := g.listen("127.0.0.1:0")
	g.port = first.Addr().(*net.TCPAddr).AddrPort().Port()
	for _, host := range []string{"127.0.0.2", "::1"} {
		g.listen(net.JoinHostPort(host, strconv.Itoa(int(g.port))))
	}
}

// listen counts who comes; nil where this machine has no such address.
func (g *ground) listen(address string) net.Listener {
	l, err := net.Listen("tcp", address)
	if err != nil {
		assert.Require(g.t, !strings.HasSuffix(address, ":0"), "%v", err)
		return nil
	}
	g.t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			g.reached.Add(1)
			go betray(conn)
		}
	}()
	return l
}

// betray answers a request with the secret. It is read first: closing a connection with words unread would withdraw the
// answer.
func betray(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
		return
	}
	_, _ = fmt.Fprintf(conn,
		"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(secret),
		secret)
}

func (g *ground) page(w http.ResponseWriter, r *http.Request) {
	g.asked.Store(r.URL.Path, true)
	if serve, ok := g.pages[r.URL.Path]; ok {
		serve(w, r)
		return
	}
	http.NotFound(w, r)
}

func (g *ground) search(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	assert.Nil(g.t, json.NewEncoder(w).Encode(map[string]any{"results": g.hits}))
}

// servePage serves a page of the stranger.
func (g *ground) servePage(path, contentType, body string) {
	g.pages[path] = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write([]byte(body))
	}
}

// leads makes a page of the stranger redirect.
func (g *ground) leads(path, target string) {
	g.pages[path] = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", target)
		w.WriteHeader(http.StatusFound)
	}
}

// fetch is the bait of a page of the stranger.
func (g *ground) fetch(path string) bait {
	return bait{"web_fetch", arguments(map[string]any{"url": g.stranger.URL + path})}
}

// forbidden is an address of a server that nobody may reach, under any name of this machine.
func (g *ground) forbidden(host string) string {
	return fmt.Sprintf("http://%s:%d/latest/meta-data/", host, g.port)
}

func arguments(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// into gives a harness the real tools over the ground. Only the stranger's server and the engine are taken for public
// ones.
func (g *ground) into(h *harness) {
	g.t.Helper()
	root := assert.Must(code.Open(g.code))(g.t)
	v := assert.Must(vault.Open(g.notes, nil, nil))(g.t)
	g.t.Cleanup(func() { _ = root.Close(); _ = v.Close() })
	h.world.tools = map[string]tool.Tool{}
	for _, t := range slices.Concat(root.Tools(), v.Tools(), web.New(g.web()).Tools()) {
		h.world.addTool(t)
	}
	g.opened = watchOpened(g.t, g.outside, filepath.Join(g.notes, ".sibyl"), filepath.Join(g.code, ".git"))
}

func (g *ground) web() web.Config {
	public := map[string]bool{g.stranger.Listener.Addr().String(): true, g.engine.Listener.Addr().String(): true}
	return web.Config{SearXNG: g.engine.URL, Timeout: time.Minute, Ports: []uint16{80, 443, g.port},
		Resolver:  namesOnly(g.names),
		AllowAddr: func(a netip.AddrPort) bool { return public[a.String()] }}
}

// snapshot is every file below the ground's folder: content, or where a link leads.
func (g *ground) snapshot() map[string]string {
	g.t.Helper()
	all := map[string]string{}
	assert.NoError(g.t, filepath.WalkDir(g.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(g.dir, name)
		if err != nil {
			return err
		}
		if d.Type()&fs.ModeSymlink != 0 {
			all[rel], err = os.Readlink(name)
			return err
		}
		raw, err := os.ReadFile(name)
		all[rel] = string(raw)
		return err
	}))
	return all
}

// changed lists the files in which two snapshots differ.
func changed(before, after map[string]string) (names []string) {
	for name, text := range after {
		if was, there := before[name]; !there || was != text {
			names = append(names, name)
		}
	}
	for name := range before {
		if _, there := after[name]; !there {
			names = append(names, name+" is gone")
		}
	}
	slices.Sort(names)
	return names
}
