package talk

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sibyl/internal/files"
)

// Limits of a history: its entries, the bytes of an entry, and the bytes of its file.
const (
	mostEntries = 500
	mostEntry   = 8 << 10
	mostKept    = 1 << 20 // a longer file is cut to the last entries when it is opened
)

// history is what was typed in a folder, oldest first. In its file each entry is a JSON string on its own line, so
// that several conversations can append to it.
type history struct {
	file    string // "": nothing is saved
	redact  func(string) string
	entries []string
}

// openHistory reads a history, without lines that can't be parsed, and shortens a long file. It is never nil.
func openHistory(file string, redact func(string) string) (*history, error) {
	h := &history{file: file, redact: redact}
	if file == "" {
		return h, nil
	}
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return h, err
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, len(text)+1)
	for lines.Scan() {
		var entry string
		if json.Unmarshal(lines.Bytes(), &entry) == nil && entry != "" {
			h.entries = append(h.entries, entry)
		}
	}
	if over := len(h.entries) - mostEntries; over > 0 {
		h.entries = h.entries[over:]
	}
	if len(text) > mostKept {
		return h, h.rewrite()
	}
	return h, nil
}

// rewrite replaces the file with the entries in memory, without those that hold secrets.
func (h *history) rewrite() error {
	var b bytes.Buffer
	for _, entry := range h.entries {
		if h.redact(entry) != entry {
			continue
		}
		line, err := json.Marshal(entry)
		if err != nil {
			return err
		}
		b.Write(append(line, '\n'))
	}
	return files.Replace(h.file, b.Bytes(), 0o600)
}

// add appends an entry, and saves it unless it holds a secret. It ignores blank, too long and repeated entries.
func (h *history) add(entry string) error {
	if strings.TrimSpace(entry) == "" || len(entry) > mostEntry {
		return nil
	}
	if n := len(h.entries); n > 0 && h.entries[n-1] == entry {
		return nil
	}
	h.entries = append(h.entries, entry)
	if h.file == "" || h.redact(entry) != entry {
		return nil
	}
	line, err := json.Marshal(entry)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(h.file), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(h.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// find returns the index of the last entry before an index that contains a text, ignoring case; -1: none.
func (h *history) find(text string, before int) int {
	text = strings.ToLower(text)
	for i := min(before, len(h.entries)) - 1; i >= 0; i-- {
		if strings.Contains(strings.ToLower(h.entries[i]), text) {
			return i
		}
	}
	return -1
}
