package oracle

import (
	"slices"
	"strings"
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/model"
	"sibyl/internal/tool"
)

func TestWordIsHeldWithoutItsEndingAndAQuotedPhraseWordByWord(t *testing.T) {
	for _, c := range []struct {
		text, term string
		want       bool
	}{
		{"the loop closes here", "closing", true},
		{"plan for the winter", "planned", true},
		{"a full stop", "stopping", true},
		{"calling home", "called", true},
		{"error: missing '-- +begin' annotation", "missing begin annotation", true},
		{"error: missing annotation", "missing begin annotation", false},
		{"nothing of it", "zanzibar", false},
	} {
		if got := holds(c.text, c.term); got != c.want {
			t.Errorf("holds(%q, %q) = %v", c.text, c.term, got)
		}
	}
}

// passageWith is a read passage of so many lines of filler around text.
func passageWith(path, text string) quote {
	filler := strings.Split(strings.TrimSuffix(strings.Repeat("the common word stands in every line\n", 20), "\n"), "\n")
	return quote{source: tool.Code, path: path, from: 1, lines: append(filler, text)}
}

func TestRareWordWinsOverOneThatStandsEverywhere(t *testing.T) {
	o := offline{terms: []string{"common", "zanzibar"}}
	q := passageWith("a.go", "zanzibar")
	if best := q.best(o.sought([]quote{q}), hit{}); best.to != 21 || !strings.Contains(strings.Join(best.lines, "\n"), "zanzibar") {
		t.Errorf("the passage is %d to %d: %q", best.from, best.to, best.lines)
	}
	terms := o.sought([]quote{q})
	if terms[0].weight >= terms[1].weight {
		t.Errorf("the frequent word weighs %.2f, the rare one %.2f", terms[0].weight, terms[1].weight)
	}
}

func TestQuestionBeforeIsSearchedForWithAFollowUpOnly(t *testing.T) {
	said := func(texts ...string) (out []model.Message) {
		for i, text := range texts {
			out = append(out, model.Message{Role: []model.Role{model.User, model.Assistant}[i%2], Text: text})
		}
		return out
	}
	before := "How long does the poller wait?"
	for question, want := range map[string]string{"and how do I make it wait longer?": before, "Where is the parser defined?": ""} {
		if got := continued(question, said(before, "Ten seconds.", question)); got != want {
			t.Errorf("%q continues %q, want %q", question, got, want)
		}
	}
	if got := continued("and why?", said("and why?")); got != "" {
		t.Errorf("the first question continues %q", got)
	}
}

func TestPassagesOfOneSearchKeepItsOrderAndSearchesAreMerged(t *testing.T) {
	got := merged(map[int][]quote{
		0: {{path: "code second", rank: 1, score: 0.9}, {path: "code first", rank: 0, score: 0.2}},
		1: {{path: "note first", rank: 0, score: 0.5}, {path: "note second", rank: 1, score: 0.1}},
	})
	var order []string
	for _, q := range got {
		order = append(order, q.path)
	}
	if want := []string{"note first", "code first", "code second", "note second"}; !slices.Equal(order, want) {
		t.Errorf("%q, wanted %q", order, want)
	}
}

func TestAPassageThatItsSearchFindsWeakIsNoAnswer(t *testing.T) {
	found := func(fit string) offline {
		search := tool.Result{Items: 1, Refs: []tool.Ref{{Source: tool.Code, Path: "a.go", Start: 1}},
			Data: []byte(`{"hits":[{"path":"a.go","line":1,"start":1,"end":2,"symbol":"quokka"}]` + fit + `}`)}
		read := tool.Result{Items: 1, Refs: []tool.Ref{{Source: tool.Code, Path: "a.go", Start: 1, End: 2, Opened: true}}, Data: []byte(`{"start":1,"lines":["// the quokka sleeps","func quokka() {}"]}`)}
		o := offline{terms: []string{"quokka", "sleeps"}}
		o.sit.Question = "when does the quokka sleep"
		for _, r := range []tool.Result{search, read} {
			o.sit.Steps = append(o.sit.Steps, Step{Receipt: agent.CallReceipt{Result: &r}})
		}
		return o
	}
	for fit, want := range map[string]string{`,"fit":0.34`: "No passage holds most of what the question says", `,"fit":0.36`: "", "": ""} {
		o := found(fit)
		if got := o.lacking(o.quotes(), false); got != want {
			t.Errorf("with %q it lacks %q, wanted %q", fit, got, want)
		}
	}
}
