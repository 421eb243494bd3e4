package taskchat

import (
	"fmt"
	"strings"

	"sibyl/internal/bt"
)

// IntentRead is what a message was understood to want.
type IntentRead struct {
	IntentResult
}

// EventType implements bt.Typed.
func (IntentRead) EventType() string { return "intent.read" }

func (e IntentRead) String() string {
	s := fmt.Sprintf("%s wanted (%.2f, by %s)", e.IntentType, e.Confidence, e.By)
	var others []string
	for _, a := range e.Alternatives {
		others = append(others, fmt.Sprintf("%s %.2f", a.Name, a.Confidence))
	}
	if len(others) > 0 {
		s += "; or " + strings.Join(others, ", ")
	}
	if e.Reasoning != "" {
		s += ": " + e.Reasoning
	}
	return s
}

// TaskResolved says which tasks a reference was found to mean. No tasks: the person is asked, or told that there is
// none.
type TaskResolved struct {
	Reference string   `json:"reference"`
	Tasks     []string `json:"tasks"`
	bt.Why
}

// EventType implements bt.Typed.
func (TaskResolved) EventType() string { return "task.resolved" }

func (e TaskResolved) String() string {
	if len(e.Tasks) == 0 {
		return fmt.Sprintf("“%s” is not exactly one task: %s", e.Reference, e.Text)
	}
	return fmt.Sprintf("“%s” is ‘%s’: %s", e.Reference, strings.Join(e.Tasks, "’, ‘"), e.Text)
}

// ToolSelected is the call that a wish leads to.
type ToolSelected struct {
	ToolSelectionResult
}

// EventType implements bt.Typed.
func (ToolSelected) EventType() string { return "tool.selected" }

func (e ToolSelected) String() string {
	s := fmt.Sprintf("%s %s (%.2f)", e.ToolName, e.Parameters, e.Confidence)
	if e.RequiresConfirmation {
		s += ", with the person's yes"
	}
	return s
}

// Asked is a question to the person.
type Asked struct {
	Kind    string   `json:"kind"` // confirm, choose or value
	Intent  string   `json:"intent"`
	Options []string `json:"options,omitempty"`
}

// EventType implements bt.Typed.
func (Asked) EventType() string { return "person.asked" }

func (e Asked) String() string {
	s := fmt.Sprintf("the person is asked before %s (%s)", e.Intent, e.Kind)
	if len(e.Options) > 0 {
		s += ": " + strings.Join(e.Options, "; ")
	}
	return s
}
