package app

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"

	"sibyl/internal/index"
	"sibyl/internal/tool/code"
	"sibyl/internal/tool/vault"
)

// What the index of a folder is kept for.
const (
	codeKind  = "code"
	notesKind = "notes"
)

// ErrNoIndex says that nothing may be indexed.
var ErrNoIndex = errors.New("the index is off (the settings index.use and index.folder)")

// codeIndex stands a cache file behind the index of a folder of code.
type codeIndex struct{ *index.Cache }

func (c codeIndex) Read(ctx context.Context, use func(code.Kept) error) error {
	return c.Cache.Read(ctx, func(v *index.View) error { return use(v) })
}

func (c codeIndex) Build(ctx context.Context, add func(code.Builder) error) error {
	return c.Cache.Build(ctx, func(b *index.Build) error { return add(b) })
}

// notesCache stands a cache file behind the index of a folder of notes, which is all in its catalogue.
type notesCache struct{ *index.Cache }

func (c notesCache) Load(ctx context.Context) (text []byte, err error) {
	err = c.Read(ctx, func(v *index.View) error {
		text = bytes.Clone(v.Catalogue())
		return nil
	})
	return text, err
}

func (c notesCache) Save(ctx context.Context, text []byte) error {
	return c.Build(ctx, func(b *index.Build) error { return b.Commit(ctx, text) })
}

// useNotesIndex has the index of a folder of notes kept.
func (a *App) useNotesIndex(v *vault.Vault, dir string) error {
	store := a.Index()
	if store == nil {
		return nil
	}
	folder, err := IndexedFolder(dir)
	if err != nil {
		return err
	}
	v.UseCache(notesCache{store.Open(notesKind, folder)}, a.holdsSecret)
	return nil
}

// Index is where indexes are kept; nil where nothing may be indexed.
func (a *App) Index() *index.Caches {
	if a.Config.Index.Off || a.Config.Index.Folder == "" {
		return nil
	}
	return index.NewCaches(a.Config.Index.Folder, index.DefaultBound)
}

// IndexedFolder is the name under which a folder is indexed: that without links.
func IndexedFolder(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// useIndex puts the index of a folder behind its searches.
func (a *App) useIndex(root *code.Root, dir string) error {
	store := a.Index()
	if store == nil {
		return nil
	}
	folder, err := IndexedFolder(dir)
	if err != nil {
		return err
	}
	use := code.IndexUse{Index: codeIndex{store.Open(codeKind, folder)}, Private: a.holdsSecret}
	if a.stays {
		use.Folder = folder
	}
	root.UseIndex(use)
	return nil
}

// holdsSecret says that a known secret is in a text, or what looks like one.
func (a *App) holdsSecret(text []byte) bool { return !bytes.Equal(a.secrets.bytes(text), text) }

// BuildIndex brings the index of a folder up to date.
func (a *App) BuildIndex(ctx context.Context, dir string) error {
	if a.Index() == nil {
		return ErrNoIndex
	}
	root, err := code.Open(dir)
	if err != nil {
		return err
	}
	err = a.useIndex(root, dir)
	if err == nil {
		err = root.BuildIndex(ctx)
	}
	return errors.Join(err, root.Close())
}
