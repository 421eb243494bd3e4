package eval

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	evaldata "sibyl/eval"
	"sibyl/internal/oracle/classify"
)

// SC-001 of the requirement, on queries that no rule was written for.
func TestClassifierIsRightNineTimesInTenOnTheFrozenHalf(t *testing.T) {
	r := Classify(mustLoad(t, evaldata.Queries), Test)
	if r.Accuracy < 0.90 {
		t.Errorf("%d of %d right, %.1f %%; SC-001 asks for 90 %%", r.Correct, r.Total, 100*r.Accuracy)
	}
	for _, c := range r.Classes {
		if c.Recall < 0.80 || c.Precision < 0.80 {
			t.Errorf("%s: precision %.2f, recall %.2f; no class may fall under 0.80", c.Type, c.Precision, c.Recall)
		}
	}
}

func TestClassifierDoesNotFallBackOnTheDevelopmentSets(t *testing.T) {
	for _, name := range []string{evaldata.Queries, evaldata.PersonaQueries} {
		if r := Classify(mustLoad(t, name), Dev); r.Accuracy < 0.95 {
			var out strings.Builder
			_ = r.WriteText(&out)
			t.Errorf("%s: %.1f %%, want 95 %%\n%s", name, 100*r.Accuracy, out.String())
		}
	}
}

func TestConfidenceTellsRightFromWrong(t *testing.T) {
	var sum, n [2]float64
	queries := append(mustLoad(t, evaldata.Queries), mustLoad(t, evaldata.PersonaQueries)...)
	for _, q := range queries {
		got, right := classifyWithHistory(q), 0
		if got.QueryType == q.Label {
			right = 1
		}
		sum[right] += got.Confidence
		n[right]++
	}
	if wrong, right := sum[0]/n[0], sum[1]/n[1]; right-wrong < 0.2 {
		t.Errorf("mean confidence is %.2f when wrong and %.2f when right; it should tell them apart", wrong, right)
	}
}

// threeOfFour is a set of four and a predictor that takes the last for code.
func threeOfFour() ([]Query, func(Query) classify.Classification) {
	queries := []Query{
		{Text: "a", Label: classify.Code, Half: Dev},
		{Text: "b", Label: classify.Code, Half: Dev},
		{Text: "c", Label: classify.Research, Half: Dev},
		{Text: "d\nd", Label: classify.Research, Half: Dev},
		{Text: "elsewhere", Label: classify.Action, Half: Test},
	}
	return queries, func(q Query) classify.Classification {
		if q.Text == "c" {
			return classify.Classification{QueryType: classify.Research, Confidence: 0.9}
		}
		return classify.Classification{QueryType: classify.Code, Confidence: 0.5, KeywordsMatched: []string{"d"}}
	}
}

func TestReportCountsHitsAndMisses(t *testing.T) {
	queries, predict := threeOfFour()
	r := score(queries, Dev, predict)
	if r.Total != 4 || r.Correct != 3 || r.Accuracy != 0.75 {
		t.Errorf("got %d of %d, %.2f", r.Correct, r.Total, r.Accuracy)
	}
	if got := r.Confusion[classify.Research][classify.Code]; got != 1 {
		t.Errorf("research taken for code: %d times, want 1", got)
	}
	want := []ClassScore{
		{Type: classify.Code, Support: 2, Precision: 2.0 / 3, Recall: 1},
		{Type: classify.Documentation},
		{Type: classify.Research, Support: 2, Precision: 1, Recall: 0.5},
		{Type: classify.Conversational},
		{Type: classify.Action},
	}
	if diff := cmp.Diff(want, r.Classes); diff != "" {
		t.Error(diff)
	}
	if len(r.Misses) != 1 || r.Misses[0].Text != "d\nd" || r.Misses[0].Got != classify.Code {
		t.Errorf("misses: %+v", r.Misses)
	}
	if both := score(queries, Both, predict); both.Total != 5 {
		t.Errorf("both halves: %d queries, want 5", both.Total)
	}
}

// The values are those of the interval's formula worked by hand for 3 of 4 and for the ends.
func TestWilsonInterval(t *testing.T) {
	for _, c := range []struct {
		hits, n   int
		low, high float64
	}{
		{3, 4, 0.3006, 0.9544},
		{90, 100, 0.8256, 0.9448},
		{10, 10, 0.7225, 1},
		{0, 10, 0, 0.2775},
		{0, 0, 0, 1},
	} {
		low, high := wilson(c.hits, c.n)
		if math.Abs(low-c.low) > 0.0001 || math.Abs(high-c.high) > 0.0001 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", c.hits, c.n, low, high, c.low, c.high)
		}
	}
}

func TestTextReportShowsScoreMatrixAndMisses(t *testing.T) {
	queries, predict := threeOfFour()
	var out strings.Builder
	if err := score(queries, Dev, predict).WriteText(&out); err != nil {
		t.Fatal(err)
	}
	want := `dev: 3 of 4 right, 75.0 % (95 % interval 30.1 to 95.4)

class           queries  precision  recall
code            2        66.7 %     100.0 %
documentation   0        0.0 %      0.0 %
research        2        100.0 %    50.0 %
conversational  0        0.0 %      0.0 %
action          0        0.0 %      0.0 %

label, taken for  code  documentation  research  conversational  action
code              2     0              0         0               0
documentation     0     0              0         0               0
research          1     0              1         0               0
conversational    0     0              0         0               0
action            0     0              0         0               0

missed
research  taken for code (0.50)  d d
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestJSONReportCanBeReadBack(t *testing.T) {
	queries, predict := threeOfFour()
	want := score(queries, Dev, predict)
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Report
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestHistoryIsClassifiedBeforeTheQuery(t *testing.T) {
	q := Query{Text: "and in Rome?", History: []string{"What's the weather in Paris?", "thanks"}}
	if got := classifyWithHistory(q).QueryType; got != classify.Research {
		t.Errorf("got %s, want research: thanks between them does not end the topic", got)
	}
}
