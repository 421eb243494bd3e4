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

// fewestNotes is how many Markdown files make a folder that nobody named one of notes.
const fewestNotes = 5

// holding is what a folder holds, without hidden files and folders.
type holding struct {
	notes, files  int // Markdown files, and all
	folders       []string
	obsidian, git bool
}

// look looks into a folder, but not below it.
func look(path string) (h holding) {
	entries, _ := os.ReadDir(path) // those that could be read
	for _, e := range entries {
		name := e.Name()
		switch {
		case e.IsDir() && name == ".obsidian":
			h.obsidian = true
		case name == ".git":
			h.git = true
		case strings.HasPrefix(name, "."):
		case e.IsDir():
			h.folders = append(h.folders, name)
		case e.Type().IsRegular():
			h.files++
			if strings.EqualFold(filepath.Ext(name), ".md") {
				h.notes++
			}
		}
	}
	return h
}

// mostlyNotes reports whether a folder is one of Obsidian, or two thirds of its files are Markdown, at least so many.
func (h holding) mostlyNotes(least int) bool {
	return h.obsidian || h.notes >= least && h.notes*3 >= h.files*2
}

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
		holds := look(at.path) // one that can't be read holds nothing
		switch {
		case at.depth > 0 && holds.mostlyNotes(fewestNotes):
			at.notes = holds.notes
			found = append(found, at)
		case !holds.git && at.depth < notesDepth:
			for _, name := range holds.folders {
				queue = append(queue, place{path: filepath.Join(at.path, name), depth: at.depth + 1})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b place) int { return cmp.Compare(b.notes, a.notes) })
	var paths []string
	for _, one := range found {
		paths = append(paths, one.path)
	}
	return paths
}
