// Command sibyl is AI assistants in one binary; the Oracle is the first. See README.md.
package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/charmbracelet/x/term"

	"sibyl/internal/cli"
)

// version is set by the release build.
var version = ""

func main() {
	os.Exit(run())
}

func run() int {
	// The first interrupt is a request to stop: the run ends in order and keeps what it has. The second ends the
	// program; the journal makes that harmless.
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := make(chan os.Signal, 2)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-stop
		cancel(errors.New("stopped by the user"))
		<-stop
		os.Exit(cli.ExitStopped)
	}()
	s := cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, InTTY: term.IsTerminal(os.Stdin.Fd()),
		OutTTY: term.IsTerminal(os.Stdout.Fd()), ErrTTY: term.IsTerminal(os.Stderr.Fd())}
	for _, screen := range []*os.File{os.Stderr, os.Stdout} { // one of them may be a file
		drawsOn(screen)
		if w, h, err := term.GetSize(screen.Fd()); err == nil {
			s.Width, s.Height = w, h
		}
	}
	return cli.Main(ctx, cli.Program{Build: cli.Build(version), Again: again}, os.Args[1:], os.Environ(), s)
}

// again starts this program again.
func again(ctx context.Context) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0] // the attempt to start it says what is wrong
	}
	return exec.CommandContext(ctx, self)
}
