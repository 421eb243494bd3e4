package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// mostLine bounds a message on a stream, in bytes.
const mostLine = 4 << 20

// Stream answers one client on a pair of streams, for one owner, until in ends or ctx is done. What is under way when
// in ends is answered first. A line that is no message is answered with an error, and skipped. A read of in that blocks
// when ctx is done is left behind.
func (s *Server) Stream(ctx context.Context, owner string, in io.Reader, out io.Writer) error {
	l := &lines{out: out, in: make(chan line), over: make(chan struct{}), changed: make(chan struct{}, 1),
		unanswered: map[jsonrpc.ID]bool{}}
	go l.read(in)
	made := s.For(owner, "")
	made.AddReceivingMiddleware(withdrawOnDone(ctx))
	err := made.Run(ctx, l)
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		err = nil // it ended as it was to
	}
	return err
}

// lines is a connection on which each message is a line.
type lines struct {
	in   chan line
	out  io.Writer
	over chan struct{}
	once sync.Once

	writing sync.Mutex

	mu         sync.Mutex
	unanswered map[jsonrpc.ID]bool // calls of the client
	asked      int                 // calls to the client that it has not answered
	changed    chan struct{}       // has something in it when these may have changed
}

// line is one line from the client, or the end of its input.
type line struct {
	text []byte
	err  error
}

// Connect implements sdk.Transport.
func (l *lines) Connect(context.Context) (sdk.Connection, error) { return l, nil }

// SessionID implements sdk.Connection.
func (l *lines) SessionID() string { return "" }

// Close implements sdk.Connection.
func (l *lines) Close() error {
	l.once.Do(func() { close(l.over) })
	return nil
}

// read forwards the client's lines. A line that is too long has no text.
func (l *lines) read(in io.Reader) {
	r := bufio.NewReader(in)
	for {
		var text []byte
		part, more, err := r.ReadLine()
		for text = append(text, part...); more && err == nil; {
			if part, more, err = r.ReadLine(); len(text) <= mostLine {
				text = append(text, part...)
			}
		}
		if len(text) > mostLine {
			text = nil
		} else if err == nil && len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		select {
		case l.in <- line{text, err}:
		case <-l.over:
			return
		}
		if err != nil {
			return
		}
	}
}

// Read implements sdk.Connection. The end of the input waits for the answers to what came before it.
func (l *lines) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case got := <-l.in:
			if got.err != nil {
				return nil, l.waitUntilAnswered(ctx, got.err)
			}
			m, err := l.message(got.text)
			if m != nil || err != nil {
				return m, err
			}
		case <-l.over:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// message parses a line; it returns nil after reporting an invalid one to the client.
func (l *lines) message(text []byte) (jsonrpc.Message, error) {
	switch first := bytes.TrimLeft(text, " \t"); {
	case text == nil:
		return nil, l.refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("a message may have %d bytes", mostLine))
	case first[0] == '[':
		return nil, l.refuse(jsonrpc.CodeInvalidRequest, "batches are not taken: write one message in each line")
	}
	m, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		return nil, l.refuse(jsonrpc.CodeParseError, "the line is no message of JSON-RPC")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch m := m.(type) {
	case *jsonrpc.Request:
		if m.IsCall() {
			l.unanswered[m.ID] = true
		}
	case *jsonrpc.Response:
		l.asked--
	}
	return m, nil
}

// refuse answers an invalid line with an error.
func (l *lines) refuse(code int, why string) error {
	return l.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`, code, why))
}

// waitUntilAnswered waits until all calls that can be answered are, and returns the reason of the end.
func (l *lines) waitUntilAnswered(ctx context.Context, end error) error {
	for {
		l.mu.Lock()
		settled := len(l.unanswered) == 0 || l.asked > 0 // a client that is gone answers nothing
		l.mu.Unlock()
		if settled {
			return end
		}
		select {
		case <-l.changed:
		case <-l.over:
			return end
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Write implements sdk.Connection.
func (l *lines) Write(_ context.Context, m jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	err = l.write(text)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch m := m.(type) {
	case *jsonrpc.Request:
		if m.IsCall() {
			l.asked++
		}
	case *jsonrpc.Response:
		delete(l.unanswered, m.ID)
	}
	select {
	case l.changed <- struct{}{}:
	default:
	}
	return err
}

func (l *lines) write(text []byte) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	_, err := l.out.Write(append(text, '\n'))
	return err
}
