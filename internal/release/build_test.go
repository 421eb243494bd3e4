package release

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tiny writes a module with programs of our names, which print their version, and gives its folder.
func tiny(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":                 "module tiny\n",
		"cmd/sibyl/main.go":      "package main\n\nvar version string\n\nfunc main() { print(version) }\n",
		"cmd/sibyl-bert/main.go": "package main\n\nfunc main() {}\n",
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestProgramsSayTheirVersionAndNotWhereTheyWereBuilt(t *testing.T) {
	t.Setenv("GOFLAGS", "-buildmode=pie") // of the person; it must not count
	r := &release{version: "1.2.3", made: noon, tell: io.Discard}
	var built [2][]file
	for i := range built {
		dir := tiny(t)
		t.Chdir(dir)
		files, err := r.build(t.Context(), runtime.GOOS+"/"+runtime.GOARCH)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if bytes.Contains(f.text, []byte(dir)) {
				t.Errorf("%s holds the folder that it was built in", f.name)
			}
		}
		built[i] = files
	}
	if !cmp.Equal(built[0], built[1], cmp.AllowUnexported(file{})) {
		t.Error("built in two folders, the programs differ")
	}
	if len(built[0]) != len(programs) {
		t.Fatalf("built are %d programs", len(built[0]))
	}
	program := filepath.Join(t.TempDir(), built[0][0].name)
	if err := os.WriteFile(program, built[0][0].text, 0o755); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.CommandContext(t.Context(), program).CombinedOutput(); err != nil || string(said) != "1.2.3" {
		t.Errorf("%s says %q, error: %v", program, said, err)
	}
}

func TestAModuleWithoutALicenceIsNotHandedOn(t *testing.T) {
	dir := t.TempDir()
	m := module{Path: "example.org/free", Version: "v1.0.0", Dir: dir}
	var text bytes.Buffer
	if err := writeLicences(&text, m); err == nil {
		t.Error("a module without a licence was taken")
	}
	if err := os.WriteFile(filepath.Join(dir, "Licence.md"), []byte("Do what you like.\r\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := writeLicences(&text, m); err != nil || !bytes.Contains(text.Bytes(), []byte("example.org/free v1.0.0: Licence.md\n\nDo what you like.\n")) {
		t.Errorf("%q, error: %v", text.String(), err)
	}
}

func TestTheContainerIsBuiltAsAReleaseIs(t *testing.T) {
	text, err := os.ReadFile("../../deploy/Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^go (\S+)$`).FindSubmatch(mod)
	if version == nil {
		t.Fatal("go.mod names no version of Go")
	}
	for _, part := range append([]string{"golang:" + string(version[1]) + " ", "CGO_ENABLED=0", "-trimpath -buildvcs=false", linking}, programs...) {
		if !bytes.Contains(text, []byte(part)) {
			t.Errorf("the container file lacks %q, which a release is built with", part)
		}
	}
}
