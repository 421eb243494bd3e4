package behaviour_test

import (
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"testing"

	"sibyl/internal/behaviour/assert"
)

// proxy stands between a node and PostgreSQL. While it is cut, nothing passes, in neither direction, and nobody is
// told: as where a cable is pulled. What was sent meanwhile arrives when it is healed. While it refuses, connections
// are closed, old and new ones: as by a firewall.
type proxy struct {
	listener net.Listener
	server   string // its socket

	mu      sync.Mutex
	whole   chan struct{} // closed while it is not cut
	refuses bool
	open    map[net.Conn]bool // nil at the end
	all     sync.WaitGroup
}

// cableTo puts a proxy before a database, and gives the address by which that is reached through it.
func cableTo(t *testing.T, database string) (*proxy, string) {
	t.Helper()
	u := assert.Must(url.Parse(database))(t)
	l := assert.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	query := u.Query()
	p := &proxy{listener: l, server: filepath.Join(query.Get("host"), ".s.PGSQL.5432"), whole: make(chan struct{}),
		open: map[net.Conn]bool{}}
	close(p.whole)
	p.all.Go(p.accept)
	t.Cleanup(p.close)
	u.Host = l.Addr().String()
	query.Del("host")
	u.RawQuery = query.Encode()
	return p, u.String()
}

func (p *proxy) accept() {
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.all.Go(func() { p.serve(near) })
	}
}

// serve joins a connection with one to the server.
func (p *proxy) serve(near net.Conn) {
	p.pass()
	far, err := net.Dial("unix", p.server)
	if err != nil {
		_ = near.Close()
		return
	}
	if !p.keep(near, far) {
		return
	}
	p.all.Go(func() { p.carry(far, near) })
	p.carry(near, far)
}

// keep has connections closed at the end; false if they are closed at once.
func (p *proxy) keep(all ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	closes := p.open == nil || p.refuses
	for _, c := range all {
		if closes {
			_ = c.Close()
			continue
		}
		p.open[c] = true
	}
	return !closes
}

// carry takes what comes from one end to the other, and its end too.
func (p *proxy) carry(to, from net.Conn) {
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		p.pass()
		if n > 0 {
			if _, writeErr := to.Write(b[:n]); writeErr != nil {
				err = writeErr
			}
		}
		if err != nil {
			break
		}
	}
	_ = to.Close()
	_ = from.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, to)
	delete(p.open, from)
}

// pass waits until it is whole.
func (p *proxy) pass() {
	p.mu.Lock()
	whole := p.whole
	p.mu.Unlock()
	<-whole
}

func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.whole = make(chan struct{})
}

func (p *proxy) refuse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuses = true
	for c := range p.open {
		_ = c.Close()
	}
}

func (p *proxy) heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuses = false
	select {
	case <-p.whole:
	default:
		close(p.whole)
	}
}

func (p *proxy) close() {
	_ = p.listener.Close()
	p.heal()
	p.mu.Lock()
	for c := range p.open {
		_ = c.Close()
	}
	p.open = nil
	p.mu.Unlock()
	p.all.Wait()
}
