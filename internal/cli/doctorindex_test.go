package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDoctorSaysWhereTheIndexesLieAndWhatHelpsADamagedOne(t *testing.T) {
	home := t.TempDir()
	doctor := func(environ ...string) string {
		t.Helper()
		_, out, errs := sibyl(t, home, Streams{}, environ, "doctor")
		at := strings.Index(out, "index  ")
		if at < 4 {
			t.Fatalf("%s%s", out, errs)
		}
		lines := strings.SplitN(out[at-4:], "\n", 3)
		return lines[0] + "\n" + lines[1]
	}
	wants := func(got string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(got, part) {
				t.Errorf("%q is not in %s", part, got)
			}
		}
	}
	folder := filepath.Join(home, ".cache", "sibyl", "index")
	wants(doctor(), "ok  index", "nothing is indexed yet", folder)
	wants(doctor("SIBYL_INDEX=off"), "--  index", "off", "index.use")
	write(t, filepath.Join(home, "src", "a.txt"), "words")
	if code, _, errs := sibyl(t, home, Streams{}, nil, "index", "build", filepath.Join(home, "src")); code != ExitAnswered {
		t.Fatal(errs)
	}
	wants(doctor(), "ok  index", "1 file in "+folder, "of at most 1024.0 MB")
	files, err := filepath.Glob(filepath.Join(folder, "*.db"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	if err := os.WriteFile(files[0], []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	wants(doctor(), "--  index", "1 can't be used: "+files[0], "sibyl index clear")
}
