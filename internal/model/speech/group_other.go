//go:build !unix

package speech

import "os/exec"

// There are no process groups here: only the command itself is killed, and what it started loses its output.
func asGroup(*exec.Cmd)  {}
func endGroup(*exec.Cmd) {}
