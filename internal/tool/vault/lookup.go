package vault

import (
	"path"
	"slices"
	"strings"

	"sibyl/internal/tool"
)

// graph finds notes by the names that links use.
type graph struct {
	notes                    []*note
	byBase, byTitle, byAlias map[string][]*note // by nameKey; the base is the file's name without its ending
}

func newGraph(notes []*note) *graph {
	g := &graph{notes: notes, byBase: map[string][]*note{}, byTitle: map[string][]*note{},
		byAlias: map[string][]*note{}}
	for _, n := range notes {
		add := func(names map[string][]*note, name string) {
			if key := nameKey(name); !slices.Contains(names[key], n) {
				names[key] = append(names[key], n)
			}
		}
		add(g.byBase, noteName(n.path))
		add(g.byTitle, n.title)
		for _, alias := range n.aliases {
			add(g.byAlias, alias)
		}
	}
	return g
}

// atPath returns the notes at a path in any spelling, with or without its ending. With moreFolders, these are the notes
// whose path ends with it.
func (g *graph) atPath(p string, moreFolders bool) (notes []*note) {
	key := nameKey(path.Join(path.Dir(p), noteName(p)))
	for _, n := range g.byBase[nameKey(noteName(p))] {
		whole := nameKey(path.Join(path.Dir(n.path), noteName(n.path)))
		if whole == key || moreFolders && strings.HasSuffix(whole, "/"+key) {
			notes = append(notes, n)
		}
	}
	return notes
}

// notesNamed returns the notes that a name can mean: those at that path, or else those whose file has the name (in the
// folders before it, if any), or else those with the title, or else those with the alias.
func (g *graph) notesNamed(name string) []*note {
	name = strings.TrimPrefix(strings.TrimSpace(name), "/")
	for _, notes := range [][]*note{g.atPath(name, false), g.atPath(name, true), g.byTitle[nameKey(name)]} {
		if len(notes) > 0 {
			return notes
		}
	}
	return g.byAlias[nameKey(name)]
}

// resolveLink returns the note to which a link leads. Of several, it is the only one in the same folder, or else the
// only one with exactly this spelling; otherwise the link is ambiguous.
func (g *graph) resolveLink(from *note, l link) (target *note, ambiguous bool) {
	if l.target == "" {
		return from, false
	}
	name := l.target
	if strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") {
		name = path.Join(path.Dir(from.path), name)
	}
	notes := g.notesNamed(name)
	if len(notes) == 0 {
		return nil, false
	}
	if len(notes) > 1 {
		isFar := func(n *note) bool { return path.Dir(n.path) != path.Dir(from.path) }
		if near := slices.DeleteFunc(slices.Clone(notes), isFar); len(near) == 1 {
			notes = near
		} else if notes = exactlySpelled(notes, name); len(notes) != 1 {
			return nil, true
		}
	}
	return notes[0], false
}

// backlink is a link from another note.
type backlink struct {
	from *note
	line int
}

// backlinks returns the links to a note from others, by path and line.
func (g *graph) backlinks(to *note) (links []backlink) {
	for _, from := range g.notes {
		leads := map[string]bool{}
		for _, l := range from.links {
			hits, known := leads[l.target]
			if !known {
				target, _ := g.resolveLink(from, l)
				hits = target == to && from != to
				leads[l.target] = hits
			}
			if hits {
				links = append(links, backlink{from, l.line})
			}
		}
	}
	return links
}

// exactlySpelled returns those of notes that have the name in exactly this spelling.
func exactlySpelled(notes []*note, name string) []*note {
	return slices.DeleteFunc(slices.Clone(notes), func(n *note) bool {
		return n.title != name && noteName(n.path) != name && n.path != name && !slices.Contains(n.aliases, name)
	})
}

// byName returns the one note that a name can mean; several are an error.
func (s *snapshot) byName(name string) (*note, error) {
	notes := s.graph().notesNamed(name)
	if len(notes) == 0 {
		return nil, tool.Errorf(tool.NotFound, s.suggest(name), "there is no note called %q", name)
	}
	if len(notes) > 1 {
		exact := exactlySpelled(notes, name)
		if len(exact) != 1 {
			return nil, tool.Errorf(tool.InvalidArgs, "give one of them as path", "%q can mean %d notes: %s", name,
				len(notes), pathList(notes, 20))
		}
		notes = exact
	}
	return notes[0], nil
}

// byPath returns the note at a path. The path may lack its ending or differ in case, if only one note can be meant.
func (s *snapshot) byPath(p string) (*note, error) {
	if err := checkPath(p); err != nil {
		return nil, err
	}
	if n := s.noteAt(p); n != nil {
		return n, nil
	}
	notes := s.graph().atPath(p, false)
	switch ext := path.Ext(p); {
	case len(notes) == 1:
		return notes[0], nil
	case len(notes) > 1:
		return nil, tool.Errorf(tool.InvalidArgs, "give the path in its exact spelling", "%q can mean %s",
			p, pathList(notes, 20))
	case ext != "" && !isNote(path.Base(p)):
		return nil, tool.Errorf(tool.Denied, "", "%q is neither a Markdown note nor a PDF or DOCX", p)
	}
	return nil, tool.Errorf(tool.NotFound, s.suggest(noteName(p)), "there is no note at %q", p)
}

// suggest returns a hint that names notes with a similar name.
func (s *snapshot) suggest(name string) string {
	const hint = "vault_search finds notes by their words"
	key := nameKey(path.Base(name))
	var similar []*note
	for _, n := range s.notes {
		base, title := nameKey(noteName(n.path)), nameKey(n.title)
		if len(key) >= 3 && (strings.Contains(base, key) || strings.Contains(title, key) || len(base) >= 3 &&
			strings.Contains(key, base)) {
			similar = append(similar, n)
		}
	}
	if len(similar) == 0 {
		return hint
	}
	return "similar: " + pathList(similar, 5) + "; " + hint
}

func pathList(notes []*note, most int) string {
	var paths []string
	for _, n := range notes[:min(len(notes), most)] {
		paths = append(paths, n.path)
	}
	if len(notes) > most {
		paths = append(paths, "…")
	}
	return strings.Join(paths, ", ")
}

// resolveFolder returns the folder that an argument names: "." for none. hint is for the error if there is none.
func (s *snapshot) resolveFolder(name, hint string) (string, error) {
	name = strings.TrimSuffix(strings.TrimSpace(name), "/")
	if name == "" || name == "." {
		return ".", nil
	}
	if err := checkPath(name); err != nil {
		return "", err
	}
	if !slices.Contains(s.folders, name) {
		return "", tool.Errorf(tool.NotFound, hint, "there is no folder %q", name)
	}
	return name, nil
}

// hasTag says whether the note has the tag, or one below it: project/sibyl is below project.
func (n *note) hasTag(tag string) bool {
	key := nameKey(strings.TrimLeft(strings.TrimSpace(tag), "#"))
	return slices.ContainsFunc(n.tags, func(t string) bool {
		t = nameKey(t)
		return t == key || strings.HasPrefix(t, key+"/")
	})
}
