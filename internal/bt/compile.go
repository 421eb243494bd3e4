package bt

import (
	"fmt"
	"slices"
	"strconv"
)

// compiler turns elements into nodes and keys into slots.
type compiler struct {
	src        *source
	known      *Leaves
	trees      map[string]*treeDef
	t          *Tree
	root       *scope
	slotScopes []*scope // by slot: the scope that created it
	uses       []use
	shallow    bool // subtrees are not compiled
	full       bool // maxNodes or maxLaidOut was reached
	laidOut    int  // bytes of attributes so far, bounded by maxLaidOut
	growers    []grower
	getsText   map[int32]bool // slots to which a script writes a text
}

func newCompiler(src *source, known *Leaves, trees map[string]*treeDef, t *Tree) *compiler {
	c := &compiler{src: src, known: known, trees: trees, t: t, getsText: map[int32]bool{}}
	c.root = c.newScope(t.rootKeys, nil)
	return c
}

// build adds the node of el, whose label in paths is given, and all nodes below it. It returns its index; -1 if there
// is no room or no element. stack lists the trees that contain el.
func (c *compiler) build(el *element, sc *scope, parent int32, label string, stack []string) int32 {
	if el == nil || !c.hasRoom(el, parent) {
		return -1
	}
	i := int32(len(c.t.nodes))
	place := c.src.positionOf(el.at)
	n := node{details: &details{parent: parent, label: label, line: int32(place.line), col: int32(place.col)}}
	if parent >= 0 {
		n.depth = c.t.nodes[parent].depth + 1
	}
	if name, ok := el.attr("name"); ok {
		n.name = name.value
	}
	c.t.nodes = append(c.t.nodes, n)
	c.src.warnOfText(el)
	typ := typeOf(el)
	sp, leaf := kindByName[typ], c.known.byName[typ]
	switch {
	case typ == "SubTree":
		c.buildSubTree(el, sc, i, stack)
		return i
	case sp != nil:
		c.buildKernelNode(el, sp, sc, i)
	case leaf != nil:
		c.buildLeafNode(el, leaf, sc, i)
	default:
		c.reportUnknownNode(el, typ, sc, i)
	}
	c.buildKids(el, sc, i, stack)
	return i
}

func (c *compiler) hasRoom(el *element, parent int32) bool {
	switch {
	case parent >= 0 && c.t.nodes[parent].depth >= maxDepth:
		c.src.problem(el.at, "let subtrees nest less deeply",
			"nodes are nested deeper than %d, subtrees included", maxDepth)
		return false
	case c.full:
		return false
	case len(c.t.nodes) >= maxNodes:
		c.src.problem(el.at, "use subtrees less often", "the tree has more than %d nodes, subtrees included", maxNodes)
		c.full = true
		return false
	}
	for _, a := range el.attrs {
		c.laidOut += len(a.name) + len(a.value)
	}
	return c.hasRoomFor(el.at, 0)
}

// hasRoomFor adds so many bytes of attributes, and says whether they are within bounds.
func (c *compiler) hasRoomFor(at, bytes int) bool {
	if c.laidOut += bytes; c.laidOut > maxLaidOut && !c.full {
		c.src.problem(at, "use subtrees less often",
			"the tree has more than %d bytes of attributes, subtrees included and those of scripts counted %d times",
			maxLaidOut, scriptWeight)
		c.full = true
	}
	return !c.full
}

// typeOf is the type of a node: the name of its element or, in the explicit form of BT.CPP, its ID.
func typeOf(el *element) string {
	if id, ok := el.attr("ID"); ok && isCategory(el.name) {
		return id.value
	}
	return el.name
}

func isCategory(name string) bool {
	return name == "Action" || name == "Condition" || name == "Control" || name == "Decorator"
}

func (c *compiler) reportUnknownNode(el *element, typ string, sc *scope, i int32) {
	hint := c.src.didYouMean(typ, func() []string {
		return slices.Concat(keysOf(c.known.byName), keysOf(kindByName), []string{"SubTree"})
	})
	switch {
	case isCategory(typ):
		hint = fmt.Sprintf(`write <%s ID="Name"/> or <Name/>`, typ)
	case hint == "":
		hint = "‘sibyl tree models’ lists the nodes there are"
	}
	c.src.problem(el.at, hint, "there is no node <%s>", typ)
	for _, a := range el.attrs {
		c.mentionKey(a, sc, i)
	}
}

// mentionKey notes the key of an attribute that has another problem, so that it is not reported as missing elsewhere.
func (c *compiler) mentionKey(a attribute, sc *scope, i int32) {
	if key, isKey := keyOf(a); isKey {
		c.connect(sc, use{node: i, access: mentions, key: key, port: a.name, at: a.at})
	}
}

// buildKids builds the children, and gives each its own path.
func (c *compiler) buildKids(el *element, sc *scope, i int32, stack []string) {
	seen := map[string]int{}
	kids := make([]int32, 0, len(el.kids))
	for _, k := range el.kids {
		name := pathLabel(k)
		seen[name]++
		if n := seen[name]; n > 1 {
			name += "#" + strconv.Itoa(n)
		}
		if kid := c.build(k, sc, i, name, stack); kid >= 0 {
			kids = append(kids, kid)
		}
	}
	c.t.nodes[i].kids = kids
}

// pathLabel is the label of a node in paths.
func pathLabel(el *element) string {
	for _, name := range []string{"name", "ID"} {
		if a, ok := el.attr(name); ok {
			return a.value
		}
	}
	return el.name
}

func (c *compiler) buildSubTree(el *element, sc *scope, i int32, stack []string) {
	c.t.nodes[i].kind, c.t.nodes[i].run = kSubTree, (*exec).tickOnlyChild
	if len(el.kids) > 0 {
		c.src.problem(el.kids[0].at, "", "a SubTree takes no children")
	}
	def := c.subTreeDef(el, stack)
	if def == nil {
		for _, a := range el.attrs {
			c.mentionKey(a, sc, i)
		}
		return
	}
	c.t.nodes[i].tree = def.id
	def.used = def.used || !c.shallow
	inner := c.newScope(map[string]int32{}, sc)
	for _, a := range el.attrs {
		switch {
		case a.name == "ID" || a.name == "name":
		case a.name == "_autoremap":
			auto, err := parseLiteral(a.value, typeBool)
			if err != nil {
				c.src.problem(a.at, "", "_autoremap: %v", err)
			}
			inner.auto = auto == true
		case c.compileGuard(a, sc, i):
		default:
			c.remapPort(a, sc, inner, i)
		}
	}
	if c.shallow || def.body == nil {
		return
	}
	body := c.build(def.body, inner, i, pathLabel(def.body), append(slices.Clip(stack), def.id))
	if body >= 0 {
		c.t.nodes[i].kids = []int32{body}
		c.checkRemaps(el, def, inner)
	}
}

// subTreeDef is the tree that a SubTree names; nil if there is a problem.
func (c *compiler) subTreeDef(el *element, stack []string) *treeDef {
	id, ok := el.attr("ID")
	def := c.trees[id.value]
	switch {
	case !ok:
		c.src.problem(el.at, `write <SubTree ID="Name"/>`, "a SubTree without ID")
	case def == nil:
		c.src.problem(id.at, c.src.didYouMean(id.value, func() []string {
			return keysOf(c.trees)
		}), "there is no tree %s", id.value)
	case slices.Contains(stack, def.id):
		c.src.problem(el.at, "use Repeat, RetryUntilSuccessful or Loop instead", "tree %s contains itself", def.id)
		return nil
	}
	return def
}

// remapPort connects a port of a subtree to a key outside of it, or to a literal.
func (c *compiler) remapPort(a attribute, outer, inner *scope, i int32) {
	if inner.unusedPorts == nil {
		inner.unusedPorts = map[string]bool{}
	}
	inner.unusedPorts[a.name] = true
	if key, isKey := keyOf(a); isKey {
		inner.keys[a.name] = outer.slotOf(key)
		return
	}
	slot := inner.createSlot(a.name)
	c.t.slots[slot].initial = a.value // checkWiring gives it its type
	c.uses = append(c.uses, use{slot: slot, node: i, access: writes, port: a.name, key: a.name, at: a.at})
}

// checkRemaps reports ports that no node of the subtree uses.
func (c *compiler) checkRemaps(el *element, def *treeDef, inner *scope) {
	named := func() []string {
		return slices.DeleteFunc(keysOf(inner.keys), func(key string) bool { return inner.unusedPorts[key] })
	}
	for _, a := range el.attrs {
		if inner.unusedPorts[a.name] {
			c.src.problem(a.at, c.src.didYouMean(a.name, named), "tree %s has no key {%s}", def.id, a.name)
		}
	}
}
