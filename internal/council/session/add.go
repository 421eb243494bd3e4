package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sibyl/internal/files"
)

// Added is the result of adding a file.
type Added struct {
	Entry AudioEntry `json:"entry"`
	// Same is the sequence of an entry that already has this content: then Entry is that entry, and none was added.
	// 0: Entry is new.
	Same int `json:"same_as,omitempty"`
}

// AddAudio adds a recording; it reads content to its end. original is the file's name at its source: a label, and the
// source of the file ending if the content does not show one. A text file (.txt, .md), a PDF and a DOCX become an entry
// with a transcript and no audio. It returns an *Invalid if the content is empty, too large or not audio; on any error
// nothing is kept. It locks the session only after content has arrived. Cancelling ctx does not interrupt a blocked
// Read of content; the caller has to end that.
func (s *Store) AddAudio(ctx context.Context, id, original string, content io.Reader) (added Added, err error) {
	root, err := s.rootWith(id)
	if err != nil {
		return Added{}, err
	}
	u := &upload{store: s, root: root, session: id, label: s.c.Redact(label(original))}
	defer u.discard()
	text, isText, err := "", false, u.receive(ctx, content)
	if err == nil {
		text, isText, err = u.readAsText(ctx)
	}
	if err == nil && isText {
		err = s.checkText(u.String(), text)
	} else if err == nil {
		err = u.probe(ctx)
	}
	if _, invalid := errors.AsType[*Invalid](err); invalid {
		return Added{}, err
	}
	if err != nil {
		return Added{}, errorWhile(id, "adding "+u.String(), err)
	}
	_, err = s.change(ctx, id, "adding "+u.String(), func(h *lockedSession) (bool, error) {
		same, err := h.entryWithContent(u, isText)
		switch {
		case err != nil:
			return false, err
		case same != nil:
			added = Added{Entry: *same, Same: same.Sequence}
			return false, u.restoreAudio(h, *same)
		case isText:
			added.Entry, err = h.addText(text, u.label, u.blank)
		default:
			added.Entry, err = u.addEntry(h)
		}
		return true, err
	})
	return added, err
}

// AddText adds typed text, as an entry with a transcript and no audio. It returns an *Invalid if the text is empty, too
// large or not UTF-8. The same text added twice gives two entries.
func (s *Store) AddText(ctx context.Context, id, text string) (e AudioEntry, err error) {
	if err := s.checkText("the text", text); err != nil {
		return e, err
	}
	text = s.c.Redact(text)
	_, err = s.change(ctx, id, "adding words", func(h *lockedSession) (bool, error) {
		e, err = h.addText(text, "", "")
		return true, err
	})
	return e, err
}

// checkText returns an *Invalid if a text is too large, not UTF-8 or blank; what names it in the error.
func (s *Store) checkText(what, text string) error {
	switch {
	case len(text) > s.c.MaxText:
		return &Invalid{Kind: TooLarge, What: what, Problem: fmt.Sprintf("has %d bytes; %d at most",
			len(text), s.c.MaxText)}
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return &Invalid{Kind: Form, What: what, Problem: "is not UTF-8 text"}
	case Blank(text):
		return &Invalid{Kind: Empty, What: what, Problem: "is empty"}
	}
	return nil
}

// Blank reports whether a text has nothing visible in it; such a text can't be added.
func Blank(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) })
}

// addText appends an entry for a text and writes its file, or uses the file of the same text that a crash left.
func (h *lockedSession) addText(text, original, blank string) (AudioEntry, error) {
	e := AudioEntry{
		ReceivedAt: h.store.now(), Size: int64(len(text)), Status: Success, Checksum: files.Hash([]byte(text)),
		Original: original, Blank: blank,
	}
	recordings, err := h.listFiles(audioFolder)
	if err != nil {
		return e, err
	}
	e.Transcript, e.Sequence, err = h.findOrNumber(transcriptFolder, e.Checksum, e.Size, func(sequence int,
		rest string) bool {
		isOf := func(info fs.FileInfo) bool { n, _, _ := splitSequence(info.Name()); return n == sequence }
		return strings.HasPrefix(rest, "audio.") && h.Entry(sequence) == nil && !slices.ContainsFunc(recordings, isOf)
	})
	if err == nil && e.Transcript == "" {
		err = h.writeTranscript(&e, text)
	}
	if err != nil {
		return e, err
	}
	h.Audio = append(h.Audio, e)
	h.markAdded()
	h.nameFrom(text)
	return e, nil
}

// entryWithContent finds the entry that has the content of an upload; nil if there is none. It points into h.
func (h *lockedSession) entryWithContent(u *upload, isText bool) (*AudioEntry, error) {
	for i := range h.Audio {
		e := &h.Audio[i]
		if isText != (e.File == "") {
			continue
		}
		sum := e.Checksum
		// an entry that was written by hand has no checksum
		if info, err := h.root.Lstat(h.fileName(audioFolder, e.File)); sum == "" && checkFile(e.File) == nil && err == nil &&
			info.Size() == u.size {
			if sum, err = hashFile(h.root, h.fileName(audioFolder, e.File)); err != nil {
				return nil, err
			}
		}
		if sum == u.checksum {
			return e, nil
		}
	}
	return nil, nil
}
