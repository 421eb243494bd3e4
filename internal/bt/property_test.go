package bt

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sibyl/internal/behaviour/assert"
)

// chanceLeaf answers SUCCESS, FAILURE or RUNNING by a hash of its seed, its node and the tick: like any leaf, it
// depends on nothing but tree, state and input.
func chanceLeaf(seed uint64) Leaf {
	return Leaf{Name: "Chance", class: funcLeaf, events: -1, tick: func(_ *binding, x *exec, i int32) Status {
		h := fnv.New64a()
		fmt.Fprint(h, seed, i, x.s.Ticks)
		switch h.Sum64() >> 8 % 5 {
		case 0, 1:
			return Success
		case 2, 3:
			return x.fail(i, "chance", "bad luck")
		}
		return Running
	}}
}

// forest draws tree files from all nodes of the kernel.
type forest struct {
	*rapid.T
	nodes int // so far; makes keys of their own
}

func (f *forest) file() string {
	trees := tree("Main", f.node(5, true))
	for _, id := range []string{"A", "B"} {
		trees += tree(id, `<Sequence><ScriptCondition code="n &lt; 9"/>`+f.node(3, false)+`</Sequence>`)
	}
	return `<root BTCPP_format="4" main_tree_to_execute="Main">` + trees + `</root>`
}

func (f *forest) node(depth int, subtrees bool) string {
	f.nodes++
	leaves := []string{"AlwaysSuccess", "AlwaysFailure", "Chance", "Chance", "Chance", "Plan", "ScriptCondition"}
	if subtrees {
		leaves = append(leaves, "SubTree")
	}
	if depth == 0 || f.nodes > 60 {
		return f.leaf(rapid.SampledFrom(leaves).Draw(f.T, "leaf"))
	}
	kinds := slices.Clone(leaves)
	for _, sp := range specs {
		if sp.max >= 0 {
			kinds = append(kinds, sp.name)
		}
	}
	name := rapid.SampledFrom(kinds).Draw(f.T, "node")
	sp := kindByName[name]
	if sp == nil || sp.max < 0 {
		return f.leaf(name)
	}
	most := sp.max
	if most == 0 || most == 64 {
		most = 4
	}
	count := rapid.IntRange(sp.min, max(sp.min, most)).Draw(f.T, "children")
	attrs := f.ports(sp, count)
	kids := ""
	if sp.kind == kLoop {
		f.nodes++
		attrs = fmt.Sprintf(` max="%d" until="{d%d}" turn="{t%d}"`, rapid.IntRange(1, 3).Draw(f.T, "max"), f.nodes,
			f.nodes)
		kids = fmt.Sprintf(`<Sequence>%s<Script code="d%d := n &gt; t%d"/></Sequence>`, "%s", f.nodes, f.nodes)
	}
	var all []string
	for range count {
		all = append(all, f.node(depth-1, subtrees))
	}
	inner := strings.Join(all, "")
	if kids != "" {
		inner = fmt.Sprintf(kids, inner)
	}
	return "<" + name + attrs + f.guards() + ">" + inner + "</" + name + ">"
}

func (f *forest) leaf(name string) string {
	attrs := ""
	switch name {
	case "Plan":
		attrs = fmt.Sprintf(" letters=%q", rapid.StringMatching(`[abC]{0,3}`).Draw(f.T, "letters"))
	case "ScriptCondition":
		attrs = ` code="n &lt; 2"`
	case "SubTree":
		attrs = fmt.Sprintf(` ID=%q n="{=}"`, rapid.SampledFrom([]string{"A", "B"}).Draw(f.T, "tree"))
	}
	return "<" + name + attrs + f.guards() + "/>"
}

func (f *forest) ports(sp *spec, kids int) string {
	b := &strings.Builder{}
	for _, p := range sp.ports {
		text := ""
		switch {
		case sp.kind == kParallel || sp.kind == kParallelAll:
			text = fmt.Sprint(rapid.IntRange(-kids-1, kids).Draw(f.T, p.name))
		case p.want == wantInt:
			text = fmt.Sprint(rapid.IntRange(int(p.least), 3).Draw(f.T, p.name))
		case p.want == wantScript:
			text = "n &lt; 2"
		case p.want == wantStatus:
			text = rapid.SampledFrom([]string{"SUCCESS", "FAILURE", "SKIPPED", "RUNNING"}).Draw(f.T, p.name)
		case p.want == wantBool:
			text = fmt.Sprint(rapid.Bool().Draw(f.T, p.name))
		case p.want == wantText:
			text = rapid.SampledFrom([]string{"{n}", "1", "2"}).Draw(f.T, p.name)
		}
		fmt.Fprintf(b, " %s=%q", p.name, text)
	}
	return b.String()
}

func (f *forest) guards() string {
	if rapid.IntRange(0, 3).Draw(f.T, "guarded") > 0 {
		return ""
	}
	f.nodes++
	guard := rapid.SampledFrom([]string{"_skipIf", "_failureIf", "_successIf", "_while", "_onSuccess", "_onFailure",
		"_onHalted", "_post"}).Draw(f.T, "guard")
	if strings.HasPrefix(guard, "_on") || guard == "_post" {
		return fmt.Sprintf(` %s="k%d := n"`, guard, f.nodes)
	}
	return fmt.Sprintf(` %s="n == %d"`, guard, rapid.IntRange(0, 2).Draw(f.T, "n"))
}

// run is one state that goes its way.
type run struct {
	tree   *Tree
	state  *State
	events []Event
	result Result
	err    error
}

func (r *run) do(how string, in Input) {
	r.events = nil
	on := func(e Event) { r.events = append(r.events, e) }
	switch how {
	case "halt":
		r.result = Result{}
		r.result.Cancel, r.err = r.tree.Halt(r.state, on)
	case "step":
		r.result, r.err = r.tree.Step(r.state, in, on)
	default:
		r.result, r.err = r.tree.Tick(r.state, in, on)
	}
}

// TestRandomTreesKeepTheKernelsPromises drives random trees with random input, twice.
func TestRandomTreesKeepTheKernelsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := (&forest{T: t}).file()
		known := assert.Must(NewLeaves(chanceLeaf(rapid.Uint64().Draw(t, "seed")), planLeaf()))(t)
		tr, err := known.Load("random.xml", []byte(text), Options{Given: []Port{{Name: "n", Type: typeInt}}})
		assert.Require(t, err == nil, "%v\nin %s", err, text)
		runs := []*run{{tree: tr, state: tr.NewState()}, {tree: tr, state: tr.NewState()}}
		w := &world{T: t, open: map[uint64]bool{}, used: map[uint64]bool{}}
		for range rapid.IntRange(1, 30).Draw(t, "inputs") {
			how := rapid.SampledFrom([]string{"tick", "tick", "tick", "step", "halt"}).Draw(t, "how")
			n, in := rapid.IntRange(0, 3).Draw(t, "n"), w.input()
			for _, r := range runs {
				assert.NoError(t, tr.Set(r.state, "n", n))
				r.do(how, in)
			}
			if runs[0].err != nil && strings.Contains(runs[0].err.Error(), "spins") && runs[1].err != nil {
				return // the file asked for it
			}
			agree(t, runs[0], runs[1])
			w.checkResult(runs[0], how)
		}
	})
}

func agree(t *rapid.T, r, again *run) {
	assert.Require(t, r.err == nil && again.err == nil, "%v, %v", r.err, again.err)
	assert.Require(t, reflect.DeepEqual(r.result, again.result), "result\n%+v, not\n%+v", again.result, r.result)
	diff := cmp.Diff(r.events, again.events)
	assert.Require(t, diff == "", "events:\n%s", diff)
	assert.Require(t, reflect.DeepEqual(r.state.Cells, again.state.Cells) &&
		reflect.DeepEqual(r.state.Slots, again.state.Slots), "another state")
}

// world performs effects and watches what the kernel promises of them.
type world struct {
	*rapid.T
	now        int64
	open, used map[uint64]bool
}

// input completes some of what is open, and one that never was.
func (w *world) input() Input {
	w.now += int64(rapid.IntRange(0, 2).Draw(w.T, "time"))
	in := Input{Now: w.now, Done: []Completion{{Op: 1 << 40, Result: json.RawMessage("0")}}}
	for op := range uint64(len(w.used)) + 1 {
		if w.open[op] && rapid.Bool().Draw(w.T, "complete") {
			in.Done = append(in.Done, Completion{Op: op, Ref: int64(op), Result: json.RawMessage("1")})
		}
	}
	return in
}

func (w *world) checkResult(r *run, how string) {
	assert.NoError(w, idleIsIdle(r.tree, r.state))
	for _, e := range r.result.Start {
		assert.Require(w, !w.used[e.Op], "operation %d is used again", e.Op)
		w.used[e.Op], w.open[e.Op] = true, true
	}
	for _, op := range r.result.Cancel {
		assert.Require(w, w.open[op], "operation %d is cancelled, but not open", op)
		delete(w.open, op)
	}
	waiting := map[uint64]bool{}
	for _, task := range r.state.Tasks {
		for _, q := range task.Requests {
			if q.Issued && q.Done == nil {
				waiting[q.Effect.Op] = true
			}
		}
	}
	for op := range w.open {
		if !waiting[op] {
			delete(w.open, op) // it was completed
		}
	}
	assert.Require(w, len(waiting) == len(w.open), "the state waits for %v, open are %v", waiting, w.open)
	switch res := r.result; {
	case how == "halt":
		w.idle(r)
	case res.Status == Failure && (res.Fault == nil || res.Fault.Reason == "" || res.Fault.Node == ""):
		w.Fatalf("a failure without reason: %+v", res.Fault)
	case res.Status != Failure && res.Fault != nil:
		w.Fatalf("%v with fault %+v", res.Status, res.Fault)
	case res.Due != 0 && res.Due <= w.now:
		w.Fatalf("due at %d, but it is %d", res.Due, w.now)
	}
}

func (w *world) idle(r *run) {
	for i, c := range r.state.Cells {
		n := &r.tree.nodes[i]
		if n.kind == kRunOnce {
			c.Keep = Idle
		}
		if n.kind == kSequenceWithMemory {
			c.At = 0
		}
		assert.Require(w, c == (Cell{}), "after a halt, node %s has cell %+v", r.tree.Path(int32(i)), c)
	}
	assert.Require(w, len(r.state.Tasks) == 0, "after a halt, tasks are left: %+v", r.state.Tasks)
}
