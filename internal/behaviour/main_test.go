package behaviour_test

import (
	"context"
	"flag"
	"os"
	ossignal "os/signal"
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
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "test.parallel" })
	if !asked {
		// Nodes mostly wait for leases to run out, so more of them fit beside each other than there are processors.
		if err := flag.Set("test.parallel", "5"); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(pgtest.Main(m))
}

// program is the command line, stopped by the signals that stop the real one.
func program() int {
	ctx, stop := ossignal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return cli.Main(ctx, cli.Program{Build: "test"}, os.Args[1:], os.Environ(),
		cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
}
