package bt

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sort"
)

// Request is an effect that a task leaf requests. Payload must always encode to the same JSON: structs and slices, no
// maps.
type Request struct {
	Kind    string
	Label   string // for people: "code_search idle connection"
	Payload any
	Once    bool
}

// Task requests effects. plan lists them in order; once all are completed, collect turns the completions, one for each
// request in the same order, into outputs, under the rules of Func. An error of plan fails the leaf before any request.
// Requests that only read may run at the same time; one that is Once starts when all before it are completed, and
// delays all after it. Both functions are pure; the input is read again for collect.
func Task[I, O any](
	name, doc string, plan func(I) ([]Request, error), collect func(in I, done []Completion, out *O) error,
) Leaf {
	l := newLeaf(name, doc, taskLeaf, reflect.TypeFor[I](), reflect.TypeFor[O]())
	l.tick = func(b *binding, x *exec, i int32) Status {
		in, ok := beginTask(b, x, i, plan)
		if !ok {
			return Failure
		}
		done, ok := x.collectTask(i)
		if !ok {
			return Running
		}
		return computeOut(b, x, i, *in, func(in I, out *O) error { return collect(in, done, out) })
	}
	return l
}

// One is a Task of one request. collect gets its result and the number of its record. A failed effect fails the leaf,
// and failed, unless it is nil, may set the outputs.
func One[I, R, O any](
	name, doc string, plan func(I) (Request, error), collect func(in I, r R, ref int64, out *O) error,
	failed func(in I, why *Fault, ref int64, out *O),
) Leaf {
	one := func(in I) ([]Request, error) {
		r, err := plan(in)
		return []Request{r}, err
	}
	return Task(name, doc, one, func(in I, done []Completion, out *O) error {
		c := done[0]
		if c.Err != nil {
			if failed != nil {
				failed(in, c.Err, c.Ref, out)
			}
			return c.Err
		}
		r, err := ResultOf[R](c)
		if err != nil {
			return err
		}
		return collect(in, r, c.Ref, out)
	})
}

// Each is a Task whose completions are processed one by one, in the order in which they come: settle gets the number of
// the request and its completion, and what it leaves in out is written at once. So a halt, as by a Timeout, loses no
// completed one. An error of settle fails the leaf and cancels the rest. finish is called when all are settled, also if
// plan requested nothing.
func Each[I, O any](name, doc string, plan func(I) ([]Request, error), settle func(in I, k int, c Completion,
	out *O) error,
	finish func(in I, out *O) error) Leaf {
	l := newLeaf(name, doc, taskLeaf, reflect.TypeFor[I](), reflect.TypeFor[O]())
	l.tick = func(b *binding, x *exec, i int32) Status {
		in, ok := beginTask(b, x, i, plan)
		if !ok {
			return Failure
		}
		for _, k := range x.unsettled(i) {
			r := &x.s.Tasks[x.taskIndex(i)].Requests[k]
			r.Settled = true
			done := *r.Done
			st := computeOut(b, x, i, *in, func(in I, out *O) error { return settle(in, k, done, out) })
			if st == Success {
				in, ok = readIn[I](b, x, i)
			}
			if st != Success || !ok {
				x.cancelTask(i)
				return Failure
			}
		}
		if _, ok := x.collectTask(i); !ok {
			return Running
		}
		return computeOut(b, x, i, *in, finish)
	}
	return l
}

// unsettled are the requests of a task that are completed and not processed yet, in the order of completion.
func (x *exec) unsettled(i int32) []int {
	task := &x.s.Tasks[x.taskIndex(i)]
	var found []int
	for k := range task.Requests {
		if r := &task.Requests[k]; r.Done != nil && !r.Settled {
			found = append(found, k)
		}
	}
	slices.SortStableFunc(found, func(a, b int) int {
		return cmp.Compare(task.Requests[a].Done.Ref, task.Requests[b].Done.Ref)
	})
	return found
}

// beginTask reads the inputs of a task; when the task begins, it also records the requests, which collectTask issues.
// ok is false if it failed.
func beginTask[I any](b *binding, x *exec, i int32, plan func(I) ([]Request, error)) (in *I, ok bool) {
	in, ok = readIn[I](b, x, i)
	if !ok || x.cells[i].On {
		return in, ok
	}
	requests, err := plan(*in)
	if fault := asFault(err); fault != nil {
		x.fail(i, fault.Kind, fault.Reason)
		return nil, false
	}
	task := PendingTask{Node: i, Base: x.s.NextOp, Requests: make([]pendingRequest, len(requests))}
	for k, r := range requests {
		payload, err := json.Marshal(r.Payload)
		if err != nil {
			x.breakStep(i, fmt.Errorf("request %s: %w", r.Kind, err))
			return nil, false
		}
		if len(payload) > MaxPayload {
			x.breakStep(i, fmt.Errorf("request %s has %d bytes, and one has at most %d: %w", r.Kind, len(payload),
				MaxPayload, ErrBound))
			return nil, false
		}
		task.Requests[k].Effect = Effect{Op: x.s.NextOp, Leaf: x.nodes[i].leaf.Name, Node: i,
			Index: k, Kind: r.Kind, Label: r.Label, Payload: payload, Once: r.Once}
		x.s.NextOp++
	}
	x.s.Tasks = append(x.s.Tasks, task)
	return in, true
}

// collectTask issues the requests that may start; when all are completed, it removes the task and returns the
// completions.
func (x *exec) collectTask(i int32) ([]Completion, bool) {
	at := x.taskIndex(i)
	task := &x.s.Tasks[at]
	allDone, blocked := true, false
	for k := range task.Requests {
		r := &task.Requests[k]
		if r.Done == nil {
			if !r.Issued && !blocked && (!r.Effect.Once || allDone) {
				r.Issued = true
				x.res.Start = append(x.res.Start, r.Effect)
			}
			allDone = false
			blocked = blocked || r.Effect.Once
		}
	}
	if !allDone {
		return nil, false
	}
	done := make([]Completion, len(task.Requests))
	for k, r := range task.Requests {
		done[k] = *r.Done
	}
	x.s.Tasks = removeAt(x.s.Tasks, at)
	return done, true
}

func (x *exec) taskIndex(node int32) int {
	at := findFrom(x.s.Tasks, x.taskAt, func(t *PendingTask) bool { return t.Node == node })
	x.taskAt = max(at, 0)
	return at
}

// findFrom finds an element at or after a place, or else before it. If nodes come in the order in which they began, it
// finds them at once.
func findFrom[T any](all []T, at int, is func(*T) bool) int {
	for k := at; k < len(all); k++ {
		if is(&all[k]) {
			return k
		}
	}
	for k := range min(at, len(all)) {
		if is(&all[k]) {
			return k
		}
	}
	return -1
}

// removeAt removes an element; it removes the first one without moving the others, as halts go from left to right.
func removeAt[T any](all []T, at int) []T {
	if at > 0 {
		return slices.Delete(all, at, at+1)
	}
	clear(all[:1])
	return all[1:]
}

// deliver gives a completion to the task that waits for it, or drops it if none does (halted, unknown, completed). The
// result is stored in one form, so that a leaf reads the same bytes during the run and from the journal.
func (s *State) deliver(c Completion) error {
	// tasks are in the order in which they began
	k := sort.Search(len(s.Tasks), func(k int) bool { return s.Tasks[k].Base > c.Op }) - 1
	if k < 0 || c.Op >= s.Tasks[k].Base+uint64(len(s.Tasks[k].Requests)) {
		return nil
	}
	r := &s.Tasks[k].Requests[c.Op-s.Tasks[k].Base]
	if !r.Issued || r.Done != nil {
		return nil
	}
	if len(c.Result) > 0 && c.Value == nil {
		result, err := json.Marshal(c.Result)
		if err != nil {
			return fmt.Errorf("the result of operation %d is not JSON: %w", c.Op, err)
		}
		c.Result = result
	}
	r.Done = &c
	return nil
}
