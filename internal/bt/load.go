package bt

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Options say how a tree meets its surroundings.
type Options struct {
	Main   string // the tree to run; "": main_tree_to_execute, or the only one
	Given  []Port // keys of the root scope that Set writes before the first step
	Wanted []Port // keys of the root scope that are read afterwards
}

// Load reads a tree file in BT.CPP v4's XML and checks its wiring. The error is a *LoadError with all problems;
// warnings are in Tree.Warnings.
func (r *Leaves) Load(file string, text []byte, opt Options) (*Tree, error) {
	src := &source{file: file, text: strings.TrimPrefix(string(text), "\ufeff")}
	root := src.parse()
	if root == nil {
		_, err := src.splitProblems()
		return nil, err
	}
	trees := src.findTrees(root)
	main := src.mainTree(root, trees, opt.Main)
	t := &Tree{File: file, Source: bytes.Clone(text), nodes: make([]node, 0, len(src.attrs)),
		rootKeys: map[string]int32{}}
	if main != nil {
		t.ID = main.id
		c := newCompiler(src, r, trees, t)
		c.uses = make([]use, 0, len(src.attrs))
		c.connectGiven(main, opt.Given)
		c.connectWanted(main, opt.Wanted)
		c.build(main.body, c.root, -1, main.id, []string{main.id})
		c.checkWiring()
	}
	r.checkUnused(src, trees, main)
	warnings, err := src.splitProblems()
	if err != nil {
		return nil, err
	}
	t.Warnings = warnings
	t.Hash = hashTree(t)
	return t, nil
}

// checkUnused warns of the trees that the main one does not reach, and checks each of them alone.
func (r *Leaves) checkUnused(src *source, trees map[string]*treeDef, main *treeDef) {
	for _, id := range keysOf(trees) {
		def := trees[id]
		if def == main || def.used {
			continue
		}
		if main != nil {
			src.warn(def.el.at, "", "tree %s is not used by %s", id, main.id)
		}
		alone := newCompiler(src, r, trees, &Tree{rootKeys: map[string]int32{}})
		alone.shallow = true
		alone.build(def.body, alone.root, -1, id, []string{id})
	}
}

// hashTree covers everything that a run of the tree depends on, except the leaves.
func hashTree(t *Tree) string {
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
	body *element // nil after a problem
	used bool     // the main tree uses it, directly or not
}

const writeRoot = `a tree file begins with <root BTCPP_format="4">`

// findTrees finds the <BehaviorTree> elements below the root.
func (s *source) findTrees(root *element) map[string]*treeDef {
	trees := map[string]*treeDef{}
	if root.name != "root" {
		s.problem(root.at, writeRoot, "the root element is <%s>", root.name)
		return trees
	}
	if format, ok := root.attr("BTCPP_format"); !ok || format.value != "4" {
		s.problem(root.at, `write <root BTCPP_format="4">`, "this is not BehaviorTree.CPP format 4")
	}
	if def, ok := root.attr("default_ports"); ok {
		if s.connectsByName = def.value == "{=}"; !s.connectsByName {
			s.problem(def.at, `write default_ports="{=}", or leave it out`, "default_ports is ‘%s’", def.value)
		}
	}
	for _, el := range root.kids {
		switch el.name {
		case "TreeNodesModel":
		case "include":
			s.problem(el.at, "put its trees into this file",
				"<include> is not supported: a run keeps its tree as one text")
		case "BehaviorTree":
			s.addTree(el, trees)
		default:
			s.problem(el.at, "trees stand in <BehaviorTree ID=…>", "<%s> does not belong below <root>", el.name)
		}
	}
	return trees
}

func (s *source) addTree(el *element, trees map[string]*treeDef) {
	id, ok := el.attr("ID")
	switch {
	case !ok || id.value == "":
		s.problem(el.at, `write <BehaviorTree ID="Name">`, "a <BehaviorTree> without ID")
		return
	case trees[id.value] != nil:
		s.problem(id.at, "rename one of them", "a second tree is called %s", id.value)
		return
	}
	s.warnOfText(el)
	def := &treeDef{id: id.value, el: el}
	trees[id.value] = def
	switch len(el.kids) {
	case 0:
		s.problem(el.at, "put one node into it", "tree %s is empty", id.value)
	case 1:
		def.body = el.kids[0]
	default:
		s.problem(el.kids[1].at, "put them into a Sequence or Fallback", "tree %s has %d nodes at its top, not one",
			id.value, len(el.kids))
	}
}

func (s *source) warnOfText(el *element) {
	if el.text != "" {
		s.warn(el.textAt, "", "text in <%s> means nothing and is ignored", el.name)
	}
}

// mainTree selects the tree to run; nil if there is a problem.
func (s *source) mainTree(root *element, trees map[string]*treeDef, name string) *treeDef {
	marked, isMarked := root.attr("main_tree_to_execute")
	if isMarked && trees[marked.value] == nil {
		s.problem(marked.at, s.didYouMean(marked.value, func() []string {
			return keysOf(trees)
		}), "there is no tree %s", marked.value)
	}
	switch {
	case root.name != "root":
	case len(trees) == 0:
		s.problem(root.at, `write <BehaviorTree ID="Name">`, "the file holds no tree")
	case name != "":
		if trees[name] == nil {
			s.problem(root.at, s.didYouMean(name, func() []string {
				return keysOf(trees)
			}), "there is no tree %s in this file", name)
		}
		return trees[name]
	case isMarked:
		return trees[marked.value]
	case len(trees) == 1:
		return trees[keysOf(trees)[0]]
	default:
		s.problem(root.at, `write <root BTCPP_format="4" main_tree_to_execute="…">`,
			"the file holds %d trees and names no main one", len(trees))
	}
	return nil
}

func keysOf[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
