// Package inquiry scores a detective on labelled interviews and scripted witnesses.
//
// It knows no detective: whatever can analyse a finished interview and question a witness can be scored. A case has both: an interview with its
// labels, and a witness that can be asked anything and knows what was planted. The same cases and the same detective give the same report.
package inquiry

import (
	"io/fs"
	"strings"

	"sibyl/internal/eval"
)

// Case is one line of the set: a hypothesis, a finished interview about it with labels, and a witness of the same matter.
type Case struct {
	ID             string       `json:"id"`
	Lang           string       `json:"lang"`   // one of Languages
	Frozen         bool         `json:"frozen"` // nobody tunes on it; the hash of what is said decides
	Domain         string       `json:"domain"`
	About          string       `json:"about"`              // what it tries, in a few words
	Flawless       bool         `json:"flawless,omitempty"` // nothing is missing and nothing clashes: the witness has to be believed
	Hypothesis     string       `json:"hypothesis"`
	Pairs          []Pair       `json:"pairs"`
	Gaps           []GapLabel   `json:"gaps,omitempty"`
	Contradictions []ClashLabel `json:"contradictions,omitempty"`
	Traps          []Trap       `json:"traps,omitempty"`
	Witness        Script       `json:"witness"`
}

// Languages of the set.
func Languages() []string { return []string{"en", "de"} }

// Pair is a question and its answer. Pairs are counted from 0.
type Pair struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

// Anywhere is the pair of a gap that no single answer has: what the hypothesis asks for and the interview never comes to.
const Anywhere = -1

// GapLabel is what an answer leaves open.
type GapLabel struct {
	Pair     int    `json:"pair"`             // whose answer leaves it open, or Anywhere
	Category OneOf  `json:"category"`         // of Categories; several where a person would take either
	Severity string `json:"severity"`         // one of Severities
	Aspect   OneOf  `json:"aspect,omitempty"` // of Aspects; none where it has none of them
	Closed   int    `json:"closed,omitempty"` // the later pair that closes it; 0: none does
	Optional bool   `json:"optional,omitempty"`
}

// The categories of gaps. Inconsistency is never labelled: it goes with a contradiction.
const (
	Missing       = "missing_information"
	Ambiguity     = "ambiguity"
	Vagueness     = "vagueness"
	Inconsistency = "inconsistency"
)

// Categories that labels have.
func Categories() []string { return []string{Missing, Ambiguity, Vagueness} }

// Severities from the slightest on.
func Severities() []string { return []string{"low", "medium", "high"} }

// Aspects that a gap can have.
func Aspects() []string { return []string{"who", "what", "when", "where", "how_much", "why", "how"} }

// ClashLabel is a contradiction: two answers that can't both be true.
type ClashLabel struct {
	Pairs    [2]int    `json:"pairs"`
	Kind     string    `json:"kind"`  // one of ClashKinds
	Words    [2]string `json:"words"` // what clashes, verbatim from the answers
	Then     string    `json:"then"`  // what the witness does when it is asked about both: one of Reactions
	Reply    string    `json:"reply"` // its words
	Standing int       `json:"standing,omitempty"`
}

// ClashKinds are the kinds of contradictions.
func ClashKinds() []string { return []string{"number", "date", "negation", "name", "other"} }

// What a witness does when it is asked about a clash. After the first two the contradiction stands, after the others it does not.
const (
	Keeps    = "keeps"
	Evades   = "evades"
	Corrects = "corrects"
	Explains = "explains"
)

// Reactions are all of them.
func Reactions() []string { return []string{Keeps, Evades, Corrects, Explains} }

// Stands says whether the contradiction is still one after the reply.
func (l ClashLabel) Stands() bool { return l.Then == Keeps || l.Then == Evades }

// Trap is what looks like a contradiction and is none.
type Trap struct {
	Pairs [2]int    `json:"pairs"`
	Kind  string    `json:"kind"`  // one of TrapKinds
	Words [2]string `json:"words"` // what seems to clash, verbatim from the answers
	Reply string    `json:"reply"` // what the witness says when it is asked about both
}

// TrapKinds are the kinds of traps: other units, a rounded number, another time or subject, other words for the same, an error that is quoted,
// parts of a sum, a plan beside what came of it, and what the interview itself corrects or explains.
func TrapKinds() []string {
	return []string{"unit", "rounding", "period", "subject", "paraphrase", "quoted", "parts", "plan", "corrected", "explained"}
}

// Script is a witness.
type Script struct {
	Facts     []Fact `json:"facts"`
	Otherwise string `json:"otherwise"` // what it says when it has no fact for a question
}

// Fact is something that a witness says when it is asked for it.
type Fact struct {
	Pair   int      `json:"pair"`             // its answer is that of this pair, with the labels of it; OwnAnswer: Answer
	Answer string   `json:"answer,omitempty"` //
	Kind   OneOf    `json:"kind"`             // which questions it answers: of Aspects, and “whether”
	About  []string `json:"about"`            // beginnings of words that such questions have
	Again  string   `json:"again,omitempty"`  // what it says from the second time on; without it, the same again
	Stays  bool     `json:"stays,omitempty"`  // and that closes no gap either
}

// OwnAnswer is the pair of a fact that the interview does not have.
const OwnAnswer = -1

// OneOf are words of which each is right.
type OneOf = eval.OneOf[string]

// Load reads a set in JSON lines. An error names the line that is wrong and what it lacks.
func Load(files fs.FS, name string) ([]Case, error) {
	return eval.LoadSet(files, name, eval.WithID(func(c Case) string { return c.ID }, Case.check))
}

// FrozenBy says by the hash of all that is said in the interview whether a case is frozen, so that nobody chooses.
func (c Case) FrozenBy() bool {
	said := []string{c.Hypothesis}
	for _, p := range c.Pairs {
		said = append(said, p.Question, p.Answer)
	}
	return eval.HalfOf(strings.Join(said, "\n")) == eval.Test
}

// answer is what a fact says at first.
func (c Case) answer(f Fact) string {
	if f.Pair == OwnAnswer {
		return f.Answer
	}
	return c.Pairs[f.Pair].Answer
}
