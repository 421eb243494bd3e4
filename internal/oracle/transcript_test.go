package oracle_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/agent"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
	"sibyl/internal/text"
)

// longest is a run of 300 turns, each of which opens another file, by a model that knows where it is by the
// conversation alone. With notes, they stand for its beginning from some turn on. It may not be asked more than so
// often.
func longest(t *testing.T, notes bool, most int) *harness {
	turn := modeltest.Func(func(req model.Request) modeltest.Turn {
		step := 1
		for _, m := range slices.Backward(req.Messages) {
			if found := stepSaid.FindStringSubmatch(m.Text); found != nil {
				_, _ = fmt.Sscan(found[1], &step)
				step++
				break
			}
		}
		switch {
		case req.Purpose == oracle.PurposeNotes:
			return modeltest.Say(fmt.Sprintf("Notes up to step %d.", step-1))
		case step == 300:
			return modeltest.Say("It checks a token (`file-299.go:3`). " + enough())
		}
		return modeltest.SayAndCall(fmt.Sprintf("This is step %d. ", step)+needTurn("see more"), "code_read",
			lines(fmt.Sprintf("file-%d.go", step), 1, 9))
	})
	h := setUp(t)
	for range most {
		h.script.Add(turn)
	}
	window := "1000000"
	if notes {
		window = "5000"
	}
	h.changed(`most="24000"`, `most="`+window+`"`)
	return h
}

// begin300 starts the run with more turns than a person may ask for.
func (h *harness) begin300(*run.Engine) *run.Live {
	h.t.Helper()
	spec, err := h.begin(h.t.Context(), h.store, h.question(auth))
	if err != nil {
		h.t.Fatal(err)
	}
	given := spec.Given.(oracle.Given)
	given.MaxTurns = 310
	spec.Given = given
	live, err := h.engine.Start(h.t.Context(), spec)
	if err != nil {
		h.t.Fatal(err)
	}
	return live
}

func TestPayloadsOfALongConversationDoNotGrowWithIt(t *testing.T) {
	t.Parallel()
	for _, notes := range []bool{false, true} {
		t.Run(fmt.Sprintf("notes %v", notes), func(t *testing.T) {
			t.Parallel()
			h := longest(t, notes, 330)
			h.engine = h.newEngine(h.store, "test", nil)
			h.last = h.begin300(h.engine)
			a := h.finish(h.last)
			same(t, "turns", a.Turns, 300)
			same(t, "answer", a.Answer, "It checks a token (`file-299.go:3`).")
			if taken := len(h.completions(agent.EffectNotes)); (taken > 1) != notes {
				t.Errorf("notes were taken %d times", taken)
			}
			for _, kind := range []string{agent.EffectTurn, agent.EffectNotes, agent.EffectCall} {
				for i, c := range h.completions(kind) {
					if len(c.Payload) > 700 {
						t.Fatalf("payload %d of %s has %d bytes: %s", i+1, kind, len(c.Payload),
							text.Brief(string(c.Payload), 300))
					}
				}
			}
		})
	}
}

func TestResumedLongConversationAsksForTheSame(t *testing.T) {
	t.Parallel()
	for notes, crashAt := range map[bool]int{false: 298, true: 450} {
		t.Run(fmt.Sprintf("notes %v", notes), func(t *testing.T) {
			t.Parallel()
			h := longest(t, notes, 330)
			h.survive(h.begin300, mortal(h.store, 0, false))
			calm := h.script.Requests()
			h = longest(t, notes, 330)
			dying := mortal(h.store, crashAt, false)
			a := h.survive(h.begin300, dying)
			same(t, "the process died", dying.Dead(), true)
			same(t, "turns", a.Turns, 300)
			// asked for again
			resumed := slices.CompactFunc(h.script.Requests(), func(a, b model.Request) bool {
				return reflect.DeepEqual(a, b)
			})
			same(t, "requests", len(resumed), len(calm))
			for i, req := range resumed {
				if !reflect.DeepEqual(req, calm[i]) {
					t.Fatalf("request %d (-want +got):\n%s", i+1, cmp.Diff(calm[i], req))
				}
			}
		})
	}
}
