package session

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"sibyl/internal/bt"
	"sibyl/internal/files"
	"sibyl/internal/text"
)

// Transcript is the result of transcribing a recording.
type Transcript struct {
	Sequence int     `json:"sequence"`           // of the entry
	Text     string  `json:"text"`               // may be empty: there may be nothing to hear
	By       string  `json:"by"`                 // what transcribed it
	Language string  `json:"language,omitempty"` // the one heard; "": not known
	Seconds  float64 `json:"seconds,omitempty"`  // duration; 0: not known
	Flags    []Flag  `json:"flags,omitempty"`
	Times    []Time  `json:"times,omitempty"` // when its passages are spoken, in order; none: not known
}

// errNoEntry is an ErrNotFound for an entry.
func errNoEntry(id string, sequence int) error {
	return fmt.Errorf("session %s has no entry %d: %w", id, sequence, ErrNotFound)
}

func errTyped(id string, sequence int) error {
	return fmt.Errorf("entry %d of session %s was typed and has no audio: %w", sequence, id, ErrNotFound)
}

// SaveTranscript saves the transcript of an entry that is PENDING or FAILED, sets SUCCESS, and may name the session. An
// entry with SUCCESS stays as it is and is returned, so a repeated call changes nothing.
func (s *Store) SaveTranscript(ctx context.Context, id string, t Transcript) (saved AudioEntry, err error) {
	t = s.cleanTranscript(t)
	if len(t.Text) > maxStored {
		return saved, tooLarge("the transcript", maxStored)
	}
	_, err = s.change(ctx, id, fmt.Sprintf("keeping transcript %d", t.Sequence), func(h *lockedSession) (bool, error) {
		e := h.Entry(t.Sequence)
		if e == nil {
			return false, errNoEntry(id, t.Sequence)
		}
		if saved = *e; e.Status == Success {
			return false, nil
		}
		if err := h.writeTranscript(e, t.Text); err != nil {
			return false, err
		}
		e.Status, e.Error, e.Code = Success, "", ""
		e.Attempts++
		if e.Seconds == nil && t.Seconds > 0 {
			e.Seconds = &t.Seconds
		}
		h.nameFrom(t.Text)
		e.By, e.Heard, e.Flags, e.Times = t.By, t.Language, t.Flags, encodeTimes(t.Times)
		saved = *e
		return true, nil
	})
	return saved, err
}

// cleanText gives a text as it is stored: redacted, in valid UTF-8, without NUL.
func (s *Store) cleanText(text string) string {
	return s.c.Redact(strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", ""))
}

// cleanTranscript gives a transcript as it is stored. Its times are those of the text that is left.
func (s *Store) cleanTranscript(t Transcript) Transcript {
	heard := t.Text
	t.Text = s.cleanText(heard)
	t.Times = movedTimes(t.Times, heard, t.Text)
	t.Flags = slices.Clone(t.Flags)
	for i := range t.Flags {
		t.Flags[i].Text = s.cleanText(t.Flags[i].Text)
	}
	return t
}

// writeTranscript writes a transcript's file and sets e.Transcript. It replaces an unlisted file that a crash left, or
// the entry's own, never that of another entry.
func (h *lockedSession) writeTranscript(e *AudioEntry, text string) error {
	name := fmt.Sprintf("%03d_audio.txt", e.Sequence)
	for n := 2; h.isListed(transcriptFolder, name) && e.Transcript != name; n++ {
		name = fmt.Sprintf("%03d_audio_%02d.txt", e.Sequence, n)
	}
	e.Transcript = name
	return h.writeText(transcriptFolder, name, text)
}

// FailTranscript records why an entry could not be transcribed: it becomes FAILED, or SUCCESS again if it still has an
// earlier transcript. It changes nothing if the entry has SUCCESS, or FAILED for the same reason.
func (s *Store) FailTranscript(
	ctx context.Context, id string, sequence int, why bt.Why,
) (failed AudioEntry, err error) {
	reason := text.Brief(s.c.Redact(why.Text), longestReason)
	_, err = s.change(ctx, id, fmt.Sprintf("giving up transcript %d", sequence), func(h *lockedSession) (bool, error) {
		e := h.Entry(sequence)
		if e == nil {
			return false, errNoEntry(id, sequence)
		}
		if e.Status == Success || e.Status == Failure && e.Error == reason {
			failed = *e
			return false, nil
		}
		if e.Status != Failure {
			e.Attempts++
		}
		e.Status, e.Error, e.Code = Failure, reason, why.Code
		if e.Transcript != "" {
			e.Status = Success
		}
		failed = *e
		return true, nil
	})
	return failed, err
}

// Retry makes all FAILED entries PENDING again, and updates the state; without such entries it changes nothing.
func (s *Store) Retry(ctx context.Context, id string) (Session, error) {
	return s.change(ctx, id, "trying again", func(h *lockedSession) (changed bool, err error) {
		for i := range h.Audio {
			if e := &h.Audio[i]; e.Status == Failure {
				e.Status, e.Error, e.Code, changed = Pending, "", "", true
			}
		}
		if changed {
			h.markWaiting()
		}
		return changed, nil
	})
}

// Anew makes a transcribed recording PENDING again; it keeps its transcript until there is a new one. attempts is its
// Attempts when this was requested: if that has changed since, nothing is done, so a repeated request has no effect.
func (s *Store) Anew(ctx context.Context, id string, sequence, attempts int) (Session, error) {
	return s.change(ctx, id, fmt.Sprintf("transcribing %d anew", sequence), func(h *lockedSession) (bool, error) {
		e := h.Entry(sequence)
		switch {
		case e == nil:
			return false, errNoEntry(id, sequence)
		case e.File == "":
			return false, errTyped(id, sequence)
		case e.Status != Success || e.Attempts != attempts:
			return false, nil
		}
		e.Status, e.Error, e.Code = Pending, "", ""
		h.markWaiting()
		return true, nil
	})
}

// readText reads a text file under root. It fails on a symbolic link, on more than maxStored, and if it is not UTF-8.
func readText(root *os.Root, name string) (string, error) {
	err := files.NoLinks(root, name)
	var f files.File
	if err == nil {
		f, err = files.Read(root, name, maxStored)
	}
	switch {
	case err != nil:
		return "", err
	case f.Cut:
		return "", fmt.Errorf("%s is larger than %s", name, sizeInWords(maxStored))
	case !utf8.Valid(f.Content) || bytes.IndexByte(f.Content, 0) >= 0:
		return "", fmt.Errorf("%s is not UTF-8 text", name)
	}
	return string(f.Content), nil
}

// readTextOf reads a text in a folder of a session, after checking the file's name.
func (s *Store) readTextOf(ctx context.Context, id, folder, file string) (string, error) {
	if err := cmp.Or(ctx.Err(), checkFile(file)); err != nil {
		return "", err
	}
	root, err := s.rootWith(id)
	if err != nil {
		return "", err
	}
	text, err := readText(root, id+"/"+folder+"/"+file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("session %s: %s/%s is missing: %w", id, folder, file, err)
	}
	return text, err
}

// Transcript reads the transcript of an entry, or its typed text. ErrNotFound if there is no such entry or transcript;
// fs.ErrNotExist if its file is gone.
func (s *Store) Transcript(ctx context.Context, id string, sequence int) (string, error) {
	m, err := s.Get(ctx, id)
	if err != nil {
		return "", err
	}
	e := m.Entry(sequence)
	if e == nil {
		return "", errNoEntry(id, sequence)
	}
	if e.Transcript == "" {
		return "", fmt.Errorf("entry %d of session %s is not transcribed: %w", sequence, id, ErrNotFound)
	}
	return s.TranscriptOf(ctx, id, *e)
}

// TranscriptOf is Transcript for an entry whose session is already loaded; it does not read metadata.json again.
func (s *Store) TranscriptOf(ctx context.Context, id string, e AudioEntry) (string, error) {
	return s.readTextOf(ctx, id, transcriptFolder, e.Transcript)
}

// OpenAudio opens an entry's audio; the caller closes it. ErrNotFound if it has none, fs.ErrNotExist without the file.
func (s *Store) OpenAudio(ctx context.Context, id string, sequence int) (f *os.File, e AudioEntry, err error) {
	m, err := s.Get(ctx, id)
	if err != nil {
		return nil, e, err
	}
	found := m.Entry(sequence)
	switch {
	case found == nil:
		return nil, e, errNoEntry(id, sequence)
	case found.File == "":
		return nil, e, errTyped(id, sequence)
	}
	root, err := s.rootWith(id)
	if err = cmp.Or(err, checkFile(found.File)); err != nil {
		return nil, e, err
	}
	name := path.Join(id, audioFolder, found.File)
	if err := files.NoLinks(root, name); err != nil {
		return nil, e, fmt.Errorf("the audio of entry %d of session %s: %w", sequence, id, err)
	}
	f, err = root.Open(name)
	return f, *found, err
}

// AudioPath gives the absolute path of an entry's audio, for other programs. It has the errors of OpenAudio.
func (s *Store) AudioPath(ctx context.Context, id string, sequence int) (string, error) {
	f, e, err := s.OpenAudio(ctx, id, sequence)
	if err != nil {
		return "", err
	}
	return filepath.Join(s.folder, id, audioFolder, e.File), f.Close()
}
