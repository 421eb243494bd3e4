package session

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"sibyl/internal/files"
)

// The bounds of recordings that arrive in pieces.
const (
	MaxPiece        = 1 << 20 // bytes of a piece
	maxPieces       = 50_000  // of a recording
	maxOfSession    = 8       // recordings that arrive at once
	maxOfOwner      = 32
	leftAlone       = 7 * 24 * time.Hour // after which nobody goes on with a recording
	deliveryFolder  = ".pieces"          // in audioFolder: a folder for each
	dropped         = ".dropped-"        // begins the name of one that is being removed
	pieceName       = "%06d"
	deliveryPattern = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx" // of an id, x standing for a digit of 0 to f
)

// Delivery is a recording that arrives in pieces, in their order, and is none of the session's yet.
type Delivery struct {
	ID     string    // a UUID in lower case, which whoever sends it has chosen
	Pieces int       // of which the first so many are here
	Bytes  int64     // that these have
	At     time.Time // when the last of them came
	Entry  int       // the sequence of the recording that was made of them; 0: none was
}

// Piece is a part of a recording.
type Piece struct {
	Delivery string
	Number   int    // from 1 on
	Checksum string // of Content: "sha256:" and hex digits
	Content  []byte
	Most     int64 // bytes that all pieces together may have; 0: MaxAudio of the Config
}

// PieceError is a piece that is out of place: another one stands there, or those before it are missing.
type PieceError struct {
	Number, Have int // the first so many are here
}

func (e *PieceError) Error() string {
	if e.Number <= e.Have {
		return fmt.Sprintf("another piece %d is here already", e.Number)
	}
	return fmt.Sprintf("piece %d can't be taken: the first %d are here, and those between are missing", e.Number, e.Have)
}

func noUUID() error {
	return &Invalid{Kind: Form, What: "the id of the recording", Problem: "is not a UUID in lower case"}
}

// ErrTooMany says that as many recordings arrive in pieces as may.
var ErrTooMany = errors.New("too many recordings are not finished")

// AddPiece keeps a piece of a recording, on the disk before it returns; the first begins a delivery. The same piece again changes nothing, nor does any
// once the recording is made: then Entry says which it is. A *PieceError says that it is out of place, ErrTooMany that there is no room for another
// recording, an *Invalid what else is wrong with it.
func (s *Store) AddPiece(ctx context.Context, id string, p Piece) (d Delivery, err error) {
	switch {
	case !isDelivery(p.Delivery):
		return d, noUUID()
	case len(p.Content) == 0:
		return d, &Invalid{Kind: Empty, What: "the piece", Problem: "is empty"}
	case len(p.Content) > MaxPiece:
		return d, &Invalid{Kind: TooLarge, What: "the piece", Problem: "is larger than " + size(MaxPiece)}
	case files.Hash(p.Content) != p.Checksum:
		return d, &Invalid{Kind: Broken, What: "the piece", Problem: "does not have the checksum that was sent with it"}
	}
	_, err = s.change(ctx, id, fmt.Sprintf("taking in piece %d", p.Number), func(h *held) (bool, error) {
		d, err = s.addPiece(h, p)
		return false, err
	})
	return d, err
}

func (s *Store) addPiece(h *held, p Piece) (Delivery, error) {
	d, err := arrived(h.root, h.ID, p.Delivery)
	d = h.delivery(d)
	folder := h.in(audioFolder, deliveryFolder, p.Delivery)
	name := path.Join(folder, fmt.Sprintf(pieceName, p.Number))
	switch {
	case err != nil || d.Entry != 0:
		return d, err
	case p.Number > d.Pieces+1 || p.Number < 1:
		return d, &PieceError{p.Number, d.Pieces}
	case p.Number <= d.Pieces:
		f, err := files.Read(h.root, name, MaxPiece)
		if err == nil && !bytes.Equal(f.Content, p.Content) {
			err = &PieceError{p.Number, d.Pieces}
		}
		return d, err
	case d.Pieces >= maxPieces || d.Bytes+int64(len(p.Content)) > s.mostOf(p):
		return d, &Invalid{Kind: TooLarge, What: "the recording", Problem: "is larger than " + size(s.mostOf(p))}
	case d.Pieces == 0:
		if err := s.roomForDelivery(h); err != nil {
			return d, err
		}
	}
	if err := makeSub(h.root, h.ID, audioFolder); err != nil {
		return d, err
	}
	if err := files.MakeFolder(h.root, folder, 0o700); err != nil {
		return d, err
	}
	h.undo = append(h.undo, func() error { h.tidy(p.Delivery); return nil })
	if err := s.at("write piece"); err != nil {
		return d, err
	}
	if err := files.Write(h.root, name, p.Content, 0o600); err != nil {
		return d, err
	}
	return Delivery{p.Delivery, d.Pieces + 1, d.Bytes + int64(len(p.Content)), s.now(), 0}, nil
}

func (s *Store) mostOf(p Piece) int64 {
	if p.Most > 0 && p.Most < s.c.MaxAudio {
		return p.Most
	}
	return s.c.MaxAudio
}

// tidy removes the folders of deliveries that are empty. One that is not stays.
func (h *held) tidy(delivery string) {
	_ = h.root.Remove(h.in(audioFolder, deliveryFolder, delivery))
	_ = h.root.Remove(h.in(audioFolder, deliveryFolder))
}

// isDelivery says whether a text is the id of a delivery, so that none can be a path.
func isDelivery(id string) bool {
	if len(id) != len(deliveryPattern) {
		return false
	}
	for i, c := range []byte(id) {
		if dash := deliveryPattern[i] == '-'; dash != (c == '-') || !dash && !strings.ContainsRune("0123456789abcdef", rune(c)) {
			return false
		}
	}
	return true
}

// madeOf finds the recording that was made of a delivery; nil if there is none. It points into s.
func (s *Session) madeOf(delivery string) *AudioEntry {
	for i := range s.Audio {
		if slices.Contains(s.Audio[i].Deliveries, delivery) {
			return &s.Audio[i]
		}
	}
	return nil
}

// delivery says how far a recording has arrived of which so many pieces are here: without pieces and entry nothing of it is.
func (s *Session) delivery(pieces Delivery) Delivery {
	if e := s.madeOf(pieces.ID); e != nil {
		return Delivery{ID: pieces.ID, Entry: e.Sequence, Bytes: e.Size, At: e.ReceivedAt}
	}
	return pieces
}

// arrived counts the pieces of a delivery, to the first that is missing.
func arrived(root *os.Root, session, id string) (Delivery, error) {
	d := Delivery{ID: id}
	folder := path.Join(session, audioFolder, deliveryFolder, id)
	infos, err := listIn(root, folder)
	if err != nil {
		return d, err
	}
	there := map[string]fs.FileInfo{}
	for _, info := range infos {
		if info.Mode().IsRegular() {
			there[info.Name()] = info
		}
	}
	for {
		info := there[fmt.Sprintf(pieceName, d.Pieces+1)]
		if info == nil {
			return d, nil
		}
		d.Pieces++
		d.Bytes += info.Size()
		if at := info.ModTime().UTC().Truncate(time.Millisecond); at.After(d.At) {
			d.At = at
		}
	}
}

// deliveries are those of a session of which there are pieces.
func deliveries(root *os.Root, session string) (all []Delivery, err error) {
	infos, err := listIn(root, path.Join(session, audioFolder, deliveryFolder))
	for _, info := range infos {
		if !info.IsDir() || !isDelivery(info.Name()) {
			continue
		}
		d, err := arrived(root, session, info.Name())
		if err != nil {
			return nil, err
		}
		if d.Pieces > 0 {
			all = append(all, d)
		}
	}
	return all, err
}

// listIn lists a folder that is there, and reached by no link; one that is not is empty.
func listIn(root *os.Root, folder string) ([]fs.FileInfo, error) {
	for at, c := range folder + "/" {
		if c != '/' {
			continue
		}
		if info, err := root.Lstat(folder[:at]); err != nil || !info.IsDir() {
			return nil, ifThere(err)
		}
	}
	infos, err := files.List(root, folder)
	return infos, ifThere(err)
}

// roomForDelivery refuses one more recording where there are too many. Those that were left alone go first.
func (s *Store) roomForDelivery(h *held) error {
	infos, err := files.List(h.root, ".")
	if err != nil {
		return err
	}
	of := map[string]int{}
	total := 0
	for _, info := range infos {
		if _, _, isID := parseID(info.Name()); !isID || !info.IsDir() {
			continue
		}
		s.clearDeliveries(h.root, info.Name(), func(Delivery) {})
		left, err := deliveries(h.root, info.Name())
		if err != nil {
			return err
		}
		of[info.Name()] = len(left)
		total += len(left)
	}
	if of[h.ID] >= maxOfSession || total >= maxOfOwner {
		return ErrTooMany
	}
	return nil
}

// clearDeliveries removes what was left alone of a session's deliveries, and tells of each. It may fail: the next one tries again.
func (s *Store) clearDeliveries(root *os.Root, session string, removed func(Delivery)) {
	all, err := deliveries(root, session)
	if err != nil {
		return
	}
	for _, d := range all {
		if s.c.Now().Sub(d.At) > leftAlone && dropDelivery(root, session, d.ID) == nil {
			removed(d)
		}
	}
	folder := path.Join(session, audioFolder, deliveryFolder)
	infos, err := listIn(root, folder)
	if err != nil {
		return
	}
	for _, info := range infos {
		if strings.HasPrefix(info.Name(), dropped) {
			_ = root.RemoveAll(path.Join(folder, info.Name()))
		}
	}
}

// dropDelivery removes a delivery: at once, so that no part of it is left for another one of its id.
func dropDelivery(root *os.Root, session, id string) error {
	folder := path.Join(session, audioFolder, deliveryFolder)
	gone := path.Join(folder, dropped+rand.Text())
	if err := root.Rename(path.Join(folder, id), gone); err != nil {
		return ifThere(err)
	}
	err := root.RemoveAll(gone)
	_ = root.Remove(folder) // unless there are others
	return err
}

// Deliveries gives the recordings of a session that have not arrived whole, the latest first.
func (s *Store) Deliveries(ctx context.Context, id string) ([]Delivery, error) {
	root, err := s.find(id)
	if err != nil {
		return nil, err
	}
	all, err := deliveries(root, id) // before the session: pieces go once it has their recording
	if err != nil {
		return nil, err
	}
	m, err := s.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(d Delivery) bool { return m.madeOf(d.ID) != nil })
	slices.SortFunc(all, func(a, b Delivery) int { return b.At.Compare(a.At) })
	return all, err
}

// Delivery says how far a recording has arrived, or which one was made of it: without pieces and entry nothing of it is here.
func (s *Store) Delivery(ctx context.Context, id, delivery string) (d Delivery, err error) {
	root, err := s.find(id)
	if err != nil {
		return d, err
	}
	if !isDelivery(delivery) {
		return d, noUUID()
	}
	d, err = arrived(root, id, delivery) // before the session: pieces go once it has their recording
	if err != nil {
		return d, err
	}
	m, err := s.Get(ctx, id)
	if err != nil {
		return d, err
	}
	return m.delivery(d), nil
}

// Discard removes the pieces of a recording that is not to be made. Where there are none, or where it is made, nothing changes.
func (s *Store) Discard(ctx context.Context, id, delivery string) error {
	if !isDelivery(delivery) {
		return nil
	}
	_, err := s.change(ctx, id, "discarding a recording", func(h *held) (bool, error) {
		return false, dropDelivery(h.root, h.ID, delivery)
	})
	return err
}

// Assemble makes a recording of the first pieces of a delivery, as AddAudio does of a file. Done again it gives the same entry. A *PieceError says that
// there are not so many; then, and after every other error, the pieces stay.
func (s *Store) Assemble(ctx context.Context, id, delivery string, pieces int, original string) (Added, error) {
	root, err := s.find(id)
	if err != nil {
		return Added{}, err
	}
	d, err := s.Delivery(ctx, id, delivery)
	if err != nil {
		return Added{}, err
	}
	added := Added{}
	if d.Entry == 0 {
		if pieces < 1 || pieces > d.Pieces {
			return added, &PieceError{pieces, d.Pieces}
		}
		if added, err = s.assemble(ctx, root, id, delivery, pieces, original); err != nil {
			return Added{}, err
		}
	}
	if added.Entry.Sequence == 0 { // this or another request has made it before
		m, err := s.Get(ctx, id)
		if err != nil {
			return added, err
		}
		e := m.madeOf(delivery)
		if e == nil {
			return added, fmt.Errorf("recording “%s” of session %s: %w", delivery, id, ErrNotFound)
		}
		added.Entry = *e
	}
	_ = dropDelivery(root, id, delivery) // else it goes once it is left alone
	return added, nil
}

func (s *Store) assemble(ctx context.Context, root *os.Root, id, delivery string, pieces int, original string) (added Added, err error) {
	u := &upload{store: s, root: root, session: id, label: label(original), delivery: delivery}
	defer u.discard()
	from := &assembling{root: root, folder: path.Join(id, audioFolder, deliveryFolder, delivery), pieces: pieces}
	err = errors.Join(u.receive(ctx, from), from.close())
	if err == nil {
		err = u.probe(ctx)
	}
	if err != nil {
		if d, again := s.Delivery(ctx, id, delivery); again == nil && d.Entry != 0 { // another request was faster, and has removed the pieces
			return added, nil
		}
		if _, invalid := errors.AsType[*Invalid](err); invalid {
			return added, err
		}
		return added, fmt.Errorf("putting a recording together in session %s: %w", id, err)
	}
	_, err = s.change(ctx, id, "adding "+u.String(), func(h *held) (changed bool, err error) {
		if h.madeOf(delivery) == nil {
			added, changed, err = u.add(h)
		}
		return changed, err
	})
	return added, err
}

// assembling reads pieces one after the other.
type assembling struct {
	root   *os.Root
	folder string
	pieces int
	number int // of the piece that is open
	open   *os.File
}

// Read implements io.Reader.
func (a *assembling) Read(p []byte) (int, error) {
	for {
		if a.open == nil {
			if a.number == a.pieces {
				return 0, io.EOF
			}
			a.number++
			name := path.Join(a.folder, fmt.Sprintf(pieceName, a.number))
			if err := files.NoLinks(a.root, name); err != nil {
				return 0, err
			}
			var err error
			if a.open, err = a.root.Open(name); err != nil {
				return 0, err
			}
		}
		n, err := a.open.Read(p)
		if !errors.Is(err, io.EOF) {
			return n, err
		}
		if err := a.close(); err != nil || n > 0 {
			return n, err
		}
	}
}

func (a *assembling) close() error {
	if a.open == nil {
		return nil
	}
	err := a.open.Close()
	a.open = nil
	return err
}
