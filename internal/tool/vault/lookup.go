package vault

import (
	"context"
	"path"
	"slices"
	"strings"

	"sibyl/internal/tool"
)

// graph finds notes by the names that links use. It holds the notes that can have one of the names that are asked for.
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
	name := linkedName(from.path, l)
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

// linkedName is the name to which a link in the note at p leads: relative to the vault if it has folders.
func linkedName(p string, l link) string {
	if strings.HasPrefix(l.target, "./") || strings.HasPrefix(l.target, "../") {
		return path.Join(path.Dir(p), l.target)
	}
	return l.target
}

// graphAround reads the notes to which the first links of a document lead, and those that link to it.
func (s *survey) graphAround(ctx context.Context, d *document) (*graph, error) {
	var wanted []nameHash
	for _, name := range append([]string{noteName(d.path), d.title}, d.front.aliases...) {
		wanted = append(wanted, linkHashes(ownName, name)...)
		wanted = append(wanted, linkHashes(linkName, name)...)
	}
	for _, l := range d.links[:min(len(d.links), maxRelated)] {
		wanted = append(wanted, linkHashes(ownName, linkedName(d.path, l))...)
	}
	notes, err := s.vault.load(ctx, s.having(wanted...))
	return newGraph(notes), err
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
				hits = target != nil && target.path == to.path && from.path != to.path
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

// byName returns the path of the one note that a name can mean; several are an error.
func (s *survey) byName(ctx context.Context, name string) (string, error) {
	named, err := s.vault.load(ctx, s.having(linkHashes(ownName, name)...))
	if err != nil {
		return "", err
	}
	notes := newGraph(named).notesNamed(name)
	if len(notes) == 0 {
		return "", tool.Errorf(tool.NotFound, s.suggest(ctx, name), "there is no note called %q", name)
	}
	if len(notes) > 1 {
		exact := exactlySpelled(notes, name)
		if len(exact) != 1 {
			return "", tool.Errorf(tool.InvalidArgs, "give one of them as path", "%q can mean %d notes: %s", name,
				len(notes), pathList(notes, 20))
		}
		notes = exact
	}
	return notes[0].path, nil
}

// atPath returns the places at a path in any spelling, with or without its ending.
func atPath(places []place, p string) []place {
	key := nameKey(path.Join(path.Dir(p), noteName(p)))
	return slices.DeleteFunc(slices.Clone(places), func(at place) bool {
		return nameKey(path.Join(path.Dir(at.path), noteName(at.path))) != key
	})
}

// byPath returns the path of the note at a path. It may lack its ending or differ in case, if only one note can be
// meant.
func (s *snapshot) byPath(ctx context.Context, p string) (string, error) {
	if err := checkPath(p); err != nil {
		return "", err
	}
	if s.has(p) {
		return p, nil
	}
	places := atPath(s.places, p)
	switch ext := path.Ext(p); {
	case len(places) == 1:
		return places[0].path, nil
	case len(places) > 1:
		return "", tool.Errorf(tool.InvalidArgs, "give the path in its exact spelling", "%q can mean %s",
			p, pathList(places, 20))
	case ext != "" && !isNote(path.Base(p)):
		return "", tool.Errorf(tool.Denied, "", "%q is neither a Markdown note nor a PDF or DOCX", p)
	}
	return "", tool.Errorf(tool.NotFound, s.suggest(ctx, noteName(p)), "there is no note at %q", p)
}

// suggest returns a hint that names notes with a similar name.
func (s *snapshot) suggest(ctx context.Context, name string) string {
	const hint = "vault_search finds notes by their words"
	key := nameKey(path.Base(name))
	var similar []*note
	err := s.vault.eachNote(ctx, s.places, func(n *note) {
		base, title := nameKey(noteName(n.path)), nameKey(n.title)
		if len(key) >= 3 && (strings.Contains(base, key) || strings.Contains(title, key) || len(base) >= 3 &&
			strings.Contains(key, base)) {
			similar = append(similar, n)
		}
	})
	if err != nil || len(similar) == 0 {
		return hint
	}
	return "similar: " + pathList(similar, 5) + "; " + hint
}

// located is what lies at a path of the vault.
type located interface{ where() string }

func (n *note) where() string { return n.path }
func (p place) where() string { return p.path }

func pathList[P located](all []P, most int) string {
	var paths []string
	for _, one := range all[:min(len(all), most)] {
		paths = append(paths, one.where())
	}
	if len(all) > most {
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

// tagKey is the form in which a tag that is asked for is compared.
func tagKey(tag string) string { return nameKey(strings.TrimLeft(strings.TrimSpace(tag), "#")) }

// hasTag says whether the note has the tag, or one below it: project/sibyl is below project.
func (n *note) hasTag(tag string) bool {
	key := tagKey(tag)
	return slices.ContainsFunc(n.tags, func(t string) bool {
		t = nameKey(t)
		return t == key || strings.HasPrefix(t, key+"/")
	})
}
