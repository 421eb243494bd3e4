package oracle_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
	"sibyl/internal/signal"
)

// bytewise streams a text one byte at a time.
func bytewise(text string) modeltest.Turn { return modeltest.Turn{Chunks: strings.Split(text, "")} }

func TestNoSignalMarkupReachesAnswerPiecesOrSession(t *testing.T) {
	h := setUp(t,
		bytewise("Look here. "+needTurn("read <b>more</b>")).AndCall("code_read", lines("a.go", 1, 9)),
		bytewise("First <signal is only a word. "+element("done", "0.9")+" Then "+needTurn("more")+" after."),
		bytewise("The end, as it reads in `a.go:1`: a < b. "+enough()+"\n"+enough()))
	a := h.ask(auth)
	same(t, "answer", a.Answer, "The end, as it reads in `a.go:1`: a < b.")
	for _, p := range h.raw {
		wantNoParts(t, "a piece", p, "<signal ty", "</signal", "<reason", "<confidence")
	}
	same(t, "all that was shown", h.shown,
		"Look here. \nFirst <signal is only a word.  Then  after.\nThe end, as it reads in `a.go:1`: a < b. \n\n")
	all := h.endedAnswers(h.session)
	same(t, "the session's exchange", all, []oracle.Answer{a})
}

func TestAllSignalsAreInTheJournalWithTheirRawXML(t *testing.T) {
	signals := []string{needTurn("read more"), needCapability("sending an email"), stuck("no hit"), partial("the rest")}
	var turns []modeltest.Turn
	for _, s := range signals {
		turns = append(turns, modeltest.Say("Words. "+s))
	}
	h := setUp(t, turns...)
	a := h.ask(auth)
	var inReceipts, inAnswer []string
	for _, r := range h.receipts() {
		inReceipts = append(inReceipts, r.Report.Signal.RawXML)
	}
	for _, s := range a.Signals {
		inAnswer = append(inAnswer, s.RawXML)
	}
	same(t, "raw XML in the receipts", inReceipts, signals)
	same(t, "raw XML in the answer", inAnswer, signals)
}

func TestTimestampOfASignalIsTheDateAndTimeAtWhichItWasParsed(t *testing.T) {
	h := setUp(t, reading(1), modeltest.Say("Done. "+enough()+needTurn("an extra one")))
	before := time.Now().Truncate(time.Millisecond)
	a := h.ask(auth)
	same(t, "signals", len(a.Signals), 3)
	for _, s := range a.Signals {
		assert.That(t, !s.At.Before(before) && !s.At.After(time.Now()), "%s was parsed at %v", s.Type, s.At)
	}
	same(t, "timestamp of the last signal", a.Signal.At, a.Signals[1].At)
	raw := assert.Must(json.Marshal(h.signals()[0].Signal))(t)
	wantParts(t, "the audited signal", string(raw), `"timestamp":"`+a.Signals[0].At.Format(time.RFC3339Nano)+`"`)
}

func TestProvisionalTextIsMarkedWithItsTurn(t *testing.T) {
	h := setUp(t, modeltest.Say("one "+needTurn("more")), modeltest.Say("two "+partial("more")))
	live := h.start(auth)
	ops := map[string]uint64{}
	for u := range live.Watch(t.Context(), 0) {
		if u.Piece != nil {
			ops[strings.TrimSpace(u.Piece.Text)] = u.Piece.Op
		}
	}
	assert.Must(live.Wait(t.Context()))(t)
	assert.That(t, ops["one"] != 0 && ops["two"] != 0 && ops["one"] != ops["two"],
		"the operations of the two turns' text are %v", ops)
}

// fill gives every field a value that is not its zero value.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("some text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Map: // values of a reason, which may have such of their own
		v.Set(reflect.ValueOf(map[string]bt.Why{"name": bt.Because("some text")}))
	default:
		panic("an event has a field of the kind " + v.Kind().String())
	}
}

func TestEveryEventIsReadBackAsItWasToldAndTraced(t *testing.T) {
	words := run.NewVocabulary(oracle.Events()...)
	for _, e := range oracle.Events() {
		t.Run(e.EventType(), func(t *testing.T) {
			told := reflect.New(reflect.TypeOf(e))
			fill(told.Elem())
			raw := assert.Must(json.Marshal(told.Interface()))(t)
			kept := run.TraceEvent{Rule: "Oracle/Node", Type: e.EventType(), Data: raw}
			same(t, "what is read", words.Read(kept), told.Elem().Interface())
			if text := kept.String(); !strings.HasPrefix(text, e.EventType()+" ") || strings.Contains(text, "\n") {
				t.Errorf("it is traced as %q", text)
			}
			text := words.Story(kept).Text
			assert.That(t, !strings.ContainsAny(text, "{}\n"), "it is told as %q", text)
		})
	}
}

var (
	ownName = regexp.MustCompile(` name="[^"]*"`)
	openTag = regexp.MustCompile(`<([A-Z]\w*)`)
)

// What people and programs are told of a run hangs on no name that a tree gives to its nodes.
func TestNamesOfNodesChangeNothingThatIsTold(t *testing.T) {
	played := func(rename bool) *harness {
		h := setUp(t, modeltest.SayAndCall(needTurn("look"), "code_search", `{"query":"auth"}`),
			modeltest.Say(needTurn("a thought")),
			modeltest.Say(stuck("no hit")), modeltest.SayAndCall(needCapability("sending an email"), "code_read",
				lines("auth/middleware.go", 10, 30)),
			modeltest.Say("It checks a token (`auth/middleware.go:12`). "+enough()+partial("the rest")))
		if rename {
			n := 0
			h.tree.Text = openTag.ReplaceAllFunc(ownName.ReplaceAll(h.tree.Text, nil), func(tag []byte) []byte {
				if string(tag) == "<BehaviorTree" {
					return tag
				}
				n++
				return fmt.Appendf(slices.Clip(tag), ` name="renamed %d"`, n)
			})
			assert.Require(t, n >= 80, "only %d nodes were renamed", n)
		}
		h.engine = h.newEngine(h.store, "test", newHandClock())
		h.ask(auth)
		return h
	}
	h, renamed := played(false), played(true)
	same(t, "trace", renamed.trace(), h.trace())
	same(t, "steps", renamed.steps(), h.steps())
	same(t, "signals", cmp.Diff(h.signals(), renamed.signals(), cmpopts.IgnoreFields(signal.Signal{}, "At")), "")
	wantNoParts(t, "the trace", renamed.trace(), "renamed")
}
