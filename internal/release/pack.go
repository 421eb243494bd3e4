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
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// file is one of an archive: its name with slashes, below the folder that the archive unpacks to.
type file struct {
	name    string
	text    []byte
	program bool
}

func (f file) mode() fs.FileMode {
	if f.program {
		return 0o755
	}
	return 0o644
}

func byName(files []file) []file {
	return slices.SortedFunc(slices.Values(files), func(a, b file) int { return strings.Compare(a.name, b.name) })
}

// writeTar writes a tar archive, packed by gzip, with the files below a folder, in the order of their names, owned by nobody in particular.
func writeTar(w io.Writer, folder string, made time.Time, files []file) error {
	zipped, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(zipped)
	for _, f := range byName(files) {
		header := &tar.Header{Name: path.Join(folder, f.name), Mode: int64(f.mode()), Size: int64(len(f.text)), ModTime: made, Format: tar.FormatUSTAR}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(f.text); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return zipped.Close()
}

// writeZip writes the same as writeTar, as a zip archive.
func writeZip(w io.Writer, folder string, made time.Time, files []file) error {
	archive := zip.NewWriter(w)
	for _, f := range byName(files) {
		header := &zip.FileHeader{Name: path.Join(folder, f.name), Method: zip.Deflate, Modified: made.UTC()}
		header.SetMode(f.mode())
		part, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := part.Write(f.text); err != nil {
			return err
		}
	}
	return archive.Close()
}

// writeTo writes a file that does not exist.
func writeTo(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// writeSums writes SHA256SUMS, which ‘sha256sum --check’ reads, over all files of a folder.
func writeSums(dir string) error {
	entries, err := os.ReadDir(dir) // by name
	if err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, entry := range entries {
		f, err := os.Open(filepath.Join(dir, entry.Name()))
		if err != nil {
			return err
		}
		sum := sha256.New()
		_, err = io.Copy(sum, f)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sum.Sum(nil), entry.Name())
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), sums.Bytes(), 0o644)
}
