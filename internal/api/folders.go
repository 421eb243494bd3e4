package api

import (
	"context"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sibyl/internal/files"
	"sibyl/internal/schema"
	"sibyl/internal/server/user"
)

// How many folders are listed of each that a user may name, and how deep they lie in it at most.
const (
	mostFolders = 200
	deepest     = 4
)

// Folders are the folders that a user may name.
type Folders struct {
	Folders []string `json:"folders" doc:"Names: that of a folder, and of those in it, as “notes/2024/reports”. Hidden ones, links, and those that usually hold secrets are left out."`
	More    bool     `json:"more,omitempty" doc:"There are more than are listed, or they lie deeper."`
}

// listFolders lists folders level by level, so that only deep ones are left out.
func (s *Server) listFolders(ctx context.Context, _ *noInput) (f Folders, err error) {
	known := s.config.Folders(infoOf(ctx).token.User)
	f.Folders = []string{}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		within, more := foldersIn(ctx, known[name])
		f.More = f.More || more
		f.Folders = append(f.Folders, name)
		for _, one := range within {
			f.Folders = append(f.Folders, name+"/"+one)
		}
	}
	return f, ctx.Err()
}

// foldersIn are the folders in a folder, in the order of their names; more says that some are left out. One that can't
// be read has none.
func foldersIn(ctx context.Context, folder string) (within []string, more bool) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, false
	}
	defer func() { _ = root.Close() }() // opened for reading only
	level := []string{"."}
	for depth := 1; len(level) > 0 && ctx.Err() == nil; depth++ {
		var deeper []string
		for _, one := range level {
			infos, err := files.List(root, one)
			if err != nil || ctx.Err() != nil {
				continue
			}
			slices.SortFunc(infos, func(a, b fs.FileInfo) int { return strings.Compare(a.Name(), b.Name()) })
			for _, info := range infos {
				if !info.IsDir() || !mayName(path.Base(one), info.Name()) {
					continue
				}
				if len(within) == mostFolders || depth > deepest {
					more = true
					break
				}
				name := path.Join(one, info.Name())
				within, deeper = append(within, name), append(deeper, name)
			}
		}
		level = deeper
	}
	slices.Sort(within)
	return within, more
}

// mayName says whether a user may name this subfolder of one of their folders: it must not be hidden or look secret.
func mayName(parent, name string) bool {
	return !strings.HasPrefix(name, ".") && files.SecretReason(parent, name, true) == ""
}

// folderFinder returns a function that finds the folders of a user and their subfolders by name. A folder of another
// user is reported like one that does not exist.
func (s *Server) folderFinder(t user.Token) func(*schema.Field, string) (string, error) {
	return func(_ *schema.Field, name string) (string, error) {
		known := s.config.Folders(t.User)
		if known[name] != "" {
			return known[name], nil
		}
		first, within, _ := strings.Cut(name, "/")
		if known[first] != "" && within != "" {
			if found := folderIn(known[first], within); found != "" {
				return found, nil
			}
		}
		return "", newProblem(http.StatusNotFound, "no_folder", "You have no folder of that name here.",
			"GET /api/folders names those that you have.")
	}
}

// mayRead returns a function that says whether a folder is one of a user's, or lies in one.
func (s *Server) mayRead(t user.Token) func(path string) bool {
	return func(path string) bool { return s.folderName(t, path) != "" }
}

// folderName is the name that a user has for a folder; "" for one that they may not name.
func (s *Server) folderName(t user.Token, path string) string {
	known := s.config.Folders(t.User)
	for _, name := range slices.Sorted(maps.Keys(known)) {
		within, err := filepath.Rel(known[name], path)
		switch {
		case path == "" || err != nil:
		case within == ".":
			return name
		case folderIn(known[name], filepath.ToSlash(within)) == path:
			return name + "/" + filepath.ToSlash(within)
		}
	}
	return ""
}

// folderIn is the path of a subfolder; "" if it does not exist, may not be named, or is reached by a link.
func folderIn(folder, within string) string {
	if !fs.ValidPath(within) {
		return ""
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return ""
	}
	defer func() { _ = root.Close() }() // opened for reading only
	parent, reached := ".", ""
	for part := range strings.SplitSeq(within, "/") {
		reached = path.Join(reached, part)
		if info, err := root.Lstat(reached); err != nil || !info.IsDir() || !mayName(parent, part) {
			return ""
		}
		parent = part
	}
	return filepath.Join(folder, filepath.FromSlash(within))
}
