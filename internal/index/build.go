package index

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"slices"
	"strings"
)

// Build adds to a cache. One goroutine uses it, during the call that gave it.
type Build struct {
	cache *Cache
	db    *sql.DB
	tx    *sql.Tx // of a merge that no commit has completed
	next  uint32  // number of the segment that is being gathered

	merged bool

	ids     map[string]uint32
	words   []gathered
	touched []uint32 // words of the text that is being added
	notes   [][]byte
	bytes   int
}

// gathered is a word of the segment that is being gathered.
type gathered struct {
	word  string
	list  []byte
	last  uint32 // the text that its list ends with
	count uint32 // how often it is in the text that is being added
}

// Build has somebody add to the cache, which is made where it is missing. ErrBusy says that another process does, ErrFull that nothing may be added.
func (c *Cache) Build(ctx context.Context, add func(*Build) error) (err error) {
	if err := os.MkdirAll(c.store.dir, 0o700); err != nil {
		return err
	}
	unlock, err := c.store.lock(ctx, c.name)
	if err != nil {
		return err
	}
	defer unlock()
	if !c.stands(ctx) {
		if err := c.create(ctx); err != nil {
			return err
		}
	}
	if c.store.size(c.name) > c.store.bound {
		return ErrFull
	}
	err = c.build(ctx, add)
	if errors.Is(err, errDamaged) || isDamage(err) {
		err = errors.Join(err, c.store.unlink(c.name)) // the next one makes it anew
	}
	return err
}

// stands says that the file is there, and an index that can be added to.
func (c *Cache) stands(ctx context.Context) bool {
	if _, err := os.Stat(c.path); err != nil {
		return false
	}
	db, err := connect(ctx, c.path)
	if err != nil {
		return false
	}
	return errors.Join(c.check(ctx, db), db.Close()) == nil
}

// build is Build with the lock held.
func (c *Cache) build(ctx context.Context, add func(*Build) error) (err error) {
	db, err := connect(ctx, c.path)
	if err != nil {
		return err
	}
	b := &Build{cache: c, db: db}
	defer func() {
		b.rollback()
		err = errors.Join(err, db.Close())
	}()
	if err := c.check(ctx, db); err != nil {
		return err
	}
	next, err := numberOf(ctx, db, "next")
	if err != nil {
		return err
	}
	b.next = uint32(next)
	b.reset()
	if err := add(b); err != nil || !b.merged {
		return err
	}
	b.rollback()
	for _, freeing := range []string{`PRAGMA incremental_vacuum`, `PRAGMA wal_checkpoint(TRUNCATE)`} {
		if _, err := db.ExecContext(ctx, freeing); err != nil {
			return err
		}
	}
	return nil
}

func (b *Build) rollback() {
	if b.tx != nil {
		_ = b.tx.Rollback() // what is given up is not missed
		b.tx = nil
	}
}

func (b *Build) reset() {
	b.ids, b.words, b.notes, b.bytes = map[string]uint32{}, nil, nil, 0
}

// Word counts a word of the text that is being added. It holds no line feed.
func (b *Build) Word(word []byte) {
	id, known := b.ids[string(word)]
	if !known {
		id = uint32(len(b.words))
		text := string(word)
		b.ids[text] = id
		b.words = append(b.words, gathered{word: text})
	}
	w := &b.words[id]
	if w.count == 0 {
		b.touched = append(b.touched, id)
	}
	w.count++
}

// Text ends the text that is being added, with a note on it, and gives the number of its segment and its own there.
func (b *Build) Text(note []byte) (segment, text uint32) {
	text = uint32(len(b.notes))
	for _, id := range b.touched {
		w := &b.words[id]
		before := len(w.list)
		w.list = appendPlace(w.list, text-w.last, w.count)
		w.last, w.count = text, 0
		b.bytes += len(w.list) - before
	}
	b.touched = b.touched[:0]
	b.notes = append(b.notes, bytes.Clone(note))
	b.bytes += len(note)
	return b.next, text
}

// Pending is about how many bytes the next commit writes.
func (b *Build) Pending() int { return b.bytes }

// Commit writes what was added since the last one, what a merge has made of older segments, and the catalogue in place of that of before.
func (b *Build) Commit(ctx context.Context, catalogue []byte) (err error) {
	if b.tx == nil {
		if b.tx, err = b.db.BeginTx(ctx, nil); err != nil {
			return err
		}
	}
	defer b.rollback()
	if len(b.notes) > 0 {
		if err := b.writeSegment(ctx); err != nil {
			return err
		}
	}
	generation, err := numberOf(ctx, b.tx, "generation")
	if err != nil {
		return err
	}
	for key, value := range map[string][]byte{"generation": number(generation + 1), "next": number(uint64(b.next)), "catalogue": catalogue} {
		if err := setMeta(ctx, b.tx, key, value); err != nil {
			return err
		}
	}
	if err := b.tx.Commit(); err != nil {
		return err
	}
	b.tx = nil
	return b.cache.store.makeRoom(ctx, b.cache.name)
}

// writeSegment writes what was gathered.
func (b *Build) writeSegment(ctx context.Context) error {
	order := make([]uint32, len(b.words))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(x, y uint32) int { return strings.Compare(b.words[x].word, b.words[y].word) })
	w := writer{ctx: ctx, tx: b.tx, segment: b.next}
	for _, id := range order {
		if err := w.word(b.words[id].word, b.words[id].list); err != nil {
			return err
		}
	}
	for _, note := range b.notes {
		if err := w.note(note); err != nil {
			return err
		}
	}
	if err := w.finish(); err != nil {
		return err
	}
	b.next++
	b.reset()
	return nil
}

// writer writes a segment: its words in their order, and its notes.
type writer struct {
	ctx     context.Context
	tx      *sql.Tx
	segment uint32

	words, notes int
	part         []byte
	first        int // number of the part's first word
	lists        [][]byte
}

func (w *writer) insert(table string, n int, piece []byte) error {
	return w.insertAt(table, idOf(w.segment, n), piece)
}

func (w *writer) insertAt(table string, id int64, piece []byte) error {
	_, err := w.tx.ExecContext(w.ctx, `INSERT INTO `+table+` (id, piece) VALUES (?, ?)`, id, sealed(row(table, id), piece))
	return err
}

// word adds a word. The list is used until the writer has finished.
func (w *writer) word(word string, list []byte) error {
	w.part = append(append(w.part, word...), '\n')
	w.lists = append(w.lists, list)
	w.words++
	if len(w.lists) == perPiece {
		if err := w.flushLists(); err != nil {
			return err
		}
	}
	if len(w.part) >= partBytes {
		return w.flushPart()
	}
	return nil
}

func (w *writer) flushLists() error {
	if len(w.lists) == 0 {
		return nil
	}
	err := w.insert("lists", (w.words-1)/perPiece, packed(w.lists))
	w.lists = w.lists[:0]
	return err
}

func (w *writer) flushPart() error {
	if len(w.part) == 0 {
		return nil
	}
	err := w.insert("words", w.first, append(w.part, make([]byte, padding)...))
	w.part, w.first = w.part[:0], w.words
	return err
}

func (w *writer) note(note []byte) error {
	w.notes++
	return w.insert("notes", w.notes-1, slices.Clip(note))
}

func (w *writer) finish() error {
	if err := errors.Join(w.flushLists(), w.flushPart()); err != nil {
		return err
	}
	return w.insertAt("segment", int64(w.segment), append(number(uint64(w.words)), number(uint64(w.notes))...))
}
