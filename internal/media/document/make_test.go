package document

import (
	"os"
	"path/filepath"
	"testing"

	"sibyl/internal/behaviour/assert"
)

// folderOf makes a folder with these files.
func folderOf(t testing.TB, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		assert.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		assert.NoError(t, os.WriteFile(name, content, 0o600))
	}
	return dir
}

// readOne reads a file with this content.
func readOne(t testing.TB, name string, content []byte) (Document, error) {
	t.Helper()
	return reader(t).Read(t.Context(), name, content)
}

// texts gives the pages of a document as a map.
func texts(d Document) map[int]string {
	m := map[int]string{}
	for _, p := range d.Pages {
		m[p.Number] = p.Text
	}
	return m
}
