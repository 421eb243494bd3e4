package cli

import (
	"context"
	"io"
	"sync"

	"github.com/charmbracelet/x/term"
)

// changeTyping changes how a terminal takes what is typed; restore, which can be called again, makes it as it was. What
// has no descriptor is no terminal, and stays as it is.
func changeTyping(in io.Reader, change func(mode *term.State)) (restore func(), err error) {
	tty, ok := in.(interface{ Fd() uintptr })
	if !ok {
		return func() {}, nil
	}
	fd := tty.Fd()
	before, err := term.GetState(fd)
	if err != nil {
		return nil, err
	}
	mode := *before
	change(&mode)
	if err := term.SetState(fd, &mode); err != nil {
		return nil, err
	}
	return sync.OnceFunc(func() { _ = term.Restore(fd, before) }), nil // nothing more can be done
}

// awaitConversation has the terminal keep what is typed: the conversation that is being opened will show it. It lasts
// until ready is called or ctx is done.
func (c *command) awaitConversation(ctx context.Context) (ready func()) {
	restore, err := changeTyping(c.In, keepTyped)
	if err != nil { // the terminal will show what is typed twice
		return func() {}
	}
	stop := context.AfterFunc(ctx, restore) // a second interrupt ends the process at once
	return func() {
		stop()
		restore()
	}
}
