package vault

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
)

const (
	entryMark   = "## "
	entryPrefix = "t-"
	entryDigits = 16
)

// entryID names the entry that the call with this key adds. It stands in the thread, so that the thread itself can tell
// whether the call took effect.
func entryID(key string) string {
	sum := sha256.Sum256([]byte("thread entry\x00" + key))
	return entryPrefix + hex.EncodeToString(sum[:])[:entryDigits]
}

// parseEntryHeader reads the line above an entry: "## 2025-10-05T14:30:22Z t-0123456789abcdef Title".
func parseEntryHeader(line string) (section, bool) {
	rest, found := strings.CutPrefix(line, entryMark)
	if !found {
		return section{}, false
	}
	stamp, rest, _ := strings.Cut(rest, " ")
	at, err := time.Parse(time.RFC3339, stamp)
	id, title, _ := strings.Cut(rest, " ")
	digits, found := strings.CutPrefix(id, entryPrefix)
	if err != nil || !found || len(digits) != entryDigits || strings.Trim(digits, "0123456789abcdef") != "" {
		return section{}, false
	}
	return section{heading: strings.TrimSpace(title), level: 2, entry: id, at: at.UTC()}, true
}

// formatEntry is what a push adds to its thread: the header and the text, kept from looking like a header.
func formatEntry(id string, at time.Time, title, text string) string {
	header := entryMark + at.UTC().Format("2006-01-02T15:04:05Z") + " " + id
	if title != "" {
		header += " " + title
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if _, is := parseEntryHeader(strings.TrimLeft(line, `\`)); is {
			lines[i] = `\` + line
		}
	}
	return header + "\n\n" + strings.Join(lines, "\n") + "\n"
}

// parseEntries divides a thread at its headers. Text above the first header, which only a person can have written, is a
// section that is no entry.
func (d *document) parseEntries() {
	current := section{start: d.front.end + 1}
	for i := d.front.end; i < len(d.lines); i++ {
		entry, is := parseEntryHeader(d.lines[i])
		if !is {
			continue
		}
		d.addSection(current, i)
		current = entry
		current.start = i + 1
	}
	d.addSection(current, len(d.lines))
}

// entries are the sections of a thread that were pushed.
func (d *document) entries() []section {
	entries := d.sections
	if len(entries) > 0 && entries[0].entry == "" {
		entries = entries[1:]
	}
	return entries
}

// entryText is the text of an entry as it was pushed.
func (d *document) entryText(s section) string {
	var lines []string
	for _, line := range d.lines[s.start:s.end] {
		if bare := strings.TrimLeft(line, `\`); len(bare) < len(line) {
			if _, is := parseEntryHeader(bare); is {
				line = line[1:]
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(trimBlank(lines), "\n")
}

// cleanText is text with lines that end in \n, and no blank ones around it.
func cleanText(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	return strings.Join(trimBlank(strings.Split(text, "\n")), "\n")
}

func trimBlank(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
