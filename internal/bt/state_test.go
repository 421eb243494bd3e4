package bt

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"testing"
)

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
		data := must(json.Marshal(s))(t)
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
	raw := must(EncodePorts(given{Text: "x", List: []string{"a"}}))(t)
	var back given
	if err := DecodePorts(raw, &back); err != nil || back.Text != "x" || len(back.List) != 1 {
		t.Errorf("%+v, %v", back, err)
	}
	raw["limit"] = json.RawMessage(`"many"`)
	if err := DecodePorts(raw, &back); err == nil || !strings.Contains(err.Error(), "{limit}") {
		t.Errorf("a text for a number: %v", err)
	}
	ports := must(Ports[given]())(t)
	tr := load(t, registry(t), file(`<Script code="sum := limit + 1; said := text"/>`), Options{Given: ports})
	s := tr.NewState()
	for key, value := range map[string]any{"text": "x", "limit": 2} {
		noError(t, tr.Set(s, key, value))
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
