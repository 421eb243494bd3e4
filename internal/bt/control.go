package bt

import (
	"fmt"
	"math"
	mathbits "math/bits"
)

// control ticks a kernel node. What it leaves running below a result other than RUNNING, settle halts.
func (x *exec) control(i int32, n *node, c *Cell) Status {
	switch n.kind {
	case kSequence, kSequenceWithMemory:
		return x.inOrder(n, c, Success, false)
	case kFallback:
		return x.inOrder(n, c, Failure, false)
	case kAsyncSequence:
		return x.inOrder(n, c, Success, true)
	case kAsyncFallback:
		return x.inOrder(n, c, Failure, true)
	case kReactiveSequence:
		return x.reactive(n, Success)
	case kReactiveFallback:
		return x.reactive(n, Failure)
	case kParallel:
		return x.parallel(i, n, c)
	case kParallelAll:
		return x.parallelAll(i, n, c)
	case kIfThenElse:
		return x.ifThenElse(n, c)
	case kWhileDoElse:
		return x.whileDoElse(n)
	case kSwitch:
		return x.choose(n)
	case kTryCatch:
		return x.tryCatch(n, c)
	case kSubTree:
		return x.tick(n.kids[0])
	case kAlwaysSuccess:
		return Success
	case kAlwaysFailure:
		return x.failed(i, "", "AlwaysFailure")
	case kScript:
		x.script(i, n.code)
		return Success
	case kScriptCondition:
		if !x.truth(i, n.code) {
			return x.failed(i, "", "not "+n.code.text)
		}
		return Success
	}
	return x.decorate(i, n, c)
}

// inOrder is Sequence (goOn = Success) and Fallback (goOn = Failure): children in order, from the one that was running.
func (x *exec) inOrder(n *node, c *Cell, goOn Status, yields bool) Status {
	if !c.On && n.kind != kSequenceWithMemory {
		c.At, c.N = 0, 0
	}
	failed := false
	var why Fault // of the last child that failed
	for c.At < int32(len(n.kids)) {
		kid := n.kids[c.At]
		wasRunning := x.s.Cells[kid].On
		st := x.tick(kid)
		if st == Failure {
			failed, why = true, x.reason
		}
		switch {
		case st == Skipped:
			c.N++ // how many were skipped
		case st != goOn:
			if st == Running && failed {
				c.Why = keep(why)
			}
			return st
		case yields && !wasRunning && c.At+1 < int32(len(n.kids)):
			if failed {
				c.Why = keep(why)
			}
			c.At++
			x.again = true
			return Running
		}
		c.At++
	}
	switch {
	case c.N == int32(len(n.kids)):
		return Skipped
	case failed:
		x.reason = why
	case c.Why != nil:
		x.reason = *c.Why
	}
	return goOn
}

// keep is a reason for a later tick, for a node that may fail then because of it.
func keep(why Fault) *Fault { return &why }

// reactive asks every child again, from the first; a child that is RUNNING halts the others.
func (x *exec) reactive(n *node, goOn Status) Status {
	skipped := 0
	var why Fault // of the last child that failed
	for _, kid := range n.kids {
		st := x.tick(kid)
		if st == Failure {
			why = x.reason
		}
		switch st {
		case Skipped:
			skipped++
		case goOn:
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
	return goOn
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
	asked := x.number(i, &n.ports[0])
	success, failure := threshold(asked, kids), threshold(x.number(i, &n.ports[1]), kids)
	if success > kids || failure > kids || success < 0 || failure < 0 {
		return x.broken(i, fmt.Errorf("success_count and failure_count ask for more than its %d children", kids))
	}
	done := 0
	for k, kid := range n.kids {
		if c.Done&(1<<k) == 0 {
			x.finishKid(c, k, x.tick(kid))
		}
		failed, skipped := bits(c.Fail), bits(c.Skip)
		done = bits(c.Done)
		succeeded := done - failed - skipped
		switch {
		case skipped == kids:
			return Skipped
		case succeeded >= success, asked < 0 && succeeded+skipped >= success:
			return Success
		case failed > 0 && (failed >= failure || kids-failed < success):
			x.reason = *c.Why
			return Failure
		}
	}
	if done == kids {
		return x.failed(i, "", fmt.Sprintf("all children are done and fewer than %d succeeded", success))
	}
	return Running
}

func (x *exec) parallelAll(i int32, n *node, c *Cell) Status {
	kids := len(n.kids)
	for k, kid := range n.kids {
		if c.Done&(1<<k) == 0 {
			x.finishKid(c, k, x.tick(kid))
		}
	}
	switch {
	case bits(c.Done) < kids:
		return Running
	case bits(c.Skip) == kids:
		return Skipped
	case bits(c.Fail) > 0 && bits(c.Fail) >= threshold(x.number(i, &n.ports[0]), kids):
		x.reason = *c.Why
		return Failure
	}
	return Success
}

func (x *exec) finishKid(c *Cell, k int, st Status) {
	switch st {
	case Failure:
		c.Fail |= 1 << k
		c.Why = keep(x.reason)
	case Skipped:
		c.Skip |= 1 << k
	case Running:
		return
	}
	c.Done |= 1 << k
}

func (x *exec) ifThenElse(n *node, c *Cell) Status {
	if c.At == 0 {
		switch st := x.tick(n.kids[0]); {
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

func (x *exec) whileDoElse(n *node) Status {
	branch := 1
	switch st := x.tick(n.kids[0]); st {
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
		if other := n.kids[3-branch]; x.s.Cells[other].On {
			x.halt(other)
		}
	}
	return x.tick(n.kids[branch])
}

func (x *exec) choose(n *node) Status {
	pick := len(n.kids) - 1
	if v := x.read(&n.ports[0]); v != nil {
		for k := range pick {
			if p := x.read(&n.ports[k+1]); p != nil && matches(v, p) {
				pick = k
				break
			}
		}
	}
	kid := n.kids[pick]
	x.haltOthers(n, kid)
	return x.tick(kid)
}

// read gives a text port: its literal, or its key's value, nil where nothing was written.
func (x *exec) read(p *value) any {
	if p.slot < 0 {
		return p.text
	}
	return x.s.Slots[p.slot]
}

// tryCatch runs all children but the last in order; a FAILURE runs the last, and stays the result with its own reason.
func (x *exec) tryCatch(n *node, c *Cell) Status {
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
			c.At, c.Why = catch+1, keep(x.reason)
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
	x.reason = *c.Why
	return Failure
}

func (x *exec) decorate(i int32, n *node, c *Cell) Status {
	kid := n.kids[0]
	switch n.kind {
	case kInverter:
		switch st := x.tick(kid); st {
		case Success:
			return x.failed(i, "", "the opposite was wanted")
		case Failure:
			return Success
		default:
			return st
		}
	case kForceSuccess:
		if st := x.tick(kid); st != Failure {
			return st
		}
		return Success
	case kForceFailure:
		if st := x.tick(kid); st != Success {
			return st
		}
		return x.failed(i, "", "ForceFailure")
	case kRepeat:
		return x.cycle(i, n, c, Success)
	case kRetry:
		return x.cycle(i, n, c, Failure)
	case kKeepRunning:
		st := x.tick(kid)
		if st == Success {
			x.again = true
			return Running
		}
		return st
	case kTimeout:
		return x.timeout(i, n, c)
	case kDelay:
		return x.delay(i, n, c)
	case kRunOnce:
		return x.runOnce(i, n, c)
	case kPrecondition:
		return x.precondition(i, n, c)
	}
	return x.loop(i, n, c)
}

// cycle is Repeat (goOn = Success) and RetryUntilSuccessful (goOn = Failure). It yields between two cycles.
func (x *exec) cycle(i int32, n *node, c *Cell, goOn Status) Status {
	times := x.number(i, &n.ports[0])
	if times == 0 {
		return Success
	}
	st := x.tick(n.kids[0])
	if st != goOn {
		return st
	}
	c.N++
	if times > 0 && int64(c.N) >= times {
		return st
	}
	x.again = true
	return Running
}

func (x *exec) timeout(i int32, n *node, c *Cell) Status {
	if !c.On {
		if ms := x.number(i, &n.ports[0]); ms > 0 {
			c.Due = x.after(ms)
		}
	} else if c.Due > 0 && x.now >= c.Due {
		x.halt(n.kids[0])
		return x.failed(i, "timeout", fmt.Sprintf("not done after %d ms", x.number(i, &n.ports[0])))
	}
	return x.tick(n.kids[0])
}

func (x *exec) delay(i int32, n *node, c *Cell) Status {
	if !c.On {
		c.Due = x.after(x.number(i, &n.ports[0]))
	}
	if c.Due > 0 && x.now < c.Due {
		return Running
	}
	c.Due = 0
	return x.tick(n.kids[0])
}

// after is the run time ms from here.
func (x *exec) after(ms int64) int64 { return x.now + min(ms, math.MaxInt64-x.now) }

func (x *exec) runOnce(i int32, n *node, c *Cell) Status {
	if c.Keep != Idle {
		if x.flag(i, &n.ports[0]) {
			return Skipped
		}
		if c.Keep == Failure {
			return x.failed(i, "", "it failed when it ran, and runs once")
		}
		return c.Keep
	}
	st := x.tick(n.kids[0])
	if st == Success || st == Failure {
		c.Keep = st
	}
	return st
}

// precondition asks its condition only while the child does not run.
func (x *exec) precondition(i int32, n *node, c *Cell) Status {
	if c.At == 0 {
		if !x.truth(i, n.code) {
			if n.elseStatus == Failure {
				return x.failed(i, "", "not "+n.code.text)
			}
			return n.elseStatus
		}
		c.At = 1
	}
	return x.tick(n.kids[0])
}

// loop is the kernel's own node for work that goes round by round: the number of the round and whether it is the last are on
// the blackboard before the child runs, so that the tree can make the last round count.
func (x *exec) loop(i int32, n *node, c *Cell) Status {
	const portMax, portUntil, portTurn, portLast = 0, 1, 2, 3
	most := x.number(i, &n.ports[portMax])
	kid := n.kids[0]
	if !x.s.Cells[kid].On {
		if int64(c.N) >= most {
			return x.failed(i, "limit", fmt.Sprintf("%d rounds did not set {%s}", most, n.ports[portUntil].key))
		}
		c.N++
		if slot := n.ports[portTurn].slot; slot >= 0 {
			x.write(i, slot, int(c.N))
		}
		if slot := n.ports[portLast].slot; slot >= 0 {
			x.write(i, slot, int64(c.N) == most)
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
		x.again = true
		return Running
	}
	return x.failed(i, "limit", fmt.Sprintf("%d rounds did not set {%s}", most, n.ports[portUntil].key))
}

func bits(mask uint64) int { return mathbits.OnesCount64(mask) }
