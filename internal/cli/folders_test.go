package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestFolderThatOneStandsInIsSearchedOnlyIfItHoldsAProject(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, "letters", "bridge.md"), "The bridge was closed because of corrosion.\n")
	write(t, filepath.Join(home, "letters", ".config", "bridge.md"), "The bridge was closed because of corrosion.\n")
	t.Chdir(filepath.Join(home, "letters"))
	ask := func(args ...string) (out, errs string) {
		_, out, errs = sibyl(t, home, Streams{}, nil, append([]string{"ask", "Why was the bridge closed?"}, args...)...)
		return out, errs
	}
	if out, errs := ask(); strings.Contains(out, "corrosion") ||
		!strings.Contains(errs, "· this folder holds no project and is not searched; ‘--in .’ searches it") {
		t.Errorf("%s%s", out, errs)
	}
	if out, errs := ask("--in", "."); !strings.Contains(out, "corrosion") || strings.Contains(errs, "no project") ||
		strings.Contains(out+errs, ".config") {
		t.Errorf("named: %s%s", out, errs)
	}
	if out, errs := ask("--code"); !strings.Contains(out, "corrosion") {
		t.Errorf("--code: %s%s", out, errs)
	}
	if _, errs := ask("-c"); !strings.Contains(errs, "as before") {
		t.Errorf("-c: %s", errs)
	}
	write(t, "go.mod", "module bridge\n")
	if out, errs := ask(); !strings.Contains(out, "corrosion") {
		t.Errorf("a project: %s%s", out, errs)
	}
}
