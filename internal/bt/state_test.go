package bt

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"testing"

	"sibyl/internal/behaviour/assert"
)

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
		step(t, tr, s, Input{Now: c.now})
		assert.That(t, len(s.Memos) == c.memos, "at %d: %+v", c.now, s.Memos)
	}
	_, err := tr.Halt(s, nil)
	assert.That(t, err == nil && len(s.Memos) == 0, "after a halt: %+v, %v", s.Memos, err)
}

func TestStatusReadsAsItsNameInJSON(t *testing.T) {
	for s := Idle; s <= Skipped; s++ {
		data := assert.Must(json.Marshal(s))(t)
		var back Status
		err := json.Unmarshal(data, &back)
		assert.That(t, err == nil && back == s && string(data) == `"`+s.String()+`"`, "%s becomes %v, %v", data, back, err)
	}
	var s Status
	err := json.Unmarshal([]byte(`"DONE"`), &s)
	assert.That(t, err != nil && strings.Contains(err.Error(), "‘DONE’ is not a status: SUCCESS, FAILURE"), "%v", err)
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
		assert.That(t, reflect.DeepEqual(end, ends[0]), "run %d ends with %+v, run 0 with %+v", i, end, ends[0])
	}
}

func TestPortsOfAStructAreGivenAndRead(t *testing.T) {
	type given struct {
		Text  string   `port:"text"`
		Limit int      `port:"limit,optional"`
		List  []string `port:"list"`
	}
	raw := assert.Must(EncodePorts(given{Text: "x", List: []string{"a"}}))(t)
	var back given
	err := DecodePorts(raw, &back)
	assert.That(t, err == nil && back.Text == "x" && len(back.List) == 1, "%+v, %v", back, err)
	raw["limit"] = json.RawMessage(`"many"`)
	err = DecodePorts(raw, &back)
	assert.That(t, err != nil && strings.Contains(err.Error(), "{limit}"), "a text for a number: %v", err)
	ports := assert.Must(Ports[given]())(t)
	tr := load(t, registry(t), file(`<Script code="sum := limit + 1; said := text"/>`), Options{Given: ports})
	s := tr.NewState()
	for key, value := range map[string]any{"text": "x", "limit": 2} {
		assert.NoError(t, tr.Set(s, key, value))
	}
	step(t, tr, s, Input{})
	var read struct {
		Sum  int      `port:"sum"`
		Said string   `port:"said"`
		Gone string   `port:"gone"`
		List []string `port:"list"`
	}
	tr.Read(s, &read)
	assert.That(t, read.Sum == 3 && read.Said == "x" && read.Gone == "" && read.List == nil, "%+v", read)
}

func TestGetTellsUnknownAndUnwrittenFromWritten(t *testing.T) {
	tr := load(t, someLeaves(t), file(`<Use text="{a}" int="{b}"/>`), Options{Given: []Port{{Name: "a"}, {Name: "b"}}})
	s := tr.NewState()
	set(t, tr, s, "a", "")
	for key, want := range map[string]bool{"a": true, "b": false, "c": false} {
		_, ok := tr.Get(s, key)
		assert.That(t, ok == want, "Get(%s) = %v", key, ok)
	}
}
