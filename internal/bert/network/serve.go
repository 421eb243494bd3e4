package network

import (
	"context"
	"fmt"
	"io"

	"sibyl/internal/bert"
)

// Main is the whole child program: it serves the model in the folder that is its only argument, and returns its exit code. Nothing
// but answers is written to out, not even by the libraries.
func Main(ctx context.Context, args []string, in io.Reader, out, notes io.Writer) int {
	if len(args) != 1 {
		fmt.Fprintln(notes, "usage: sibyl-bert FOLDER\nsibyl starts it where the setting bert.model names a folder; ‘sibyl doctor’ says whether it works")
		return 2
	}
	if err := bert.Serve(ctx, func() (bert.Model, error) { return Load(args[0]) }, in, out); err != nil {
		fmt.Fprintln(notes, "sibyl-bert:", err)
		return 1
	}
	return 0
}
