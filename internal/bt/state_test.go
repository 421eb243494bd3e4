package bt

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecodeGivesWhatEncodeTook(t *testing.T) {
	filled := &values{Text: "ä\x00<&>", Int: 1 << 60, Float: 0.1, Bool: true, List: []string{"a", ""},
		Thing: thing{Name: "n", Parts: []string{}}, Ref: &thing{}}
	for name, v := range map[string]*values{"filled": filled, "zero": {}} {
		r := registry(t, emitLeaf(v), askLeaf())
		text := file(`<Sequence><Script code="n := 1.5; s := ''; b := false"/><SubTree ID="A" lit="7"/>
			<Emit text="{t}" int="{i}" float="{f}" bool="{bo}" list="{l}" thing="{th}" ref="{r}"/>
			<Timeout msec="50"><Ask question="a&lt;b"/></Timeout></Sequence>`, tree("A", `<Script code="x := lit"/>`))
		tr := load(t, r, text, Options{Given: []Port{{Name: "unset"}}})
		s := tr.NewState()
		if res := step(t, tr, s, Input{Now: 7}); res.Status != Running {
			t.Fatal(res)
		}
		again := reload(t, tr, s)
		if diff := cmp.Diff(s.Cells, again.Cells); diff != "" {
			t.Errorf("%s: cells (-before +after):\n%s", name, diff)
		}
		if diff := cmp.Diff(s.Memos, again.Memos); diff != "" || len(s.Memos) != 1 {
			t.Errorf("%s: memos %+v (-before +after):\n%s", name, s.Memos, diff)
		}
		if diff := cmp.Diff(s.Slots, again.Slots); diff != "" {
			t.Errorf("%s: slots (-before +after):\n%s", name, diff)
		}
		if !reflect.DeepEqual(s.Tasks, again.Tasks) {
			t.Errorf("%s: tasks %+v become %+v", name, s.Tasks, again.Tasks)
		}
		if s.Now != again.Now || s.NextOp != again.NextOp || s.Ticks != again.Ticks {
			t.Errorf("%s: %d %d %d become %d %d %d",
				name, s.Now, s.NextOp, s.Ticks, again.Now, again.NextOp, again.Ticks)
		}
		first, err := tr.Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		second, err := tr.Encode(again)
		if err != nil || string(first) != string(second) {
			t.Errorf("%s: encoded twice, a state reads\n%s\n%s (%v)", name, first, second, err)
		}
	}
}

func TestWrittenNilIsNotUnwrittenAfterARestart(t *testing.T) {
	type in struct {
		List []string `port:"list"`
		Ref  *thing   `port:"ref"`
	}
	reads := 0
	read := Func("Read", "", func(in, *noPorts) error { reads++; return nil })
	tr := load(t, registry(t, emitLeaf(&values{}), read),
		file(`<AsyncSequence><Emit list="{l}" ref="{r}"/><Read list="{l}" ref="{r}"/></AsyncSequence>`), Options{})
	s := tr.NewState()
	if _, err := tr.Tick(s, Input{}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := tr.Tick(reload(t, tr, s), Input{}, nil); err != nil || reads != 1 {
		t.Errorf("read %d times: %v", reads, err)
	}
}

func TestDecodeRefusesWhatIsNoStateOfTheTree(t *testing.T) {
	r := someLeaves(t)
	tr := load(t, r, file(`<Sequence><Emit int="{n}"/><Use int="{n}"/></Sequence>`), Options{})
	other := load(t, r, file(`<Sequence><Emit int="{n}"/><Use int="{n}"/><AlwaysSuccess/></Sequence>`), Options{})
	s := tr.NewState()
	step(t, tr, s, Input{})
	good, err := tr.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ data, want string }{
		"no JSON":        {"{", "state of tree Main: "},
		"another tree's": {string(encode(t, other)), "this state belongs to another tree than Main: "},
		"a cell of no node": {strings.Replace(string(good), `"slots"`, `"cells":[{"node":3,"on":true}],"slots"`, 1),
			"state of tree Main: there is no node 3"},
		"a value that clash": {strings.Replace(string(good), `"slots":{"0":0}`, `"slots":{"0":"x"}`, 1), "key {n}: "},
	} {
		if _, err := tr.Decode([]byte(c.data)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestValueWithoutJSONIsNamedByEncode(t *testing.T) {
	type bag struct{ Any any }
	fill := Func("Fill", "", func(_ noPorts, out *struct {
		Bag bag `port:"bag"`
	}) error {
		out.Bag.Any = func() {}
		return nil
	})
	tr := load(t, registry(t, fill), file(`<Fill bag="{b}"/>`), Options{})
	s := tr.NewState()
	step(t, tr, s, Input{})
	if _, err := tr.Encode(s); err == nil || !strings.HasPrefix(err.Error(), "key {b}: ") {
		t.Error(err)
	}
}

func TestGetTellsUnknownAndUnwrittenFromWritten(t *testing.T) {
	tr := load(t, someLeaves(t), file(`<Use text="{a}" int="{b}"/>`), Options{Given: []Port{{Name: "a"}, {Name: "b"}}})
	s := tr.NewState()
	set(t, tr, s, "a", "")
	for key, want := range map[string]bool{"a": true, "b": false, "c": false} {
		if _, ok := tr.Get(s, key); ok != want {
			t.Errorf("Get(%s) = %v", key, ok)
		}
	}
}

func TestWhatANodeRemembersBesideItsCellGoesWithIt(t *testing.T) {
	bad := `<Need text=""/>`
	tr := load(t, registry(t, needLeaf(), askLeaf()),
		file(`<ParallelAll max_failures="4"><Timeout msec="9"><Ask question="a"/></Timeout>
		<Delay delay_msec="9"><Ask question="b"/></Delay><Fallback>`+bad+`<Ask question="c"/></Fallback><TryCatch>`+bad+
			`<Ask question="d"/></TryCatch></ParallelAll>`), Options{})
	s := tr.NewState()
	for _, c := range []struct {
		now   int64
		memos int
	}{{1, 5}, {10, 3}} { // the Timeout has failed, the Delay begins its child
		if step(t, tr, s, Input{Now: c.now}); len(s.Memos) != c.memos {
			t.Errorf("at %d: %+v", c.now, s.Memos)
		}
	}
	if _, err := tr.Halt(s, nil); err != nil || len(s.Memos) != 0 {
		t.Errorf("after a halt: %+v, %v", s.Memos, err)
	}
}

func TestNowNeverGoesBack(t *testing.T) {
	tr := load(t, someLeaves(t), file(`<Delay delay_msec="10"><AlwaysSuccess/></Delay>`), Options{})
	s := tr.NewState()
	for _, c := range []struct {
		now  int64
		want Status
	}{{100, Running}, {5, Running}, {109, Running}, {-1, Running}, {110, Success}} {
		if got := step(t, tr, s, Input{Now: c.now}); got.Status != c.want {
			t.Errorf("at %d: %v", c.now, got.Status)
		}
	}
	if s.Now != 110 {
		t.Errorf("Now is %d", s.Now)
	}
}

func TestStatusReadsAsItsNameInJSON(t *testing.T) {
	for s := Idle; s <= Skipped; s++ {
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var back Status
		if err := json.Unmarshal(data, &back); err != nil || back != s || string(data) != `"`+s.String()+`"` {
			t.Errorf("%s becomes %v, %v", data, back, err)
		}
	}
	var s Status
	if err := json.Unmarshal([]byte(`"DONE"`), &s); err == nil ||
		!strings.Contains(err.Error(), "‘DONE’ is not a status: SUCCESS, FAILURE") {
		t.Error(err)
	}
}

func TestOneTreeServesManyRunsAtOnce(t *testing.T) {
	tr := load(t, someLeaves(t), pictured, Options{Given: []Port{{Name: "question"}}})
	var all sync.WaitGroup
	ends := make([]Result, 8)
	for i := range ends {
		all.Go(func() {
			s := tr.NewState()
			if err := tr.Set(s, "question", "why?"); err != nil {
				t.Error(err)
				return
			}
			var in Input
			for range 5 {
				res, err := tr.Step(s, in, nil)
				if err != nil {
					t.Error(err)
					return
				}
				ends[i], in = res, Input{Now: s.Now + 1}
				for _, e := range res.Start {
					in.Done = append(in.Done, Completion{Op: e.Op, Result: json.RawMessage(`"so"`)})
				}
			}
		})
	}
	all.Wait()
	for i, end := range ends {
		if !reflect.DeepEqual(end, ends[0]) {
			t.Errorf("run %d ends with %+v, run 0 with %+v", i, end, ends[0])
		}
	}
}

func TestPortsOfAStructAreGivenAndRead(t *testing.T) {
	type given struct {
		Text  string   `port:"text"`
		Limit int      `port:"limit,optional"`
		List  []string `port:"list"`
	}
	raw, err := EncodePorts(given{Text: "x", List: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	var back given
	if err := DecodePorts(raw, &back); err != nil || back.Text != "x" || len(back.List) != 1 {
		t.Errorf("%+v, %v", back, err)
	}
	raw["limit"] = json.RawMessage(`"many"`)
	if err := DecodePorts(raw, &back); err == nil || !strings.Contains(err.Error(), "{limit}") {
		t.Errorf("a text for a number: %v", err)
	}
	ports, err := Ports[given]()
	if err != nil {
		t.Fatal(err)
	}
	tr := load(t, registry(t), file(`<Script code="sum := limit + 1; said := text"/>`), Options{Given: ports})
	s := tr.NewState()
	for key, value := range map[string]any{"text": "x", "limit": 2} {
		if err := tr.Set(s, key, value); err != nil {
			t.Fatal(err)
		}
	}
	step(t, tr, s, Input{})
	var read struct {
		Sum  int      `port:"sum"`
		Said string   `port:"said"`
		Gone string   `port:"gone"`
		List []string `port:"list"`
	}
	if tr.Read(s, &read); read.Sum != 3 || read.Said != "x" || read.Gone != "" || read.List != nil {
		t.Errorf("%+v", read)
	}
}
