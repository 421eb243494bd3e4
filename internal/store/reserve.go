package store

import (
	"os"
	"syscall"

	"sibyl/internal/files"
)

// reserveSize is the size of the reserve file, in bytes. If the disk fills up, its room is enough for the answers under
// way.
const reserveSize = 1 << 20

func (f *file) reserveName() string { return f.path + "-reserve" }

// reserve implements dialect. If the disk has no room for a reserve, no run may begin; if there can be none for another
// reason, that is no error.
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

// HasRoom returns journal.ErrFull if no run may begin, since the disk has no room for its records.
func (db *DB) HasRoom() error { return db.reserve() }

func (f *file) wantsReserve() bool {
	info, err := os.Stat(f.reserveName())
	isThere := err == nil && info.Size() == reserveSize
	return !isThere && f.readOnly == nil && f.synchronous == "FULL"
}

// spendReserve implements dialect.
func (f *file) spendReserve() (spent bool) { return os.Remove(f.reserveName()) == nil }
