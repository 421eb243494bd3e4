package bert

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"sibyl/internal/text"
)

// child is a running Serve, used by one question at a time.
type child struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	answers  chan answer
	gone     chan struct{} // closed when the process has ended and been waited for
	err      error         // why it is gone; set before gone is closed
	stderr   text.Tail
	killed   context.CancelFunc
	nextID   int64
	model    traits
	loadTime time.Duration
}

// startChild starts the process. It has to be ended with kill or hangUp.
func startChild(cfg Config) (*child, error) {
	if len(cfg.Command) == 0 {
		return nil, problemf(Invalid, "no command for the child is given")
	}
	// Not the caller's context: a question that is withdrawn ends the child through kill, which also waits.
	life, killed := context.WithCancel(context.Background())
	args := append(append([]string{}, cfg.Command[1:]...), cfg.Dir)
	c := &child{cmd: exec.CommandContext(life, cfg.Command[0], args...), answers: make(chan answer), gone: make(chan struct{}),
		killed: killed}
	c.cmd.Env = append([]string{}, cfg.Env...) // never nil, which would be the parent's
	c.cmd.Stderr = &c.stderr
	c.cmd.WaitDelay = time.Second // for output that something else holds open
	out, err := c.cmd.StdoutPipe()
	if err == nil {
		c.in, err = c.cmd.StdinPipe()
	}
	if err == nil {
		err = c.cmd.Start()
	}
	if err != nil {
		killed()
		if cfg.Missing != "" && (errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist)) {
			return nil, problemf(Died, "the program %s is not there; %s", filepath.Base(cfg.Command[0]), cfg.Missing)
		}
		return nil, problemf(Died, "the child could not be started: %v", err)
	}
	go c.listen(life, out)
	return c, nil
}

// listen passes on what the child says, and waits for its end.
func (c *child) listen(life context.Context, out io.Reader) {
	defer close(c.gone)
	if c.err = c.hear(life, out); c.err != nil {
		c.killed()
	}
	// A child that has nothing more to say has a moment to end by itself, so that its exit status can be told.
	late := time.AfterFunc(time.Second, c.killed)
	defer late.Stop()
	if wait := c.cmd.Wait(); c.err == nil {
		c.err = c.obituary(wait)
	}
	c.killed()
}

// hear returns nil when the child says nothing more.
func (c *child) hear(life context.Context, out io.Reader) error {
	r := lines(out)
	for {
		line, err := readLine(r)
		switch {
		case errors.Is(err, errLine):
			return problemf(Garbled, "the child said %v", err)
		case err != nil:
			return nil //nolint:nilerr // its end, however it shows; Wait tells how it came to it
		}
		var a answer
		if err := json.Unmarshal(line, &a); err != nil {
			return problemf(Garbled, "the child said %q, which is no answer", Snippet(string(line)))
		}
		select {
		case c.answers <- a:
		case <-life.Done():
			return nil
		}
	}
}

// obituary says how the child ended, in its last words if it had any.
func (c *child) obituary(wait error) error {
	how := "ended by itself"
	var exit *exec.ExitError
	if errors.As(wait, &exit) {
		how = "ended (" + exit.String() + ")"
	}
	if words := lastLine(c.stderr.String()); words != "" {
		how += ": " + words
	} else if exit != nil && !exit.Exited() {
		how += "; perhaps the machine has too little memory for this model"
	}
	return problemf(Died, "the child %s", how)
}

// ready waits until the model is loaded.
func (c *child) ready(ctx context.Context, timeout time.Duration) error {
	began := time.Now()
	a, err := c.await(ctx, timeout, "the model was not loaded")
	c.loadTime = time.Since(began)
	switch {
	case err != nil:
		return err
	case a.Error != nil:
		return a.Error
	case a.Ready == nil:
		return problemf(Garbled, "the child did not say that it is ready")
	}
	c.model = *a.Ready
	return nil
}

// ask puts a question and waits for its answer. After an error other than the model's own the child is of no more use.
func (c *child) ask(ctx context.Context, timeout time.Duration, q question) ([]Score, error) {
	c.nextID++
	q.ID = c.nextID
	// Beside, because a child that does not read would block it; and what can't be written shows in the child's end.
	go func() { _ = writeLine(c.in, q) }()
	a, err := c.await(ctx, timeout, "there was no answer")
	if err != nil {
		return nil, err
	}
	if a.Error != nil && a.ID == q.ID {
		return nil, a.Error
	}
	if err := q.check(a); err != nil {
		return nil, problemf(Garbled, "the child gave a wrong answer: %v", err)
	}
	return a.Scores, nil
}

func (c *child) await(ctx context.Context, timeout time.Duration, what string) (answer, error) {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case a := <-c.answers:
		return a, nil
	case <-c.gone:
		return answer{}, c.err
	case <-timer.C:
		return answer{}, problemf(Timeout, "%s within %v; a smaller model or a longer time-out would help", what, timeout)
	case <-ctx.Done():
		if cause := context.Cause(ctx); kindOf(cause) == Closed {
			return answer{}, cause
		}
		return answer{}, ctx.Err()
	}
}

// kill ends the child and waits until it is gone.
func (c *child) kill() {
	c.killed()
	<-c.gone
}

// hangUp lets the child end by itself, and waits until it is gone.
func (c *child) hangUp() {
	_ = c.in.Close() // fails only if it is closed, which is what's wanted
	timer := time.NewTimer(2 * time.Second)
	defer timer.Stop()
	select {
	case <-c.gone:
	case <-timer.C:
	}
	c.kill()
}

func (c *child) isGone() bool {
	select {
	case <-c.gone:
		return true
	default:
		return false
	}
}

// lastLine is the last line of a text, fit for an error.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return Snippet(text[strings.LastIndexByte(text, '\n')+1:])
}
