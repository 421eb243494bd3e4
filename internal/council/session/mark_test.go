package session

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestFolderKeepsTheMarkThatOneOfManyHasMade(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "sessions")
	_, err := ReadMark(folder)
	assert.ErrorIsf(t, err, fs.ErrNotExist, "a folder that is not there")
	marks := make([]string, 8)
	var all sync.WaitGroup
	for n := range marks {
		all.Go(func() {
			var err error
			marks[n], err = MakeMark(t.Context(), folder)
			assert.Nil(t, err)
		})
	}
	all.Wait()
	read := assert.Must(ReadMark(folder))(t)
	for _, mark := range marks {
		assert.That(t, mark == read && len(mark) >= 20, "one has the mark %q, and the folder %q", mark, read)
	}
	other := assert.Must(MakeMark(t.Context(), t.TempDir()))(t)
	assert.That(t, other != marks[0], "two folders have the mark %q", other)
}

func TestMarkThatAPersonHasWrittenCounts(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, MarkFile)
	for content, want := range map[string]string{"": "", " \n": "", "ABC\n": "ABC", "ABC\r\n": "ABC"} {
		assert.NoError(t, os.WriteFile(file, []byte(content), 0o600))
		got := assert.Must(ReadMark(folder))(t)
		assert.That(t, got == want, "%q is read as %q", content, got)
	}
	assert.NoError(t, os.WriteFile(file, []byte(strings.Repeat("A", 1000)), 0o600))
	_, err := ReadMark(folder)
	assert.That(t, err != nil && !errors.Is(err, fs.ErrNotExist), "a long file is read with %v", err)
}
