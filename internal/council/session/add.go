package session

import (
	"bytes"
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

// Added is what came of adding a file.
type Added struct {
	Entry AudioEntry `json:"entry"`
	// Same is the sequence of the entry that has this very content already: Entry is that one, and nothing was added. 0: there was none.
	Same int `json:"same_as,omitempty"`
}

// AddAudio takes in a recording, to the end of content. Original is what it is called where it comes from: a label, and where the content does not tell,
// its ending. A text file (.txt, .md) becomes an entry with a transcript and no audio. What is empty, too large or no audio is an *Invalid, and
// nothing of it is kept; so it is with every other error. A session that somebody is adding to is not held up while content arrives; who
// cancels ctx has to end a content that blocks, too.
func (s *Store) AddAudio(ctx context.Context, id, original string, content io.Reader) (Added, error) {
	root, err := s.find(id)
	if err != nil {
		return Added{}, err
	}
	u := &upload{store: s, root: root, session: id, label: label(original)}
	defer u.discard()
	text, isText, err := "", false, u.receive(ctx, content)
	if err == nil {
		text, isText, err = u.text()
	}
	if err == nil && !isText {
		err = u.probe(ctx)
	}
	if _, invalid := errors.AsType[*Invalid](err); invalid || errors.Is(err, ErrNotFound) {
		return Added{}, err
	}
	if err != nil {
		return Added{}, fmt.Errorf("adding %s in session %s: %w", u, id, err)
	}
	if isText {
		return s.addText(ctx, id, text, u)
	}
	var added Added
	_, err = s.change(ctx, id, "adding "+u.String(), func(h *held) (changed bool, err error) {
		added, changed, err = u.add(h)
		return changed, err
	})
	return added, err
}

// AddText takes in words that were typed in, as an entry with a transcript and no audio. The same words twice are two entries.
func (s *Store) AddText(ctx context.Context, id, text string) (AudioEntry, error) {
	added, err := s.addText(ctx, id, text, nil)
	return added.Entry, err
}

// checkText says whether a text can be taken in.
func (s *Store) checkText(what, text string) error {
	switch {
	case len(text) > s.c.MaxText:
		return &Invalid{Kind: TooLarge, What: what, Problem: fmt.Sprintf("has %d bytes; %d at most", len(text), s.c.MaxText)}
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return &Invalid{Kind: Form, What: what, Problem: "is not UTF-8 text"}
	case Blank(text):
		return &Invalid{Kind: Empty, What: what, Problem: "is empty"}
	}
	return nil
}

// Blank says that there is nothing to read in a text, which no session takes in.
func Blank(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) })
}

// addText takes in a text, of a file if there is one. The content of a file is taken once.
func (s *Store) addText(ctx context.Context, id, text string, from *upload) (added Added, err error) {
	what, doing := "the text", "adding words"
	if from != nil {
		what, doing = from.String(), "adding "+from.String()
	}
	if err := s.checkText(what, text); err != nil {
		return Added{}, err
	}
	_, err = s.change(ctx, id, doing, func(h *held) (bool, error) {
		e := AudioEntry{
			ReceivedAt: s.now(), Size: int64(len(text)), Status: Success, Checksum: files.Hash([]byte(text)),
		}
		if from != nil {
			e.Original = from.label
			if i := slices.IndexFunc(h.Audio, func(o AudioEntry) bool { return o.File == "" && o.Checksum == e.Checksum }); i >= 0 {
				added = Added{Entry: h.Audio[i], Same: h.Audio[i].Sequence}
				return false, nil
			}
		}
		name, sequence, err := s.placeText(h, text)
		if err != nil {
			return false, err
		}
		e.Sequence, e.Transcript = sequence, name
		h.Audio = append(h.Audio, e)
		h.follow(Add)
		h.nameFrom(text)
		added.Entry = e
		return true, nil
	})
	return added, err
}

// placeText writes a text of an entry to come, or finds it where a crash left it.
func (s *Store) placeText(h *held, text string) (name string, sequence int, err error) {
	sequence, err = h.nextEntry()
	if err != nil {
		return "", 0, err
	}
	orphans, err := h.orphans(transcriptFolder)
	if err != nil {
		return "", 0, err
	}
	for _, o := range orphans {
		if h.entry(o.sequence) == nil && !h.hasAudio(o.sequence) && o.info.Size() == int64(len(text)) && h.holds(transcriptFolder, o.info.Name(), text) {
			return o.info.Name(), o.sequence, nil
		}
	}
	name = fmt.Sprintf("%03d_audio.txt", sequence)
	return name, sequence, s.writeNew(h, transcriptFolder, name, text)
}

// writeNew writes a file that was not there, and is taken back if metadata.json can't be written.
func (s *Store) writeNew(h *held, folder, name, text string) error {
	if err := makeSub(h.root, h.ID, folder); err != nil {
		return err
	}
	if err := s.at("write " + folder); err != nil {
		return err
	}
	h.undo = append(h.undo, func() error { return ifThere(h.root.Remove(h.in(folder, name))) })
	if err := files.Write(h.root, h.in(folder, name), []byte(text), 0o600); err != nil {
		return err
	}
	return s.at("wrote " + folder)
}

// ifThere forgives that a file is missing.
func ifThere(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// holds says whether a file holds this text.
func (h *held) holds(folder, name, text string) bool {
	f, err := files.Read(h.root, h.in(folder, name), len(text))
	return err == nil && !f.Cut && bytes.Equal(f.Content, []byte(text))
}

// numbered is a file whose name begins with a sequence.
type numbered struct {
	sequence int
	info     fs.FileInfo
}

// numberOf reads the sequence that a name begins with: "001_audio.ogg".
func numberOf(name string) (sequence int, rest string, ok bool) {
	digits, rest, found := strings.Cut(name, "_")
	sequence, ok = parseNumber(digits, 3, 6)
	return sequence, rest, found && ok && sequence > 0
}

// list gives the files of a folder of the session, by name. Those that are being written have names with a dot, and are left out.
func (h *held) list(folder string) ([]fs.FileInfo, error) {
	infos, err := files.List(h.root, h.in(folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	infos = slices.DeleteFunc(infos, func(info fs.FileInfo) bool { return strings.HasPrefix(info.Name(), ".") })
	slices.SortFunc(infos, func(a, b fs.FileInfo) int { return strings.Compare(a.Name(), b.Name()) })
	return infos, err
}

// known says whether metadata.json tells of a file.
func (h *held) known(folder, name string) bool {
	if folder == responseFolder {
		return slices.ContainsFunc(h.Answers, func(e LlmEntry) bool { return e.File == name })
	}
	return slices.ContainsFunc(h.Audio, func(e AudioEntry) bool {
		return folder == audioFolder && e.File == name || folder == transcriptFolder && e.Transcript == name
	})
}

// orphans are the files with a sequence that metadata.json does not tell of: a crash came between, or a person put them there.
func (h *held) orphans(folder string) (all []numbered, err error) {
	infos, err := h.list(folder)
	for _, info := range infos {
		sequence, rest, ok := numberOf(info.Name())
		if folder != responseFolder {
			ok = ok && strings.HasPrefix(rest, "audio.")
		}
		if ok && info.Mode().IsRegular() && !h.known(folder, info.Name()) {
			all = append(all, numbered{sequence, info})
		}
	}
	return all, err
}

// hasAudio says whether there is an audio file of a sequence.
func (h *held) hasAudio(sequence int) bool {
	all, err := h.orphans(audioFolder)
	return err == nil && slices.ContainsFunc(all, func(n numbered) bool { return n.sequence == sequence })
}

// next is the first sequence after all that are in use, by entries and by files.
func (h *held) next(used int, folders ...string) (int, error) {
	for _, folder := range folders {
		infos, err := h.list(folder)
		if err != nil {
			return 0, err
		}
		for _, info := range infos {
			if n, _, ok := numberOf(info.Name()); ok {
				used = max(used, n)
			}
		}
	}
	return used + 1, nil
}

func (h *held) nextEntry() (int, error) {
	used := 0
	for _, e := range h.Audio {
		used = max(used, e.Sequence)
	}
	return h.next(used, audioFolder, transcriptFolder)
}

func (h *held) nextAnswer() (int, error) {
	used := 0
	for _, e := range h.Answers {
		used = max(used, e.Sequence)
	}
	return h.next(used, responseFolder)
}
