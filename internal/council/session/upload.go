package session

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"sibyl/internal/files"
	"sibyl/internal/media/document"
)

// tempPrefix and tempSuffix enclose the name of a file that is being received.
const (
	tempPrefix = ".upload-"
	tempSuffix = ".tmp"
)

// upload is a file that is being added. Until then it has a temporary name in audio/.
type upload struct {
	store    *Store
	root     *os.Root
	session  string // its id
	label    string
	temp     string // temporary file, relative to root; "": not created
	size     int64
	checksum string
	blank    string // the pages of a document that have no text
	facts    Facts
	at       time.Time
}

func (u *upload) String() string {
	if u.label == "" {
		return "the audio"
	}
	return "“" + shortened(u.label) + "”"
}

func (u *upload) discard() {
	if u.temp != "" {
		_ = u.root.Remove(u.temp) // it may be renamed already, or gone with its session; otherwise Repair removes it
	}
}

// receive writes the content to a temporary file and computes its checksum; an *Invalid if it is empty or too large.
func (u *upload) receive(ctx context.Context, content io.Reader) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	most := u.store.c.MaxAudio
	if err := makeSub(u.root, u.session, audioFolder); errors.Is(err, fs.ErrNotExist) {
		return errNoSession(u.session)
	} else if err != nil {
		return err
	}
	u.at = u.store.now()
	name := path.Join(u.session, audioFolder, tempPrefix+rand.Text()+tempSuffix)
	if err := u.store.reachStep("make upload"); err != nil {
		return err
	}
	f, err := u.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	u.temp = name
	sum := sha256.New()
	u.size, err = io.Copy(io.MultiWriter(sum, f), contentReader{ctx, io.LimitReader(content, most+1)})
	switch {
	case err != nil:
	case u.size > most:
		err = tooLarge(u.String(), most)
	case u.size == 0:
		err = &Invalid{Kind: Empty, What: u.String(), Problem: "is empty"}
	default:
		if err = u.store.reachStep("sync upload"); err == nil {
			err = f.Sync()
		}
	}
	u.checksum = "sha256:" + hex.EncodeToString(sum.Sum(nil))
	return errors.Join(err, f.Close())
}

// contentReader wraps errors of the source, so that they differ from those of the disk, and stops when ctx ends.
type contentReader struct {
	ctx  context.Context
	from io.Reader
}

func (s contentReader) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("it could not be read: %w", err)
	}
	return n, err
}

// extension gives what follows the last dot of a name, in lower case; "" if that is too long or not alphanumeric.
func extension(name string) string {
	end := strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))
	if len(end) > 8 || strings.Trim(end, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return ""
	}
	return end
}

func (u *upload) hasTextName() bool {
	return slices.Contains([]string{"txt", "md", "markdown", "text"}, extension(u.label))
}

// readAsText gives the text of a text file, PDF or DOCX, and sets the upload's size and checksum to those of the text.
// isText is false if it is none of these; an *Invalid if it is one but can't be added.
func (u *upload) readAsText(ctx context.Context) (text string, isText bool, err error) {
	if !u.hasTextName() {
		return u.documentText(ctx)
	}
	f, err := files.Read(u.root, u.temp, u.store.c.MaxText)
	if err != nil {
		return "", false, err
	}
	content := f.Content
	for n := 1; f.Cut && n < utf8.UTFMax && !utf8.Valid(content); n++ { // it may end within a character
		content = f.Content[:len(f.Content)-n]
	}
	text, err = document.DecodeText(u.label, content)
	switch {
	case err != nil || !utf8.Valid(content) && !hasUTF16Mark(content) && (u.store.c.Probe == nil || u.probe(ctx) == nil):
		return "", false, nil //nolint:nilerr // it is no text, or audio
	case f.Cut:
		return "", true, &Invalid{Kind: TooLarge, What: u.String(),
			Problem: fmt.Sprintf("has %d bytes; a text has %d at most", u.size, u.store.c.MaxText)}
	}
	text = u.store.c.Redact(text)
	u.checksum, u.size = files.Hash([]byte(text)), int64(len(text))
	return text, true, nil
}

// hasUTF16Mark reports whether a text begins with a UTF-16 byte order mark.
func hasUTF16Mark(content []byte) bool {
	return bytes.HasPrefix(content, []byte("\xff\xfe")) || bytes.HasPrefix(content, []byte("\xfe\xff"))
}

// headBytes is how many bytes of a file are read to detect a document.
const headBytes = 1 << 10

// documentText is readAsText for a PDF or DOCX. Size and checksum are the text's: two files with one text are equal.
func (u *upload) documentText(ctx context.Context) (text string, isText bool, err error) {
	head, err := files.Read(u.root, u.temp, headBytes)
	if err != nil || u.store.c.Read == nil || !document.IsPDFOrDOCX(u.label) && !document.MayBePDFOrDOCX(head.Content) {
		return "", false, err
	}
	f, err := files.Read(u.root, u.temp, document.MaxFile)
	if err != nil {
		return "", false, err
	}
	if f.Cut {
		return "", true, tooLarge(u.String(), document.MaxFile)
	}
	d, err := u.store.c.Read(ctx, u.label, f.Content)
	if why, ok := errors.AsType[*document.Error](err); ok {
		kind := Unreadable
		if why.Reason == document.TooLarge {
			kind = TooLarge
		}
		return "", true, &Invalid{Kind: kind, What: u.String(), Problem: "can't be read: " + why.Why()}
	}
	text = u.store.c.Redact(d.Text())
	u.blank, _ = d.BlankIn(1, math.MaxInt)
	u.checksum, u.size = files.Hash([]byte(text)), int64(len(text))
	return text, true, err
}

// probe sets the facts of the upload, with a file ending; an *Invalid if it is not audio.
func (u *upload) probe(ctx context.Context) error {
	const neither = "can't be added: it is neither audio nor text in a .txt or .md file, nor a PDF or DOCX"
	if u.store.c.Probe == nil && u.hasTextName() {
		return &Invalid{Kind: NotAudio, What: u.String(), Problem: neither}
	}
	if u.store.c.Probe != nil {
		facts, err := u.store.c.Probe(ctx, filepath.Join(u.store.folder, filepath.FromSlash(u.temp)))
		if cancelled := ctx.Err(); err != nil && cancelled != nil {
			return cancelled
		}
		if err != nil {
			return &Invalid{Kind: NotAudio, What: u.String(), Problem: neither, Err: err}
		}
		u.facts = facts
	}
	u.facts.Ending = cmp.Or(extension("."+u.facts.Ending), extension(u.label), "bin")
	return u.store.reachStep("probed upload")
}

// addEntry renames the upload and appends an entry for it, or for a file with the same content that a crash left.
func (u *upload) addEntry(h *lockedSession) (AudioEntry, error) {
	e := AudioEntry{
		ReceivedAt: u.at, Size: u.size, Seconds: u.facts.Seconds, Status: Pending, Checksum: u.checksum,
		Original: u.label, Silent: u.facts.Silent,
	}
	var err error
	e.File, e.Sequence, err = h.findOrNumber(audioFolder, u.checksum, u.size, func(sequence int, rest string) bool {
		return strings.HasPrefix(rest, "audio.") && h.Entry(sequence) == nil
	})
	if err == nil && e.File == "" {
		e.File = fmt.Sprintf("%03d_audio.%s", e.Sequence, u.facts.Ending)
		err = h.moveAudio(u.temp, e.File)
	}
	if err != nil {
		return e, err
	}
	h.Audio = append(h.Audio, e)
	h.markAdded()
	return e, nil
}

// restoreAudio makes the upload the audio of an entry whose file is gone; otherwise it does nothing.
func (u *upload) restoreAudio(h *lockedSession, e AudioEntry) error {
	var err error
	if e.File != "" && checkFile(e.File) == nil {
		_, err = h.root.Lstat(h.fileName(audioFolder, e.File))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return h.moveAudio(u.temp, e.File)
	}
	return err
}
