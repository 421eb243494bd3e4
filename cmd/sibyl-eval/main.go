// Command sibyl-eval scores Sibyl on the labelled sets in eval/, and trains its classifier of questions. It is in no
// release.
package main

import (
	"context"
	"os"
	"os/signal"

	"sibyl/cmd/sibyl-eval/scores/command"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := command.Main(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
