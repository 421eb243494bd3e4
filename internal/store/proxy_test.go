package store

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"sibyl/internal/behaviour/assert"
)

// proxy stands between a store and its server. It knows where messages to the server begin, and cuts connections where
// it is told to.
type proxy struct {
	listener net.Listener
	server   string // the path of its socket
	at       func(message []byte) cut

	mu   sync.Mutex
	open map[net.Conn]bool
	off  bool // new connections are cut at once
	all  sync.WaitGroup
}

// cut is what a proxy does with a connection at a message.
type cut int

const (
	nothing        cut = iota
	beforeIt           // the message does not arrive
	afterIt            // it arrives, and the connection is gone before the server answers
	afterTheAnswer     // the server answers, and the answer does not arrive
	afterItForGood     // as afterIt, and from then on there is no server
	afterItSilence     // it arrives, and nothing arrives any more in either direction
)

// before starts a proxy before the server of dsn and returns the address through it. at says what is done at each
// message.
func before(t *testing.T, dsn string, at func(message []byte) cut) (*proxy, string) {
	t.Helper()
	config := assert.Must(pgx.ParseConfig(dsn))(t)
	listener := assert.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	p := &proxy{listener: listener, server: config.Host + "/.s.PGSQL.5432", at: at, open: map[net.Conn]bool{}}
	p.all.Go(p.accept)
	t.Cleanup(func() {
		p.cutOff()
		_ = listener.Close()
		p.all.Wait()
	})
	settings := url.Values{"sslmode": {"disable"}}
	if schema := config.RuntimeParams["search_path"]; schema != "" {
		settings.Set("search_path", schema)
	}
	return p, "postgres://" + config.User + "@" + listener.Addr().String() + "/" + config.Database + "?" +
		settings.Encode()
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.all.Go(func() { p.serve(client) })
	}
}

// keep notes a connection, and says whether there are any.
func (p *proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[c] = true
	return !p.off
}

// cutOff ends all connections, and those to come.
func (p *proxy) cutOff() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.off = true
	for c := range p.open {
		_ = c.Close()
	}
}

// letIn takes connections again.
func (p *proxy) letIn() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.off = false
}

func (p *proxy) serve(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := (&net.Dialer{}).DialContext(context.Background(), "unix", p.server)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	if !p.keep(client) || !p.keep(server) {
		return
	}
	over := make(chan struct{})
	defer close(over)
	answers := make(chan struct{}) // closed when the server is not to be heard any more
	deaf := sync.OnceFunc(func() { close(answers) })
	p.all.Go(func() {
		defer func() { _ = client.Close() }()
		buffer := make([]byte, 64<<10)
		for {
			n, err := server.Read(buffer)
			select {
			case <-answers: // what it said is lost
				<-over
				return
			default:
			}
			if _, writeErr := client.Write(buffer[:n]); err != nil || writeErr != nil {
				return
			}
		}
	})
	if err := p.forward(client, server, deaf); err != nil {
		deaf()
	}
}

var errCut = errors.New("cut")

// forward passes messages on, one by one.
func (p *proxy) forward(client io.Reader, server net.Conn, deaf func()) error {
	for first := true; ; first = false {
		message, err := readMessage(client, first)
		if err != nil {
			return err
		}
		what := nothing
		if !first {
			what = p.at(message)
		}
		if what == beforeIt {
			return errCut
		}
		if what != nothing {
			deaf()
		}
		if _, err := server.Write(message); err != nil {
			return err
		}
		switch what {
		case afterTheAnswer:
			return waitClosed(server)
		case afterItForGood:
			p.cutOff()
			return errCut
		case afterItSilence:
			_, err := io.Copy(io.Discard, client)
			return errors.Join(err, errCut)
		case afterIt:
			return errCut
		}
	}
}

// waitClosed has the server end the connection by itself, when it has done what it was sent.
func waitClosed(server net.Conn) error {
	if half, ok := server.(interface{ CloseWrite() error }); ok {
		if err := half.CloseWrite(); err != nil {
			return err
		}
	}
	_, err := io.Copy(io.Discard, server)
	return errors.Join(err, errCut)
}

// readMessage reads a message to the server. The first has no type.
func readMessage(from io.Reader, first bool) ([]byte, error) {
	head := make([]byte, 5)
	if first {
		head = head[:4]
	}
	if _, err := io.ReadFull(from, head); err != nil {
		return nil, err
	}
	length := head[len(head)-4:]
	message := make([]byte, len(head)-len(length)+int(binary.BigEndian.Uint32(length)))
	_, err := io.ReadFull(from, message[copy(message, head):])
	return message, err
}
