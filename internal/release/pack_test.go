package release

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// unpacked is what an archive gives for a file.
type unpacked struct {
	Name, Text string
	Mode       fs.FileMode
	Made       time.Time
}

var sample = []file{{name: "sibyl", text: []byte("a program"), program: true}, {name: "man/man1/sibyl.1", text: []byte("a page")}, {name: "LICENSE"}}

var expected = []unpacked{{"x/LICENSE", "", 0o644, noon}, {"x/man/man1/sibyl.1", "a page", 0o644, noon}, {"x/sibyl", "a program", 0o755, noon}}

func untar(t *testing.T, packed []byte) (files []unpacked) {
	t.Helper()
	zipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	for archive := tar.NewReader(zipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		} else if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		if header.Uid != 0 || header.Gid != 0 || header.Uname != "" {
			t.Errorf("%s belongs to %d %d %q", header.Name, header.Uid, header.Gid, header.Uname)
		}
		files = append(files, unpacked{header.Name, string(text), header.FileInfo().Mode(), header.ModTime.UTC()})
	}
}

func unzip(t *testing.T, packed []byte) (files []unpacked) {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.File {
		text, err := fs.ReadFile(archive, f.Name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, unpacked{f.Name, string(text), f.Mode(), f.Modified.UTC()})
	}
	return files
}

func TestArchivesHoldWhatIsGivenAndAreEqualWhateverTheOrder(t *testing.T) {
	for name, kind := range map[string]struct {
		write func(io.Writer, string, time.Time, []file) error
		read  func(*testing.T, []byte) []unpacked
	}{"tar": {writeTar, untar}, "zip": {writeZip, unzip}} {
		var first, second bytes.Buffer
		turned := slices.Clone(sample)
		slices.Reverse(turned)
		elsewhere := noon.In(time.FixedZone("far", 9*3600)) // the same moment
		if err := errors.Join(kind.write(&first, "x", noon, sample), kind.write(&second, "x", elsewhere, turned)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(expected, kind.read(t, first.Bytes())); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("%s: the order of the files or the zone of the time shows", name)
		}
	}
}

func TestSumsAreOfAllFilesAsSha256sumReadsThem(t *testing.T) {
	dir := t.TempDir()
	want := ""
	for _, name := range []string{"a.tar.gz", "b.zip"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
		want += fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(name)), name)
	}
	if err := writeSums(dir); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS")); err != nil || string(got) != want {
		t.Errorf("the sums are %q (error: %v), not %q", got, err, want)
	}
}
