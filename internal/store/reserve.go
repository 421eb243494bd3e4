package store

import (
	"os"
	"syscall"

	"sibyl/internal/files"
)

// reserveSize is how many bytes lie beside the file for a disk that fills up: enough for the answers that are on their
// way then, which somebody has waited and paid for.
const reserveSize = 1 << 20

func (f *file) reserveName() string { return f.path + "-reserve" }

// reserve implements dialect. Where the disk has no room for a reserve, nothing new is to be begun; where there can be
// none for another reason, there is none.
func (f *file) reserve() error {
	if !f.wantsReserve() {
		return nil
	}
	err := os.WriteFile(f.reserveName(), make([]byte, reserveSize), 0o600)
	if err != nil {
		f.spendReserve()
	}
	if files.Is(err, syscall.ENOSPC) || files.Is(err, syscall.EDQUOT) {
		return f.fullError(err)
	}
	return nil
}

// HasRoom is journal.ErrFull where no run can begin, since the disk has no room for what it would have under way.
func (db *DB) HasRoom() error { return db.reserve() }

func (f *file) wantsReserve() bool {
	info, err := os.Stat(f.reserveName())
	isThere := err == nil && info.Size() == reserveSize
	return !isThere && f.readOnly == nil && f.synchronous == "FULL"
}

// spendReserve implements dialect.
func (f *file) spendReserve() (spent bool) { return os.Remove(f.reserveName()) == nil }
