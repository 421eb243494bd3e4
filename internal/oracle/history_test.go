package oracle_test

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/text"
	"sibyl/internal/tool"
)

// long is a text of so many tokens, as they are estimated, that begins with a mark.
func long(mark string, tokens int) string {
	text := mark + " "
	return text + strings.Repeat("word", tokens)[:4*tokens-len(text)]
}

// openLong opens a file whose text has so many tokens, marked by its name.
func (h *harness) openLong(tokens int) {
	h.world.replaceTool("code_read", func(c tool.Call) (tool.Result, error) {
		r, err := opens(tool.Code, "")(c)
		if err == nil {
			r.Text = long("TEXT-OF-"+r.Refs[0].Path, tokens)
		}
		return r, err
	})
}

// opening is a turn that reads one file.
func opening(name string) modeltest.Turn {
	return modeltest.SayAndCall(needTurn("read "+name), "code_read", lines(name+".go", 1, 9))
}

// ofNotes are the numbers of the requests for notes.
func (h *harness) ofNotes() (found []int) {
	for i, r := range h.script.Requests() {
		if r.Purpose == oracle.PurposeNotes {
			found = append(found, i+1)
		}
	}
	return found
}

func TestPastIsLongAboveTheThresholdOrTheModelsPartOfItAndNotAtIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		past, window int
		want         []int
	}{
		{24_000, 0, nil}, {24_001, 0, []int{2}},
		{6_000, 10_000, nil}, {6_001, 10_000, []int{2}},
		{24_000, 1_000_000, nil}, {24_001, 1_000_000, []int{2}}, // a larger window does not lift it
		{24_001, 40_000, []int{2}}, {24_000, 40_000, nil},
	} {
		t.Run(fmt.Sprintf("%d of %d", c.past, c.window), func(t *testing.T) {
			question := agent.Tokens(auth) + agent.Tokens(noteWith(t, auth))
			h := setUp(t, modeltest.Say(long("OLD", c.past-question)+partial("more")))
			h.finish(h.start(auth))
			if c.want != nil {
				h.script.Add(modeltest.Say("NOTES."))
			}
			h.script.Add(theEnd)
			h.env.WindowTokens = c.window
			h.ask("And in the tests?")
			same(t, "requests for notes", h.ofNotes(), c.want)
		})
	}
}

func TestRulesWithoutAModelStillKnowTheStepsBeforeTheNotes(t *testing.T) {
	h := setUp(t, opening("one"), opening("two"), opening("three"), modeltest.Say("NOTES."), theEnd)
	h.env.WindowTokens = 10_000
	h.openLong(2_500)
	h.ask(auth)
	sit, ok := h.request(5).Facts.(oracle.Situation)
	assert.Require(t, ok, "the facts are %T", h.request(5).Facts)
	var paths []string
	for _, s := range sit.Steps {
		paths = append(paths, s.Receipt.Result.Refs[0].Path)
	}
	same(t, "steps", paths, []string{"one.go", "two.go", "three.go"})
}

func TestNotesOfUnreportedCostAreEstimated(t *testing.T) {
	h := setUp(t, opening("one"), opening("two"), opening("three"), modeltest.Say(long("NOTES", 500)), opening("four"),
		theEnd)
	h.env.WindowTokens = 10_000
	h.openLong(2_500)
	h.maxTokens = 1 << 20
	h.ask(auth)
	turns := 0
	for _, r := range h.receipts()[:4] {
		turns += r.PromptSize + r.History
	}
	counted := regexp.MustCompile(`"used":(\d+),"limit":1048576`).FindAllStringSubmatch(h.trace(), -1)
	if last := counted[len(counted)-1][1]; last == strconv.Itoa(turns) {
		t.Errorf("%s tokens are counted before the last turn: those of the four turns, and none of the notes", last)
	}
}

func TestOfflineNotesListWhatWasSearchedAndRead(t *testing.T) {
	h := setUp(t, modeltest.SayAndCall(needTurn("search"), "code_search", `{"query":"auth"}`), opening("one"),
		opening("two"), opening("three"), modeltest.Say("NOTES."), theEnd)
	h.env.WindowTokens = 13_300 // 60 % of it, less the prompt, is what the conversation may fill
	h.openLong(2_500)
	h.ask(auth)
	at := h.ofNotes()
	assert.Require(t, len(at) == 1, "requests for notes: %v", at)
	resp := assert.Must(oracle.OfflineNotes(t.Context(), h.request(at[0])))(t)
	wantParts(t, "the notes", resp.Text, auth, "code_search", "auth/middleware.go:10-30", "one.go:1-9")
}

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
			taken := len(h.completions(agent.EffectNotes))
			assert.That(t, (taken > 1) == notes, "notes were taken %d times", taken)
			for _, kind := range []string{agent.EffectTurn, agent.EffectNotes, agent.EffectCall} {
				for i, c := range h.completions(kind) {
					assert.Require(t, len(c.Payload) <= 700,
						"payload %d of %s has %d bytes: %s", i+1, kind, len(c.Payload), text.Brief(string(c.Payload), 300))
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
