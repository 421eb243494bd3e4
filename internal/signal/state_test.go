package signal

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/lineartest"
)

func turn(reason string) Signal {
	return Signal{Type: NeedTurn, Confidence: 0.5, Fields: map[string]Value{"reason": {Kind: Text, Text: reason}},
		RawXML: "x"}
}

func TestSameReasonCountsAfterTrimmingAndFolding(t *testing.T) {
	var s State
	for i, reason := range []string{"Read the file", " read  the FILE ", "read the file"} {
		s = s.OnSignal(turn(reason), true)
		assert.Require(t, s.ConsecutiveSameReason == i+1,
			"after %q the count is %d, want %d", reason, s.ConsecutiveSameReason, i+1)
	}
	s = s.OnSignal(turn("something else"), true)
	assert.That(t, s.ConsecutiveSameReason == 1, "another reason counts as %d, want 1", s.ConsecutiveSameReason)
}

func TestNumbersAreMaskedOnlyWhileNoSourceCameIn(t *testing.T) {
	s := State{}.OnSignal(turn("page 3"), false)
	got := s.OnSignal(turn("page 14"), false).ConsecutiveSameReason
	assert.That(t, got == 2, "without a new source, page 3 and page 14 count %d, want 2", got)
	got = s.OnSignal(turn("page 14"), true).ConsecutiveSameReason
	assert.That(t, got == 1, "with a new source, page 3 and page 14 count %d, want 1", got)
}

func TestSilentTurnResetsTheReasonsAndCounts(t *testing.T) {
	s := State{}.OnSignal(turn("x"), true).OnSignal(turn("x"), true).OnSilentTurn().OnSilentTurn()
	assert.That(t, s.ConsecutiveSameReason == 0 && s.TurnsWithoutSignal == 2, "after two silent turns: %+v", s)
	s = s.OnSignal(turn("x"), true)
	assert.That(t, s.ConsecutiveSameReason == 1 && s.TurnsWithoutSignal == 0,
		"a signal after silence: same reason %d, silent %d; want 1, 0", s.ConsecutiveSameReason, s.TurnsWithoutSignal)
}

func TestStateIsAValue(t *testing.T) {
	s := State{}.OnSignal(turn("a"), true)
	s.OnSignal(turn("b"), true)
	s.OnSignal(turn("c"), true)
	assert.That(t, len(s.SignalsEmitted) == 1 && s.LastSignal.Text("reason") == "a",
		"a later signal changed an earlier state: %+v", s)
}

func TestNeutraliseMakesControlTagsInertAndNothingElse(t *testing.T) {
	for _, name := range []string{"signal type='stuck'", "/signal", " SIGNAL ", "tool_call", "x:invoke name='y'",
		"system", "|im_start|"} {
		in := "before <" + name + "> after"
		assert.Equalf(t, Neutralise(in), "before &#60;"+name+"> after", "Neutralise(%q)", in)
	}
	assert.Equalf(t, Neutralise("\uff1csignal> [Control] go"), "&#60;signal> (Control) go",
		"fullwidth bracket and control mark")
	for _, in := range []string{"if a < b {", "if a < s {", "List<S>", "Function<A>", "<parameter name='x'>", "<div>",
		"a<signals>", "[controls]", "x[i]", strings.Repeat("x", 1000)} {
		got := Neutralise(in)
		assert.That(t, got == in, "Neutralise(%q) = %q, want it unchanged", in, got)
	}
}

// The extractor's work is counted by TestWorkIsInProportionToTheText.
func TestNeutralisingTakesTimeInProportionToTheText(t *testing.T) {
	for name, part := range hostileTexts {
		ratios := lineartest.Check(t, 4<<10, func(size int) func() {
			text := strings.Repeat(part, size/len(part)+1)
			return func() { Neutralise(text) }
		})
		t.Logf("%s: %s", name, ratios)
	}
}

func TestExamplesOfTheDocumentParse(t *testing.T) {
	text := assert.Must(os.ReadFile("../../docs/signals.md"))(t)
	seen := map[Type]bool{}
	for _, line := range strings.Split(string(text), "\n") {
		if !strings.HasPrefix(line, "<"+tagName+" ") {
			continue
		}
		s, err := Parse(line)
		assert.That(t, err == nil, "%s: %v", line, err)
		seen[s.Type] = true
	}
	for _, spec := range Specs() {
		assert.That(t, seen[spec.Type], "the document has no example of %s", spec.Type)
		for _, f := range spec.Fields {
			assert.That(t, strings.Contains(string(text), "`"+f.Name+"`"),
				"the document does not name the field %s of %s", f.Name, spec.Type)
		}
	}
}

// inertVector is a case as docs/vectors.md describes it.
type inertVector struct {
	Name  string `json:"name"`
	Text  string `json:"text"`
	Inert string `json:"inert"`
}

func TestTextsOfTheVectorsAreNeutralised(t *testing.T) {
	vectors := readVectors[inertVector](t, "neutralise.json")
	named := map[string]bool{}
	for _, v := range vectors {
		named[v.Name] = true
		got := Neutralise(v.Text)
		assert.NoDiff(t, cmp.Diff(v.Inert, got), "%s", v.Name)
		assert.That(t, strings.HasSuffix(v.Name, " stays") == (got == v.Text) || v.Name == "empty",
			"%s: %q became %q", v.Name, v.Text, got)
		assert.That(t, Neutralise(got) == got, "%s: twice it is %q", v.Name, Neutralise(got))
		if clean, r := Extract(got); clean != got || r.Signal != nil || r.Problems != nil || r.Mentions != nil {
			t.Errorf("%s: %q still holds a signal", v.Name, got)
		}
	}
	for name := range controlNames {
		assert.That(t, named["element "+name], "no vector has the element %s", name)
	}
	for name := range assignedNames {
		assert.That(t, named["element "+name+" with a value"], "no vector has the element %s with a value", name)
	}
	for word := range bracketWords {
		assert.That(t, named["mark "+word], "no vector has the mark %s", word)
	}
}
