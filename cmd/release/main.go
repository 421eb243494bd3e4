// Command release makes the files of a release. scripts/release.sh calls it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"sibyl/internal/release"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := release.Make(ctx, os.Args[1:], os.Getenv("SOURCE_DATE_EPOCH"), os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}
