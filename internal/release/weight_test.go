package release

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// What a first run of ‘sibyl’ may cost: the program without symbols, and the modules that it is made of, unpacked.
const (
	mostProgram = 80 << 20
	mostModules = 450 << 20
)

func TestTheModulesThatAFirstRunDownloadsStaySmall(t *testing.T) {
	t.Chdir("../..")
	modules, err := modulesOf(t.Context(), "linux/amd64", "./cmd/sibyl")
	if err != nil {
		t.Fatal(err)
	}
	var all, most int64
	var largest string
	for _, m := range modules {
		size := sizeOf(t, m.Dir)
		if all += size; size > most {
			most, largest = size, m.Path
		}
	}
	t.Logf("%d modules of %d MiB; the largest is %s, of %d MiB", len(modules), all>>20, largest, most>>20)
	if len(modules) < 20 || all > mostModules {
		t.Errorf("sibyl is made of %d modules, %d MiB together; at most %d MiB are to be downloaded, the largest is %s, of %d MiB", len(modules), all>>20, int64(mostModules)>>20, largest, most>>20)
	}
}

// sizeOf is the size of all files of a folder, in bytes, whatever the disk makes of them.
func sizeOf(t *testing.T, dir string) (size int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return size
}

func TestTheProgramStaysSmall(t *testing.T) {
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
