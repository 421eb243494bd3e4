package oracle_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/schema"
	"sibyl/internal/service/assistant"
	"sibyl/trees"
)

func TestTurnIsToldAsItWasSentAndCallsWithWhatTheyGave(t *testing.T) {
	h := askedHarness(t)
	a := assert.Must(oracle.New(oracle.Deps{}))(t)
	row := assert.Must(h.store.Run(t.Context(), owner, h.last.ID))(t)
	v := assert.Must(a.Recorded(h.store, row, h.records()))(t)
	turns := 0
	for seq, c := range v.Receipts() {
		x, err := oracle.Describe(a, oracle.Surroundings{}).ShowEffect(t.Context(), v, c)
		assert.NoErrorf(t, err, "record %d", seq)
		switch c.Kind {
		case agent.EffectTurn:
			turns++
			toldAsSent(t, h, turns, x)
		case agent.EffectCall:
			got := c.Value.(agent.CallReceipt)
			assert.That(t, x.To == got.Tool && len(x.Got) == 1 && x.Got[0].Text == got.Result.Text &&
				x.Sent[0].Kind == assistant.PartCall, "record %d is told as %+v", seq, x)
		}
	}
	same(t, "turns", turns, 3)
}

// toldAsSent holds the parts of a turn against its request.
func toldAsSent(t *testing.T, h *harness, turn int, x assistant.ShownEffect) {
	t.Helper()
	sent := h.request(turn)
	var segments, texts []string
	tools := 0
	for _, p := range x.Sent {
		switch p.Kind {
		case assistant.PartSegment:
			segments = append(segments, p.Text)
		case assistant.PartTool:
			tools++
		case assistant.PartCall:
		default:
			texts = append(texts, p.Text)
		}
	}
	same(t, "the prompt", strings.Join(segments, "\n\n"), prompted(sent))
	same(t, "tools", tools, len(sent.Tools))
	var said []string
	for _, m := range withoutNotes(sent) {
		if m.Text != "" {
			said = append(said, m.Text)
		}
	}
	same(t, "what was said", texts, said)
	assert.That(t, !x.Changed && x.To != "" && len(x.Got) != 0 && x.Got[0].Kind == assistant.PartModel,
		"turn %d is told as %+v", turn, x)
}

func TestEdgeMalformedSignalCountsAsNoneAndIsLoggedAndStripped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ markup, reason string }{
		"an unknown type":             {element("done", "0.9"), `no signal type "done"`},
		"no end":                      {`<signal type="need_turn"><reason>more</reason>`, "ends inside the signal"},
		"elements in the wrong order": {`<signal type="need_turn"><reason>more</signal></reason>`, "not well-formed"},
	} {
		t.Run(name, func(t *testing.T) {
			h := setUp(t, modeltest.Say("It checks a token. "+c.markup), modeltest.Say("It checks a token, I think. "+
				partial("a proof")))
			a := h.ask(auth)
			wantParts(t, "what is said after it", lastText(h.request(2)),
				"[control] Now answer")
			if len(a.Problems) == 0 || !strings.Contains(a.Problems[0].Reason, c.reason) {
				t.Errorf("the problems are %+v; want one that says %q", a.Problems, c.reason)
			}
			same(t, "signals", len(a.Signals), 1)
			wantNoParts(t, "what was shown", h.shown, "signal", "more", "0.9")
			wantParts(t, "the trace", h.trace(), "signal.heard malformed=")
			if problems := h.receipts()[0].Report.Problems; len(problems) == 0 || problems[0].Raw == "" {
				t.Errorf("the journal keeps %+v of the malformed signal", problems)
			}
		})
	}
}

func TestCallsAreShownInTheOrderInWhichTheModelMadeThem(t *testing.T) {
	h := setUp(t, modeltest.Call("code_read", lines("auth/middleware.go", 10, 30)).AndCall(oracle.ReportTool,
		`{"type":"need_turn","confidence":0.8,"reason":"reading"}`),
		modeltest.Say("It checks a token (`auth/middleware.go:12`)."))
	h.env.ReportTool = true
	h.ask(auth)
	var names []string
	for _, m := range h.request(2).Messages {
		for _, c := range m.ToolCalls {
			names = append(names, c.Name)
		}
	}
	same(t, "calls", names, []string{"code_read", oracle.ReportTool})
}

func TestTreeWithValuesThatNoLeafTakesIsRefused(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{`type="need_turn"`, `type="need_trun"`, "did you mean need_turn?"},
		{`stop_reason="partial"`, `stop_reason="banana"`, "one of satisfied, partial, budget, stuck, loop, needs_user"},
		{`unsure_below="0.3"`, `unsure_below="7"`, "at most 1"},
		{`silent_turns="3"`, `silent_turns="0"`, "at least 1"},
	} {
		t.Run(c.to, func(t *testing.T) {
			h := setUp(t)
			h.tree.Text = []byte(strings.Replace(string(h.tree.Text), c.from, c.to, 1))
			spec := assert.Must(h.begin(t.Context(), h.store, h.question(auth)))(t)
			_, err := h.newEngine(h.store, "test", nil).Start(t.Context(), spec)
			assert.That(t, err != nil && strings.Contains(err.Error(), c.want), "starting gives %v; want %q", err, c.want)
		})
	}
}

// The tree holds the rules that a person might want to change. What computes belongs into leaves.
func TestTreeOfTheOracleHasAtMost150Nodes(t *testing.T) {
	tree := assert.Must(trees.Set{}.Get(oracle.Name))(t)
	nodes := 0
	for d := xml.NewDecoder(bytes.NewReader(tree.Text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		assert.NoError(t, err)
		if e, ok := token.(xml.StartElement); ok && e.Name.Local != "root" && e.Name.Local != "BehaviorTree" {
			nodes++
		}
	}
	assert.That(t, nodes <= 150, "it has %d nodes", nodes)
}

// readOptions reads options of the Oracle, where ‘home’ and ‘notes’ are folders.
func readOptions(raw string) (oracle.Options, error) {
	object := schema.Of[oracle.Options]()
	o := object.New(nil).(*oracle.Options)
	err := object.Decode([]byte(raw), o)
	if err == nil {
		err = object.FindFolders(o, func(_ *schema.Field, name string) (string, error) {
			if name != "home" && name != "notes" {
				return "", errors.New("there is no such folder")
			}
			return "/srv/" + name, nil
		})
	}
	return *o, err
}

func TestOptionsOfTheOracleAreReadFromJSON(t *testing.T) {
	for raw, want := range map[string]oracle.Options{
		"":     {},
		"null": {},
		`{"model":"","code":null,"max_turns":null,"fallback":null}`: {},
		`{"fallback":false}`:           {Fallback: new(false)},
		`{"web":true}`:                 {Web: new(true)},
		`{"model":"other:llama:8b"}`:   {Model: "other:llama:8b"},
		`{"max_turns":200}`:            {MaxTurns: 200},
		`{"max_tokens":1000}`:          {MaxTokens: 1000},
		`{"max_time_seconds":90}`:      {MaxTime: 90 * time.Second},
		`{"code":"home"}`:              {Code: schema.Folder{Name: "home", Path: "/srv/home"}},
		`{"vault":"notes"}`:            {Vault: schema.Folder{Name: "notes", Path: "/srv/notes"}},
		`{"material":"Tea for three"}`: {Material: "Tea for three"},
	} {
		got, err := readOptions(raw)
		diff := cmp.Diff(want, got)
		assert.That(t, diff == "" && err == nil, "%s: %v\n%s", raw, err, diff)
	}
}

func TestWrongOptionsOfTheOracleAreToldWithoutWhatTheyHold(t *testing.T) {
	for raw, want := range map[string]string{
		`{"hunter2":1}`:               "have a name that is not known",
		`{"piped":true}`:              "have a name that is not known",
		`{"max_turns":0}`:             "max_turns must be a whole number from 1 to 200",
		`{"max_tokens":99999999999}`:  "max_tokens must be a whole number from 1000 to 10000000",
		`{"max_time_seconds":4}`:      "max_time_seconds must be a whole number from 5 to 3600",
		`{"fallback":"hunter2"}`:      "fallback must be true or false",
		`{"code":"hunter2"}`:          "there is no such folder",
		`{"model":"hunter2 hunter2"}`: "model must be a model, as provider:model or by its name, in one word of at most 200 characters",
	} {
		_, err := readOptions(raw)
		assert.That(t, err != nil && strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), "hunter2"),
			"%s: %v; want %q", raw, err, want)
	}
}
