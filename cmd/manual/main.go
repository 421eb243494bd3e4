// Command manual writes a manual page for each command of sibyl. scripts/release.sh calls it. SOURCE_DATE_EPOCH says
// the month that they bear.
package main

import (
	"fmt"
	"os"

	"sibyl/internal/cli"
	"sibyl/internal/cli/manual"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: manual VERSION FOLDER")
		os.Exit(2)
	}
	if err := manual.Write(cli.Commands(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(1)
	}
}
