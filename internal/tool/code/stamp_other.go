//go:build !linux

package code

import "io/fs"

// identity would tell more of a file than its time and size do.
func identity(fs.FileInfo) (number, changed uint64) { return 0, 0 }
