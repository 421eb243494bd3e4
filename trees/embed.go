// Package trees holds the behaviour trees that decide what the assistants do, as files that Groot2 opens, embedded in
// the binary. A person's folder may replace them, file by file.
package trees

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

//go:embed *.xml
var files embed.FS

// Set is the trees in force: those of the folder, and the embedded ones where it has none.
type Set struct{ folder string }

// Open takes the person's folder; "" is none. A folder that can't be read is an error.
func Open(folder string) (Set, error) {
	if folder == "" {
		return Set{}, nil
	}
	if _, err := os.ReadDir(folder); err != nil {
		return Set{}, fmt.Errorf("the folder of trees: %w", err)
	}
	return Set{folder: folder}, nil
}

// Tree is a tree file. File is how messages name it.
type Tree struct {
	Name     string
	File     string
	Text     []byte
	Embedded bool
}

// Get reads the tree of that name: the file NAME.xml.
func (s Set) Get(name string) (Tree, error) {
	file := name + ".xml"
	if s.folder != "" && !strings.ContainsAny(name, `/\`) {
		path := filepath.Join(s.folder, file)
		text, err := os.ReadFile(path)
		if err == nil {
			return Tree{Name: name, File: path, Text: text}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return Tree{}, fmt.Errorf("tree %s: %w", name, err)
		}
	}
	text, err := files.ReadFile(file)
	if err != nil {
		return Tree{}, fmt.Errorf("there is no tree %q; there is: %s", name, strings.Join(s.names(), ", "))
	}
	return Tree{Name: name, File: "trees/" + file, Text: text, Embedded: true}, nil
}

// All reads every tree, sorted by name.
func (s Set) All() ([]Tree, error) {
	var all []Tree
	for _, name := range s.names() {
		t, err := s.Get(name)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

func (s Set) names() []string {
	seen := map[string]bool{}
	add := func(files []string) {
		for _, f := range files {
			seen[strings.TrimSuffix(filepath.Base(f), ".xml")] = true
		}
	}
	embedded, _ := fs.Glob(files, "*.xml") // the pattern is well-formed, and nothing else fails
	add(embedded)
	if s.folder != "" {
		own, _ := filepath.Glob(filepath.Join(s.folder, "*.xml")) // the same
		add(own)
	}
	names := make([]string, 0, len(seen))
	for n := range seen {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}
