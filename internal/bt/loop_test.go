package bt

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
)

// rounds is a Loop over a child; each round adds "turn/last" to {log}, and {done} becomes true in round enough.
func rounds(attrs, child string) string {
	return file(`<Sequence><Script code="log := ''; done := false"/>
		<Loop until="{done}" turn="{turn}" last="{last}" ` + attrs + `><Sequence>
			<Script code="log := log .. ' ' .. turn .. (last ? '!' : ''); done := turn == enough"/>` + child + `
		</Sequence></Loop></Sequence>`)
}

func TestLoopRunsUntilItsKeyIsTrueOrItsRoundsAreUp(t *testing.T) {
	given := Options{Given: []Port{{Name: "enough", Type: typeInt}, {Name: "most", Type: typeInt}}}
	for _, c := range []struct {
		attrs, child string
		enough, most int
		log          string
		fault        *Fault
	}{
		{`max="3"`, "", 1, 0, " 1", nil},
		{`max="3"`, "", 2, 0, " 1 2", nil},
		{`max="3"`, "", 3, 0, " 1 2 3!", nil},
		{`max="3"`, "", 9, 0, " 1 2 3!", &Fault{Kind: "limit", Reason: "3 rounds did not set {done}",
			Node: "Main/Loop"}},
		{`max="1"`, "", 1, 0, " 1!", nil},
		{`max="{most}"`, "", 9, 2, " 1 2!", &Fault{Kind: "limit", Reason: "2 rounds did not set {done}",
			Node: "Main/Loop"}},
		{`max="{most}"`, "", 9, 0, "", &Fault{Kind: "limit", Reason: "0 rounds did not set {done}", Node: "Main/Loop"}},
		{`max="3"`, `<AlwaysFailure/>`, 9, 0, " 1", &Fault{Reason: "AlwaysFailure",
			Node: "Main/Loop/Sequence/AlwaysFailure"}},
		{`max="3"`, `<AlwaysFailure/>`, 1, 0, " 1", &Fault{Reason: "AlwaysFailure",
			Node: "Main/Loop/Sequence/AlwaysFailure"}},
		{`max="3"`, `<AlwaysSuccess _skipIf="true"/>`, 2, 0, " 1 2", nil},
	} {
		t.Run(fmt.Sprintf("%s %s enough %d most %d", c.attrs, c.child, c.enough, c.most), func(t *testing.T) {
			tr := load(t, someLeaves(t), rounds(c.attrs, c.child), given)
			s := tr.NewState()
			set(t, tr, s, "enough", c.enough)
			set(t, tr, s, "most", c.most)
			res := step(t, tr, s, Input{})
			log, _ := tr.Get(s, "log")
			assert.That(t, log == c.log && reflect.DeepEqual(res.Fault, c.fault), "log %q, %v %+v", log, res.Status, res.Fault)
		})
	}
}

func TestLoopKeepsItsRoundWhileItsChildWaits(t *testing.T) {
	d := drive(t, `<root BTCPP_format="4"><BehaviorTree ID="Main"><Sequence><Script code="done := false"/>
		<Loop max="3" until="{done}" turn="{turn}" last="{last}"><Sequence><Plan letters="a"/><Script code="done := last; y := turn"/></Sequence></Loop>
		</Sequence></BehaviorTree></root>`, Options{})
	d.step(Input{})
	for op := uint64(1); op <= 3; op++ {
		got := d.get("turn")
		assert.That(t, got == int(op), "operation %d belongs to round %v", op, got)
		d.step(Input{})
		res := d.complete(op)
		assert.That(t, (res.Status == Success) == (op == 3), "round %d: %+v", op, res)
	}
}

func TestEveryEntryOfALoopCountsFromOne(t *testing.T) {
	d := drive(t, `<root BTCPP_format="4"><BehaviorTree ID="Main"><Sequence><Script code="done := false"/>
		<Loop max="2" until="{done}" turn="{turn}"><Sequence><Plan letters="a"/><Script code="y := turn"/></Sequence></Loop>
		</Sequence></BehaviorTree></root>`, Options{})
	d.step(Input{})
	d.complete(1)
	assert.Require(t, d.get("turn") == 2, "round %v", d.get("turn"))
	d.halt()
	d.step(Input{})
	assert.That(t, d.get("turn") == 1, "after a halt the loop begins with round %v", d.get("turn"))
	d.complete(3)
	res := d.complete(4)
	assert.That(t, res.Status == Failure && res.Fault.Kind == "limit", "%+v", res)
}

func TestRunOnceRemembersItsResult(t *testing.T) {
	for _, c := range []struct {
		attr, child  string
		skip         bool
		first, later Status
	}{
		{``, `AlwaysSuccess`, false, Success, Skipped},
		{``, `AlwaysFailure`, false, Failure, Skipped},
		{`then_skip="false"`, `AlwaysSuccess`, false, Success, Success},
		{`then_skip="0"`, `AlwaysFailure`, false, Failure, Failure},
		{`then_skip="{skip}"`, `AlwaysSuccess`, true, Success, Skipped},
		{`then_skip="{skip}"`, `AlwaysSuccess`, false, Success, Success},
	} {
		tr := load(t, someLeaves(t), file(`<RunOnce `+c.attr+`><`+c.child+`/></RunOnce>`),
			Options{Given: []Port{{Name: "skip", Type: typeBool}}})
		s := tr.NewState()
		set(t, tr, s, "skip", c.skip)
		first := step(t, tr, s, Input{})
		assert.Must(tr.Halt(s, nil))(t)
		later := step(t, tr, s, Input{})
		assert.That(t, first.Status == c.first && later.Status == c.later && (later.Fault == nil || later.Fault.Reason != ""),
			"%s over %s: %v, then %v", c.attr, c.child, first.Status, later.Status)
	}
}

func TestRunOnceThatWasHaltedRunsAgain(t *testing.T) {
	d := drive(t, file(`<RunOnce><Plan letters="a"/></RunOnce>`), Options{})
	d.step(Input{})
	d.halt()
	res := d.step(Input{})
	assert.That(t, requestedEffects(res) == "2a", "%+v", res)
}

func TestRetryEndsWithTheReasonOfItsLastAttempt(t *testing.T) {
	n := 0
	try := Func("Try", "", func(noPorts, *noPorts) error {
		n++
		return &Fault{Kind: "try", Reason: fmt.Sprintf("attempt %d", n)}
	})
	tr := load(t, registry(t, try),
		file(`<RetryUntilSuccessful num_attempts="3"><Try name="it"/></RetryUntilSuccessful>`), Options{})
	var notes []string
	res, err := tr.Step(tr.NewState(), Input{}, func(e Event) {
		if tr.Node(e.Node).Type == "Try" {
			notes = append(notes, e.Reason)
		}
	})
	want := &Fault{Kind: "try", Reason: "attempt 3", Node: "Main/it"}
	assert.That(t, err == nil && reflect.DeepEqual(res.Fault, want), "%+v, %v", res.Fault, err)
	assert.NoDiff(t, cmp.Diff([]string{"attempt 1", "attempt 2", "attempt 3"}, notes),
		"each attempt's event has its reason")
}

func TestTreeThatSpinsIsStopped(t *testing.T) {
	for _, spinner := range []string{
		`<KeepRunningUntilFailure><AlwaysSuccess/></KeepRunningUntilFailure>`,
		`<Repeat num_cycles="-1"><AlwaysSuccess/></Repeat>`,
		`<RetryUntilSuccessful num_attempts="-1"><AlwaysFailure/></RetryUntilSuccessful>`,
		`<Sequence>` + strings.Repeat(`<AlwaysSuccess/>`, MaxVisits) + `</Sequence>`,
	} {
		tr := load(t, someLeaves(t), file(`<Inverter>`+spinner+`</Inverter>`), Options{})
		events := 0
		res, err := tr.Step(tr.NewState(), Input{}, func(Event) { events++ })
		assert.That(t, err != nil && strings.Contains(err.Error(), ": the tree spins: 10000 node visits for one input") &&
			strings.HasPrefix(err.Error(), "test.xml:1:"), "%.60s: %v", spinner, err)
		assert.That(t, events <= MaxVisits+1 && res.Visits <= 2*MaxVisits,
			"%.60s: %d events, %d visits", spinner, events, res.Visits)
	}
}

func TestAPassOfExactlyTheVisitsAllowedIsFine(t *testing.T) {
	for extra, breaks := range []bool{false, true} {
		tr := load(t, someLeaves(t), file(`<Sequence>`+strings.Repeat(`<AlwaysSuccess/>`, MaxVisits-1+extra)+
			`</Sequence>`), Options{})
		res, err := tr.Step(tr.NewState(), Input{}, nil)
		assert.That(t, (err != nil) == breaks, "%d nodes: %d visits, %v", tr.Size(), res.Visits, err)
	}
}

func TestBrokenStepEndsWithTheFirstTrouble(t *testing.T) {
	tr := load(t, someLeaves(t),
		file(`<Parallel failure_count="2"><Script code="a := 1"/><Script name="bad" code="b := 1 / 0"/><Script code="c := 2 / 0"/></Parallel>`), Options{})
	s := tr.NewState()
	var events []string
	res, err := tr.Step(s, Input{}, func(e Event) {
		events = append(events, fmt.Sprintf("%s %v %s", tr.Path(e.Node), e.Status, e.Reason))
	})
	const trouble = "script ‘b := 1 / 0’: ‘1 / 0’ is no finite number"
	assert.That(t, err != nil && err.Error() == "test.xml:1:127: node Main/bad: "+trouble && res.Fault == nil &&
		errors.Unwrap(err) != nil, "%+v, %v", res, err)
	want := []string{"Main/Script IDLE ", "Main/Script SUCCESS ", "Main/bad FAILURE " + trouble}
	assert.NoDiff(t, cmp.Diff(want, events), "events (-want +got)")
}
