//go:build unix

package cli

import (
	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// hideTyped has a terminal not show what is typed; a line can still be corrected.
func hideTyped(mode *term.State) { mode.Lflag &^= unix.ECHO }

// keepTyped has a terminal not show what is typed, and hand over each key: in lines, it would take an end of input for
// itself, and drop what is too long for a line. Signals stay, and so do line ends, which a program that asks for a
// passphrase waits for.
func keepTyped(mode *term.State) {
	mode.Lflag &^= unix.ECHO | unix.ICANON
	mode.Cc[unix.VMIN], mode.Cc[unix.VTIME] = 1, 0
}
