package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// drawsOn has the console of a screen obey escape sequences, which it prints as they are until a program asks. What is
// no console stays as it is.
func drawsOn(screen *os.File) {
	var mode uint32
	console := windows.Handle(screen.Fd())
	if windows.GetConsoleMode(console, &mode) == nil {
		_ = windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING)
	}
}
