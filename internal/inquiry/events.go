package inquiry

import (
	"cmp"
	"fmt"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/text"
)

// Events has one event of each type.
func Events() []bt.Typed {
	return []bt.Typed{WitnessOpened{}, QuestionPut{}, AnswerHeard{}, AnalysisFailed{}, DetectiveSwitched{},
		LedgerKept{}, Ended{}}
}

// WitnessOpened says who the witness is.
type WitnessOpened struct {
	Name      string   `json:"name"`
	bt.Coded           // of the name, if it means several documents
	Documents int      `json:"documents,omitempty"`
	Chunks    int      `json:"chunks,omitempty"`
	Unread    []string `json:"unread,omitempty"` // documents that can't be read, each with the reason

	Embeddings string `json:"embeddings,omitempty"` // the model that finds passages by their meaning, provider:model
	Away       bool   `json:"away,omitempty"`       // passages and questions leave the person's machines for it
	// chooses quotations from the passages that were found
	Model string `json:"model,omitempty"`
}

// EventType implements bt.Typed.
func (WitnessOpened) EventType() string { return "witness.opened" }

func (e WitnessOpened) String() string { return strings.Join(e.eventLines(), "; ") }

func (e WitnessOpened) eventLines() []string {
	s := []string{"the witness is " + e.Name}
	if e.Documents > 0 {
		s[0] += fmt.Sprintf(": %s, %s", text.Count(e.Documents, "document"), text.Count(e.Chunks, "passage"))
	}
	for _, u := range e.Unread {
		s = append(s, "not read: "+u)
	}
	if e.Model != "" {
		s = append(s, e.Model+" is given the passages that are found for each question, and chooses the quotations")
	}
	switch {
	case e.Away:
		s = append(s, "all its passages and the questions are sent to "+e.Embeddings+
			", which is not on your machines, to search by meaning")
	case e.Embeddings != "":
		s = append(s, "its passages are also searched by meaning, with "+e.Embeddings)
	}
	return s
}

// QuestionPut is a question of the detective.
type QuestionPut struct {
	Number   int    `json:"number"`
	Text     string `json:"text"`
	Strategy string `json:"strategy"`
	By       string `json:"by"`
}

// EventType implements bt.Typed.
func (QuestionPut) EventType() string { return "question.put" }

func (e QuestionPut) String() string { return fmt.Sprintf("%d. %s", e.Number, e.Text) }

// AnswerHeard is an answer of the witness.
type AnswerHeard struct {
	Number   int    `json:"number"`
	Text     string `json:"text"`
	NotFound bool   `json:"not_found,omitempty"`
	By       string `json:"by"`

	Notes agent.Whys `json:"notes,omitempty"` // what went wrong beside the answer
}

// EventType implements bt.Typed.
func (AnswerHeard) EventType() string { return "answer.heard" }

func (e AnswerHeard) String() string {
	s := text.OneLine(e.Text)
	for _, note := range e.Notes {
		s += " (" + note.Text + ")"
	}
	return s
}

// AnalysisFailed says that the answer of a pair could not be analysed. The inquiry continues.
type AnalysisFailed struct {
	Number int    `json:"number"`
	Reason string `json:"reason"`
	bt.Coded
}

// EventType implements bt.Typed.
func (AnalysisFailed) EventType() string { return "analysis.failed" }

func (e AnalysisFailed) String() string {
	return fmt.Sprintf("answer %d is not analysed, and the inquiry goes on: %s", e.Number, e.Reason)
}

// DetectiveSwitched says that a model failed, and which one is asked instead.
type DetectiveSwitched struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Reason string `json:"reason"`
	bt.Coded
}

// EventType implements bt.Typed.
func (DetectiveSwitched) EventType() string { return "detective.switched" }

func (e DetectiveSwitched) String() string { return e.Reason + "; asking " + e.To }

// LedgerKept counts what is open after a pair.
type LedgerKept struct {
	Number         int    `json:"number"`
	Limit          int    `json:"limit"`
	Completeness   *int   `json:"completeness,omitempty"` // nil: no model has judged
	High           int    `json:"high"`
	Medium         int    `json:"medium"`
	Low            int    `json:"low"`
	Contradictions int    `json:"contradictions"`
	Waiting        int    `json:"waiting"`    // contradictions that the witness was not asked about
	Unverified     int    `json:"unverified"` // reported, and not quoted letter by letter
	By             string `json:"by"`
}

// EventType implements bt.Typed.
func (LedgerKept) EventType() string { return "ledger.kept" }

func (e LedgerKept) String() string {
	if e.Completeness == nil {
		return fmt.Sprintf("left without a passage or a figure so far: %d of %s", e.High+e.Medium+e.Low,
			text.Count(e.Number, "question"))
	}
	s := fmt.Sprintf("question %d of %d %s %d %% complete; open gaps: %s", e.Number, e.Limit, bar(*e.Completeness),
		*e.Completeness, e.gapCounts())
	if e.Contradictions > 0 {
		s += fmt.Sprintf("; contradictions: %d", e.Contradictions)
	}
	if e.Waiting > 0 {
		s += fmt.Sprintf("; to be asked about: %d", e.Waiting)
	}
	if e.Unverified > 0 {
		s += fmt.Sprintf("; not verifiable: %d", e.Unverified)
	}
	return s
}

// gapCounts counts the open gaps by severity.
func (e LedgerKept) gapCounts() string {
	var all []string
	for i, n := range []int{e.High, e.Medium, e.Low} {
		if n > 0 {
			all = append(all, fmt.Sprintf("%d %s", n, []string{"high", "medium", "low"}[i]))
		}
	}
	return cmp.Or(strings.Join(all, ", "), "none")
}

// bar draws a percentage as a bar.
func bar(percent int) string {
	const cells = 10
	full := min(max(percent, 0), 100) * cells / 100
	return "[" + strings.Repeat("█", full) + strings.Repeat("·", cells-full) + "]"
}

// Ended says why the asking ended.
type Ended struct {
	Reason string `json:"reason"`
}

// EventType implements bt.Typed.
func (Ended) EventType() string { return "inquiry.ended" }

func (e Ended) String() string { return cmp.Or(e.Story().Text, "Stopped asking: "+e.Reason) }
