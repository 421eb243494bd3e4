package bt

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sort"
	"strings"
)

// Options say how a tree meets its surroundings.
type Options struct {
	Main   string // the tree to run; "": main_tree_to_execute, or the only one
	Given  []Port // keys of the root scope that Set writes before the first step
	Wanted []Port // keys of the root scope that somebody reads afterwards
}

// Load reads a tree file in BT.CPP v4's XML and checks its wiring. The error is a *LoadError that holds everything
// found wrong; warnings stand in Tree.Warnings.
func (r *Registry) Load(file string, text []byte, opt Options) (*Tree, error) {
	src := &source{file: file, text: text}
	trees := src.trees()
	if trees == nil {
		_, err := src.split()
		return nil, err
	}
	main := src.mainTree(trees, opt.Main)
	if main == nil {
		_, err := src.split()
		return nil, err
	}
	t := &Tree{ID: main.id, File: file, Source: text, rootKeys: map[string]int32{}}
	c := &compiler{src: src, reg: r, trees: trees, t: t}
	root := &scope{keys: t.rootKeys, c: c}
	root.root = root
	c.given(root, opt.Given)
	c.wanted(root, opt.Wanted)
	c.build(main.body, root, -1, main.id, []string{main.id})
	c.unused(main.id)
	c.check()
	warnings, err := src.split()
	if err != nil {
		return nil, err
	}
	t.Warnings = warnings
	t.Hash = r.hash(t)
	return t, nil
}

// hash covers what a State's layout depends on.
func (r *Registry) hash(t *Tree) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%s\x00", t.ID, t.Source)
	for _, s := range t.slots {
		fmt.Fprintf(h, "%s %s\x00", s.name, typeName(s.typ))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// treeDef is one <BehaviorTree>.
type treeDef struct {
	id   string
	el   *element
	body *element
	used bool
}

// trees finds the <BehaviorTree> elements; nil if the file can't be read at all.
func (s *source) trees() map[string]*treeDef {
	root := s.parse()
	if root == nil {
		return nil
	}
	if root.name != "root" {
		s.problem(root.at, `a tree file begins with <root BTCPP_format="4">`, "the root element is <%s>", root.name)
		return nil
	}
	if format, ok := root.attr("BTCPP_format"); !ok || format.value != "4" {
		s.problem(root.at, `write <root BTCPP_format="4">`, "this is not BehaviorTree.CPP format 4")
	}
	trees := map[string]*treeDef{}
	for _, el := range root.kids {
		switch el.name {
		case "TreeNodesModel":
		case "include":
			s.problem(el.at, "put its trees into this file", "<include> is not supported: a run keeps its tree as one text")
		case "BehaviorTree":
			id, ok := el.attr("ID")
			switch {
			case !ok || id.value == "":
				s.problem(el.at, `write <BehaviorTree ID="Name">`, "a <BehaviorTree> without ID")
			case trees[id.value] != nil:
				s.problem(id.at, "rename one of them", "a second tree is called %s", id.value)
			case len(el.kids) != 1:
				s.problem(el.at, "put them into a Sequence or Fallback", "tree %s has %d nodes at its top, not one", id.value, len(el.kids))
			default:
				trees[id.value] = &treeDef{id: id.value, el: el, body: el.kids[0]}
			}
		default:
			s.problem(el.at, "trees stand in <BehaviorTree ID=…>", "<%s> does not belong below <root>", el.name)
		}
	}
	if main, ok := root.attr("main_tree_to_execute"); ok && trees[main.value] == nil {
		s.problem(main.at, didYouMean(main.value, keysOf(trees)), "there is no tree %s", main.value)
	} else if ok {
		trees[main.value].used = true
	}
	if len(trees) == 0 && len(s.problems) == 0 {
		s.problem(root.at, "", "the file holds no <BehaviorTree>")
	}
	return trees
}

// mainTree picks the tree to run.
func (s *source) mainTree(trees map[string]*treeDef, name string) *treeDef {
	if name != "" {
		if trees[name] == nil {
			s.problem(0, didYouMean(name, keysOf(trees)), "there is no tree %s in this file", name)
		}
		return trees[name]
	}
	var marked *treeDef
	for _, t := range trees {
		if t.used || len(trees) == 1 {
			marked = t
		}
	}
	if marked == nil && len(s.problems) == 0 {
		s.problem(0, `write <root BTCPP_format="4" main_tree_to_execute="…">`, "the file holds %d trees and names no main one", len(trees))
	}
	return marked
}

func keysOf[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// didYouMean names the nearest of the known names, or all if none is near and they are few.
func didYouMean(name string, known []string) string {
	best, bestDist := "", len(name)/2+1
	for _, k := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(k)); d < bestDist {
			best, bestDist = k, d
		}
	}
	switch {
	case best != "":
		return "did you mean " + best + "?"
	case len(known) == 0:
		return ""
	case len(known) <= 12:
		return "there is: " + strings.Join(known, ", ")
	}
	return ""
}

// distance is Levenshtein's, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diag
			if a[i] != b[j] {
				cost = 1 + min(diag, row[j], row[j+1])
			}
			diag, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
