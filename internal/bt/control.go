package bt

import (
	"fmt"
	"math"
	mathbits "math/bits"
)

// tickOnlyChild is the runner of SubTree.
func (x *exec) tickOnlyChild(i int32, _ *node, _ *Cell) Status { return x.tick(i + 1) }

func (x *exec) alwaysSuccess(int32, *node, *Cell) Status { return Success }

func (x *exec) alwaysFailure(i int32, _ *node, _ *Cell) Status {
	return x.fail(i, "", "AlwaysFailure")
}

func (x *exec) runScript(i int32, n *node, _ *Cell) Status {
	x.evalScript(i, n.code)
	return Success
}

func (x *exec) scriptCondition(i int32, n *node, _ *Cell) Status {
	if !x.evalCondition(i, n.code) {
		return x.fail(i, "", n.code.negated)
	}
	return Success
}

// tickInOrder ticks the children in order, beginning with the running one. The asynchronous kinds return RUNNING after
// each child, except the last, that completes in the tick in which it began.
func (x *exec) tickInOrder(i int32, n *node, c *Cell) Status {
	yields := n.kind == kAsyncSequence || n.kind == kAsyncFallback
	failed := false
	var why Cause // of the last child that failed
	for at := int(c.At); at < len(n.kids); at++ {
		kid := n.kids[at]
		stops := yields && !x.cells[kid].On && at+1 < len(n.kids)
		st := x.tick(kid)
		if st == Failure {
			failed, why = true, x.reason
		}
		switch {
		case st == Skipped:
			c.N++
			continue
		case st == n.continueOn && !stops:
			continue
		case st == n.continueOn:
			at++
			st, x.tickAgain = Running, true
		}
		c.At = int32(at)
		if st == Running && failed {
			x.setMemo(c, Memo{Node: i, Why: why})
		}
		return st
	}
	c.At = int32(len(n.kids))
	switch {
	case int(c.N) == len(n.kids):
		return Skipped
	case failed:
		x.reason = why
	case c.Memo:
		x.reason = x.memoOf(i, c).Why
	}
	return n.continueOn
}

// tickReactive ticks every child again, from the first; a child that is RUNNING halts the others.
func (x *exec) tickReactive(_ int32, n *node, _ *Cell) Status {
	skipped := 0
	var why Cause // of the last child that failed
	for _, kid := range n.kids {
		switch st := x.tick(kid); st {
		case Skipped:
			skipped++
		case n.continueOn:
			why = x.reason
		case Running:
			x.haltOthers(n, kid)
			return Running
		default:
			return st
		}
	}
	if skipped == len(n.kids) {
		return Skipped
	}
	x.reason = why
	return n.continueOn
}

// threshold reads a count that may be negative: -1 means all, -2 all but one.
func threshold(v int64, kids int) int {
	if v < 0 {
		v += int64(kids) + 1
	}
	return int(v)
}

func (x *exec) parallel(i int32, n *node, c *Cell) Status {
	kids := len(n.kids)
	asked := x.intPort(i, &n.ports[0])
	success, failure := threshold(asked, kids), threshold(x.intPort(i, &n.ports[1]), kids)
	if success > kids || failure > kids || success < 0 || failure < 0 {
		return x.breakStep(i, fmt.Errorf("success_count and failure_count ask for more than its %d children", kids))
	}
	m := x.memoOf(i, c)
	for k, kid := range n.kids {
		x.tickOnce(&m, k, kid)
		failed, skipped := countBits(m.Fail), countBits(m.Skip)
		succeeded := countBits(m.Done) - failed - skipped
		switch {
		case skipped == kids:
			return Skipped
		case succeeded >= success, asked < 0 && succeeded+skipped >= success:
			return Success
		case failed > 0 && (failed >= failure || kids-failed < success):
			x.reason = m.Why
			return Failure
		}
	}
	if countBits(m.Done) == kids {
		return x.fail(i, "", fmt.Sprintf("all children are done and fewer than %d succeeded", success))
	}
	x.setMemo(c, m)
	return Running
}

func (x *exec) parallelAll(i int32, n *node, c *Cell) Status {
	kids := len(n.kids)
	m := x.memoOf(i, c)
	for k, kid := range n.kids {
		x.tickOnce(&m, k, kid)
	}
	switch {
	case countBits(m.Done) < kids:
		x.setMemo(c, m)
		return Running
	case countBits(m.Skip) == kids:
		return Skipped
	case m.Fail != 0 && countBits(m.Fail) >= threshold(x.intPort(i, &n.ports[0]), kids):
		x.reason = m.Why
		return Failure
	}
	return Success
}

// tickOnce ticks child k of a Parallel unless it has finished.
func (x *exec) tickOnce(m *Memo, k int, kid int32) {
	if m.Done&(1<<k) != 0 {
		return
	}
	switch x.tick(kid) {
	case Failure:
		m.Fail |= 1 << k
		m.Why = x.reason
	case Skipped:
		m.Skip |= 1 << k
	case Running:
		return
	}
	m.Done |= 1 << k
}

func (x *exec) ifThenElse(i int32, n *node, c *Cell) Status {
	if c.At == 0 {
		switch st := x.tick(i + 1); {
		case st == Success:
			c.At = 1
		case st == Failure && len(n.kids) == 3:
			c.At = 2
		default:
			return st
		}
	}
	return x.tick(n.kids[c.At])
}

func (x *exec) whileDoElse(i int32, n *node, _ *Cell) Status {
	branch := 1
	switch st := x.tick(i + 1); st {
	case Success:
	case Failure:
		if len(n.kids) == 2 {
			return Failure
		}
		branch = 2
	default:
		return st
	}
	if len(n.kids) == 3 {
		x.halt(n.kids[3-branch])
	}
	return x.tick(n.kids[branch])
}

func (x *exec) tickSwitch(i int32, n *node, _ *Cell) Status {
	pick := len(n.kids) - 1
	if v := x.textPort(&n.ports[0]); v != nil {
		text := textOf(v)
		for k := range pick {
			p := x.textPort(&n.ports[k+1])
			if p == nil {
				continue
			}
			pattern := textOf(p)
			if err := x.addWork(len(text) + len(pattern)); err != nil {
				return x.breakStep(i, err)
			}
			if matchesCase(text, pattern) {
				pick = k
				break
			}
		}
	}
	kid := n.kids[pick]
	x.haltOthers(n, kid)
	return x.tick(kid)
}

// textPort is the value of a text port: its literal, or the value of its key; nil if that was not written.
func (x *exec) textPort(p *portValue) any {
	if p.slot < 0 {
		return p.text
	}
	return x.s.Slots[p.slot]
}

// tryCatch runs all children but the last in order; a FAILURE runs the last, and stays the result with its own reason.
func (x *exec) tryCatch(i int32, n *node, c *Cell) Status {
	catch := int32(len(n.kids) - 1)
	for c.At < catch {
		switch st := x.tick(n.kids[c.At]); st {
		case Success:
			c.At++
		case Skipped:
			c.N++
			c.At++
		case Running:
			return Running
		default:
			c.At = catch + 1
			x.setMemo(c, Memo{Node: i, Why: x.reason})
		}
	}
	if c.At == catch {
		if c.N == catch {
			return Skipped
		}
		return Success
	}
	if x.tick(n.kids[catch]) == Running {
		return Running
	}
	x.reason = x.memoOf(i, c).Why
	return Failure
}

func (x *exec) invert(i int32, _ *node, _ *Cell) Status {
	switch st := x.tick(i + 1); st {
	case Success:
		return x.fail(i, "", "the opposite was wanted")
	case Failure:
		return Success
	default:
		return st
	}
}

func (x *exec) forceSuccess(i int32, _ *node, _ *Cell) Status {
	st := x.tick(i + 1)
	if st == Failure {
		return Success
	}
	return st
}

func (x *exec) forceFailure(i int32, _ *node, _ *Cell) Status {
	st := x.tick(i + 1)
	if st == Success {
		return x.fail(i, "", "ForceFailure")
	}
	return st
}

// repeat is the runner of Repeat and RetryUntilSuccessful. It yields between two cycles.
func (x *exec) repeat(i int32, n *node, c *Cell) Status {
	times := x.intPort(i, &n.ports[0])
	if times == 0 {
		return Success
	}
	st := x.tick(i + 1)
	if st != n.continueOn {
		return st
	}
	c.N++
	if times > 0 && int64(c.N) >= times {
		return st
	}
	x.tickAgain = true
	return Running
}

func (x *exec) keepRunning(i int32, _ *node, _ *Cell) Status {
	st := x.tick(i + 1)
	if st == Success {
		x.tickAgain = true
		return Running
	}
	return st
}

func (x *exec) timeout(i int32, n *node, c *Cell) Status {
	if !c.On {
		if ms := x.intPort(i, &n.ports[0]); ms > 0 {
			x.setMemo(c, Memo{Node: i, Due: x.timeAfter(ms)})
		}
	} else if c.Memo && x.now >= x.memoOf(i, c).Due {
		x.halt(i + 1)
		return x.fail(i, "timeout", fmt.Sprintf("not done after %d ms", x.intPort(i, &n.ports[0])))
	}
	return x.tick(i + 1)
}

func (x *exec) delay(i int32, n *node, c *Cell) Status {
	if !c.On {
		if due := x.timeAfter(x.intPort(i, &n.ports[0])); due > x.now {
			x.setMemo(c, Memo{Node: i, Due: due})
		}
	}
	if c.Memo {
		if x.now < x.memoOf(i, c).Due {
			return Running
		}
		x.dropMemo(i, c)
	}
	return x.tick(i + 1)
}

// timeAfter is the run time in so many ms.
func (x *exec) timeAfter(ms int64) int64 { return x.now + min(ms, math.MaxInt64-x.now) }

func (x *exec) runOnce(i int32, n *node, c *Cell) Status {
	if c.Keep != Idle {
		if x.boolPort(i, &n.ports[0]) {
			return Skipped
		}
		if c.Keep == Failure {
			return x.fail(i, "", "it failed when it ran, and runs once")
		}
		return c.Keep
	}
	st := x.tick(i + 1)
	if st == Success || st == Failure {
		c.Keep = st
	}
	return st
}

// precondition evaluates its condition only while the child is not running.
func (x *exec) precondition(i int32, n *node, c *Cell) Status {
	if c.At == 0 {
		if !x.evalCondition(i, n.code) {
			if n.elseStatus == Failure {
				return x.fail(i, "", n.code.negated)
			}
			return n.elseStatus
		}
		c.At = 1
	}
	return x.tick(i + 1)
}

// loop is a node that BT.CPP does not have: it runs its child in rounds. Before each round it writes the number of the
// round, and whether it is the last one, so that the tree can make use of that.
func (x *exec) loop(i int32, n *node, c *Cell) Status {
	const portMax, portUntil, portTurn, portLast = 0, 1, 2, 3
	most := x.intPort(i, &n.ports[portMax])
	kid := i + 1
	if !x.cells[kid].On {
		if int64(c.N) >= most {
			return x.fail(i, "limit", fmt.Sprintf("%d rounds did not set {%s}", most, n.ports[portUntil].key))
		}
		c.N++
		if slot := n.ports[portTurn].slot; slot >= 0 {
			x.writeKey(i, slot, int(c.N))
		}
		if slot := n.ports[portLast].slot; slot >= 0 {
			x.writeKey(i, slot, int64(c.N) == most)
		}
	}
	st := x.tick(kid)
	if st != Success && st != Skipped {
		return st
	}
	if done, _ := x.s.Slots[n.ports[portUntil].slot].(bool); done {
		return Success
	}
	if int64(c.N) < most {
		x.tickAgain = true
		return Running
	}
	return x.fail(i, "limit", fmt.Sprintf("%d rounds did not set {%s}", most, n.ports[portUntil].key))
}

func countBits(mask uint64) int { return mathbits.OnesCount64(mask) }
