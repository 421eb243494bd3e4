package documenttest

import (
	"os"
	"path/filepath"
	"testing"
)

// Caches is a folder that the tests of all packages share in place of a person's caches. It outlives them: PDFium takes
// seconds to compile.
func Caches() (string, error) {
	caches, err := os.UserCacheDir()
	return filepath.Join(caches, "sibyl-test"), err
}

// Compiled is the folder below Caches where the program keeps PDFium compiled.
func Compiled(t testing.TB) string {
	t.Helper()
	caches, err := Caches()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(caches, "sibyl", "pdfium")
}
