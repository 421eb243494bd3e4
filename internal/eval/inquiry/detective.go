package inquiry

import "context"

// Detective is what is scored. Both functions are called for several cases at once.
type Detective struct {
	// Analyse says what a finished interview leaves open and where it contradicts itself; nobody is there to be asked.
	Analyse func(ctx context.Context, hypothesis, language string, pairs []Pair) (Found, error)
	// Interrogate questions a witness until it is satisfied, has nothing left to ask, or has asked limit questions.
	Interrogate func(ctx context.Context, hypothesis, language string, witness Witness, limit int) (Outcome, error)
}

// Found is what a detective makes of an interview.
type Found struct {
	Gaps           []Gap
	Contradictions []Clash // recorded
	Suspicions     []Clash // seen, and not firm enough to be recorded
	Satisfied      bool
}

// Gap is something that an answer leaves open.
type Gap struct {
	Pair     int    // whose answer left it open first
	Category string // one of Categories, or Inconsistency
	Severity string // one of Severities
	Aspect   string // one of Aspects, or ""
	Closed   bool   // a later answer closed it
}

// Clash is two answers that contradict each other.
type Clash struct {
	Pairs [2]int // in any order
}

// Outcome is an interrogation that is over.
type Outcome struct {
	Found
	End string // why it ended, in a word
}
