package index

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
)

const (
	padding    = 16       // zero bytes behind the words of a part, for who reads ahead
	partBytes  = 64 << 10 // of words that are kept in one piece
	perPiece   = 128      // words whose lists are kept in one piece
	mostCached = 96 << 20 // bytes of lists that a view keeps for the next reading
)

// View is what a reading sees.
type View struct {
	generation uint64
	catalogue  []byte
	segments   []*segment

	ctx context.Context // of the reading, with the transaction that it goes by
	tx  *sql.Tx
}

// segment is what was added by one commit. It never changes.
type segment struct {
	id     uint32
	words  int
	texts  int
	parts  []part         // nil: they were not read yet
	lists  map[int][]byte // pieces that were read before, by their number
	cached int64
}

// part is a stretch of a segment's words.
type part struct {
	first int // number of its first word
	text  []byte
}

// idOf is the row of something of a segment.
func idOf(segment uint32, n int) int64 { return int64(segment)<<32 | int64(n) }

// load reads what a transaction sees, but for the words and what is in an older view already.
func load(ctx context.Context, tx *sql.Tx, older *View) (*View, error) {
	known := map[uint32]*segment{}
	if older != nil {
		for _, s := range older.segments {
			known[s.id] = s
		}
	}
	v := &View{}
	var err error
	if v.catalogue, err = meta(ctx, tx, "catalogue"); err != nil {
		return nil, err
	}
	if v.segments, err = segments(ctx, tx); err != nil {
		return nil, err
	}
	for i, s := range v.segments {
		if known[s.id] != nil {
			v.segments[i] = known[s.id]
		}
	}
	return v, nil
}

// segments lists what there is, without its words.
func segments(ctx context.Context, q queryer) ([]*segment, error) {
	rows, err := q.QueryContext(ctx, `SELECT id, piece FROM segment ORDER BY id`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // Err says what failed
	var all []*segment
	for rows.Next() {
		var id int64
		var stored []byte
		if err := rows.Scan(&id, &stored); err != nil {
			return nil, err
		}
		piece, err := unsealed(row("segment", id), stored)
		if err != nil || len(piece) != 16 {
			return nil, errDamaged
		}
		all = append(all, &segment{id: uint32(id), lists: map[int][]byte{}, words: int(binary.LittleEndian.Uint64(piece)), texts: int(binary.LittleEndian.Uint64(piece[8:]))})
	}
	return all, rows.Err()
}

// loadParts reads the words of a segment, and gives each part when it is there.
func (v *View) loadParts(s *segment, give func(segment uint32, first int, words []byte)) error {
	rows, err := v.tx.QueryContext(v.ctx, `SELECT id, piece FROM words WHERE id BETWEEN ? AND ? ORDER BY id`, idOf(s.id, 0), idOf(s.id, 1<<32-1))
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // Err says what failed
	var all []part
	words := 0
	for rows.Next() {
		var id int64
		var stored []byte
		if err := rows.Scan(&id, &stored); err != nil {
			return err
		}
		text, err := wordsOf(id, stored)
		if err != nil || int(uint32(id)) != words {
			return errDamaged
		}
		all = append(all, part{first: words, text: text})
		give(s.id, words, text)
		words += bytes.Count(text, []byte{'\n'})
	}
	if err := rows.Err(); err != nil || words != s.words {
		return errors.Join(errDamaged, err)
	}
	s.parts = all
	return nil
}

// wordsOf is a stored part, with its padding behind it.
func wordsOf(id int64, stored []byte) ([]byte, error) {
	piece, err := unsealed(row("words", id), stored)
	if err != nil || len(piece) < padding {
		return nil, errDamaged
	}
	return piece[:len(piece)-padding], nil
}

// Generation is another one after each commit.
func (v *View) Generation() uint64 { return v.generation }

// Catalogue is what the last commit was given with it; empty if there was none yet.
func (v *View) Catalogue() []byte { return v.catalogue }

// Texts says how many texts a segment holds, by its number.
func (v *View) Texts() map[uint32]int {
	texts := map[uint32]int{}
	for _, s := range v.segments {
		texts[s.id] = s.texts
	}
	return texts
}

// Words gives the words of all segments, in parts: each word with a line feed behind it, and 16 zero bytes behind a part. First is the number of the first word
// of a part in its segment.
func (v *View) Words(give func(segment uint32, first int, words []byte)) error {
	for _, s := range v.segments {
		if s.parts == nil {
			if err := v.loadParts(s, give); err != nil {
				return err
			}
			continue
		}
		for _, p := range s.parts {
			give(s.id, p.first, p.text)
		}
	}
	return nil
}

// Places says in which texts of a segment words stand, and how often. The words are given by their numbers, in ascending order.
func (v *View) Places(segment uint32, words []int, emit func(word int, text, count uint32)) error {
	s := v.segment(segment)
	if s == nil {
		return fmt.Errorf("%w: it has no segment %d", errDamaged, segment)
	}
	if err := v.fetch(s, words); err != nil {
		return err
	}
	var lists listing
	piece := -1
	for _, w := range words {
		if n := w / perPiece; n != piece {
			if err := lists.open(s.lists[n], min(perPiece, s.words-n*perPiece)); err != nil {
				return err
			}
			piece = n
		}
		if err := eachPlace(lists.list(w%perPiece), func(text, count uint32) { emit(w, text, count) }); err != nil {
			return err
		}
	}
	return nil
}

func (v *View) segment(id uint32) *segment {
	for _, s := range v.segments {
		if s.id == id {
			return s
		}
	}
	return nil
}

// fetch reads the pieces with the lists of words that were not read before.
func (v *View) fetch(s *segment, words []int) error {
	if s.cached > mostCached {
		s.lists, s.cached = map[int][]byte{}, 0
	}
	var missing []int64
	last := -1
	for _, w := range words {
		if n := w / perPiece; n != last {
			if _, have := s.lists[n]; !have {
				missing = append(missing, idOf(s.id, n))
			}
			last = n
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return v.rows("lists", missing, func(id int64, piece []byte) {
		s.lists[int(uint32(id))] = piece
		s.cached += int64(len(piece))
	})
}

// Load has the words and lists of all segments at hand for later readings, as far as there is room for them.
func (v *View) Load() error {
	if err := v.Words(func(uint32, int, []byte) {}); err != nil {
		return err
	}
	room := int64(mostCached)
	for _, s := range v.segments {
		pieces := (s.words + perPiece - 1) / perPiece
		if room -= s.cached; len(s.lists) == pieces || room <= 0 {
			continue
		}
		all := make([]int, 0, pieces)
		for n := range pieces {
			all = append(all, n*perPiece)
		}
		before := s.cached
		if err := v.fetch(s, all); err != nil {
			return err
		}
		room -= s.cached - before
	}
	return nil
}

// Notes gives what was noted on texts of a segment. Note is called in no order, for each that is there.
func (v *View) Notes(segment uint32, texts []uint32, note func(text uint32, note []byte)) error {
	ids := make([]int64, len(texts))
	for i, t := range texts {
		ids[i] = idOf(segment, int(t))
	}
	return v.rows("notes", ids, func(id int64, piece []byte) { note(uint32(id), piece) })
}

// rows gives the pieces in rows of a table.
func (v *View) rows(table string, ids []int64, give func(id int64, piece []byte)) error {
	list, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	rows, err := v.tx.QueryContext(v.ctx, `SELECT id, piece FROM `+table+` WHERE id IN (SELECT value FROM json_each(?))`, string(list))
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // Err says what failed
	for rows.Next() {
		var id int64
		var stored []byte
		if err := rows.Scan(&id, &stored); err != nil {
			return err
		}
		piece, err := unsealed(row(table, id), stored)
		if err != nil {
			return err
		}
		give(id, piece)
	}
	return rows.Err()
}
