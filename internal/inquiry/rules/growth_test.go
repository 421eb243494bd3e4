package rules

import (
	"fmt"
	"strings"
	"testing"
)

// prose gives an answer of so many words, with numbers, dates and names in it; no two answers are the same.
func prose(n, seed int) string {
	nouns := strings.Fields("bridge cable inspector council repair anchor tower report budget contractor engineer road valve pump tunnel signal storm harbour ferry crane")
	verbs := strings.Fields("closed opened repaired inspected replaced painted measured ordered paid signed")
	var b strings.Builder
	for i := 0; b.Len() < 6*n; i++ {
		k := i*7 + seed*13
		fmt.Fprintf(&b, "The %s of the %s was %s on %d May %d with %d %ss and %d metres. ", nouns[k%20], nouns[(k*3+1)%20], verbs[k%10], 1+k%28, 1950+k%70, 10+k%90,
			nouns[(k*5+2)%20], 100+k%900)
	}
	return b.String()
}

func TestTheWorkForAFurtherExchangeHardlyGrows(t *testing.T) {
	c := New("The bridge was closed in 1990 because of corrosion.", "en")
	var work []int
	before := 0
	for i := range 20 {
		c.Add(Exchange{Question: fmt.Sprintf("What happened to the bridge in the %dth year?", i), Answer: prose(2000, i)})
		work = append(work, c.work-before)
		before = c.work
	}
	first, last := 0, 0
	for i := range 5 {
		first += work[1+i]
		last += work[15+i]
	}
	if last > 2*first {
		t.Errorf("the last exchanges cost more than twice as much as the first: %v", work)
	}
	if len(prose(2000, 1)) < 10000 {
		t.Error("the answers are short")
	}
}

func FuzzNothingPanics(f *testing.F) {
	f.Add("The bridge was closed in 2021.", "When was it closed?", "On 4 March 2023, by Mr. X, for $4.2m per day – 3/4 of 1.2.3.4 €", "de")
	f.Add("Wer?", "Wie viele „Boote“ wurden am 3. gesperrt?", "Zwischen 40 und 50, etwa ein Dutzend; 1.500,5 t. Er sagte ihr, dass sie … 12. Mai 2020 um 14 Uhr", "")
	f.Add("", "", "", "en")
	f.Add("\xff’'-.", "“„\"", "12:\n-\n.5 ° 1-2-3 2020-01-", "en")
	f.Fuzz(func(t *testing.T, hypothesis, question, answer, language string) {
		all := []Exchange{{Question: question, Answer: answer}, {Question: answer, Answer: question}, {Question: question, Answer: answer + " not " + answer}}
		a := Finished(hypothesis, language, all)
		if a.Completeness < 0 || a.Completeness > 100 {
			t.Errorf("completeness %d", a.Completeness)
		}
		for _, s := range []string{Breadth, Depth, Contradiction, Timeline, ""} {
			if q, ok := Next(hypothesis, language, s, all, Analyse(hypothesis, language, all)); ok && strings.TrimSpace(q.Text) == "" {
				t.Error("an empty question")
			}
		}
		Same(question, answer)
	})
}
