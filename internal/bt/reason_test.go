package bt

import (
	"reflect"
	"testing"
)

// The reason of a failure is not in the tick that returns it when a node waits for its other children first.
func TestFailureOfAnEarlierTickKeepsItsReason(t *testing.T) {
	bad := `<Need name="bad" text=""/>`
	for name, c := range map[string]struct {
		node string
		want string // path of the reason
	}{
		"ParallelAll":                         {`<ParallelAll>` + bad + `<Plan letters="a"/></ParallelAll>`, "Main/bad"},
		"ParallelAll with an inner recovery":  {`<ParallelAll>` + bad + `<Sequence><Plan letters="a"/><Fallback><AlwaysFailure/><AlwaysSuccess/></Fallback></Sequence></ParallelAll>`, "Main/bad"},
		"TryCatch":                            {`<TryCatch>` + bad + `<Sequence><Plan letters="a"/><ForceSuccess><AlwaysFailure/></ForceSuccess></Sequence></TryCatch>`, "Main/bad"},
		"Fallback whose rest is skipped":      {`<Fallback>` + bad + `<Plan _while="limit == 2" letters="a"/></Fallback>`, "Main/bad"},
		"AsyncFallback whose rest is skipped": {`<Sequence><Plan letters="a"/><AsyncFallback>` + bad + `<AlwaysSuccess _skipIf="true"/></AsyncFallback></Sequence>`, "Main/AsyncFallback/bad"},
		"Parallel whose threshold sinks":      {`<Parallel success_count="1" failure_count="{limit}">` + bad + `<Plan letters="a"/><Plan letters="b"/></Parallel>`, "Main/bad"},
	} {
		d := drive(t, file(c.node), Options{Given: []Port{{Name: "limit", Type: typeInt}}})
		limit := func(n int) {
			for _, s := range []*State{d.plain, d.coded} {
				if _, known := d.tree.rootKeys["limit"]; known {
					set(t, d.tree, s, "limit", n)
				}
			}
		}
		limit(2)
		if res := d.step(Input{}); res.Status != Running {
			t.Errorf("%s: %+v", name, res)
		}
		limit(1)
		want := &Fault{Reason: "it is ‘’", Node: c.want}
		if res := d.done(1); res.Status != Failure || !reflect.DeepEqual(res.Fault, want) {
			t.Errorf("%s: %v %+v", name, res.Status, res.Fault)
		}
	}
}

func TestEveryWayToFailHasItsReason(t *testing.T) {
	for node, want := range map[string]Fault{
		`<AlwaysFailure/>`:                                            {Reason: "AlwaysFailure", Node: "Main"},
		`<Need text=""/>`:                                             {Reason: "it is ‘’", Node: "Main"},
		`<Inverter><Need text="a"/></Inverter>`:                       {Reason: "the opposite was wanted", Node: "Main"},
		`<ForceFailure><Need text="a"/></ForceFailure>`:               {Reason: "ForceFailure", Node: "Main"},
		`<ForceFailure><Need text=""/></ForceFailure>`:                {Reason: "it is ‘’", Node: "Main/Need"},
		`<AlwaysSuccess _failureIf="1 &gt; 0"/>`:                      {Reason: "1 > 0", Node: "Main"},
		`<ScriptCondition code="1 &gt; 2"/>`:                          {Reason: "not 1 > 2", Node: "Main"},
		`<Precondition if="1 &gt; 2"><AlwaysSuccess/></Precondition>`: {Reason: "not 1 > 2", Node: "Main"},
		`<Fallback><Need text=""/><Precondition if="true"><AlwaysSuccess _skipIf="true"/></Precondition></Fallback>`:               {Reason: "it is ‘’", Node: "Main/Need"},
		`<ReactiveFallback><Need text=""/><TryCatch><AlwaysSuccess _skipIf="true"/><AlwaysSuccess/></TryCatch></ReactiveFallback>`: {Reason: "it is ‘’", Node: "Main/Need"},
		`<Fallback><Need text=""/><AlwaysFailure name="last"/></Fallback>`:                                                         {Reason: "AlwaysFailure", Node: "Main/last"},
		`<Sequence><Fallback><AlwaysFailure/><AlwaysSuccess/></Fallback><Need text=""/></Sequence>`:                                {Reason: "it is ‘’", Node: "Main/Need"},
		`<Parallel success_count="2"><AlwaysSuccess _skipIf="true"/><AlwaysSuccess/></Parallel>`:                                   {Reason: "all children are done and fewer than 2 succeeded", Node: "Main"},
		`<SubTree ID="Main2"/>`: {Reason: "AlwaysFailure", Node: "Main/AlwaysFailure"},
		`<IfThenElse><Need text=""/><AlwaysSuccess/></IfThenElse>`:   {Reason: "it is ‘’", Node: "Main/Need"},
		`<WhileDoElse><Need text=""/><AlwaysSuccess/></WhileDoElse>`: {Reason: "it is ‘’", Node: "Main/Need"},
	} {
		tr := load(t, registry(t, needLeaf()), file(node, tree("Main2", `<AlwaysFailure/>`)), Options{})
		res := step(t, tr, tr.NewState(), Input{})
		if res.Fault == nil || *res.Fault != want {
			t.Errorf("%s: %+v, want %+v", node, res.Fault, want)
		}
	}
}

func TestCheckWithoutWordsStillHasAReason(t *testing.T) {
	silent := Check("Silent", "", func(noPorts) (bool, string) { return false, "" })
	tr := load(t, registry(t, silent), file(`<Silent/>`), Options{})
	if res := step(t, tr, tr.NewState(), Input{}); res.Fault == nil || res.Fault.Reason != "Silent says no" {
		t.Errorf("%+v", res.Fault)
	}
}
