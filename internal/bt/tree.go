package bt

import (
	"fmt"
	"iter"
	"strings"
	"sync"
)

// Tree is a loaded tree: immutable, safe for concurrent use.
type Tree struct {
	ID       string // of the main tree
	File     string
	Source   []byte // the file's text
	Hash     string // names Source, main tree and the types of its keys
	Warnings []Problem

	nodes    []node
	slots    []slot
	rootKeys map[string]int32

	rulesOnce sync.Once // rules are computed when they are first needed
	rules     []string
}

// node is one node of the flattened tree, subtrees included, in depth-first order: its first child follows it. The node
// itself has what every tick reads, and its details the rest.
type node struct {
	run        runner
	kids       []int32
	guard      *guards
	kind       kind
	continueOn Status // the status of a child after which the node continues
	needsReset bool   // see kindsToReset
	*details
}

// runner ticks the nodes of a kind; tick does what is common to all nodes.
type runner func(x *exec, i int32, n *node, c *Cell) Status

type details struct {
	elseStatus Status
	ports      []portValue
	leaf       *Leaf
	bind       *binding
	code       *script

	spec      *spec // nil for leaves and subtrees
	name      string
	label     string // the last part of its path
	tree      string // of a SubTree: the tree's ID
	parent    int32
	depth     int32
	line, col int32
}

// portValue is a port of a kernel node: a literal or a key.
type portValue struct {
	port, key, text string // text as it is in the file
	n, least        int64
	slot            int32 // -1: the literal
}

func (v *portValue) tooSmall(n int64) error {
	if n < v.least {
		return fmt.Errorf("%d is less than %d", n, v.least)
	}
	return nil
}

// guards are the pre- and postconditions of a node, in the order of guardNames.
type guards [8]*script

const (
	guardFailureIf = iota
	guardOnFailure
	guardOnHalted
	guardOnSuccess
	guardPost
	guardSkipIf
	guardSuccessIf
	guardWhile
)

var guardNames = []string{"_failureIf", "_onFailure", "_onHalted", "_onSuccess", "_post", "_skipIf", "_successIf",
	"_while"}

// checkGuards evaluates the preconditions; Idle means that the node is ticked. All except _while are evaluated only
// while the node is idle.
func (x *exec) checkGuards(i int32, g *guards, running bool) Status {
	if !running {
		switch {
		case g[guardFailureIf] != nil && x.evalCondition(i, g[guardFailureIf]):
			return x.fail(i, "", g[guardFailureIf].text)
		case g[guardSuccessIf] != nil && x.evalCondition(i, g[guardSuccessIf]):
			return Success
		case g[guardSkipIf] != nil && x.evalCondition(i, g[guardSkipIf]):
			return Skipped
		}
	}
	if g[guardWhile] != nil && !x.evalCondition(i, g[guardWhile]) {
		x.halt(i)
		return Skipped
	}
	return Idle
}

// runAfter runs the postconditions of a completed node.
func (g *guards) runAfter(x *exec, i int32, st Status) {
	switch st {
	case Success:
		x.evalScript(i, g[guardOnSuccess])
	case Failure:
		x.evalScript(i, g[guardOnFailure])
	default:
		return
	}
	x.evalScript(i, g[guardPost])
}

// Info describes a node of a tree.
type Info struct {
	ID     int32
	Parent int32  // -1 for the root
	Type   string // "Sequence", a leaf's type, "SubTree"
	Name   string // its name attribute; of a SubTree the tree's ID
	Glyph  string
	Leaf   bool
	Kernel bool // a node of this package, not a leaf of an assistant
}

// Nodes gives all nodes, depth first; a node's ID is its position.
func (t *Tree) Nodes() iter.Seq[Info] {
	return func(yield func(Info) bool) {
		for i := range t.nodes {
			if !yield(t.Node(int32(i))) {
				return
			}
		}
	}
}

// Node describes node id; it panics if the tree has no such node.
func (t *Tree) Node(id int32) Info {
	n := &t.nodes[id]
	info := Info{ID: id, Parent: n.parent, Type: t.typeOf(id), Name: n.name}
	switch {
	case n.leaf != nil:
		info.Leaf = true
		info.Glyph = [...]string{checkLeaf: "◇", funcLeaf: "λ", taskLeaf: "▶"}[n.leaf.class]
	case n.kind == kSubTree:
		info.Name, info.Glyph, info.Kernel = n.tree, "▣", true
	default:
		info.Glyph = n.spec.glyph
		info.Leaf, info.Kernel = n.spec.max < 0, true
	}
	return info
}

// typeOf is the type of a node.
func (t *Tree) typeOf(id int32) string {
	switch n := &t.nodes[id]; {
	case n.leaf != nil:
		return n.leaf.Name
	case n.kind == kSubTree:
		return "SubTree"
	default:
		return n.spec.name
	}
}

// Path is the path of node id: names from the root down, joined by slashes. It is computed only when it is needed: the
// paths of all nodes may be far longer than the file.
func (t *Tree) Path(id int32) string {
	labels := make([]string, t.nodes[id].depth+1)
	for k := len(labels) - 1; k >= 0; k-- {
		labels[k] = t.nodes[id].label
		id = t.nodes[id].parent
	}
	return strings.Join(labels, "/")
}

// Rule is the location of node id: the trees that contain it, from the main tree down, and its own type. It has no name
// attribute, so that records of decisions outlive such names. Nodes may share a rule.
func (t *Tree) Rule(id int32) string {
	t.rulesOnce.Do(func() {
		t.rules = make([]string, len(t.nodes))
		within := make([]string, len(t.nodes)) // the trees that the node's children lie in
		for i := range t.nodes {
			n, above := &t.nodes[i], t.ID
			if n.parent >= 0 {
				above = within[n.parent]
			}
			within[i] = above
			if n.kind == kSubTree {
				within[i] = above + "/" + n.tree
				t.rules[i] = within[i]
			} else {
				t.rules[i] = above + "/" + t.typeOf(int32(i))
			}
		}
	})
	return t.rules[id]
}

// Size is the number of nodes.
func (t *Tree) Size() int { return len(t.nodes) }
