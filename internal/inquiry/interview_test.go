package inquiry_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/inquiry"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// interview is one with these answers.
func interview(t *testing.T, answers ...string) inquiry.Interview {
	t.Helper()
	var pairs []map[string]string
	for n, a := range answers {
		pairs = append(pairs, map[string]string{"question": questions[n], "answer": a})
	}
	raw := must(json.Marshal(map[string]any{"hypothesis": bridge, "language": "en", "pairs": pairs}))(t)
	return must(inquiry.ReadInterview(raw))(t)
}

// keys are the members of a JSON object, in order.
func keys(t *testing.T, raw any) []string {
	t.Helper()
	object, ok := raw.(map[string]any)
	if !ok {
		t.Fatalf("%v is no object", raw)
	}
	return slices.Sorted(maps.Keys(object))
}

// shaped wants a finding to have the form that is promised, with no list that is null.
func shaped(t *testing.T, f inquiry.Found, pairs int) {
	t.Helper()
	var got map[string]any
	if err := json.Unmarshal(must(json.Marshal(f))(t), &got); err != nil {
		t.Fatal(err)
	}
	same(t, "members", keys(t, got), []string{"by", "completeness", "contradictions", "pairs", "satisfied", "suspicions"})
	all, _ := got["pairs"].([]any)
	same(t, "pairs", len(all), pairs)
	for _, p := range all {
		same(t, "members of a pair", keys(t, p), []string{"gaps"})
		gaps, isList := p.(map[string]any)["gaps"].([]any)
		if !isList {
			t.Errorf("gaps are %v", p)
		}
		for _, g := range gaps {
			same(t, "members of a gap", keys(t, g), []string{"aspect", "category", "description", "severity"})
		}
	}
	for _, list := range []string{"contradictions", "suspicions"} {
		clashes, isList := got[list].([]any)
		if !isList {
			t.Errorf("%s are %v", list, got[list])
		}
		for _, c := range clashes {
			same(t, "members of a clash", keys(t, c), []string{"kind", "pairs", "reason", "words"})
			at := c.(map[string]any)["pairs"].([]any)
			if len(at) != 2 || at[0].(float64) >= at[1].(float64) || at[1].(float64) >= float64(pairs) {
				t.Errorf("pairs of a clash: %v", at)
			}
		}
	}
	if c := got["completeness"].(float64); c < 0 || c > 100 {
		t.Errorf("completeness %v", c)
	}
}

func TestInterviewIsAnalysedByRulesAlone(t *testing.T) {
	h := newHouse(t)
	h.broken = errors.New("a model is asked")
	for _, answers := range [][]string{{"It was closed."}, {""}, {"There are 40 beams in the bridge.", "There are 60 beams in the bridge.", "Some time ago, I think."}} {
		f := must(h.process("one", h.journal).desk.Analyse(t.Context(), inquiry.RulesModel, interview(t, answers...)))(t)
		shaped(t, f, len(answers))
		same(t, "by", f.By, inquiry.RulesModel)
	}
}

func TestInterviewIsAnalysedByAModelAndWhatItSuspectsIsNotRecorded(t *testing.T) {
	h := newHouse(t)
	none := clash{First: 1, Second: 3, FirstWords: "41 beams", SecondWords: "Some time", Kind: "other", Description: "Words that nobody said."}
	blue := clash{First: 1, Second: 3, FirstWords: "40 beams", SecondWords: "green", Kind: "other", Description: "Beams are not green."}
	h.analyses = func(int, model.Request) modeltest.Turn {
		return said{Gaps: []gap{missing(3, "high"), missing(1, "low")}, Complete: 60, More: true, Contradictions: []clash{blue, none}}.turn()
	}
	f := must(h.process("one", h.journal).desk.Analyse(t.Context(), acting, interview(t, "There were 40 beams.", "Ada Miller was in charge.", "The gate is green.")))(t)
	shaped(t, f, 3)
	same(t, "found", f, inquiry.Found{Pairs: []inquiry.FoundPair{
		{Gaps: []inquiry.FoundGap{{Category: "missing_information", Severity: "low", Aspect: "when", Description: "No date is in answer 1."}}}, {Gaps: []inquiry.FoundGap{}},
		{Gaps: []inquiry.FoundGap{{Category: "missing_information", Severity: "high", Aspect: "when", Description: "No date is in answer 3."}}}},
		Contradictions: []inquiry.FoundClash{}, Suspicions: []inquiry.FoundClash{{Pairs: [2]int{0, 2}, Reason: blue.Description, Kind: "other", Words: [2]string{"40 beams", "green"}}},
		Completeness: 60, By: acting})
	same(t, "answers that the model is told", answered(h.requests(analysing)[0]), 3)
}

func TestModelThatCanNotAnalyseAnInterviewIsAnError(t *testing.T) {
	for name, turn := range map[string]modeltest.Turn{"broken JSON twice": modeltest.Func(garbled), "rate limit": modeltest.Fail(model.RateLimit)} {
		h := newHouse(t)
		h.analyses = func(int, model.Request) modeltest.Turn { return turn }
		if f, err := h.process("one", h.journal).desk.Analyse(t.Context(), acting, interview(t, "Yes.")); model.KindOf(err) == "" || err == nil {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

func TestInterviewThatCanNotBeReadSaysWhatIsWrong(t *testing.T) {
	pair := `{"question":"Who?","answer":"Ada."}`
	for raw, words := range map[string]string{
		``: "an interview is {", `nothing`: "an interview is {", `[]`: "an interview is {", `{"hypothesis":"x","pairs":[`: "an interview is {",
		`{"hypothesis":"x","pairs":[{"question":1}]}`:                      "an interview is {",
		`{"hypothesis":"x","pairs":[` + pair + `],"notes":1}`:              "notes",
		`{"hypothesis":"x","pairs":[{"q":"Who?","a":"Ada."}]}`:             `"q"`,
		`{"hypothesis":" ","pairs":[` + pair + `]}`:                        "hypothesis is missing",
		`{"pairs":[` + pair + `]}`:                                         "hypothesis is missing",
		`{"hypothesis":"x"}`:                                               "there are 0 pairs",
		`{"hypothesis":"x","pairs":[]}`:                                    "there are 0 pairs",
		`{"hypothesis":"x","language":"fr","pairs":[` + pair + `]}`:        `language is "fr"`,
		`{"hypothesis":"x","pairs":[` + pair + `,{"answer":"Ada."}]}`:      "pairs[1].question",
		`{"hypothesis":"x","pairs":[` + pair + `]} {"hypothesis":"again"}`: "more than one JSON value",
		`{"hypothesis":"x","pairs":[` + strings.TrimSuffix(strings.Repeat(pair+",", inquiry.MostPairs+1), ",") + `]}`: fmt.Sprintf("there are %d pairs", inquiry.MostPairs+1),
	} {
		if _, err := inquiry.ReadInterview([]byte(raw)); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%.80s: %v", raw, err)
		}
	}
}
