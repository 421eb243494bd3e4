package bt

import (
	"fmt"
	"reflect"
)

// Warnings about trees whose runs will exceed a bound.

// grower is a statement of a script that puts a key's own text into the key more than once.
type grower struct {
	node, slot int32
	key        string
	at         int
	adds       bool // by a ‘+’, which may also add numbers
}

// noteGrower notes a statement that repeats a key's text in the key.
func (c *compiler) noteGrower(e *expr, node int32, a attribute) {
	if e.op < opCreate || e.op > opUpdate {
		return
	}
	right := e.kids[0]
	if right.op == opJoin || right.op == opLiteral && right.lit.kind == isText {
		c.getsText[e.slot] = true
	}
	times, adds := countCopies(right, e.slot)
	if e.op == opUpdate && e.updateOp == opAdd {
		times, adds = times+1, true
	}
	if times > 1 {
		c.growers = append(c.growers, grower{node, e.slot, e.key, a.at, adds})
	}
}

// countCopies returns how often a value may contain the text of a key, and whether that is by a ‘+’.
func countCopies(e *expr, slot int32) (times int, adds bool) {
	switch e.op {
	case opKey:
		if e.slot == slot {
			times = 1
		}
	case opJoin, opAdd:
		left, leftAdds := countCopies(e.kids[0], slot)
		right, rightAdds := countCopies(e.kids[1], slot)
		times, adds = left+right, e.op == opAdd || leftAdds || rightAdds
	case opChoice:
		yes, yesAdds := countCopies(e.kids[1], slot)
		other, otherAdds := countCopies(e.kids[2], slot)
		times, adds = max(yes, other), yesAdds || otherAdds
	}
	return times, adds
}

// warnOfDoubledTexts warns of texts that double in each round of a loop.
func (c *compiler) warnOfDoubledTexts() {
	for _, g := range c.growers {
		typ := c.t.slots[g.slot].typ
		isText := c.getsText[g.slot]
		if typ != nil {
			isText = typ.Kind() == reflect.String
		}
		if g.adds && !isText {
			continue
		}
		var loop *node
		c.visitAncestors(g.node, func(up *node, _, _ int32) {
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

// warnOfTooManyRounds warns of a loop with a literal count of at least MaxVisits in which nothing waits.
func (c *compiler) warnOfTooManyRounds() {
	nodes := c.t.nodes
	waitingBefore := make([]int, len(nodes)+1) // how many of the nodes before each one wait
	for i := range nodes {
		n := &nodes[i]
		waitingBefore[i+1] = waitingBefore[i]
		if n.kind == kDelay || n.leaf != nil && n.leaf.class == taskLeaf {
			waitingBefore[i+1]++
		}
	}
	lastBelow := make([]int, len(nodes)) // the last node below each one
	for i := len(nodes) - 1; i >= 0; i-- {
		lastBelow[i] = max(lastBelow[i], i)
		if up := nodes[i].parent; up >= 0 {
			lastBelow[up] = max(lastBelow[up], lastBelow[i])
		}
	}
	for i := range nodes {
		n := &nodes[i]
		if n.kind != kLoop && n.kind != kRepeat && n.kind != kRetry || n.ports[0].slot >= 0 ||
			waitingBefore[lastBelow[i]+1] > waitingBefore[i] {
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
