package store

import (
	"errors"
	"os"
	"syscall"

	"sibyl/internal/files"
)

// reserveSize is the size of the reserve file, in bytes. It has room for the records of running runs if the disk fills
// up.
const reserveSize = 1 << 20

func (f *file) reserveName() string { return f.path + "-reserve" }

// reserve implements dialect. It writes the reserve file if that is missing, and returns journal.ErrFull if there is no
// room for it. It ignores other errors.
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

// HasRoom returns journal.ErrFull if no run may begin because the disk has no room. It makes the reserve if missing.
func (db *DB) HasRoom() error { return db.reserve() }

func (f *file) wantsReserve() bool {
	info, err := os.Stat(f.reserveName())
	isThere := err == nil && info.Size() == reserveSize
	return !isThere && f.readOnly == nil && f.synchronous == "FULL"
}

// spendReserve implements dialect. It removes the reserve file.
func (f *file) spendReserve() bool {
	err := os.Remove(f.reserveName())
	return err == nil || errors.Is(err, os.ErrNotExist)
}
