package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
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
	out, errs := ask()
	assert.That(t, !strings.Contains(out, "corrosion") &&
		strings.Contains(errs, "· this folder holds no project and is not searched; ‘--in .’ searches it"), "%s%s", out, errs)
	out, errs = ask("--in", ".")
	assert.That(t, strings.Contains(out, "corrosion") && !strings.Contains(errs, "no project") &&
		!strings.Contains(out+errs, ".config"), "named: %s%s", out, errs)
	out, errs = ask("--code")
	assert.That(t, strings.Contains(out, "corrosion"), "--code: %s%s", out, errs)
	_, errs = ask("-c")
	assert.That(t, strings.Contains(errs, "as before"), "-c: %s", errs)
	write(t, "go.mod", "module bridge\n")
	out, errs = ask()
	assert.That(t, strings.Contains(out, "corrosion"), "a project: %s%s", out, errs)
}
