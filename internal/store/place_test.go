package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"sibyl/internal/behaviour/assert"
)

// at has a file lie on a place, wherever it is.
func at(p place) FileOption {
	return func(f *file) { f.look = func(string) (place, error) { return p, nil } }
}

func TestPlaceOfAFileThatIsNotThereIsThatOfWhereItWillBe(t *testing.T) {
	dir := assert.Must(filepath.EvalSymlinks(t.TempDir()))(t)
	in := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for _, name := range []string{"local", "remote"} {
		assert.NoError(t, os.Mkdir(in(name), 0o700))
	}
	for name, target := range map[string]string{"local/file": in("remote/sibyl.db"), "local/folder": "../remote/data",
		"chain": "local/folder"} {
		assert.NoError(t, os.Symlink(target, in(name)))
	}
	for path, want := range map[string]string{
		"local":               "local",
		"local/a/b/sibyl.db":  "local",
		"local/file":          "remote",
		"local/folder/x/y.db": "remote",
		"chain/sibyl.db":      "remote",
	} {
		_, err := findPlace(t.Context(), in(path), func(found string) (place, error) {
			assert.Equalf(t, found, in(want), "what is looked at for %s", path)
			return place{}, nil
		})
		assert.NoError(t, err)
	}
}

func TestLinksThatLeadNowhereEndTheLook(t *testing.T) {
	dir := t.TempDir()
	assert.NoError(t, os.Symlink("b", filepath.Join(dir, "a")))
	assert.NoError(t, os.Symlink("a", filepath.Join(dir, "b")))
	_, err := findPlace(t.Context(), filepath.Join(dir, "a"), lookAtPlace)
	assert.That(t, err != nil, "a loop has a place")
}

func TestFileSystemThatDoesNotAnswerIsNotWaitedForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := make(chan struct{})
		defer close(gone)
		path := newPath(t)
		_, err := OpenFile(t.Context(), path, func(f *file) {
			f.look = func(string) (place, error) {
				<-gone
				return place{}, nil
			}
		})
		assert.Require(t, errors.Is(err, errNoAnswer), "error %v", err)
		assert.Contains(t, "the error", err.Error(), path, placeTimeout.String(), "server")
	})
}

func TestLookAtAPlaceEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan struct{})
	defer close(gone)
	_, err := findPlace(ctx, t.TempDir(), func(string) (place, error) {
		cancel()
		<-gone
		return place{}, nil
	})
	assert.ErrorIs(t, err, context.Canceled)
}

func TestPlaceThatCannotBeLookedAtIsOpenedAllTheSame(t *testing.T) {
	db := openAt(t, newPath(t), func(f *file) {
		f.look = func(string) (place, error) { return place{}, errors.ErrUnsupported }
	})
	assert.Equal(t, db.SharedPlace(), "")
}

func TestSharedPlaceIsSaidWithItsFileSystem(t *testing.T) {
	db := openAt(t, newPath(t), at(place{system: "nfs4", shared: true}))
	assert.That(t, strings.Contains(db.SharedPlace(), "nfs4"), "it says %q", db.SharedPlace())
}
