package mcpclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// discoverTimeout is how long a command's answer to the newest protocol's first request is awaited. After that it is
// taken to be refused, and the older protocol begins on the same connection: a command that starts slowly goes on.
const discoverTimeout = 5 * time.Second

// maxMessage bounds one message of a command, in bytes.
const maxMessage = maxBody

// framer finds the messages in a command's standard output. Servers also write logs, banners and byte order marks
// there, before, between and on the lines of messages: what is no message is ignored.
type framer struct {
	mend    *mender
	pending []byte
	scan    nesting // of pending, as far as it was read
	sought  int     // bytes of pending in which nothing begins anew
}

// nesting is how deep the brackets are after a part of a JSON text.
type nesting struct {
	read            int // bytes
	depth           int
	quoted, escaped bool
}

// advance reads on in text until its brackets are closed, and returns the end; 0 if they are not closed yet. It says
// no where text can't be JSON.
func (n *nesting) advance(text []byte) (end int, ok bool) {
	for ; n.read < len(text); n.read++ {
		c := text[n.read]
		switch {
		case n.escaped:
			n.escaped = false
		case n.quoted && c == '\n':
			return 0, false // a string ends on its line
		case n.quoted:
			n.escaped, n.quoted = c == '\\', c != '"'
		case c == '"':
			n.quoted = true
		case c == '{' || c == '[':
			n.depth++
		case c == '}' || c == ']':
			if n.depth--; n.depth == 0 {
				n.read++
				return n.read, true
			}
		}
	}
	return 0, true
}

// add takes what was read, and returns the messages that are complete.
func (f *framer) add(part []byte) (all [][]byte, err error) {
	f.pending = append(f.pending, part...)
	for {
		if f.scan.read == 0 {
			f.skipNoise()
		}
		if len(f.pending) == 0 {
			return all, nil
		}
		end, ok := f.scan.advance(f.pending)
		switch begins := f.beginsAnew(); {
		case end > 0 && json.Valid(f.pending[:end]):
			all = append(all, f.mend.messages(f.pending[:end])...)
			f.drop(end)
		case begins > 0:
			f.ignore(begins)
		case end > 0 || !ok:
			n := bytes.IndexByte(f.pending[end:], '\n') + 1
			if n += end; n == end {
				n = len(f.pending)
			}
			f.ignore(n)
		case len(f.pending) > maxMessage:
			return all, errTooMuch
		default:
			return all, nil
		}
	}
}

func (f *framer) drop(n int) { f.pending, f.scan, f.sought = f.pending[n:], nesting{}, 0 }

// ignore drops what is no message.
func (f *framer) ignore(n int) {
	for line := range bytes.Lines(f.pending[:n]) {
		f.mend.ignored(bytes.TrimPrefix(line, []byte("\uFEFF")))
	}
	f.drop(n)
}

// skipNoise drops what stands before the first bracket that may begin a message.
func (f *framer) skipNoise() {
	n := 0
	for n < len(f.pending) && !f.mayBegin(n) {
		n++
	}
	f.ignore(n)
}

// mayBegin says whether a message may begin at a place: an object with a quoted name, or a batch of them. If what
// follows was not read yet, it may.
func (f *framer) mayBegin(at int) bool {
	rest := f.pending[at:]
	if rest[0] == '[' {
		rest = bytes.TrimLeft(rest[1:], " \t\r\n")
		if len(rest) == 0 {
			return true
		}
	}
	if rest[0] != '{' {
		return false
	}
	rest = bytes.TrimLeft(rest[1:], " \t\r\n")
	return len(rest) == 0 || rest[0] == '"'
}

// beginsAnew returns where a message begins within an object that was not closed, which then was none; 0 if nowhere.
func (f *framer) beginsAnew() int {
	const begin = `{"jsonrpc"`
	from := max(f.sought, 1)
	if f.pending[0] == '[' || from >= len(f.pending) {
		return 0
	}
	f.sought = max(len(f.pending)-len(begin), 0)
	if at := bytes.Index(f.pending[from:], []byte("\n"+begin)); at >= 0 {
		return from + at + 1
	}
	return 0
}

// commandStreams are the standard streams of a command, for the SDK.
type commandStreams struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	out   *io.PipeReader
	mend  *mender

	once  sync.Once
	under sync.WaitGroup
	inlet *io.PipeWriter
	ended chan struct{} // closed when the connection is
}

// startCommand starts a command, and connects to it.
func startCommand(cmd *exec.Cmd, mend *mender) (*mcp.IOTransport, error) {
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &commandStreams{cmd: cmd, stdin: stdin, mend: mend, ended: make(chan struct{})}
	s.out, s.inlet = io.Pipe()
	s.under.Go(func() { s.pump(stdout) })
	return &mcp.IOTransport{Reader: s.out, Writer: s, MaxLineLength: -1}, nil
}

// pump passes the messages on, until the command's output ends.
func (s *commandStreams) pump(stdout io.Reader) {
	f := &framer{mend: s.mend}
	part := make([]byte, 32<<10)
	for {
		n, err := stdout.Read(part)
		messages, tooMuch := f.add(part[:n])
		for _, one := range messages {
			if _, err := s.inlet.Write(append(one, '\n')); err != nil {
				_, _ = io.Copy(io.Discard, stdout) // nobody reads: the command must not wait for that
				return
			}
		}
		if err = errors.Join(tooMuch, err); err != nil {
			if tooMuch == nil {
				err = io.EOF
			}
			_ = s.inlet.CloseWithError(err)
			_, _ = io.Copy(io.Discard, stdout)
			return
		}
	}
}

// Write sends a message. If it is the newest protocol's first request, a silent server has refused it after a time.
func (s *commandStreams) Write(p []byte) (int, error) {
	method, id := s.mend.sent(p)
	n, err := s.stdin.Write(p)
	if err == nil && method == methodDiscover {
		s.under.Go(func() {
			select {
			case <-time.After(discoverTimeout):
				if refusal := s.mend.refusal(id); refusal != nil {
					_, _ = s.inlet.Write(append(refusal, '\n')) // it fails if the connection was closed
				}
			case <-s.ended:
			}
		})
	}
	return n, err
}

// Close closes the command's input, waits for its end, and ends it if need be.
func (s *commandStreams) Close() (err error) {
	s.once.Do(func() {
		close(s.ended)
		_ = s.out.Close()
		err = s.endCommand()
		s.under.Wait()
	})
	return err
}

func (s *commandStreams) endCommand() error {
	if err := s.stdin.Close(); err != nil {
		return fmt.Errorf("close its input: %w", err)
	}
	exited := make(chan error, 1)
	go func() { exited <- s.cmd.Wait() }()
	for _, end := range []func() error{
		func() error { return s.cmd.Process.Signal(syscall.SIGTERM) }, s.cmd.Process.Kill,
	} {
		select {
		case err := <-exited:
			return err
		case <-time.After(exitTimeout):
			_ = end() // the next step follows
		}
	}
	return <-exited
}
