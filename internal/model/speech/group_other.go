//go:build !unix

package speech

import "os/exec"

// There are no groups here: the command alone is killed, and what it started loses its output.
func asGroup(*exec.Cmd)  {}
func endGroup(*exec.Cmd) {}
