package bt

import (
	"math"
	"reflect"
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestTimeoutHaltsWhatIsNotDoneInTime(t *testing.T) {
	d := drive(t, file(`<Timeout msec="50"><Plan letters="a"/></Timeout>`), Options{})
	if res := d.step(Input{Now: 1000}); res.Status != Running || res.Due != 1050 {
		t.Errorf("%+v", res)
	}
	if res := d.step(Input{Now: 1049}); res.Status != Running || res.Due != 1050 || len(res.Cancel) > 0 {
		t.Errorf("%+v", res)
	}
	res := d.step(Input{Now: 1050, Done: []Completion{{Op: 1, Result: []byte("1")}}})
	want := &Fault{Kind: "timeout", Reason: "not done after 50 ms", Node: "Main"}
	assert.That(t, res.Status == Failure && res.Due == 0 && reflect.DeepEqual(res.Fault, want),
		"at the deadline itself the child is not asked: %+v %+v", res, res.Fault)
	res = d.step(Input{Now: 2000})
	assert.That(t, res.Due == 2050, "the next entry has a deadline of its own: %+v", res)
}

func TestTimeoutOfZeroIsNone(t *testing.T) {
	d := drive(t, file(`<Timeout msec="0"><Plan letters="a"/></Timeout>`), Options{})
	for _, now := range []int64{1, 1 << 40} {
		res := d.step(Input{Now: now})
		assert.That(t, res.Status == Running && res.Due == 0, "at %d: %+v", now, res)
	}
}

func TestDelayWaitsBeforeEveryEntry(t *testing.T) {
	d := drive(t, file(`<Delay delay_msec="{ms}"><Plan letters="a"/></Delay>`),
		Options{Given: []Port{{Name: "ms", Type: typeInt}}})
	set(t, d.tree, d.state, "ms", 20)
	for _, c := range []struct {
		now, due int64
		asked    string
	}{{0, 20, ""}, {19, 20, ""}, {20, 0, "1a"}, {25, 0, ""}} {
		res := d.step(Input{Now: c.now})
		assert.That(t, res.Status == Running && res.Due == c.due && requestedEffects(res) == c.asked,
			"at %d: %+v", c.now, res)
	}
	d.halt()
	res := d.step(Input{Now: 30})
	assert.That(t, res.Due == 50, "after a halt: %+v", res)
}

func TestDueIsTheEarliestTimerThatRuns(t *testing.T) {
	d := drive(t, file(`<Parallel><Timeout msec="70"><Plan letters="a"/></Timeout><Delay delay_msec="30"><Plan letters="b"/></Delay>
		<Sequence><Timeout msec="10"><AlwaysSuccess/></Timeout><Timeout msec="50"><Plan letters="c"/></Timeout></Sequence></Parallel>`), Options{})
	for _, c := range []struct{ now, due int64 }{{100, 130}, {130, 150}} {
		res := d.step(Input{Now: c.now})
		assert.That(t, res.Due == c.due, "at %d: due %d, want %d", c.now, res.Due, c.due)
	}
}

// A timer below a branch that is not ticked can't act; woken by it again and again, a runner would spin.
func TestTimerThatCannotActIsNotDue(t *testing.T) {
	d := drive(t, file(`<WhileDoElse><Plan letters="a"/><Timeout msec="50"><Plan letters="b"/></Timeout></WhileDoElse>`), Options{})
	d.step(Input{Now: 0})
	res := d.complete(1)
	assert.Require(t, res.Due == 50, "%+v", res)
	res = d.step(Input{Now: 10})
	assert.Require(t, res.Due == 50, "the condition is asked again, the branch goes on: %+v", res)
	if res := d.step(Input{Now: 50}); res.Status != Running || res.Due != 0 {
		t.Errorf("while the condition runs, the branch's timer can't act: %+v", res)
	}
}

func TestVeryLongTimesDoNotOverflow(t *testing.T) {
	given := Options{Given: []Port{{Name: "ms", Type: typeInt64}}}
	for _, node := range []string{
		`<Timeout msec="{ms}"><Plan letters="a"/></Timeout>`, `<Delay delay_msec="{ms}"><Plan letters="a"/></Delay>`,
	} {
		d := drive(t, file(node), given)
		set(t, d.tree, d.state, "ms", int64(math.MaxInt64))
		for _, now := range []int64{5, 1 << 50} {
			res := d.step(Input{Now: now})
			assert.That(t, res.Status == Running && res.Due == math.MaxInt64, "%s at %d: %+v", node, now, res)
		}
	}
}

func TestLeafReadsTheRunTimeOfItsInput(t *testing.T) {
	type in struct {
		Now int64 `port:",now"`
	}
	type out struct {
		At int64 `port:"at"`
	}
	stamp := Func("Stamp", "Writes the run time.", func(i in, o *out) error {
		o.At = i.Now
		return nil
	})
	tree := load(t, registry(t, stamp), file(`<Stamp at="{at}"/>`), Options{})
	s := tree.NewState()
	for _, now := range []int64{7, 7, 30, 12} {
		step(t, tree, s, Input{Now: now})
	}
	at, _ := tree.Get(s, "at")
	assert.That(t, at == int64(30), "the leaf wrote %v: run time never goes back", at)
}
