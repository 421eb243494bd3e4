package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
)

// filling is a file on a disk that is full, and has more room once the reserve is gone.
type filling struct {
	*file
	t *testing.T
}

func (f filling) spendReserve() bool {
	spent := f.file.spendReserve()
	if spent {
		pragma(f.t, &DB{dialect: f.file}, `PRAGMA max_page_count = 1000000`)
	}
	return spent
}

func TestWhatWasFinishedWhenTheDiskFillsUpIsKeptAndNothingIsBegunUntilThereIsRoom(t *testing.T) {
	path := newPath(t)
	db := openAt(t, path)
	begin(t, db, 1)
	f := inFile(t, db)
	db.dialect = filling{f, t}
	pragma(t, &DB{dialect: f}, fmt.Sprintf(`PRAGMA max_page_count = %d`,
		one[int](t, db, `SELECT page_count FROM pragma_page_count`)))
	answer := journal.Record{Seq: 1, Data: bytes.Repeat([]byte("an answer "), 2000)}
	assert.NoErrorf(t, db.Append(t.Context(), "ada", "run", []journal.Record{answer}, nil), "the answer is lost")
	recs, err := db.Records(t.Context(), "ada", "run", 1)
	assert.That(t, err == nil && len(recs) == 1 && bytes.Equal(recs[0].Data, answer.Data),
		"%d records are kept, %v", len(recs), err)
	if err := os.Mkdir(f.reserveName(), 0o700); err != nil { // so that there can't be another, for some other reason
		t.Fatal(err)
	}
	err = db.reserve()
	assert.That(t, err == nil, "a reserve that can't be made for another reason keeps runs from beginning: %v", err)
	if err := os.Symlink("/dev/full", f.reserveName()); err != nil {
		t.Skip("no device here that is always full")
	}
	err = db.reserve()
	assert.That(t, errors.Is(err, journal.ErrFull), "without room for a reserve: %v, want it full", err)
}
