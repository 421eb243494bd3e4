// Package code lets an assistant search and read the files of one folder, its root.
//
// Guarantees:
//   - Confinement: every path is resolved below the root, through os.Root, and opened only if it still is the file that
//     was checked. Symbolic links are never followed, and only regular files are opened, without blocking. Version
//     control data, files that usually hold secrets, files that a .gitignore excludes, and folders whose names begin
//     with a dot and that stand in no project, are never read.
//   - Nothing is written below the root, and each call sees the folder as it is.
//   - code_history alone runs a program: git, which only reads, for 10 s at most, with no setting, hook or filter of
//     the repository, on the one repository in which the root lies; it shows only what is below the root.
//   - Equal folders give equal results: order never depends on scheduling or on the file system.
//   - A walk reads 200,000 files and 1 GB at most, for 12 s at most. It leaves out the rest of a larger folder, and the
//     result says so.
//   - A walk has one goroutine that lists and GOMAXPROCS that read, each 2 MB of a file of at most 64 MB; a search also
//     holds as much of the 50 that it ranks, and code_read one file. A walk stops soon after its context ends.
//   - Text that comes from a file is valid UTF-8 without control characters; lines and results are bounded.
package code

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"sibyl/internal/files"
	"sibyl/internal/tool"
)

// Root is one folder that the tools work on. It is safe for concurrent use.
type Root struct {
	root   *os.Root
	name   string
	limits limits
}

// Open opens dir for reading. The error is a *tool.Error: NotFound when dir is missing or no folder.
func Open(dir string) (*Root, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, tool.Errorf(tool.Failed, "", "the folder %q cannot be located: %w", dir, err)
	}
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, tool.Errorf(tool.NotFound, "check the spelling, or create the folder",
			"the folder %q does not exist", dir)
	case err != nil:
		return nil, tool.Errorf(tool.Failed, "", "the folder %q cannot be opened: %w", dir, files.Cause(err))
	case !info.IsDir():
		return nil, tool.Errorf(tool.NotFound, "name the folder that holds it", "%q is not a folder", dir)
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, tool.Errorf(tool.Failed, "", "the folder %q cannot be opened: %w", dir, files.Cause(err))
	}
	return &Root{root: root, name: filepath.Base(abs), limits: defaultLimits}, nil
}

// Close releases the folder. Calls made afterwards fail.
func (r *Root) Close() error { return r.root.Close() }

// Tools returns the tools of the root; all of them only read.
func (r *Root) Tools() []tool.Tool {
	return []tool.Tool{r.searchTool(), r.symbolTool(), r.readTool(), r.mapTool(), r.historyTool()}
}
