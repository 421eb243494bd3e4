package index

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"math/bits"
)

// Gone marks, in what a merge gives, a text that was left out.
const Gone = ^uint32(0)

const (
	fanIn      = 4  // segments of about one size that are merged
	sizeable   = 16 // a segment is worth merging in the end if it has this part of the largest one's texts
	fewestDead = 64 // texts that nobody needs any more, below which a segment is left alone
)

// Merge joins segments where there are many of about one size, and leaves out texts that are not live. With finally, as nothing will be added soon, it joins
// all that are sizeable. Moved gives for each segment that was joined the new numbers of its texts, or Gone, in the segment into; it is nil if there is
// nothing to join. The next commit completes it: it must come before anything else is added.
func (b *Build) Merge(ctx context.Context, finally bool, live func(segment, text uint32) bool) (into uint32, moved map[uint32][]uint32, err error) {
	if b.tx, err = b.db.BeginTx(ctx, nil); err != nil {
		return 0, nil, err
	}
	all, err := segments(ctx, b.tx)
	if err != nil {
		b.rollback()
		return 0, nil, err
	}
	alive := make([]int, len(all))
	for i, s := range all {
		for text := range s.texts {
			if live(s.id, uint32(text)) {
				alive[i]++
			}
		}
	}
	chosen := choose(all, alive, finally)
	if len(chosen) == 0 {
		b.rollback()
		return 0, nil, nil
	}
	m := merge{writer: writer{ctx: ctx, tx: b.tx, segment: b.next}, moved: map[uint32][]uint32{}}
	if err := m.join(chosen, live); err != nil {
		b.rollback()
		return 0, nil, err
	}
	b.next++
	b.merged = true
	return m.segment, m.moved, nil
}

// choose says which segments are to be joined. Alive are their live texts.
func choose(all []*segment, alive []int, finally bool) []*segment {
	largest := 0
	tiers := map[int][]*segment{}
	for i, s := range all {
		largest = max(largest, alive[i])
		tier := bits.Len(uint(alive[i])) / 2
		tiers[tier] = append(tiers[tier], s)
		if dead := s.texts - alive[i]; dead >= fewestDead && dead > alive[i] {
			return []*segment{s}
		}
	}
	if finally {
		var big []*segment
		for i, s := range all {
			if alive[i]*sizeable >= largest {
				big = append(big, s)
			}
		}
		if len(big) > 1 {
			return big
		}
	}
	for tier := range 32 { // the smallest first
		if len(tiers[tier]) >= fanIn {
			return tiers[tier]
		}
	}
	return nil
}

// merge writes several segments as one.
type merge struct {
	writer
	moved map[uint32][]uint32
}

func (m *merge) join(chosen []*segment, live func(segment, text uint32) bool) error {
	texts := uint32(0)
	cursors := make([]*cursor, len(chosen))
	for i, s := range chosen {
		numbers := make([]uint32, s.texts)
		for text := range numbers {
			numbers[text] = Gone
			if live(s.id, uint32(text)) {
				numbers[text] = texts
				texts++
			}
		}
		m.moved[s.id] = numbers
		cursors[i] = &cursor{ctx: m.ctx, tx: m.tx, segment: s, numbers: numbers}
		if err := cursors[i].advance(); err != nil {
			return err
		}
	}
	if err := m.joinWords(cursors); err != nil {
		return err
	}
	for _, s := range chosen {
		if err := m.copyNotes(s); err != nil {
			return err
		}
	}
	if err := m.finish(); err != nil {
		return err
	}
	for _, s := range chosen {
		for _, table := range []string{"words", "lists", "notes"} {
			if _, err := m.tx.ExecContext(m.ctx, `DELETE FROM `+table+` WHERE id BETWEEN ? AND ?`, idOf(s.id, 0), idOf(s.id, 1<<32-1)); err != nil {
				return err
			}
		}
		if _, err := m.tx.ExecContext(m.ctx, `DELETE FROM segment WHERE id = ?`, s.id); err != nil {
			return err
		}
	}
	return nil
}

// joinWords writes the words of all cursors in their order, each once, if a live text holds it.
func (m *merge) joinWords(cursors []*cursor) error {
	for {
		var least []byte
		for _, c := range cursors {
			if c.word != nil && (least == nil || bytes.Compare(c.word, least) < 0) {
				least = c.word
			}
		}
		if least == nil {
			return nil
		}
		least = bytes.Clone(least)
		var list []byte
		last := uint32(0)
		for _, c := range cursors {
			if !bytes.Equal(c.word, least) || c.word == nil {
				continue
			}
			err := eachPlace(c.list, func(text, count uint32) {
				if int(text) < len(c.numbers) && c.numbers[text] != Gone {
					list = appendPlace(list, c.numbers[text]-last, count)
					last = c.numbers[text]
				}
			})
			if err := errors.Join(err, c.advance()); err != nil {
				return err
			}
		}
		if list != nil {
			if err := m.word(string(least), list); err != nil {
				return err
			}
		}
	}
}

// copyNotes writes the notes on the live texts of a segment, in their order.
func (m *merge) copyNotes(s *segment) error {
	for text, number := range m.moved[s.id] {
		if number == Gone {
			continue
		}
		piece, err := pieceOf(m.ctx, m.tx, "notes", idOf(s.id, text))
		if err != nil {
			return err
		}
		if err := m.note(piece); err != nil {
			return err
		}
	}
	return nil
}

func pieceOf(ctx context.Context, tx *sql.Tx, table string, id int64) ([]byte, error) {
	var stored []byte
	if err := tx.QueryRowContext(ctx, `SELECT piece FROM `+table+` WHERE id = ?`, id).Scan(&stored); err != nil {
		return nil, err
	}
	return unsealed(row(table, id), stored)
}

// cursor goes through the words of a segment.
type cursor struct {
	ctx     context.Context
	tx      *sql.Tx
	segment *segment
	numbers []uint32 // of the texts in the segment that is written

	word []byte // nil at the end
	list []byte

	next  int // number of the word after this one
	part  []byte
	lists listing
}

func (c *cursor) advance() (err error) {
	if c.next == c.segment.words {
		c.word, c.list = nil, nil
		return nil
	}
	if len(c.part) == 0 {
		var stored []byte
		if stored, err = pieceOf(c.ctx, c.tx, "words", idOf(c.segment.id, c.next)); err != nil {
			return err
		}
		c.part = stored[:max(0, len(stored)-padding)]
	}
	if c.next%perPiece == 0 {
		piece, err := pieceOf(c.ctx, c.tx, "lists", idOf(c.segment.id, c.next/perPiece))
		if err != nil {
			return err
		}
		if err := c.lists.open(piece, min(perPiece, c.segment.words-c.next)); err != nil {
			return err
		}
	}
	word, rest, whole := bytes.Cut(c.part, []byte("\n"))
	if !whole {
		return errDamaged
	}
	c.word, c.part = word, rest
	c.list = c.lists.list(c.next % perPiece)
	c.next++
	return nil
}
