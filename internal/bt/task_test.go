package bt

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
)

// plan is a leaf that asks for requests by their letters, small ones repeatable and capital ones once, and collects
// what came back.
func planLeaf() Leaf {
	type in struct {
		Letters string `port:"letters"`
	}
	type out struct {
		Got []string `port:"got"`
	}
	return Task("Plan", "", func(i in) ([]Request, error) {
		var all []Request
		for _, letter := range i.Letters {
			if letter == '!' {
				return all, &Fault{Kind: "refused", Reason: "no such request"}
			}
			all = append(all, Request{Kind: "letter",
				Label: string(letter), Payload: string(letter), Once: letter < 'a'})
		}
		return all, nil
	}, func(i in, done []Completion, o *out) error {
		for k, c := range done {
			if c.Err != nil {
				return c.Err
			}
			o.Got = append(o.Got, fmt.Sprintf("%c%s@%d", i.Letters[k], c.Result, c.Ref))
		}
		return nil
	})
}

// driver steps a tree.
type driver struct {
	t     *testing.T
	tree  *Tree
	state *State
	ref   int64
}

func drive(t *testing.T, text string, opt Options) *driver {
	t.Helper()
	tr := load(t, registry(t, planLeaf(), askLeaf(), emitLeaf(&values{}), useLeaf(func(values) {}), needLeaf()),
		text, opt)
	return &driver{t: t, tree: tr, state: tr.NewState()}
}

func (d *driver) step(in Input) Result {
	d.t.Helper()
	res := step(d.t, d.tree, d.state, in)
	assert.Nil(d.t, idleIsIdle(d.tree, d.state))
	return res
}

// complete completes operations, in this order, each with its own number as result.
func (d *driver) complete(ops ...uint64) Result {
	d.t.Helper()
	var in Input
	for _, op := range ops {
		d.ref++
		in.Done = append(in.Done, Completion{Op: op, Ref: d.ref, Result: json.RawMessage(fmt.Sprint(op))})
	}
	return d.step(in)
}

func (d *driver) halt() []uint64 {
	d.t.Helper()
	cancelled := assert.Must(d.tree.Halt(d.state, nil))(d.t)
	return cancelled
}

func (d *driver) get(key string) any {
	v, _ := d.tree.Get(d.state, key)
	return v
}

// requestedEffects shows the effects of a result as "op letter".
func requestedEffects(res Result) string {
	var all []string
	for _, e := range res.Start {
		all = append(all, fmt.Sprintf("%d%s", e.Op, e.Label))
	}
	return strings.Join(all, " ")
}

func plan(letters string) string {
	return file(`<Plan letters="` + letters + `" got="{got}"/>`)
}

func TestRepeatableRequestsStartTogetherAndCompleteInAnyOrder(t *testing.T) {
	for _, order := range [][]uint64{{1, 2, 3}, {3, 1, 2}, {2, 3, 1}} {
		d := drive(t, plan("abc"), Options{})
		got := requestedEffects(d.step(Input{}))
		assert.That(t, got == "1a 2b 3c", "asked for %s", got)
		for k, op := range order {
			res := d.complete(op)
			assert.That(t, len(res.Start) == 0 && (res.Status == Success) == (k == 2), "order %v, after %d: %+v", order, op, res)
		}
		var want []string
		for op := range uint64(3) {
			want = append(want, fmt.Sprintf("%c%d@%d", 'a'+op, op+1, slices.Index(order, op+1)+1))
		}
		assert.NoDiff(t, cmp.Diff(any(want), d.get("got")), "order %v (-want +got)", order)
	}
}

func TestOnceRequestWaitsForAllBeforeItAndHoldsBackAllAfterIt(t *testing.T) {
	d := drive(t, plan("abCdEF"), Options{})
	for i, c := range []struct {
		done []uint64
		want string
	}{
		{nil, "1a 2b"}, {[]uint64{2}, ""}, {[]uint64{1}, "3C"}, {nil, ""}, {[]uint64{3}, "4d"}, {[]uint64{4}, "5E"},
		{[]uint64{5}, "6F"},
	} {
		assert.Equalf(t, requestedEffects(d.complete(c.done...)), c.want, "step %d asks for", i)
	}
	res := d.complete(6)
	assert.That(t, res.Status == Success, "%+v", res)
}

func TestEffectSaysWhatIsAskedAndByWhom(t *testing.T) {
	d := drive(t, file(`<Sequence><AlwaysSuccess/><Plan letters="aB"/></Sequence>`), Options{})
	first := d.step(Input{}).Start
	second := d.complete(1).Start
	want := []Effect{
		{Op: 1, Leaf: "Plan", Node: 2, Index: 0, Kind: "letter", Label: "a", Payload: json.RawMessage(`"a"`)},
		{Op: 2, Leaf: "Plan", Node: 2, Index: 1, Kind: "letter", Label: "B", Payload: json.RawMessage(`"B"`),
			Once: true},
	}
	assert.Same(t, want, append(first, second...))
}

func TestCompletionsThatNobodyWaitsForAreDropped(t *testing.T) {
	d := drive(t, plan("aBc"), Options{})
	d.step(Input{})
	for _, ops := range [][]uint64{{0}, {2}, {3}, {4}, {99}} { // 2 and 3 have not started
		res := d.complete(ops...)
		assert.That(t, res.Status == Running && len(res.Start) == 0, "operation %v: %+v", ops, res)
	}
	d.ref = 0
	d.complete(1, 1)
	d.complete(1)
	d.complete(2)
	d.complete(3)
	assert.Equalf(t, fmt.Sprint(d.get("got")), "[a1@1 B2@4 c3@5]", "the first completion counts")
	res := d.complete(1, 2, 3)
	assert.That(t, res.Status == Running && requestedEffects(res) == "4a", "after the end, a new round: %+v", res)
}

func TestHaltCancelsExactlyTheOutstandingOperations(t *testing.T) {
	d := drive(t, file(`<Parallel><Plan letters="abC"/><Plan letters="D"/><Sequence><AlwaysSuccess/><Plan letters="ef"/></Sequence></Parallel>`), Options{})
	got := requestedEffects(d.step(Input{}))
	assert.Require(t, got == "1a 2b 4D 5e 6f", "asked for %s", got)
	d.complete(2, 5)
	if got := d.halt(); !slices.Equal(got, []uint64{1, 4, 6}) {
		t.Errorf("cancelled %v", got)
	}
	if got := d.halt(); len(got) > 0 {
		t.Errorf("a second halt cancels %v", got)
	}
	for i, c := range d.state.Cells {
		assert.That(t, c == (Cell{}), "cell %d is %+v after a halt", i, c)
	}
	assert.That(t, len(d.state.Tasks) == 0, "tasks are left: %+v", d.state.Tasks)
}

func TestWhatIsAskedForAndWithdrawnInOneStepIsNeverHeardOf(t *testing.T) {
	d := drive(t, file(`<Parallel><Plan letters="a"/><ReactiveSequence><ForceSuccess><Need text=""/></ForceSuccess><Plan letters="bC"/></ReactiveSequence>
		<ScriptCondition code="n &gt; 1"/></Parallel>`), Options{Given: []Port{{Name: "n", Type: typeInt}}})
	for n, want := range []Status{Failure, Failure, Running} {
		set(t, d.tree, d.state, "n", n)
		res := d.step(Input{})
		assert.That(t, res.Status == want && len(res.Cancel) == 0 && (len(res.Start) > 0) == (want == Running),
			"n = %d: %+v", n, res)
	}
}

func TestEmptyPlanCompletesAtOnce(t *testing.T) {
	d := drive(t, plan(""), Options{})
	res := d.step(Input{})
	assert.That(t, res.Status == Success && len(res.Start) == 0 && d.state.NextOp == 1 && len(d.state.Tasks) == 0,
		"%+v, %+v", res, d.state.Tasks)
}

func TestPlanErrorFailsBeforeAnythingIsAsked(t *testing.T) {
	d := drive(t, plan("ab!"), Options{})
	res := d.step(Input{})
	want := &Fault{Kind: "refused", Reason: "no such request", Node: "Main"}
	assert.That(t, res.Status == Failure && len(res.Start) == 0 && d.state.NextOp == 1 &&
		reflect.DeepEqual(res.Fault, want), "%+v, fault %+v", res, res.Fault)
}

func TestFaultOfACompletionIsTheFaultOfTheRun(t *testing.T) {
	d := drive(t, file(`<Sequence name="s"><ForceSuccess><AlwaysFailure/></ForceSuccess><Ask name="model" question="a"/></Sequence>`), Options{})
	d.step(Input{})
	res := d.step(Input{Done: []Completion{{Op: 1, Err: &Fault{Kind: "rate_limit", Reason: "429", Node: "elsewhere"}}}})
	want := (&Fault{Kind: "rate_limit", Reason: "429", Node: "Main/model"})
	assert.That(t, reflect.DeepEqual(res.Fault, want), "%+v", res.Fault)
}

func TestErrorsOfLeavesKeepKindAndReason(t *testing.T) {
	var nilFault *Fault
	for name, c := range map[string]struct {
		err  error
		want *Fault
	}{
		"fault": {&Fault{Kind: "auth", Reason: "no key"}, &Fault{Kind: "auth",
			Reason: "no key", Node: "Main"}},
		"wrapped fault": {fmt.Errorf("ask: %w", &Fault{Kind: "auth", Reason: "no key"}),
			&Fault{Kind: "auth", Reason: "ask: no key", Node: "Main"}},
		"plain error": {errors.New("broken"), &Fault{Reason: "broken", Node: "Main"}},
		"no words":    {errors.New(""), &Fault{Reason: "F failed", Node: "Main"}},
		"only a kind": {&Fault{Kind: "timeout"}, &Fault{Kind: "timeout", Reason: "timeout", Node: "Main"}},
		"nil fault":   {nilFault, nil},
		"wrapped nil": {fmt.Errorf("odd: %w", nilFault), &Fault{Reason: "odd: <nil>", Node: "Main"}},
		"nil":         {nil, nil},
		"joined with some": {errors.Join(errors.New("a"), &Fault{Kind: "k", Reason: "b"}),
			&Fault{Kind: "k", Reason: "a\nb", Node: "Main"}},
	} {
		tr := load(t, registry(t, Func("F", "", func(noPorts, *noPorts) error {
			return c.err
		})), file(`<F/>`), Options{})
		res := step(t, tr, tr.NewState(), Input{})
		assert.That(t, reflect.DeepEqual(res.Fault, c.want), "%s: %+v, want %+v", name, res.Fault, c.want)
	}
}

func TestCollectReadsTheSameBytesHoweverAResultIsSpaced(t *testing.T) {
	var got [2]string
	at := 0
	leaf := Task("T", "", func(noPorts) ([]Request, error) { return []Request{{Kind: "a"}, {Kind: "b"}}, nil },
		func(_ noPorts, done []Completion, _ *noPorts) error {
			got[at] = fmt.Sprintf("%s %s", done[0].Result, done[1].Result)
			return nil
		})
	tr := load(t, registry(t, leaf), file(`<T/>`), Options{})
	for i, results := range [][2]string{{`{ "a" : "<b>" }`, ` null `}, {`{"a":"<b>"}`, `null`}} {
		at = i
		s := tr.NewState()
		step(t, tr, s, Input{})
		step(t, tr, s, Input{Done: []Completion{{Op: 1, Result: json.RawMessage(results[0])}}})
		res := step(t, tr, s,
			Input{Done: []Completion{{Op: 2, Result: json.RawMessage(results[1])}}})
		assert.Require(t, res.Status == Success, "%v", res)
	}
	assert.That(t, got[0] == got[1], "%s, and as a journal has it %s", got[0], got[1])
}

func TestResultThatIsNoJSONBreaksTheStep(t *testing.T) {
	d := drive(t, plan("a"), Options{})
	d.step(Input{})
	_, err := d.tree.Step(d.state, Input{Done: []Completion{{Op: 1, Result: json.RawMessage(`{`)}}}, nil)
	assert.That(t, err != nil && strings.HasPrefix(err.Error(), "the result of operation 1 is not JSON: "), "%v", err)
}

func TestPayloadThatIsNoJSONBreaksTheStep(t *testing.T) {
	leaf := Task("T", "", func(noPorts) ([]Request, error) { return []Request{{Kind: "k", Payload: func() {}}}, nil },
		func(noPorts, []Completion, *noPorts) error { return nil })
	tr := load(t, registry(t, leaf), file(`<T/>`), Options{})
	_, err := tr.Step(tr.NewState(), Input{}, nil)
	assert.That(t, err != nil && strings.HasPrefix(err.Error(), "test.xml:1:76: node Main: request k: "), "%v", err)
}

// hits is an event of a leaf.
type hits struct {
	N int `json:"n"`
}

func (hits) EventType() string { return "hits" }

func TestWhatALeafTellsComesBeforeItsOwnEvent(t *testing.T) {
	found := Func("Found", "", func(_ noPorts, out *struct {
		Tell []Typed `port:",events"`
	}) error {
		out.Tell = []Typed{hits{2}, hits{3}}
		return nil
	})
	asked := EmittingCheck("Asked", "", func(noPorts) (bool, string, Typed) { return true, "it was", hits{4} })
	tr := load(t, registry(t, found, asked, needLeaf()),
		file(`<Sequence><Found/><Inverter><Need text=""/></Inverter><Need text="x"/><Asked/></Sequence>`), Options{})
	var got []string
	_, err := tr.Step(tr.NewState(), Input{}, func(e Event) {
		line := fmt.Sprintf("%s %v %s", tr.Node(e.Node).Type, e.Status, e.Reason)
		if e.Kind == Emitted {
			line = fmt.Sprintf("%s tells %v", tr.Node(e.Node).Type, e.Data)
		}
		got = append(got, line)
	})
	want := []string{"Found tells {2}", "Found tells {3}", "Found SUCCESS ", "Need FAILURE it is ‘’",
		"Inverter SUCCESS ", "Need SUCCESS it is ‘x’",
		"Asked tells {4}", "Asked SUCCESS it was", "Sequence SUCCESS "}
	diff := cmp.Diff(want, got)
	assert.That(t, diff == "" && err == nil, "%v (-want +got):\n%s", err, diff)
}

// eachLeaf asks for three things and writes down what came, and in the end that all came.
func eachLeaf() Leaf {
	type out struct {
		Got  []string `port:"got"`
		Done bool     `port:"done"`
	}
	return Each("Each", "", func(noPorts) ([]Request, error) {
		return []Request{{Kind: "k", Payload: 0}, {Kind: "k", Payload: 1}, {Kind: "k", Payload: 2}}, nil
	}, func(_ noPorts, k int, c Completion, o *out) error {
		text, err := ResultOf[string](c)
		o.Got = append(o.Got[:len(o.Got):len(o.Got)], fmt.Sprintf("%d %s", k, text))
		if c.Err != nil {
			return c.Err
		}
		return err
	}, func(_ noPorts, o *out) error {
		o.Done = true
		return nil
	})
}

func TestEachTakesInWhatComesAsItComesAndAHaltDropsNone(t *testing.T) {
	tr := load(t, registry(t, eachLeaf()), file(`<Timeout msec="50"><Each got="{got}" done="{done}"/></Timeout>`),
		Options{})
	s := tr.NewState()
	res := step(t, tr, s, Input{})
	assert.Require(t, len(res.Start) == 3, "%d effects", len(res.Start))
	step(t, tr, s, Input{Now: 10, Done: []Completion{{Op: 3, Ref: 4, Result: []byte(`"c"`)}}})
	step(t, tr, s, Input{Now: 20, Done: []Completion{{Op: 1, Ref: 5, Result: []byte(`"a"`)}}})
	res = step(t, tr, s, Input{Now: 60})
	got, _ := tr.Get(s, "got")
	assert.Same(t, []string{"2 c", "0 a"}, got)
	if done, _ := tr.Get(s, "done"); done != false || res.Status != Failure || !cmp.Equal(res.Cancel, []uint64{2}) {
		t.Errorf("%v, done %v, cancelled %v", res.Status, done, res.Cancel)
	}
}

func TestEachEndsWhenAllAreSettledAndFailsWithOneThatCantBe(t *testing.T) {
	tr := load(t, registry(t, eachLeaf()), file(`<Each got="{got}" done="{done}"/>`), Options{})
	s := tr.NewState()
	step(t, tr, s, Input{})
	res := step(t, tr, s, Input{Done: []Completion{{Op: 2, Ref: 2, Value: "b"}, {Op: 1, Ref: 1, Value: "a"},
		{Op: 3, Ref: 3, Value: "c"}}})
	got, _ := tr.Get(s, "got")
	done, _ := tr.Get(s, "done")
	assert.That(t, done == true && res.Status == Success && cmp.Equal(got, []string{"0 a", "1 b", "2 c"}),
		"%v, done %v, %v", res.Status, done, got)
	s = tr.NewState()
	step(t, tr, s, Input{})
	res = step(t, tr, s, Input{Done: []Completion{{Op: 2, Ref: 1, Err: &Fault{Kind: "gone", Reason: "it is gone"}}}})
	assert.That(t, res.Status == Failure && res.Fault.Kind == "gone" && cmp.Equal(res.Cancel, []uint64{1, 3}),
		"%v %v, cancelled %v", res.Status, res.Fault, res.Cancel)
}
