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

// Bounds of a history: what is kept of it, and what is too long to be kept.
const (
	mostEntries = 500
	mostEntry   = 8 << 10
	mostKept    = 1 << 20 // bytes of the file, from which on it is cut to the last entries
)

// history is what was typed in a folder, the oldest first. In its file each entry is a JSON string on a line of its
// own, so that several conversations may add to it.
type history struct {
	file    string // "" for none
	redact  func(string) string
	entries []string
}

// openHistory reads a history. Lines that can't be read are left out.
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

// rewrite writes the last entries anew.
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

// add takes in what was typed. What holds a secret is remembered while the conversation lasts, and not kept.
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

// find gives the place of the last entry before a place that holds a text, in letters of any size; -1 without one.
func (h *history) find(text string, before int) int {
	text = strings.ToLower(text)
	for i := min(before, len(h.entries)) - 1; i >= 0; i-- {
		if strings.Contains(strings.ToLower(h.entries[i]), text) {
			return i
		}
	}
	return -1
}
