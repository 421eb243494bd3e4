package evaldata

import (
	"archive/zip"
	"bytes"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"testing"
)

var update = flag.Bool("update", false, "write sets.zip anew")

// sets are the files of a folder that are part of the program, by name.
func sets(t *testing.T, from fs.FS) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Dir(name) == "." && path.Ext(name) != ".jsonl" {
			return err
		}
		text, err := fs.ReadFile(from, name)
		all[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestTheSetsArePacked(t *testing.T) {
	want := sets(t, os.DirFS("."))
	if len(want) < 50 {
		t.Fatalf("there are %d files", len(want))
	}
	if *update {
		if err := os.WriteFile("sets.zip", pack(t, want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got := sets(t, Files)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("%s is not in sets.zip as it is: run ‘go generate ./eval’", name)
		}
		delete(got, name)
	}
	for name := range got {
		t.Errorf("%s is in sets.zip alone: run ‘go generate ./eval’", name)
	}
}

func pack(t *testing.T, all map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
		if err == nil {
			_, err = f.Write([]byte(all[name]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
