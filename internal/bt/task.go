package bt

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sort"
)

// Request is an effect that a task leaf wants. Payload encodes as JSON the same way every time: structs and slices, no
// maps.
type Request struct {
	Kind    string
	Label   string // for people: "code_search idle connection"
	Payload any
	Once    bool
}

// Task asks for effects. plan says which, in order; once all are completed, collect turns the completions, one a
// request in the same order, into outputs, under the rules of Func. An error of plan fails the leaf before anything is
// asked for. Requests that only read may run at the same time; one that is Once starts when all before it are done,
// and holds back all after it. Both functions are pure; the input is read again for collect.
func Task[I, O any](
	name, doc string, plan func(I) ([]Request, error), collect func(in I, done []Completion, out *O) error,
) Leaf {
	l := newLeaf(name, doc, taskLeaf, reflect.TypeFor[I](), reflect.TypeFor[O]())
	var all frames[I, O]
	l.tick = func(b *binding, x *exec, i int32) Status {
		f := all.beginTask(b, x, i, plan)
		if f == nil {
			return Failure
		}
		defer all.free(f)
		done, ok := x.collectTask(i)
		if !ok {
			return Running
		}
		return f.compute(b, x, i, func(in I, out *O) error { return collect(in, done, out) })
	}
	return l
}

// One is a Task of one request. collect takes in its result and the record that holds it. An effect that failed fails
// the leaf, with what failed leaves in out; nil leaves nothing.
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

// Each is a Task whose completions are taken in one by one, in the order in which they come: settle gets the number of
// the request and its completion, and what it leaves in out is written at once. So a halt, by a Timeout above it, drops
// none that is done. An error of settle fails the leaf and withdraws the rest. finish has the last word when all are
// settled, also where plan asked for nothing.
func Each[I, O any](name, doc string, plan func(I) ([]Request, error), settle func(in I, k int, c Completion,
	out *O) error,
	finish func(in I, out *O) error) Leaf {
	l := newLeaf(name, doc, taskLeaf, reflect.TypeFor[I](), reflect.TypeFor[O]())
	var all frames[I, O]
	l.tick = func(b *binding, x *exec, i int32) Status {
		f := all.beginTask(b, x, i, plan)
		if f == nil {
			return Failure
		}
		defer all.free(f)
		for _, k := range x.unsettled(i) {
			r := &x.s.Tasks[x.taskIndex(i)].Requests[k]
			r.Settled = true
			done := *r.Done
			if st := all.loadAndCompute(b, x, i, func(in I, out *O) error { return settle(in, k, done, out) }); st != Success {
				x.cancelTask(i)
				return st
			}
		}
		if _, ok := x.collectTask(i); !ok {
			return Running
		}
		return all.loadAndCompute(b, x, i, finish)
	}
	return l
}

// unsettled are the requests of a task that are done and not taken in yet, in the order in which they were completed.
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

// beginTask loads a task, and records its requests where it begins; collect issues those that may start. nil is a failure.
func (all *frames[I, O]) beginTask(b *binding, x *exec, i int32, plan func(I) ([]Request, error)) *frame[I, O] {
	f := all.load(b, x, i)
	if f == nil || x.cells[i].On {
		return f
	}
	requests, err := plan(f.in)
	if fault := asFault(err); fault != nil {
		x.fail(i, fault.Kind, fault.Reason)
		return nil
	}
	task := PendingTask{Node: i, Base: x.s.NextOp, Requests: make([]pendingRequest, len(requests))}
	for k, r := range requests {
		payload, err := json.Marshal(r.Payload)
		if err != nil {
			x.breakStep(i, fmt.Errorf("request %s: %w", r.Kind, err))
			return nil
		}
		if len(payload) > MaxPayload {
			x.breakStep(i, fmt.Errorf("request %s has %d bytes, and one has at most %d: %w", r.Kind, len(payload),
				MaxPayload, ErrBound))
			return nil
		}
		task.Requests[k].Effect = Effect{Op: x.s.NextOp, Leaf: x.nodes[i].leaf.Name, Node: i,
			Index: k, Kind: r.Kind, Label: r.Label, Payload: payload, Once: r.Once}
		x.s.NextOp++
	}
	x.s.Tasks = append(x.s.Tasks, task)
	return f
}

// collectTask issues the requests that may start and, when all are done, takes the task off the list.
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

// findFrom finds an element from a place on, and then before it: where nodes come in the order in which they were begun, at
// once.
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

// removeAt takes out an element, the first one without moving the others: halts go from left to right.
func removeAt[T any](all []T, at int) []T {
	if at > 0 {
		return slices.Delete(all, at, at+1)
	}
	clear(all[:1])
	return all[1:]
}

// deliver hands a completion to the task that waits for it; one for a halted operation is dropped. The result is kept
// in one form, so that a leaf reads the same bytes from what was performed and from what a journal has of it.
func (s *State) deliver(c Completion) error {
	// they stand in the order in which they were begun
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
