package session

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"sibyl/internal/files"
)

// tempPrefix and tempSuffix are around the name of a file that is being received.
const (
	tempPrefix = ".upload-"
	tempSuffix = ".tmp"
)

// upload is a file that is being taken in. Until it is added it has a temporary name in the folder where it will lie.
type upload struct {
	store    *Store
	root     *os.Root
	session  string // its id
	label    string
	temp     string // as the root has it; "": there is none
	size     int64
	checksum string
	facts    Facts
	at       time.Time
	delivery string // whose pieces it was put together of; "": it came whole
}

func (u *upload) String() string {
	if u.label == "" {
		return "the audio"
	}
	return "“" + short(u.label) + "”"
}

func (u *upload) discard() {
	if u.temp != "" {
		_ = u.root.Remove(u.temp) // it may be gone with its session; Repair removes it else
	}
}

// receive writes the content to the disk, under a temporary name.
func (u *upload) receive(ctx context.Context, content io.Reader) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if f, ok := content.(interface{ Stat() (fs.FileInfo, error) }); ok { // a file that is known to be too large is not copied first
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Size() > u.store.c.MaxAudio {
			return u.tooLarge()
		}
	}
	if err := makeSub(u.root, u.session, audioFolder); errors.Is(err, fs.ErrNotExist) {
		return notFound(u.session)
	} else if err != nil {
		return err
	}
	u.at = u.store.now()
	name := path.Join(u.session, audioFolder, tempPrefix+rand.Text()+tempSuffix)
	if err := u.store.at("make upload"); err != nil {
		return err
	}
	f, err := u.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	u.temp = name
	sum := sha256.New()
	source := &source{ctx: ctx, from: io.LimitReader(content, u.store.c.MaxAudio+1)}
	u.size, err = io.Copy(io.MultiWriter(sum, &stepWriter{f, u.store}), source)
	switch {
	case source.err != nil:
		err = source.err
	case err != nil:
	case u.size > u.store.c.MaxAudio:
		err = u.tooLarge()
	case u.size == 0:
		err = &Invalid{Kind: Empty, What: u.String(), Problem: "is empty"}
	default:
		if err = u.store.at("sync upload"); err == nil {
			err = f.Sync()
		}
	}
	u.checksum = "sha256:" + hex.EncodeToString(sum.Sum(nil))
	return errors.Join(err, f.Close())
}

func (u *upload) tooLarge() error {
	return &Invalid{Kind: TooLarge, What: u.String(), Problem: fmt.Sprintf("is larger than %s", size(u.store.c.MaxAudio))}
}

// source tells the errors of where content comes from from those of the disk, and ends with a context.
type source struct {
	ctx  context.Context
	from io.Reader
	err  error
}

func (s *source) Read(p []byte) (int, error) {
	if s.err = s.ctx.Err(); s.err != nil {
		return 0, s.err
	}
	n, err := s.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = fmt.Errorf("it could not be read: %w", err)
		return n, s.err
	}
	return n, err
}

type stepWriter struct {
	to    io.Writer
	store *Store
}

func (w *stepWriter) Write(p []byte) (int, error) {
	if err := w.store.at("write upload"); err != nil {
		return 0, err
	}
	return w.to.Write(p)
}

// size is a bound in words.
func size(bytes int64) string {
	for _, unit := range []struct {
		name string
		log  uint
	}{{"GB", 30}, {"MB", 20}, {"kB", 10}} {
		if n := bytes >> unit.log; n > 0 {
			return fmt.Sprintf("%d %s", n, unit.name)
		}
	}
	return fmt.Sprintf("%d bytes", bytes)
}

// ending is what comes after the last dot of a name, in lower case, if that could be an ending.
func ending(name string) string {
	end := strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))
	if end == "" || len(end) > 8 || strings.Trim(end, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return ""
	}
	return end
}

// saysText says whether the name is that of a text.
func (u *upload) saysText() bool {
	return slices.Contains([]string{"txt", "md", "markdown", "text"}, ending(u.label))
}

// text gives the content if the name and the content say that it is a text.
func (u *upload) text() (text string, isText bool, err error) {
	if !u.saysText() {
		return "", false, nil
	}
	f, err := files.Read(u.root, u.temp, u.store.c.MaxText)
	if err != nil {
		return "", false, err
	}
	whole := strings.ToValidUTF8(string(f.Content), "")
	// What was cut may end within a character.
	isText = !strings.ContainsRune(whole, 0) && (utf8.Valid(f.Content) || f.Cut && len(f.Content)-len(whole) < utf8.UTFMax)
	if isText && f.Cut {
		return "", true, &Invalid{Kind: TooLarge, What: u.String(), Problem: fmt.Sprintf("has %d bytes; a text has %d at most", u.size, u.store.c.MaxText)}
	}
	return string(f.Content), isText, nil
}

// probe finds out what the content is.
func (u *upload) probe(ctx context.Context) error {
	const neither = "can't be added: it is neither audio nor UTF-8 text in a .txt or .md file"
	if u.store.c.Probe == nil && u.saysText() {
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
	if ending("."+u.facts.Ending) == "" {
		u.facts.Ending = ending(u.label)
	}
	if u.facts.Ending == "" {
		u.facts.Ending = "bin"
	}
	return u.store.at("probed upload")
}

// add gives the upload its name, and its session an entry. The session is held.
func (u *upload) add(h *held) (added Added, changed bool, err error) {
	for i := range h.Audio {
		same, err := u.sameAs(h, h.Audio[i])
		if err != nil {
			return added, false, err
		}
		if same {
			changed := u.delivery != ""
			if changed {
				h.Audio[i].Deliveries = append(h.Audio[i].Deliveries, u.delivery)
			}
			e := h.Audio[i]
			return Added{Entry: e, Same: e.Sequence}, changed, u.restore(h, e)
		}
	}
	e := AudioEntry{
		ReceivedAt: u.at, Size: u.size, Seconds: u.facts.Seconds, Status: Pending, Checksum: u.checksum, Original: u.label, Silent: u.facts.Silent,
	}
	if u.delivery != "" {
		e.Deliveries = []string{u.delivery}
	}
	if e.File, e.Sequence, err = u.orphan(h); err != nil {
		return added, false, err
	}
	if e.File == "" {
		if e.Sequence, err = h.nextEntry(); err != nil {
			return added, false, err
		}
		e.File = fmt.Sprintf("%03d_audio.%s", e.Sequence, u.facts.Ending)
		if err := u.place(h, e.File); err != nil {
			return added, false, err
		}
	}
	h.Audio = append(h.Audio, e)
	h.follow(Add)
	return Added{Entry: e}, true, nil
}

// sameAs says whether an entry has the content of the upload. One without a checksum was written by hand: its file is read.
func (u *upload) sameAs(h *held, e AudioEntry) (bool, error) {
	if e.Checksum != "" || e.File == "" || checkFile(e.File) != nil {
		return e.Checksum == u.checksum && e.File != "", nil
	}
	info, err := h.root.Lstat(h.in(audioFolder, e.File))
	if err != nil || !info.Mode().IsRegular() || info.Size() != u.size {
		return false, ifThere(err)
	}
	sum, err := hashFile(h.root, h.in(audioFolder, e.File))
	return sum == u.checksum, err
}

// restore gives an entry its file back, if that is gone.
func (u *upload) restore(h *held, e AudioEntry) error {
	_, err := h.root.Lstat(h.in(audioFolder, e.File))
	if errors.Is(err, fs.ErrNotExist) && checkFile(e.File) == nil {
		return u.place(h, e.File)
	}
	return err
}

// orphan finds the content where a crash left it, after it had its name and before metadata.json told of it.
func (u *upload) orphan(h *held) (name string, sequence int, err error) {
	orphans, err := h.orphans(audioFolder)
	if err != nil {
		return "", 0, err
	}
	for _, o := range orphans {
		if h.entry(o.sequence) != nil || o.info.Size() != u.size {
			continue
		}
		sum, err := hashFile(h.root, h.in(audioFolder, o.info.Name()))
		if err != nil {
			return "", 0, err
		}
		if sum == u.checksum {
			return o.info.Name(), o.sequence, nil
		}
	}
	return "", 0, nil
}

// place gives the upload a name that no file has.
func (u *upload) place(h *held, name string) error {
	if err := u.store.at("name upload"); err != nil {
		return err
	}
	if err := rename(h.root, u.temp, h.in(audioFolder, name)); err != nil {
		return err
	}
	u.temp = ""
	h.undo = append(h.undo, func() error { return ifThere(h.root.Remove(h.in(audioFolder, name))) })
	if err := syncFolder(h.root, h.in(audioFolder)); err != nil {
		return err
	}
	return u.store.at("named upload")
}

// rename never replaces a file that is there.
func rename(root *os.Root, from, to string) error {
	if _, err := root.Lstat(to); err == nil {
		return fmt.Errorf("%s was created by another program at the same time", to)
	} else if ifThere(err) != nil {
		return err
	}
	return root.Rename(from, to)
}

// hashFile is the checksum of a file.
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
