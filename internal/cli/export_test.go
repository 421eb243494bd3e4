package cli

import "io"

// Calmed is the writer that stands before a terminal.
func Calmed(w io.Writer) io.Writer { return filterTerminal(w, true, 0) }
