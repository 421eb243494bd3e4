// Package needs says what a test needs beyond Go and a little time, and skips it where that is not asked for. There are
// three levels:
//
//   - The fast tests run always. They need Go, git, a shell and coreutils, so that they are the same on every machine.
//   - With SIBYL_TEST_ALL=1, as in CI, those run too that take long or need other programs. A program that is missing
//     is then a failure.
//   - With SIBYL_LONG=1, before a release, every case of every matrix runs.
package needs

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// AllVariable and LongVariable name the variables that ask for more than the fast tests.
const (
	AllVariable  = "SIBYL_TEST_ALL"
	LongVariable = "SIBYL_LONG"
)

func asked(variable string) bool { return os.Getenv(variable) == "1" }

// Program skips a test that needs programs, unless SIBYL_TEST_ALL=1 asks for it. Then it fails without them.
func Program(tb testing.TB, names ...string) {
	tb.Helper()
	All(tb, strings.Join(names, ", "))
	for _, name := range names {
		if err := Installed(name); err != nil {
			tb.Fatal(err)
		}
	}
}

// All skips a test that takes long, or needs what is named, unless SIBYL_TEST_ALL=1 asks for it.
func All(tb testing.TB, what string) {
	tb.Helper()
	if !Everything() {
		tb.Skipf("needs %s: %s=1 runs it", what, AllVariable)
	}
}

// Long skips a test that is worth its time only before a release.
func Long(tb testing.TB, what string) {
	tb.Helper()
	if !Every() {
		tb.Skipf("needs %s: %s=1 runs it", what, LongVariable)
	}
}

// Everything says whether more is asked for than the fast tests.
func Everything() bool { return asked(AllVariable) || Every() }

// Every says whether every case of every matrix is asked for.
func Every() bool { return asked(LongVariable) }

// Stride is how far apart the cases of a matrix are that are tried: usual, or 1 if every case is asked for.
func Stride(usual int) int { return Most(1, usual) }

// Most is a number that is larger if every case is asked for.
func Most(every, usual int) int {
	if Every() {
		return every
	}
	return usual
}

// Installed says how to install a program that is not on the PATH.
func Installed(name string) error {
	if _, err := exec.LookPath(name); err == nil {
		return nil
	}
	return fmt.Errorf("%s is not on the PATH: ‘sh scripts/programs.sh’ installs it", name)
}
