package bt

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

type thing struct {
	Name  string   `json:"name"`
	Parts []string `json:"parts"`
}

// values has a port of every kind of type, all optional.
type values struct {
	Text  string   `port:"text,optional"`
	Int   int      `port:"int,optional"`
	Float float64  `port:"float,optional"`
	Bool  bool     `port:"bool,optional"`
	List  []string `port:"list,optional"`
	Thing thing    `port:"thing,optional"`
	Ref   *thing   `port:"ref,optional"`
}

type noPorts struct{}

// emitLeaf writes what it is told to; useLeaf takes whatever it is wired to and hands it to see; needLeaf wants a text.
func emitLeaf(v *values) Leaf {
	return Func("Emit", "writes values", func(_ noPorts, out *values) error {
		*out = *v
		return nil
	})
}

func useLeaf(see func(values)) Leaf {
	return Func("Use", "reads values", func(in values, _ *noPorts) error {
		see(in)
		return nil
	})
}

func needLeaf() Leaf {
	type in struct {
		Text string `port:"text" doc:"some words"`
	}
	return Check("Need", "wants a text", func(i in) (bool, string) { return i.Text != "", "it is ‘" + i.Text + "’" })
}

type askIn struct {
	Question string `port:"question" doc:"the person's words"`
	Limit    int    `port:"limit" default:"3" doc:"how many hits"`
	Hint     string `port:"hint,optional"`
}

// askLeaf has one request, for a model; its completion's result is the answer.
func askLeaf() Leaf {
	type out struct {
		Answer string `port:"answer" doc:"the model's words"`
	}
	return Task("Ask", "asks a model", func(in askIn) ([]Request, error) {
		return []Request{{Kind: "model", Label: in.Question, Payload: in}}, nil
	}, func(_ askIn, done []Completion, o *out) error {
		if done[0].Err != nil {
			return done[0].Err
		}
		return json.Unmarshal(done[0].Result, &o.Answer)
	})
}

func registry(tb testing.TB, leaves ...Leaf) *Leaves {
	tb.Helper()
	r := assert.Must(NewLeaves(leaves...))(tb)
	return r
}

// someLeaves is a registry of Emit, Use, Need and Ask.
func someLeaves(tb testing.TB) *Leaves {
	return registry(tb, emitLeaf(&values{}), useLeaf(func(values) {}), needLeaf(), askLeaf())
}

// file wraps the body of a main tree, and whole other trees, into a file.
func file(main string, others ...string) string {
	return `<root BTCPP_format="4" main_tree_to_execute="Main"><BehaviorTree ID="Main">` + main + `</BehaviorTree>` +
		strings.Join(others, "") + `</root>`
}

func load(tb testing.TB, r *Leaves, text string, opt Options) *Tree {
	tb.Helper()
	t, err := r.Load("test.xml", []byte(text), opt)
	assert.Require(tb, err == nil, "%v\nin %s", err, text)
	return t
}

// problems are what Load finds, each as "line:col: message // hint".
func problems(tb testing.TB, r *Leaves, text string, opt Options) []string {
	tb.Helper()
	t, err := r.Load("test.xml", []byte(text), opt)
	var found []Problem
	var bad *LoadError
	switch {
	case errors.As(err, &bad):
		found = bad.Problems
	case err != nil:
		tb.Fatalf("%v is no LoadError", err)
	default:
		found = t.Warnings
	}
	var lines []string
	for _, p := range found {
		line := fmt.Sprintf("%d:%d: %s", p.Line, p.Col, p.Message)
		if p.Warning {
			line = "warning " + line
		}
		if p.Hint != "" {
			line += " // " + p.Hint
		}
		lines = append(lines, line)
	}
	return lines
}

// step is one Step that must not break.
func step(tb testing.TB, t *Tree, s *State, in Input) Result {
	tb.Helper()
	res := assert.Must(t.Step(s, in, nil))(tb)
	return res
}

// Tick is Step with exactly one tick.
func (t *Tree) Tick(s *State, in Input, on func(Event)) (Result, error) {
	x := t.beginStep(s, in, on)
	x.tickRoot()
	return x.endStep()
}

// Set writes a key of the root scope as a leaf would.
func (t *Tree) Set(s *State, key string, value any) error {
	i := t.rootKeys[key]
	v, err := t.slots[i].convert(value)
	if err != nil {
		return fmt.Errorf("key {%s}: %w", key, err)
	}
	return s.setSlot(i, key, v)
}

func set(tb testing.TB, t *Tree, s *State, key string, value any) {
	tb.Helper()
	assert.NoError(tb, t.Set(s, key, value))
}
