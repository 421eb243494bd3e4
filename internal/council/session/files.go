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

// writeText writes or replaces a file in a folder of the session. If metadata.json can't be written afterwards, a new
// file is removed again; a replaced one is not restored.
func (h *lockedSession) writeText(folder, name, text string) error {
	if err := makeSub(h.root, h.ID, folder); err != nil {
		return err
	}
	if err := h.store.reachStep("write " + folder); err != nil {
		return err
	}
	mode := fs.FileMode(0) // keeps the mode of the existing file
	if _, err := h.root.Lstat(h.fileName(folder, name)); errors.Is(err, fs.ErrNotExist) {
		h.made, mode = append(h.made, h.fileName(folder, name)), 0o600
	}
	if err := files.Write(h.root, h.fileName(folder, name), []byte(text), mode); err != nil {
		return err
	}
	return h.store.reachStep("wrote " + folder)
}

// moveAudio renames an upload to its name in audio/. It fails if a file has that name.
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

// listFiles lists the files in a folder of the session, sorted by name; none if there is no folder. It leaves out names
// that begin with a dot, such as files being written.
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

// findOrNumber finds a file with this content that a crash left, and gives its name and sequence: one that
// metadata.json does not list and that fits accepts. If there is none, name is "", and next is the first sequence after
// those of all entries (for responseFolder: all answers) and their files.
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

// checkFile returns an *Invalid if a file name from metadata.json could lead outside of its folder or is hidden:
// metadata.json may have been edited by hand.
func checkFile(name string) error {
	if name == "" || strings.HasPrefix(name, ".") || strings.ContainsAny(name, "/\\\x00") || len(name) > 255 ||
		!filepath.IsLocal(name) {
		return &Invalid{Kind: Form, What: "the file name “" + shortened(name) + "”",
			Problem: "is not that of a file in the session's folder"}
	}
	return nil
}

// hashFile gives the checksum of a file in the form of files.Hash. It refuses symbolic links.
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
