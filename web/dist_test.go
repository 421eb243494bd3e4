package web

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"strings"
	"testing"
)

// mostScript is what the scripts of the page may have, compressed, in bytes.
const mostScript = 120_000

func TestScriptsAreSmallAndAskNobodyElse(t *testing.T) {
	total := 0
	err := fs.WalkDir(Dist, "dist", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(Dist, path)
		if err != nil {
			return err
		}
		for _, foreign := range []string{"src=\"http", "href=\"http", "url(http", "@import", "sourceMappingURL", "eval(", "new Function("} {
			if strings.Contains(string(text), foreign) {
				t.Errorf("%s has %s", path, foreign)
			}
		}
		if strings.HasSuffix(path, ".js") {
			var b bytes.Buffer
			w := gzip.NewWriter(&b)
			if _, err := w.Write(text); err != nil {
				return err
			}
			if err := w.Close(); err != nil {
				return err
			}
			total += b.Len()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if total > mostScript {
		t.Errorf("%d bytes of compressed script, at most %d", total, mostScript)
	}
}
