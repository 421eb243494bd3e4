package oracle_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
	"sibyl/internal/signal"
)

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
