package rules

import "strings"

type Exchange struct {
	Question, Answer string
	NotFound         bool
}
type Gap struct {
	ID, Category, Severity, Aspect, Description string
	Pair                                        int
	Words                                       string
}
type Clash struct {
	ID                    string
	Pairs                 [2]int
	Kind, Reason, Subject string
	Words                 [2]string
	Settled               int
}
type Analysis struct {
	Gaps                       []Gap
	Closed                     []string
	Contradictions, Suspicions []Clash
	Completeness               int
	Satisfied                  bool
}
type Question struct {
	Text, Aspect string
	Gaps         []string
	About        []int
	Strategy     string
}

func Analyse(h, l string, all []Exchange) Analysis {
	a := Analysis{Completeness: min(100, 30*len(all))}
	if len(all) < 3 {
		a.Gaps = []Gap{{ID: "g1", Category: "missing_information", Severity: "high", Aspect: "when", Description: "no date is given", Pair: len(all) - 1}}
	} else {
		a.Satisfied = true
	}
	return a
}
func Next(h, l, s string, all []Exchange, a Analysis) (Question, bool) {
	q := []string{"What happened to " + h + "?", "When did it happen?", "How much was it?", "Why?"}
	if len(all) >= len(q) {
		return Question{}, false
	}
	return Question{Text: q[len(all)], Strategy: s}, true
}
func Same(a, b string) bool    { return strings.EqualFold(a, b) }
func Language(t string) string { return "en" }
