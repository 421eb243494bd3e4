package cli

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Limits of the search for notes: depth below the home folder, time, and number of folders.
const (
	notesDepth   = 3
	notesTime    = time.Second
	notesFolders = 2000
)

// fewestNotes is how many Markdown files make a folder one of notes, if they are two thirds of its files.
const fewestNotes = 5

// findNotes lists the folders below a home folder that look like notes, those with most Markdown files first: folders
// of Obsidian, and those with mostly Markdown files. It does not search hidden folders, below git repositories, or
// beyond its limits.
func findNotes(ctx context.Context, home string) []string {
	type place struct {
		path  string
		depth int
		notes int
	}
	if home == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, notesTime)
	defer cancel()
	var found []place
	queue := []place{{path: home}}
	for seen := 0; len(queue) > 0 && seen < notesFolders && ctx.Err() == nil; seen++ {
		at := queue[0]
		queue = queue[1:]
		entries, err := os.ReadDir(at.path)
		if err != nil {
			continue // a folder that can't be read is skipped
		}
		notes, files, obsidian, project := 0, 0, false, false
		var below []place
		for _, e := range entries {
			name := e.Name()
			switch {
			case e.IsDir() && name == ".obsidian":
				obsidian = true
			case name == ".git":
				project = true
			case strings.HasPrefix(name, "."):
			case e.IsDir():
				below = append(below, place{path: filepath.Join(at.path, name), depth: at.depth + 1})
			case e.Type().IsRegular():
				files++
				if strings.EqualFold(filepath.Ext(name), ".md") {
					notes++
				}
			}
		}
		switch {
		case at.depth > 0 && (obsidian || notes >= fewestNotes && notes*3 >= files*2):
			at.notes = notes
			found = append(found, at)
		case !project && at.depth < notesDepth:
			queue = append(queue, below...)
		}
	}
	slices.SortStableFunc(found, func(a, b place) int { return cmp.Compare(b.notes, a.notes) })
	var paths []string
	for _, one := range found {
		paths = append(paths, one.path)
	}
	return paths
}
