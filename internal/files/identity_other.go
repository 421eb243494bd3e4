//go:build !linux

package files

import "io/fs"

// Identity would tell more of a file than its time and size do.
func Identity(fs.FileInfo) (number, changed uint64) { return 0, 0 }
