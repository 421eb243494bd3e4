package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// mostProgram is how many bytes the program may have, without symbols.
const mostProgram = 80 << 20

func TestTheProgramStaysSmall(t *testing.T) {
	inLong(t)
	t.Chdir("../..")
	program := filepath.Join(t.TempDir(), "sibyl")
	// As the tests build packages, not as a release does, so that little more than linking is left.
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-ldflags", "-s -w", "-o", program, "./cmd/sibyl").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	info, err := os.Stat(program)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", info.Size())
	if info.Size() > mostProgram {
		t.Errorf("the program without symbols has %d bytes; at most %d", info.Size(), mostProgram)
	}
}

func TestAllThatProgramsAreMadeOfHasALicence(t *testing.T) {
	t.Chdir("../..")
	for _, target := range targets {
		if _, err := thirdParties(t.Context(), target); err != nil {
			t.Errorf("%s: %v", target, err)
		}
	}
}

// inLong skips a test that builds programs where scripts/test.sh runs it.
func inLong(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("scripts/test-long.sh runs it")
	}
}
