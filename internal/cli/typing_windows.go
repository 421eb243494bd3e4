package cli

import (
	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/windows"
)

// hideTyped has a terminal not show what is typed; a line can still be corrected.
func hideTyped(mode *term.State) { mode.Mode &^= windows.ENABLE_ECHO_INPUT }

// keepTyped changes nothing: the console shows what is typed only when it is read.
func keepTyped(*term.State) {}
