package bt

import (
	"fmt"
	"slices"
	"strings"
)

// checkWiring checks all uses of every key together.
func (c *compiler) checkWiring() {
	bySlot := c.usesBySlot()
	written := map[*scope][]string{}
	for i, uses := range bySlot {
		if isWritten(uses) {
			written[c.slotScopes[i]] = append(written[c.slotScopes[i]], c.t.slots[i].name)
		}
	}
	for i, uses := range bySlot {
		s := &c.t.slots[i]
		c.inferType(s, uses)
		c.checkWritten(s, uses, c.slotScopes[i] == c.root, written[c.slotScopes[i]])
		c.warnIfUnread(s, uses)
		if text, literal := s.initial.(string); literal {
			var err error
			if s.initial, err = parseLiteral(text, s.typ); err != nil {
				c.src.problem(uses[0].at, "", "key {%s}: %v", s.name, err)
			}
		}
	}
	c.checkParallelWriters()
	c.warnOfReactiveTasks()
	c.warnOfDoubledTexts()
	c.warnOfTooManyRounds()
}

// usesBySlot groups the uses by their keys; those of a key are in the order of the file.
func (c *compiler) usesBySlot() [][]use {
	count := make([]int, len(c.t.slots))
	for i := range c.uses {
		count[c.uses[i].slot]++
	}
	bySlot, room := make([][]use, len(count)), make([]use, len(c.uses))
	for slot, n := range count {
		bySlot[slot], room = room[:0:n], room[n:]
	}
	for _, u := range c.uses {
		bySlot[u.slot] = append(bySlot[u.slot], u)
	}
	return bySlot
}

func isWritten(uses []use) bool {
	return slices.ContainsFunc(uses, func(u use) bool { return u.access == writes || u.access == mentions })
}

// inferType gives a key its type: the given one, else that of its first typed writer, else that of its first typed
// reader. It reports the uses for which that type does not fit.
func (c *compiler) inferType(s *slot, uses []use) {
	giver := -1
	for _, how := range []accessKind{writes, reads, readsIfSet} {
		for i, u := range uses {
			if u.access == how && u.typ != nil && s.typ == nil {
				s.typ, giver = u.typ, i
			}
		}
	}
	for _, u := range uses {
		unreadable := u.typ == nil && u.access != writes && s.typ != nil && !isBasic(s.typ)
		if u.access == mentions || !unreadable && connectable(s.typ, u.typ) {
			continue
		}
		hint := "the key is given from outside"
		if giver >= 0 {
			p := c.src.positionOf(uses[giver].at)
			hint = fmt.Sprintf("the key gets its type at %d:%d", p.line, p.col)
		}
		switch {
		case unreadable:
			c.src.problem(u.at, hint, "%s reads key {%s}, which holds %s: it knows texts, numbers and bools", u.port,
				u.key, typeName(s.typ))
		case u.node < 0:
			c.src.problem(u.at, hint, "the caller wants key {%s} as %s, but it holds %s",
				u.key, typeName(u.typ), typeName(s.typ))
		default:
			c.src.problem(u.at, hint, "port %s is %s, but key {%s} holds %s",
				u.port, typeName(u.typ), u.key, typeName(s.typ))
		}
	}
}

// checkWritten reports readers of a key that nothing writes. written are the keys of the same scope that are written.
func (c *compiler) checkWritten(s *slot, uses []use, inRoot bool, written []string) {
	if isWritten(uses) {
		return
	}
	known := func() []string { return written }
	hint := c.src.didYouMean(s.name, known)
	if !inRoot && !strings.HasPrefix(hint, hintPrefix) {
		hint = fmt.Sprintf(`hand it in: <SubTree … %s="{key}"/>`, s.name)
	}
	for _, u := range uses {
		what := fmt.Sprintf("nothing writes key {%s}", s.name)
		if u.key != s.name {
			what += fmt.Sprintf(", which is {%s} here", u.key)
		}
		switch {
		case u.access == reads, u.access == updates:
			c.src.problem(u.at, hint, "%s", what)
		case u.node >= 0 && !u.byName:
			c.src.warn(u.at, hint, "%s: port %s never gets a value from it", what, u.port)
		}
	}
}

func (c *compiler) warnIfUnread(s *slot, uses []use) {
	for _, u := range uses {
		if u.access != writes || u.node < 0 || s.initial != nil {
			return
		}
	}
	named := slices.DeleteFunc(slices.Clone(uses), func(u use) bool { return u.byName })
	if len(named) > 0 {
		c.src.warn(named[0].at, "leave it out if nobody needs it", "nothing reads key {%s}", s.name)
	}
}

// checkParallelWriters reports children of one Parallel that write the same key: the result would be random.
func (c *compiler) checkParallelWriters() {
	// the node that wrote the key last, plus 1; uses are in the order of the file
	last := make([]int32, len(c.t.slots))
	for _, u := range c.uses {
		if u.access != writes && u.access != updates || u.node < 0 {
			continue
		}
		if before := last[u.slot]; before > 0 {
			above := c.commonAncestor(before-1, u.node)
			common := &c.t.nodes[above]
			if above != before-1 && above != u.node && (common.kind == kParallel || common.kind == kParallelAll) {
				c.src.problem(u.at, "give each its own key", "two children of one %s write key {%s}",
					common.spec.name, u.key)
			}
		}
		last[u.slot] = u.node + 1
	}
}

// commonAncestor is the nearest node that has both below it, or is one of them. Both are in the same tree.
func (c *compiler) commonAncestor(a, b int32) int32 {
	nodes := c.t.nodes
	for a != b {
		if nodes[a].depth > nodes[b].depth {
			a = nodes[a].parent
		} else if nodes[b].depth > nodes[a].depth {
			b = nodes[b].parent
		} else {
			a, b = nodes[a].parent, nodes[b].parent
		}
	}
	return a
}

// warnOfReactiveTasks warns of effects that a node would request again at every tick.
func (c *compiler) warnOfReactiveTasks() {
	for i := range c.t.nodes {
		n := &c.t.nodes[i]
		if n.leaf == nil || n.leaf.class != taskLeaf {
			continue
		}
		warned := map[kind]bool{} // one warning for each kind is enough
		c.visitAncestors(int32(i), func(up *node, _, kid int32) {
			again := false
			switch up.kind {
			case kReactiveSequence, kReactiveFallback:
				again = kid != up.kids[len(up.kids)-1]
			case kWhileDoElse:
				again = kid == up.kids[0]
			}
			if again && !warned[up.kind] {
				warned[up.kind] = true
				c.src.problems = append(c.src.problems, Problem{File: c.src.file, Line: int(n.line), Col: int(n.col),
					Warning: true,
					Message: fmt.Sprintf("task %s stands before the end of a %s", n.leaf.Name, up.spec.name),
					Hint: "it is performed again whenever a later child is ticked: put " +
						"it last, or use a node that is not reactive"})
			}
		})
	}
}

// visitAncestors visits the ancestors of a node from below, each with its child on the way up.
func (c *compiler) visitAncestors(node int32, visit func(up *node, parent, kid int32)) {
	for kid := node; kid >= 0; kid = c.t.nodes[kid].parent {
		if parent := c.t.nodes[kid].parent; parent >= 0 {
			visit(&c.t.nodes[parent], parent, kid)
		}
	}
}
