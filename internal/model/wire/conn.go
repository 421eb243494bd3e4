package wire

import (
	"context"
	"io"
	"net"
	"sync"
)

// conn is a connection that takes the memory for copying a request from a pool, where net/http would make some for each.
type conn struct {
	net.Conn
	copies *sync.Pool // of memory
}

const copied = 16 << 10 // bytes at a time: most requests

// ReadFrom sends what r holds.
func (c conn) ReadFrom(r io.Reader) (int64, error) {
	b := c.copies.Get().(*[copied]byte)
	defer c.copies.Put(b)
	return io.CopyBuffer(struct{ io.Writer }{c.Conn}, r, b[:]) // its own ReadFrom would make the memory
}

// dial is a way to make connections.
type dial = func(ctx context.Context, network, address string) (net.Conn, error)

// pooled makes connections as made does.
func pooled(made dial) dial {
	copies := &sync.Pool{New: func() any { return new([copied]byte) }}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := made(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return conn{c, copies}, nil
	}
}
