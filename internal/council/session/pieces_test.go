package session

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sibyl/internal/files"
)

// pieceOf is the delivery of the tests.
const pieceOf = "6f1c0c2e-7a3b-4b7e-9a55-0123456789ab"

func piece(number int, text string) Piece {
	return Piece{Delivery: pieceOf, Number: number, Checksum: files.Hash([]byte(text)), Content: []byte(text)}
}

// another is a delivery of its own.
func another(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012x", n) }

func TestRecordingIsPutTogetherOnceOfPiecesThatMayComeAgain(t *testing.T) {
	s, id := begun(t)
	ctx := t.Context()
	for n, text := range []string{"sound one, ", "two, ", "three"} {
		for range 2 {
			d := must(s.AddPiece(ctx, id, piece(n+1, text)))(t)
			same(t, "pieces", d.Pieces, n+1)
		}
	}
	d := must(s.Delivery(ctx, id, pieceOf))(t)
	same(t, "delivery", []int64{int64(d.Pieces), d.Bytes, int64(d.Entry)}, []int64{3, 21, 0})
	same(t, "deliveries", len(must(s.Deliveries(ctx, id))(t)), 1)
	same(t, "entries before the end", len(must(s.Get(ctx, id))(t).Audio), 0)
	for range 2 {
		added := must(s.Assemble(ctx, id, pieceOf, 3, "memo.webm"))(t)
		same(t, "entry", []any{added.Entry.Sequence, added.Entry.Size, added.Entry.Original, added.Same}, []any{1, 21, "memo.webm", 0})
	}
	same(t, "content", content(t, s.path(id, audioFolder, "001_audio.ogg")), "sound one, two, three")
	late := must(s.AddPiece(ctx, id, piece(4, "too late")))(t)
	same(t, "what a late piece is told", late.Entry, 1)
	same(t, "deliveries at the end", len(must(s.Deliveries(ctx, id))(t)), 0)
	wantWhole(t, s, id)
}

func TestPieceThatIsOutOfPlaceIsRefused(t *testing.T) {
	s, id := begun(t)
	ctx := t.Context()
	must(s.AddPiece(ctx, id, piece(1, "sound")))(t)
	for about, number := range map[string]int{"one before the first": 0, "another in its place": 1, "one after a gap": 3} {
		_, err := s.AddPiece(ctx, id, piece(number, "other"))
		if e, ok := errors.AsType[*PieceError](err); !ok || e.Have != 1 || e.Number != number {
			t.Errorf("%s: %v", about, err)
		}
	}
	for about, c := range map[string]struct {
		p    Piece
		kind Kind
	}{
		"no UUID":             {Piece{Delivery: "../../../etc/passwd", Number: 1, Checksum: files.Hash([]byte("x")), Content: []byte("x")}, Form},
		"a UUID in capitals":  {Piece{Delivery: strings.ToUpper(pieceOf), Number: 2, Checksum: files.Hash([]byte("x")), Content: []byte("x")}, Form},
		"nothing":             {piece(2, ""), Empty},
		"too much":            {piece(2, strings.Repeat("x", MaxPiece+1)), TooLarge},
		"too much altogether": {Piece{pieceOf, 2, files.Hash([]byte("xx")), []byte("xx"), 6}, TooLarge},
		"another checksum":    {Piece{Delivery: pieceOf, Number: 2, Checksum: files.Hash([]byte("y")), Content: []byte("x")}, Broken},
	} {
		_, err := s.AddPiece(ctx, id, c.p)
		if e, ok := errors.AsType[*Invalid](err); !ok || e.Kind != c.kind {
			t.Errorf("%s: %v", about, err)
		}
	}
	for about, pieces := range map[string]int{"of none": 0, "of more than there are": 2} {
		if _, err := s.Assemble(ctx, id, pieceOf, pieces, ""); !errors.As(err, new(*PieceError)) {
			t.Errorf("a recording %s: %v", about, err)
		}
	}
	if _, err := s.Assemble(ctx, id, another(1), 1, ""); !errors.As(err, new(*PieceError)) {
		t.Errorf("a recording of nothing: %v", err)
	}
	if _, err := s.Delivery(ctx, id, "../.."); !errors.As(err, new(*Invalid)) {
		t.Errorf("a delivery of no UUID: %v", err)
	}
	same(t, "files", names(tree(t, s.path(id))), []string{"audio/.pieces/" + pieceOf + "/000001", metadataFile})
}

func TestPiecesThatAreNoAudioStayUntilTheyAreDiscarded(t *testing.T) {
	s, id := begun(t)
	ctx := t.Context()
	must(s.AddPiece(ctx, id, piece(1, "noise")))(t)
	_, err := s.Assemble(ctx, id, pieceOf, 1, "")
	if e, ok := errors.AsType[*Invalid](err); !ok || e.Kind != NotAudio {
		t.Errorf("%v", err)
	}
	same(t, "deliveries", len(must(s.Deliveries(ctx, id))(t)), 1)
	for range 2 {
		if err := s.Discard(ctx, id, pieceOf); err != nil {
			t.Error(err)
		}
	}
	wantWhole(t, s, id)
	if err := s.TakeBack(ctx, id); err != nil {
		t.Error(err)
	}
	if _, err := s.Get(ctx, id); !errors.Is(err, ErrNotFound) {
		t.Errorf("what was discarded keeps an empty session: %v", err)
	}
}

func TestPiecesOfWhatIsThereAlreadyMakeNoSecondRecording(t *testing.T) {
	s, id := begun(t)
	add(t, s, id, "sound")
	must(s.AddPiece(t.Context(), id, piece(1, "sound")))(t)
	same(t, "same as", must(s.Assemble(t.Context(), id, pieceOf, 1, ""))(t).Same, 1)
	same(t, "entry of the repeated request", must(s.Assemble(t.Context(), id, pieceOf, 1, ""))(t).Entry.Sequence, 1)
	same(t, "entries", len(wantWhole(t, s, id).Audio), 1)
}

func TestRecordingsThatAreNotFinishedAreBoundedAndGoWhenLeftAlone(t *testing.T) {
	s, id := begun(t)
	ctx := t.Context()
	begin := func(id string, n int) error {
		p := piece(1, "sound")
		p.Delivery = another(n)
		_, err := s.AddPiece(ctx, id, p)
		return err
	}
	ids := []string{id}
	for range maxOfOwner/maxOfSession - 1 {
		ids = append(ids, must(s.New(ctx, "", ""))(t).ID)
	}
	n := 0
	for _, one := range ids {
		for range maxOfSession {
			n++
			if err := begin(one, n); err != nil {
				t.Fatal(err)
			}
		}
		if err := begin(one, 1000); !errors.Is(err, ErrTooMany) {
			t.Errorf("one more in a session: %v", err)
		}
	}
	if err := begin(must(s.New(ctx, "", ""))(t).ID, 1001); !errors.Is(err, ErrTooMany) {
		t.Errorf("one more of an owner: %v", err)
	}
	p := piece(2, "on")
	p.Delivery = another(1)
	must(s.AddPiece(ctx, id, p))(t) // those that are there go on
	file := s.path(ids[1], audioFolder, deliveryFolder, another(maxOfSession+1), "000001")
	before := noon.Add(-leftAlone - time.Hour)
	now := noon.Add(time.Minute)
	for _, one := range ids { // files have the time of the test, the store has another
		for _, d := range must(s.Deliveries(ctx, one))(t) {
			for number := range d.Pieces {
				name := s.path(one, audioFolder, deliveryFolder, d.ID, fmt.Sprintf(pieceName, number+1))
				if err := os.Chtimes(name, now, now); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if err := os.Chtimes(file, before, before); err != nil {
		t.Fatal(err)
	}
	if err := begin(ids[1], 1002); err != nil {
		t.Errorf("when one was left alone for a week: %v", err)
	}
	left := must(s.Deliveries(ctx, ids[1]))(t)
	if slices.ContainsFunc(left, func(d Delivery) bool { return d.ID == another(maxOfSession+1) }) {
		t.Error("what was left alone is there still")
	}
}

func TestRepairRemovesPiecesThatWereLeftAloneAndNoOthers(t *testing.T) {
	s, id := begun(t)
	must(s.AddPiece(t.Context(), id, piece(1, "sound")))(t)
	same(t, "findings while somebody may go on", len(repair(t, s, id)), 0)
	old := noon.Add(-leftAlone - time.Hour)
	if err := os.Chtimes(s.path(id, audioFolder, deliveryFolder, pieceOf, "000001"), old, old); err != nil {
		t.Fatal(err)
	}
	found := repair(t, s, id)
	if len(found) != 1 || !strings.Contains(found[0], string(Removed)) || !strings.Contains(found[0], pieceOf) {
		t.Errorf("%q", found)
	}
	wantWhole(t, s, id)
}

func TestPiecesGoToTheTrashWithTheirSession(t *testing.T) {
	s, id := begun(t)
	must(s.AddPiece(t.Context(), id, piece(1, "sound")))(t)
	where := must(s.Delete(t.Context(), id))(t)
	same(t, "piece", content(t, where+"/audio/.pieces/"+pieceOf+"/000001"), "sound")
	if _, err := s.AddPiece(t.Context(), id, piece(2, "on")); !errors.Is(err, ErrNotFound) {
		t.Errorf("a piece of a session that was deleted: %v", err)
	}
}

func TestRequestsThatPutPiecesTogetherAtOnceMakeOneRecording(t *testing.T) {
	s, id := begun(t)
	other := open(t, s.folder) // as another node does
	must(s.AddPiece(t.Context(), id, piece(1, "sound")))(t)
	must(other.AddPiece(t.Context(), id, piece(2, " of two nodes")))(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			store := []*Store{s, other}[i%2]
			added, err := store.Assemble(background(), id, pieceOf, 2, "")
			if err != nil || added.Entry.Sequence != 1 {
				t.Errorf("%+v, %v", added, err)
			}
		})
	}
	all.Wait()
	same(t, "entries", len(wantWhole(t, s, id).Audio), 1)
}
