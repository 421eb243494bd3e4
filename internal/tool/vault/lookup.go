package vault

import (
	"path"
	"slices"
	"strings"

	"sibyl/internal/tool"
)

// graph finds notes by the names that links use, and knows who links to whom.
type graph struct {
	byPath  map[string][]*note // nameKey of the path without its ending
	byBase  map[string][]*note // nameKey of the file's name without its ending
	byTitle map[string][]*note
	byAlias map[string][]*note
	into    map[*note][]arrow // by the linking note's path, then line
}

// arrow is a link as its target sees it.
type arrow struct {
	from *note
	line int
}

func newGraph(notes []*note) *graph {
	g := &graph{
		byPath: map[string][]*note{}, byBase: map[string][]*note{}, byTitle: map[string][]*note{}, byAlias: map[string][]*note{},
		into: map[*note][]arrow{},
	}
	for _, n := range notes {
		add := func(names map[string][]*note, name string) {
			if key := nameKey(name); !slices.Contains(names[key], n) {
				names[key] = append(names[key], n)
			}
		}
		add(g.byPath, path.Join(path.Dir(n.path), bare(n.path)))
		add(g.byBase, bare(n.path))
		add(g.byTitle, n.title)
		for _, alias := range n.aliases {
			add(g.byAlias, alias)
		}
	}
	for _, n := range notes {
		targets := map[string]*note{}
		for _, l := range n.links {
			target, known := targets[l.target]
			if !known {
				target, _ = g.target(n, l)
				targets[l.target] = target
			}
			if target != nil && target != n {
				g.into[target] = append(g.into[target], arrow{n, l.line})
			}
		}
	}
	return g
}

// named returns the notes that a name can mean: those at the path, else those whose file has the name (with the folders
// given before it, if any), else those with the title, else those with the alias.
func (g *graph) named(name string) []*note {
	name = strings.TrimPrefix(strings.TrimSpace(name), "/")
	key := nameKey(name)
	if isNote(key) {
		key = key[:len(key)-len(".md")]
	}
	if notes := g.byPath[key]; len(notes) > 0 {
		return notes
	}
	var notes []*note
	for _, n := range g.byBase[path.Base(key)] {
		if strings.HasSuffix("/"+nameKey(n.path), "/"+key+".md") {
			notes = append(notes, n)
		}
	}
	for _, names := range []map[string][]*note{g.byTitle, g.byAlias} {
		if len(notes) == 0 {
			notes = names[nameKey(name)]
		}
	}
	return notes
}

// target is the note that a link leads to. If several could be meant, the one in the same folder is, else the one
// spelled exactly so; else none is, and ambiguous says why.
func (g *graph) target(from *note, l link) (target *note, ambiguous bool) {
	if l.target == "" {
		return from, false
	}
	name := l.target
	if strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") {
		name = path.Join(path.Dir(from.path), name)
	}
	notes := g.named(name)
	switch len(notes) {
	case 0:
		return nil, false
	case 1:
		return notes[0], false
	}
	near := slices.DeleteFunc(slices.Clone(notes), func(n *note) bool { return path.Dir(n.path) != path.Dir(from.path) })
	if len(near) == 1 {
		return near[0], false
	}
	if exact := spelled(notes, name); len(exact) == 1 {
		return exact[0], false
	}
	return nil, true
}

// spelled returns those of notes that carry the name in exactly this spelling.
func spelled(notes []*note, name string) []*note {
	return slices.DeleteFunc(slices.Clone(notes), func(n *note) bool {
		return n.title != name && bare(n.path) != name && n.path != name && !slices.Contains(n.aliases, name)
	})
}

// byName returns the one note that a person or model means by name.
func (s *snapshot) byName(name string) (*note, error) {
	notes := s.graph().named(name)
	if len(notes) > 1 {
		if exact := spelled(notes, name); len(exact) == 1 {
			notes = exact
		}
	}
	switch len(notes) {
	case 0:
		return nil, tool.Errorf(tool.NotFound, s.suggest(name), "there is no note called %q", name)
	case 1:
		return notes[0], nil
	}
	return nil, tool.Errorf(tool.InvalidArgs, "give one of them as path", "%q can mean %d notes: %s", name, len(notes), pathList(notes, 20))
}

// atPath returns the note at a path; without its ending, or in another case, the path is still understood if only one
// note can be meant.
func (s *snapshot) atPath(p string) (*note, error) {
	if err := checkPath(p); err != nil {
		return nil, err
	}
	if n := s.byPath[p]; n != nil {
		return n, nil
	}
	key := nameKey(path.Join(path.Dir(p), bare(p)))
	switch notes := s.graph().byPath[key]; len(notes) {
	case 0:
	case 1:
		return notes[0], nil
	default:
		return nil, tool.Errorf(tool.InvalidArgs, "give the path in its exact spelling", "%q can mean %s", p, pathList(notes, 20))
	}
	if ext := path.Ext(p); ext != "" && !isNote(path.Base(p)) {
		return nil, tool.Errorf(tool.Denied, "", "%q is not a Markdown note", p)
	}
	return nil, tool.Errorf(tool.NotFound, s.suggest(bare(p)), "there is no note at %q", p)
}

// suggest is a hint that names notes with a similar name.
func (s *snapshot) suggest(name string) string {
	const hint = "vault_search finds notes by their words"
	key := nameKey(path.Base(name))
	var similar []*note
	for _, n := range s.notes {
		base, title := nameKey(bare(n.path)), nameKey(n.title)
		if len(key) >= 3 && (strings.Contains(base, key) || strings.Contains(title, key) || len(base) >= 3 && strings.Contains(key, base)) {
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

// tagged says whether the note has the tag, or one below it: project/sibyl is below project.
func (n *note) tagged(tag string) bool {
	key := nameKey(strings.TrimLeft(strings.TrimSpace(tag), "#"))
	return slices.ContainsFunc(n.tags, func(t string) bool {
		t = nameKey(t)
		return t == key || strings.HasPrefix(t, key+"/")
	})
}
