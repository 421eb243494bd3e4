package oracle_test

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/agent"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/text"
)

// stepSaid finds the number of a step in what was said.
var stepSaid = regexp.MustCompile(`step (\d+)\.`)

// longTurns is how many turns a long conversation has.
const longTurns = 100

// longest is a long conversation, each turn of which opens another file, by a model that knows where it is by the
// conversation alone. With notes, they stand for its beginning from some turn on.
func longest(t *testing.T, notes bool) *harness {
	turn := modeltest.Func(func(req model.Request) modeltest.Turn {
		step := 1
		for _, m := range slices.Backward(req.Messages) {
			if found := stepSaid.FindStringSubmatch(m.Text); found != nil {
				step = number(found[1]) + 1
				break
			}
		}
		switch {
		case req.Purpose == oracle.PurposeNotes:
			return modeltest.Say(fmt.Sprintf("Notes up to step %d.", step-1))
		case step == longTurns:
			return modeltest.Say("It checks a token (`file-99.go:3`). " + enough())
		}
		return modeltest.SayAndCall(fmt.Sprintf("This is step %d. ", step)+needTurn("see more"), "code_read",
			lines(fmt.Sprintf("file-%d.go", step), 1, 9))
	})
	h := setUp(t)
	h.script.Add(slices.Repeat([]modeltest.Turn{turn}, longTurns+20)...)
	h.turns = longTurns + 10
	window := "1000000"
	if notes {
		window = "2000"
	}
	h.changed(`most="24000"`, `most="`+window+`"`)
	return h
}

// The journal holds each part of a conversation once, and a process that takes it up asks for what the first would have.
func TestLongConversationIsKeptOnceAndAsksForTheSameWhenResumed(t *testing.T) {
	t.Parallel()
	for notes, crashAt := range map[bool]int{false: 98, true: 149} {
		t.Run(fmt.Sprintf("notes %v", notes), func(t *testing.T) {
			t.Parallel()
			h := longest(t, notes)
			a := h.crashAndResume(auth, mortal(h.store, 0, false))
			same(t, "turns", a.Turns, longTurns)
			same(t, "answer", a.Answer, "It checks a token (`file-99.go:3`).")
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
			calm := h.script.Requests()
			h = longest(t, notes)
			dying := mortal(h.store, crashAt, false)
			a = h.crashAndResume(auth, dying)
			same(t, "the process died", dying.Dead(), true)
			same(t, "turns of the resumed one", a.Turns, longTurns)
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
