// Command sibyl-bert computes a classifier of the BERT family for sibyl, which starts it where the setting bert.model
// names a folder. It reads questions on standard input, writes answers to standard output, and ends with its input. See
// docs/control.md.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"sibyl/internal/bert/network"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(network.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) //nolint:gocritic // stop only restores signals
}
