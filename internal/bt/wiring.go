package bt

import "fmt"

// check looks at all uses of every key together.
func (c *compiler) check() {
	bySlot := make([][]use, len(c.t.slots))
	for _, u := range c.uses {
		bySlot[u.slot] = append(bySlot[u.slot], u)
	}
	var written []string
	for i, uses := range bySlot {
		for _, u := range uses {
			if u.role == writes {
				written = append(written, c.t.slots[i].name)
				break
			}
		}
	}
	for i, uses := range bySlot {
		s := &c.t.slots[i]
		c.typeOf(s, uses)
		c.neverWritten(s, uses, written)
		c.neverRead(s, uses)
		if s.initial != nil && s.typ != nil {
			if v, err := s.convert(s.initial); err == nil {
				s.initial = v
			} else {
				c.src.problem(uses[0].at, "", "key {%s}: %v", s.name, err)
			}
		}
	}
	c.parallelWriters()
	c.reactiveTasks()
}

// typeOf settles a key's type: as it is given, else as its first typed writer has it, else its first typed reader; all
// others must be able to take it.
func (c *compiler) typeOf(s *slot, uses []use) {
	var first use
	for _, want := range []role{writes, reads, readsIfSet} {
		for _, u := range uses {
			if u.role == want && u.typ != nil && s.typ == nil {
				s.typ, first = u.typ, u
			}
		}
	}
	for _, u := range uses {
		if connectable(s.typ, u.typ) {
			continue
		}
		hint := "the key is given from outside"
		if first.at >= 0 && first.typ != nil {
			line, col := c.src.place(first.at)
			hint = fmt.Sprintf("the key gets its type at %d:%d", line, col)
		}
		c.src.problem(u.at, hint, "port %s is %s, but key {%s} holds %s", u.port, typeName(u.typ), s.name, typeName(s.typ))
	}
}

func (c *compiler) neverWritten(s *slot, uses []use, written []string) {
	if s.initial != nil {
		return
	}
	for _, u := range uses {
		if u.role == writes {
			return
		}
	}
	for _, u := range uses {
		if u.role == reads {
			c.src.problem(max(u.at, 0), didYouMean(s.name, written), "nothing writes key {%s}", s.name)
		}
	}
}

func (c *compiler) neverRead(s *slot, uses []use) {
	for _, u := range uses {
		if u.role != writes || u.at < 0 {
			return
		}
	}
	if len(uses) > 0 && s.initial == nil {
		c.src.warn(uses[0].at, "leave the port out if nobody needs it", "nothing reads key {%s}", s.name)
	}
}

// parallelWriters refuses two children of one Parallel that write the same key: which of them wins would be chance.
func (c *compiler) parallelWriters() {
	for i := range c.t.nodes {
		if k := c.t.nodes[i].kind; k != kParallel && k != kParallelAll {
			continue
		}
		writer := map[int32]int32{} // slot -> child
		for _, u := range c.uses {
			if u.role != writes || u.node < 0 {
				continue
			}
			kid := c.childAbove(int32(i), u.node)
			if kid < 0 {
				continue
			}
			if other, ok := writer[u.slot]; ok && other != kid {
				c.src.problem(u.at, "give each its own key", "two children of one Parallel write key {%s}", c.t.slots[u.slot].name)
			}
			writer[u.slot] = kid
		}
	}
}

// childAbove gives the child of ancestor that node is or lies below; -1 if it does not lie below.
func (c *compiler) childAbove(ancestor, node int32) int32 {
	for at := node; at >= 0; at = c.t.nodes[at].parent {
		if c.t.nodes[at].parent == ancestor {
			return at
		}
	}
	return -1
}

// reactiveTasks warns of effects that a reactive node would ask for again at every tick.
func (c *compiler) reactiveTasks() {
	for i := range c.t.nodes {
		n := &c.t.nodes[i]
		if n.leaf == nil || n.leaf.class != taskLeaf {
			continue
		}
		for at := int32(i); at >= 0; at = c.t.nodes[at].parent {
			up := c.t.nodes[at].parent
			if up < 0 {
				break
			}
			p := &c.t.nodes[up]
			if (p.kind == kReactiveSequence || p.kind == kReactiveFallback) && len(p.kids) > 0 && p.kids[len(p.kids)-1] != at {
				line, col := n.line, n.col
				c.src.problems = append(c.src.problems, Problem{File: c.src.file, Line: line, Col: col, Warning: true,
					Message: fmt.Sprintf("task %s stands before the end of a %s", n.leaf.Name, p.spec.name),
					Hint:    "it is performed again whenever a later child is ticked: put it last, or use the plain node"})
			}
		}
	}
}

// unused warns of trees that the main one does not reach.
func (c *compiler) unused(main string) {
	for _, id := range keysOf(c.trees) {
		if def := c.trees[id]; !def.used && id != main {
			c.src.warn(def.el.at, "", "tree %s is not used by %s", id, main)
		}
	}
}
