package session

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sibyl/internal/files"
)

// writeText writes a text into a folder of the session. A file that was not there goes again if metadata.json can't be
// written.
func (h *lockedSession) writeText(folder, name, text string) error {
	if err := makeSub(h.root, h.ID, folder); err != nil {
		return err
	}
	if err := h.store.reachStep("write " + folder); err != nil {
		return err
	}
	mode := fs.FileMode(0) // that of the file in its place
	if _, err := h.root.Lstat(h.fileName(folder, name)); errors.Is(err, fs.ErrNotExist) {
		h.made, mode = append(h.made, h.fileName(folder, name)), 0o600
	}
	if err := files.Write(h.root, h.fileName(folder, name), []byte(text), mode); err != nil {
		return err
	}
	return h.store.reachStep("wrote " + folder)
}

// moveAudio gives an upload its name in audio/, which no other file has.
func (h *lockedSession) moveAudio(from, name string) error {
	to := h.fileName(audioFolder, name)
	if err := h.store.reachStep("name upload"); err != nil {
		return err
	}
	if _, err := h.root.Lstat(to); err == nil {
		return fmt.Errorf("%s was created by another program at the same time", to)
	} else if ignoreMissing(err) != nil {
		return err
	}
	if err := h.root.Rename(from, to); err != nil {
		return err
	}
	h.made = append(h.made, to)
	if err := syncFolder(h.root, h.fileName(audioFolder)); err != nil {
		return err
	}
	return h.store.reachStep("named upload")
}

// listFiles gives the files of a folder of the session, by name. Those that are being written have names with a dot,
// and are left out.
func (h *lockedSession) listFiles(folder string) ([]fs.FileInfo, error) {
	infos, err := files.List(h.root, h.fileName(folder))
	infos = slices.DeleteFunc(infos, func(info fs.FileInfo) bool { return strings.HasPrefix(info.Name(), ".") })
	slices.SortFunc(infos, func(a, b fs.FileInfo) int { return strings.Compare(a.Name(), b.Name()) })
	return infos, ignoreMissing(err)
}

func (h *lockedSession) isListed(folder, name string) bool {
	if folder == responseFolder {
		return slices.ContainsFunc(h.Answers, func(e LlmEntry) bool { return e.File == name })
	}
	return slices.ContainsFunc(h.Audio, func(e AudioEntry) bool {
		return folder == audioFolder && e.File == name || folder == transcriptFolder && e.Transcript == name
	})
}

// findOrNumber finds the file that a crash left with this content: metadata.json does not name it, and fits accepts it.
// If there is none, name is empty, and next is the first free sequence: after those of all entries, or answers, and of
// their files.
func (h *lockedSession) findOrNumber(
	folder, checksum string, bytes int64, fits func(sequence int, rest string) bool,
) (name string, next int, err error) {
	folders := []string{audioFolder, transcriptFolder}
	for _, e := range h.Audio {
		next = max(next, e.Sequence)
	}
	if folder == responseFolder {
		next, folders = 0, []string{responseFolder}
		for _, e := range h.Answers {
			next = max(next, e.Sequence)
		}
	}
	for _, in := range folders {
		infos, err := h.listFiles(in)
		if err != nil {
			return "", 0, err
		}
		for _, info := range infos {
			sequence, rest, ok := splitSequence(info.Name())
			next = max(next, sequence)
			if in != folder || !ok || info.Size() != bytes || h.isListed(folder, info.Name()) || !fits(sequence, rest) {
				continue
			}
			if sum, err := hashFile(h.root, h.fileName(folder, info.Name())); err != nil || sum == checksum {
				return info.Name(), sequence, err
			}
		}
	}
	return "", next + 1, nil
}

// checkFile says whether a name of metadata.json can be that of a file of ours: metadata.json may be written by hand,
// too.
func checkFile(name string) error {
	if name == "" || strings.HasPrefix(name, ".") || strings.ContainsAny(name, "/\\\x00") || len(name) > 255 ||
		!filepath.IsLocal(name) {
		return &Invalid{Kind: Form, What: "the file name “" + shortened(name) + "”",
			Problem: "is not that of a file in the session's folder"}
	}
	return nil
}

// hashFile is the checksum of a file, as files.Hash gives it of a content.
func hashFile(root *os.Root, name string) (string, error) {
	if err := files.NoLinks(root, name); err != nil {
		return "", err
	}
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}
