package bt

import (
	"fmt"
	"reflect"
)

// What can be seen in a tree file of runs that will go beyond a bound.

// grower is a statement of a script that gives a key more than once its own text.
type grower struct {
	node, slot int32
	key        string
	at         int
	adds       bool // by a ‘+’, which may as well add numbers
}

// grows notes a statement that puts a key's text beside itself.
func (c *compiler) grows(e *expr, node int32, a attribute) {
	if e.op < opCreate || e.op > opUpdate {
		return
	}
	right := e.kids[0]
	if right.op == opJoin || right.op == opLiteral && right.lit.kind == isText {
		c.textual[e.slot] = true
	}
	times, adds := copies(right, e.slot)
	if e.op == opUpdate && e.by == opAdd {
		times, adds = times+1, true
	}
	if times > 1 {
		c.growers = append(c.growers, grower{node, e.slot, e.key, a.at, adds})
	}
}

// copies is how often a value may hold the text of a key, and whether that is by a ‘+’.
func copies(e *expr, slot int32) (times int, adds bool) {
	switch e.op {
	case opKey:
		if e.slot == slot {
			times = 1
		}
	case opJoin, opAdd:
		left, leftAdds := copies(e.kids[0], slot)
		right, rightAdds := copies(e.kids[1], slot)
		times, adds = left+right, e.op == opAdd || leftAdds || rightAdds
	case opChoice:
		yes, yesAdds := copies(e.kids[1], slot)
		other, otherAdds := copies(e.kids[2], slot)
		times, adds = max(yes, other), yesAdds || otherAdds
	}
	return times, adds
}

// doubledTexts warns of texts that double in each round of a loop.
func (c *compiler) doubledTexts() {
	for _, g := range c.growers {
		typ := c.t.slots[g.slot].typ
		isText := c.textual[g.slot]
		if typ != nil {
			isText = typ.Kind() == reflect.String
		}
		if g.adds && !isText {
			continue
		}
		var loop *node
		c.above(g.node, func(up *node, _, _ int32) {
			if loop == nil && (up.kind == kLoop || up.kind == kRepeat || up.kind == kRetry || up.kind == kKeepRunning) {
				loop = up
			}
		})
		if loop != nil {
			c.src.warn(g.at, fmt.Sprintf("a run in which it grows beyond %d bytes fails", MaxText),
				"key {%s} doubles with each round of the %s", g.key, loop.spec.name)
		}
	}
}

// spinning warns of loops that take more visits than one input has, since nothing in them waits for the world.
func (c *compiler) spinning() {
	nodes := c.t.nodes
	waits := make([]int, len(nodes)+1) // how many before a node wait
	for i := range nodes {
		n := &nodes[i]
		waits[i+1] = waits[i]
		if n.kind == kDelay || n.leaf != nil && n.leaf.class == taskLeaf {
			waits[i+1]++
		}
	}
	last := make([]int, len(nodes)) // the last node below
	for i := len(nodes) - 1; i >= 0; i-- {
		last[i] = max(last[i], i)
		if up := nodes[i].parent; up >= 0 {
			last[up] = max(last[up], last[i])
		}
	}
	for i := range nodes {
		n := &nodes[i]
		if n.kind != kLoop && n.kind != kRepeat && n.kind != kRetry || n.ports[0].slot >= 0 ||
			waits[last[i]+1] > waits[i] {
			continue
		}
		if rounds := n.ports[0].n; rounds >= MaxVisits {
			c.src.problems = append(c.src.problems, Problem{File: c.src.file, Line: int(n.line), Col: int(n.col),
				Warning: true,
				Message: fmt.Sprintf("%d rounds of a %s in which nothing waits: a run takes at most %d node visits "+
					"for one input", rounds, n.spec.name, MaxVisits),
				Hint: "ask for fewer rounds"})
		}
	}
}
