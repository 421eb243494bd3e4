package rules

// Categories of gaps.
const (
	Missing       = "missing_information"
	Ambiguity     = "ambiguity"
	Inconsistency = "inconsistency"
	Vagueness     = "vagueness"
)

// Severities of gaps.
const (
	Low    = "low"
	Medium = "medium"
	High   = "high"
)

// Aspects that a question asks for. An answer may also be asked for yes or no, which is What.
const (
	Who     = "who"
	What    = "what"
	When    = "when"
	Where   = "where"
	HowMuch = "how much"
	Why     = "why"
	How     = "how"
)

// Kinds of clashes.
const (
	Number   = "number"
	Date     = "date"
	Negation = "negation"
	Name     = "name"
	Other    = "other"
)

// Strategies of Next.
const (
	Breadth       = "breadth"
	Depth         = "depth"
	Contradiction = "contradiction"
	Timeline      = "timeline"
)

// Exchange is a question and its answer.
type Exchange struct {
	Question, Answer string
	NotFound         bool   // the witness said, as a fact and not in words, that the documents do not hold it
	Around           string // the passages that the answer quotes, where it does, parted by empty lines as paragraphs are
}

// Gap is something that is missing, vague, ambiguous or inconsistent.
type Gap struct {
	ID          string // the same for the same gap in every analysis of the interview
	Category    string // Missing, Ambiguity, Inconsistency, Vagueness
	Severity    string // Low, Medium, High
	Aspect      string // Who to How; "" if it is about none
	Description string // what is missing and where, in the language of the interview
	Pair        int    // the exchange in which it was first seen, from 0
	Words       string // verbatim, of the answer; of the hypothesis where no answer holds them
}

// Clash is what two answers do not both say truly.
type Clash struct {
	ID      string
	Pairs   [2]int    // the exchanges, from 0, the earlier first
	Kind    string    // Number, Date, Negation, Name, Other
	Reason  string    // in the language of the interview, with both words
	Subject string    // the words for what both are about
	Words   [2]string // verbatim, of the answers
	Settled int       // the exchange whose answer left it standing; -1: only suspected
	Firm    bool      // same subject, unit and time, and both asserted without a hedge
}

// Analysis is what is known after the last exchange.
type Analysis struct {
	Gaps           []Gap    // open, in the order in which they were seen
	Closed         []string // ids of gaps that were filled, explained, or recorded as contradictions
	Untouched      []Gap    // aspects that the hypothesis needs and that nothing has been asked or said about yet; they are no gaps of an answer
	Contradictions []Clash
	Suspicions     []Clash // not settled
	Completeness   int     // 0 to 100
	Satisfied      bool
}

// Question is what to ask next.
type Question struct {
	Text     string // a sentence that is understood by itself
	Aspect   string
	Gaps     []string // ids of the gaps that it asks about
	About    []int    // the exchanges that it names
	Strategy string   // that led to it, which is another than the one asked for if that had nothing to ask
}

// Analyse reads a whole interview that goes on. Language is "en" or "de"; anything else is found out from the hypothesis.
func Analyse(hypothesis, language string, all []Exchange) Analysis {
	return caseOf(hypothesis, language, all).Analysis()
}

// Finished reads an interview whose witness cannot be asked any more: suspicions that are firm count as contradictions, settled by the later
// of their exchanges.
func Finished(hypothesis, language string, all []Exchange) Analysis {
	c := caseOf(hypothesis, language, all)
	c.record()
	return c.Analysis()
}

func caseOf(hypothesis, language string, all []Exchange) *Case {
	c := New(hypothesis, language)
	for _, e := range all {
		c.Add(e)
	}
	return c
}
