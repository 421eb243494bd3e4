// Package nodes_test proves that processes that serve one database survive what happens to processes: the real program,
// started again and again as a node, is killed, stopped and continued, cut off, and restarted while users ask a played
// model for notes in a vault. What is written there and what the journal holds is counted in the end: every run has
// ended once, and has written its note once.
//
// SIBYL_LONG=1 asks for all of it; otherwise each scenario happens to one node, with fewer runs.
package nodes_test

import (
	"context"
	"flag"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"sibyl/internal/cli"
	"sibyl/internal/store/pgtest"
)

// programName is what a process of these tests is called that is the program.
const programName = "sibyl"

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == programName {
		os.Exit(program())
	}
	flag.Parse()
	// A scenario mostly waits for leases to run out, so more of them fit beside each other than there are processors.
	if err := flag.Set("test.parallel", "5"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(pgtest.Main(m))
}

// program is the command line, stopped by the signals that stop the real one.
func program() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return cli.Main(ctx, cli.Program{Build: "test"}, os.Args[1:], os.Environ(),
		cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
}
