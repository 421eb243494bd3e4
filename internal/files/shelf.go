package files

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Shelf keeps what writes replace, so that it can be put back. Texts lie under their hash, once; a record says which
// write replaced which. The folder is its owner's alone. Texts are gone by Expire after MaxAge, or, the oldest first,
// when all of them have more than MaxBytes.
type Shelf struct {
	Folder   string // on this machine; made where it is missing
	MaxBytes int64
	MaxAge   time.Duration
	Now      func() time.Time
}

// Replaced is what one write replaced.
type Replaced struct {
	ID     string    `json:"id"`
	At     time.Time `json:"at"`
	Owner  string    `json:"owner"`
	Folder string    `json:"folder"` // in which the file lies
	Path   string    `json:"path"`   // in the folder
	Action string    `json:"action"` // the tool that wrote, or ActionUndo
	Before string    `json:"before"` // hash of what it replaced; "": there was no file
	After  string    `json:"after"`  // hash of what it wrote; "": it removed the file
	Undone string    `json:"undone,omitempty"`
	Of     string    `json:"of,omitempty"`    // of an undo: the write that it took back
	Key    string    `json:"key,omitempty"`   // of the effect that wrote; "": a build before this one wrote
	Order  int       `json:"order,omitempty"` // each write has a higher one than those before it, whatever the clock said
}

// ActionUndo is what takes a write back.
const ActionUndo = "undo"

// ErrNotKept says that there is no such write, or that the text it replaced is no longer kept.
var ErrNotKept = errors.New("it is not kept")

// UndoError says that a write was not undone, since the note has changed after it.
type UndoError struct {
	Write Replaced
	Kept  string // the path of the text that the write replaced; "": there was no note
	Diff  string // from the note as it is to that text
}

func (e *UndoError) Error() string {
	if e.Kept == "" {
		return fmt.Sprintf("%s was changed since this write made it, so it is left as it is", e.Write.Path)
	}
	return fmt.Sprintf("%s was changed since this write, so it is left as it is; what the write replaced lies in %s",
		e.Write.Path, e.Kept)
}

const (
	shelfTexts  = "texts"
	shelfWrites = "writes"
	shelfWait   = 10 * time.Second
)

// WriteID is the id of the write with a key.
func WriteID(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:5])
}

// withLock does something in the folder, which it makes, while nobody else changes what is in it.
func (s *Shelf) withLock(ctx context.Context, do func(root *os.Root) error) error {
	if err := os.MkdirAll(s.Folder, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(s.Folder)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // what was written is synced
	unlock, err := Lock(ctx, root, "lock", shelfWait)
	if err != nil {
		return err
	}
	defer unlock()
	if err := errors.Join(MakeFolder(root, shelfTexts, 0o700), MakeFolder(root, shelfWrites, 0o700)); err != nil {
		return err
	}
	return do(root)
}

// isMissing says that nothing was kept yet.
func (s *Shelf) isMissing() bool {
	_, err := os.Lstat(s.Folder)
	return errors.Is(err, fs.ErrNotExist)
}

// Keep keeps a text and the record of its write. The same write may be kept again.
func (s *Shelf) Keep(ctx context.Context, r Replaced, text []byte) error {
	return s.withLock(ctx, func(root *os.Root) error {
		if r.At.IsZero() {
			r.At = s.Now().UTC()
		}
		all, err := readRecords(root)
		if err != nil {
			return err
		}
		if len(all) > 0 {
			r.Order = all[0].Order + 1
		}
		name := textFile(r.Before)
		if _, err := root.Lstat(name); r.Before != "" && errors.Is(err, fs.ErrNotExist) {
			if err := Write(root, name, text, 0o600); err != nil {
				return err
			}
		}
		if err := s.writeRecord(root, r); err != nil {
			return err
		}
		return s.prune(root, r.ID, time.Time{})
	})
}

func (s *Shelf) writeRecord(root *os.Root, r Replaced) error {
	encoded, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return Write(root, shelfWrites+"/"+r.ID+".json", encoded, 0o600)
}

func textFile(hash string) string { return shelfTexts + "/" + strings.TrimPrefix(hash, "sha256:") }

// TextPath is the path of the file with a kept text.
func (s *Shelf) TextPath(hash string) string {
	return filepath.Join(s.Folder, filepath.FromSlash(textFile(hash)))
}

// List gives the writes of an owner, the last one first.
func (s *Shelf) List(ctx context.Context, owner string) (all []Replaced, err error) {
	if s.isMissing() {
		return nil, nil
	}
	err = s.withLock(ctx, func(root *os.Root) error {
		all, err = readRecords(root)
		return err
	})
	return slices.DeleteFunc(all, func(r Replaced) bool { return r.Owner != owner }), err
}

// readRecords reads all of them, the last one first. One that is damaged is left out.
func readRecords(root *os.Root) (all []Replaced, err error) {
	infos, err := List(root, shelfWrites)
	if err != nil {
		return nil, err
	}
	for _, info := range infos {
		var r Replaced
		raw, err := root.ReadFile(shelfWrites + "/" + info.Name())
		if err == nil && json.Unmarshal(raw, &r) == nil && r.ID+".json" == info.Name() {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b Replaced) int {
		return cmp.Or(b.Order-a.Order, b.At.Compare(a.At), strings.Compare(a.ID, b.ID))
	})
	return all, nil
}

// Text gives what a write replaced; ErrNotKept where it is kept no longer, or was changed.
func (s *Shelf) Text(r Replaced) ([]byte, error) {
	text, err := os.ReadFile(s.TextPath(r.Before))
	if errors.Is(err, fs.ErrNotExist) || err == nil && Hash(text) != r.Before {
		return nil, fmt.Errorf("what %s replaced: %w", r.ID, ErrNotKept)
	}
	return text, err
}

// Forget removes the record of a write that did not happen.
func (s *Shelf) Forget(ctx context.Context, id string) error {
	return s.withLock(ctx, func(root *os.Root) error {
		if err := root.Remove(shelfWrites + "/" + id + ".json"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return s.prune(root, "", time.Time{})
	})
}

// MarkUndone notes which undo took a write back.
func (s *Shelf) MarkUndone(ctx context.Context, r Replaced, by string) error {
	r.Undone = by
	return s.withLock(ctx, func(root *os.Root) error { return s.writeRecord(root, r) })
}

// Expire removes what was older than MaxAge at that time.
func (s *Shelf) Expire(ctx context.Context, at time.Time) error {
	if s.isMissing() {
		return nil
	}
	return s.withLock(ctx, func(root *os.Root) error { return s.prune(root, "", at) })
}

// prune removes what is too much, and what was too old at that time: records, and texts that no record names. The
// record that was written just now stays.
func (s *Shelf) prune(root *os.Root, fresh string, at time.Time) error {
	all, err := readRecords(root)
	if err != nil {
		return err
	}
	var held int64
	named := map[string]bool{}
	for _, r := range all {
		size := int64(0)
		if info, err := root.Lstat(textFile(r.Before)); err == nil && r.Before != "" &&
			!named[path.Base(textFile(r.Before))] {
			size = info.Size()
		}
		if r.ID != fresh && (at.Sub(r.At) > s.MaxAge || held+size > s.MaxBytes) {
			if err := root.Remove(shelfWrites + "/" + r.ID + ".json"); err != nil {
				return err
			}
			continue
		}
		held += size
		named[path.Base(textFile(r.Before))] = true
	}
	texts, err := List(root, shelfTexts)
	if err != nil {
		return err
	}
	for _, info := range texts {
		if !named[info.Name()] {
			if err := root.Remove(shelfTexts + "/" + info.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}
