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
	"sibyl/internal/inquiry/rules"
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
		f := must(h.process("one", h.journal).desk.Analyse(t.Context(), model.OfflineRules, interview(t, answers...)))(t)
		shaped(t, f, len(answers))
		same(t, "by", f.By, model.OfflineRules)
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

func TestInterviewThatCanNotBeReadSaysWhatIsWrongAndWhere(t *testing.T) {
	pair := `{"question":"Who?","answer":"Ada."}`
	for raw, words := range map[string]string{
		``: "it is empty; an interview is {", `nothing`: "(line 1): it is not JSON: invalid character", "\n\n[]": "(line 3): it is a list, and has to be an object",
		"{\"hypothesis\":\"x\",\n\"pairs\":[":                                                                         "(line 2): it is not JSON: unexpected end",
		"{\"hypothesis\":\"x\",\n\"pairs\":[\n{\"question\":1}]}":                                                     "pairs[0].question (line 3): it is a number, and has to be a text",
		"{\"hypothesis\":\"x\",\n\"pairs\":[\n" + pair + ",\n null]}":                                                 "pairs[1] (line 4): it is null, and has to be an object",
		"{\"hypothesis\":\"x\",\n\"pairs\":" + pair + "}":                                                             "pairs (line 2): it is an object, and has to be a list",
		"{\"hypothesis\":\"x\",\n\"pairs\":[" + pair + "],\n\"notes\":1}":                                             `(line 3): there is no field "notes"`,
		"{\"hypothesis\":\"x\",\n\"pairs\":[{\"q\":\"Who?\",\"a\":\"Ada.\"}]}":                                        `pairs[0] (line 2): there is no field "q": a pair has "question" and "answer"`,
		"{\n\"hypothesis\":\" \",\"pairs\":[" + pair + "]}":                                                           "hypothesis (line 2): it is missing, or empty",
		"{\"hypothesis\":\"x\",\n\"hypothesis\":\"y\",\"pairs\":[" + pair + "]}":                                      `(line 2): "hypothesis" comes twice`,
		`{"pairs":[` + pair + `]}`:                                                                                    "hypothesis: it is missing, or empty",
		`{"hypothesis":"x"}`:                                                                                          "pairs: there are 0 pairs",
		`{"hypothesis":"x","pairs":[]}`:                                                                               "pairs (line 1): there are 0 pairs",
		`{"hypothesis":["x"],"pairs":[` + pair + `]}`:                                                                 "hypothesis (line 1): it is a list, and has to be a text",
		`{"hypothesis":"x","language":"fr","pairs":[` + pair + `]}`:                                                   `language (line 1): it is "fr"`,
		"{\"hypothesis\":\"x\",\"pairs\":[" + pair + ",\n{\"answer\":\"Ada.\"}]}":                                     "pairs[1].question (line 2): it is missing",
		"{\"hypothesis\":\"x\",\"pairs\":[" + pair + ",\n\n{\"question\":\"Who?\"}]}":                                 `pairs[1].answer (line 3): it is missing; an answer that says nothing is ""`,
		`{"hypothesis":"x","pairs":[` + pair + "]}\n{\"hypothesis\":\"again\"}":                                       "(line 2): there is more than one JSON value",
		`{"hypothesis":"x","pairs":[` + strings.TrimSuffix(strings.Repeat(pair+",", inquiry.MostPairs+1), ",") + `]}`: fmt.Sprintf("there are %d pairs", inquiry.MostPairs+1),
	} {
		_, err := inquiry.ReadInterview([]byte(raw))
		if _, is := errors.AsType[*inquiry.InterviewError](err); !is || !strings.Contains(err.Error(), words) {
			t.Errorf("%.80s: %v, want %s", raw, err, words)
		}
	}
}

func TestInterviewIsReadInAnyWritingOfItsForm(t *testing.T) {
	want := inquiry.Interview{Hypothesis: "x", Language: "de", Pairs: []inquiry.Exchange{{Question: "Wer?", Answer: ""}, {Question: "Wann?", Answer: "Am\n\"3.\" Mai ü"}}}
	for _, raw := range []string{
		`{"hypothesis":"x","language":"de","pairs":[{"question":"Wer?","answer":""},{"question":"Wann?","answer":"Am\n\"3.\" Mai \u00fc"}]}`,
		"\ufeff{\r\n \"pairs\" : [ {\"answer\":\"\" , \"Question\":\"Wer?\"},\r\n{\"question\":\"Wann?\",\"answer\":\"Am\\n\\\"3.\\\" Mai ü\"}],\"Language\":\"de\",\"hypothesis\":\"x\"}\r\n\r\n",
	} {
		same(t, "interview", must(inquiry.ReadInterview([]byte(raw)))(t), want)
	}
}

// Half of it is English and half German, with answers that say nothing, and in neither language; it has as many pairs as anybody has.
func TestLongInterviewOfSeveralLanguagesIsAnalysed(t *testing.T) {
	h := newHouse(t)
	h.broken = errors.New("a model is asked")
	i := inquiry.Interview{Hypothesis: bridge}
	for n := range 200 {
		pair := inquiry.Exchange{Question: fmt.Sprintf("How many bolts has beam %d?", n), Answer: fmt.Sprintf("Beam %d has %d bolts.", n, 40+n%7)}
		switch n % 4 {
		case 1:
			pair = inquiry.Exchange{Question: fmt.Sprintf("Wie viele Schrauben hat der Träger %d?", n), Answer: fmt.Sprintf("Der Träger %d hat %d Schrauben.", n, 40+n%7)}
		case 2:
			pair = inquiry.Exchange{Question: fmt.Sprintf("Who signed the report of day %d?", n), Answer: strings.Repeat(" ", n%3)}
		case 3:
			pair.Answer = "Quién sabe; 誰も知らない. \xff"
		}
		i.Pairs = append(i.Pairs, pair)
	}
	f := must(h.process("one", h.journal).desk.Analyse(t.Context(), model.OfflineRules, i))(t)
	shaped(t, f, 200)
	same(t, "satisfied", f.Satisfied, false)
}

func TestEmptyAnswersLeaveOpenWhatWasAsked(t *testing.T) {
	h := newHouse(t)
	i := inquiry.Interview{Hypothesis: bridge, Pairs: []inquiry.Exchange{{Question: questions[0]}, {Question: questions[1], Answer: " \n"}, {Question: "Wie viele Träger hat sie?"}, {Question: questions[3], Answer: "\u00a0"}}}
	f := must(h.process("one", h.journal).desk.Analyse(t.Context(), model.OfflineRules, i))(t)
	shaped(t, f, 4)
	for n, p := range f.Pairs {
		if len(p.Gaps) == 0 || p.Gaps[0].Category != "missing_information" {
			t.Errorf("answer %d is empty, and leaves open %+v", n, p.Gaps)
		}
	}
}

func TestLanguageOfAnInterviewIsThatOfMostOfItsWords(t *testing.T) {
	h := newHouse(t)
	i := inquiry.Interview{Hypothesis: "Brand in Halle 3", Pairs: []inquiry.Exchange{{Question: "Wann hat es angefangen?", Answer: ""}}}
	f := must(h.process("one", h.journal).desk.Analyse(t.Context(), model.OfflineRules, i))(t)
	if len(f.Pairs[0].Gaps) == 0 || rules.Language(f.Pairs[0].Gaps[0].Description) != "de" {
		t.Errorf("%+v", f)
	}
}

func BenchmarkAnalyse200Pairs(b *testing.B) {
	i := inquiry.Interview{Hypothesis: bridge}
	for n := range 200 {
		i.Pairs = append(i.Pairs, inquiry.Exchange{Question: questions[n%len(questions)], Answer: fmt.Sprintf("On %d May 2021 the firm Hydra brought %d tonnes of steel, since the northern cables had corroded. "+
			"Ada Miller, who was in charge of it, counted %d trucks and did not sign.", 1+n%28, 12+n%5, n%9)})
	}
	for b.Loop() {
		if _, err := (&inquiry.Desk{}).Analyse(b.Context(), model.OfflineRules, i); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzReadInterview(f *testing.F) {
	f.Add(`{"hypothesis":"x","pairs":[{"question":"Who?","answer":"Ada."}]}`)
	f.Add(`{"hypothesis":"x","language":"de","pairs":[{"question":"Who?"}]} 1`)
	f.Fuzz(func(t *testing.T, raw string) {
		i, err := inquiry.ReadInterview([]byte(raw))
		wrong, is := errors.AsType[*inquiry.InterviewError](err)
		if err != nil && (!is || wrong.Line > 1+strings.Count(raw, "\n")) {
			t.Errorf("%q: %v", raw, err)
		}
		if err == nil && !json.Valid([]byte(strings.TrimPrefix(raw, "\ufeff"))) {
			t.Errorf("%q is read as %+v", raw, i)
		}
	})
}
