//go:build unix

package files

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestFileThatAPersonNamesIsReadWithinItsBoundAndWaitsForNobody(t *testing.T) {
	dir := t.TempDir()
	silent, small, large := filepath.Join(dir, "silent"), filepath.Join(dir, "small"), filepath.Join(dir, "large")
	assert.NoError(t, errors.Join(syscall.Mkfifo(silent, 0o600), os.WriteFile(small, []byte("words"), 0o600),
		os.WriteFile(large, nil, 0o600), os.Truncate(large, 1<<40)))
	for name, want := range map[string]Reason{silent: NoFile, dir: NoFile, "/dev/zero": NoFile, large: TooLarge} {
		_, err := ReadNamed(name, 1<<20)
		refused, is := errors.AsType[*Error](err)
		assert.That(t, is && refused.Reason == want && strings.Contains(err.Error(), name), "%s: %v", name, err)
	}
	if content, err := ReadNamed(small, 5); err != nil || string(content) != "words" {
		t.Errorf("%q, %v", content, err)
	}
	r, w, err := os.Pipe() // as a shell hands over what a command prints
	if err == nil {
		_, err = w.WriteString("of a command")
	}
	assert.NoError(t, errors.Join(err, w.Close()))
	defer func() { _ = r.Close() }()
	content, err := ReadNamed("/dev/fd/"+strconv.Itoa(int(r.Fd())), 1<<20)
	assert.That(t, err == nil && string(content) == "of a command", "of a pipe: %q, %v", content, err)
}
