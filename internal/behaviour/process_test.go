package behaviour_test

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"sibyl/internal/behaviour/assert"
)

// process is a node: the program that serves, in one life after another.
type process struct {
	c        *cluster
	name     string
	database string   // its address
	own      []string // of its environment
	log      *lines   // of all lives

	mu      sync.Mutex
	address string // of this life, as a URL; "" while it listens to nothing
	holder  string // its name in leases
	running *exec.Cmd
	exited  chan struct{} // closed when this life has ended
	avoid   time.Time     // until when clients ask others
}

// start begins a life, and returns when it listens and is known as a node.
func (p *process) start() {
	p.c.Helper()
	self := assert.Must(os.Executable())(p.c)
	out := newLines()
	cmd := &exec.Cmd{Path: self, Args: []string{programName, "serve", "--listen", "127.0.0.1:0", "--name", p.name},
		Env: append(p.c.environ(p.database), p.own...), Dir: p.c.folder,
		Stdout: out, Stderr: p.log, SysProcAttr: attributes(), WaitDelay: patience}
	started, exited := make(chan error, 1), make(chan struct{})
	go func() {
		// It dies with the thread that started it, which lives as long as it is locked to this goroutine.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it should have ended is asked where it is ended
		}
		close(exited)
	}()
	assert.NoError(p.c, <-started)
	p.mu.Lock()
	p.running, p.exited = cmd, exited
	p.mu.Unlock()
	p.c.wait("node "+p.name+" to listen", func() bool {
		select {
		case <-exited:
			p.c.Fatalf("node %s ended instead of listening:\n%s", p.name, p.log)
		default:
		}
		_, after, ok := strings.Cut(out.String(), "listening at ")
		address, _, whole := strings.Cut(after, "\n")
		if !ok || !whole {
			return false
		}
		holder := p.c.holderAt(address)
		p.mu.Lock()
		defer p.mu.Unlock()
		if holder != "" {
			p.address, p.holder, p.avoid = address, holder, time.Time{}
		}
		return holder != ""
	})
	p.c.note("%s listens at %s as %s", p.name, p.currentAddress(), p.known())
}

func (p *process) currentAddress() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.address
}

func (p *process) known() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.holder
}

// signal sends a signal, and gives when it was sent.
func (p *process) signal(s syscall.Signal) time.Time {
	p.c.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.c.note("%s gets %v", p.name, s)
	at := time.Now()
	assert.NoErrorf(p.c, p.running.Process.Signal(s), "%v to node %s", s, p.name)
	return at
}

// kill ends a life as a crash does, and gives when.
func (p *process) kill() time.Time {
	p.c.Helper()
	at := p.signal(syscall.SIGKILL)
	p.over()
	return at
}

// terminate asks a life to end, and wants it to end in order, within a time.
func (p *process) terminate(within time.Duration) (took time.Duration) {
	p.c.Helper()
	at := p.signal(syscall.SIGTERM)
	p.wantEnd(within)
	return time.Since(at)
}

// wantEnd wants a life that was asked to end to end in order, within a time.
func (p *process) wantEnd(within time.Duration) {
	p.c.Helper()
	select {
	case <-p.exited:
	case <-time.After(within):
		p.c.Errorf("node %s has not ended %v after SIGTERM:\n%s", p.name, within, p.log)
		p.kill()
		return
	}
	p.over()
	code := p.running.ProcessState.ExitCode()
	assert.That(p.c, code == 0, "node %s exits %d after SIGTERM:\n%s", p.name, code, p.log)
}

// over waits for the end of a life.
func (p *process) over() {
	p.c.Helper()
	select {
	case <-p.exited:
	case <-time.After(patience):
		p.c.Fatalf("node %s has not ended", p.name)
	}
	p.mu.Lock()
	p.address = ""
	p.mu.Unlock()
}

// close leaves nothing of a node.
func (p *process) close() {
	p.mu.Lock()
	cmd, exited := p.running, p.exited
	p.mu.Unlock()
	if cmd == nil {
		return
	}
	_ = cmd.Process.Kill() // it may have ended
	<-exited
}

// lines keeps the last lines that are written to it.
type lines struct {
	mu   sync.Mutex
	text []byte
}

// mostLog bounds what is kept of a log, in bytes.
const mostLog = 1 << 20

func newLines() *lines { return &lines{} }

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p...)
	if over := len(l.text) - mostLog; over > 0 {
		l.text = slices.Delete(l.text, 0, over)
	}
	return len(p), nil
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(bytes.ToValidUTF8(l.text, []byte("?")))
}

// withoutRequests is what is worth telling: all but the lines of requests, of which there are many.
func (l *lines) withoutRequests() string {
	var b strings.Builder
	for line := range strings.Lines(l.String()) {
		if !strings.Contains(line, `"msg":"request"`) {
			b.WriteString(line)
		}
	}
	return b.String()
}
