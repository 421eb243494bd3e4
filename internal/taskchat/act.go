package taskchat

import (
	"time"

	"sibyl/internal/taskchat/understand"
)

// Item is a task as a tool gives it.
type Item struct {
	ID          int64      `json:"id"`
	Title       string     `json:"title"`
	Description *string    `json:"description,omitempty"`
	Status      string     `json:"status" enum:"pending,completed"`
	CompletedAt *time.Time `json:"completed_at,omitempty"`
	Version     int64      `json:"version"`
}

// The states of an Item.
const (
	pending   = "pending"
	completed = "completed"
)

// Act is one thing that a person wants done. Targets are the tasks that it is for, once they are known.
type Act struct {
	Intent       understand.Intent        `json:"intent"`
	Confidence   float64                  `json:"confidence"`
	Alternatives []understand.Alternative `json:"alternatives,omitempty"`
	Entities     understand.Entities      `json:"entities"`
	Details      bool                     `json:"details,omitempty"` // of a list: with the descriptions
	Reply        string                   `json:"reply,omitempty"`   // to talk, in a model's words
	Reasoning    string                   `json:"reasoning,omitempty"`
	By           string                   `json:"by,omitempty"` // the model that proposed it; "": the rules read it
	Targets      []Item                   `json:"targets,omitempty"`
	// the changes that an undo takes back, the latest first
	Undoes []Changed `json:"takes,omitempty"`
	// the pending row by which the person said yes to exactly this
	Row    string `json:"row,omitempty"`
	Chosen bool   `json:"chosen,omitempty"` // the person was asked, and said that this is meant
	// the person was asked about these texts, and said yes
	Agreed bool `json:"agreed,omitempty"`
}

// unclear is the intent of words that answer a question, and can't be followed.
const unclear understand.Intent = "unclear"

// result gives what was understood, as docs/requirements.md (requirement 3) has it: intent, entities, alternatives.
func (a *Act) result() IntentResult {
	r := IntentResult{IntentType: string(a.Intent), Confidence: a.Confidence, Entities: map[string]any{},
		Reasoning: a.Reasoning, By: a.By}
	if r.By == "" {
		r.By = "rules"
	}
	e := a.Entities
	for name, text := range map[string]string{"title": e.Title, "status": e.Status} {
		if text != "" {
			r.Entities[name] = text
		}
	}
	if e.HasDescription {
		r.Entities["description"] = e.Description
	}
	if e.Reference != nil {
		r.Entities["reference"] = e.Reference.Words
	}
	for _, other := range a.Alternatives {
		r.Alternatives = append(r.Alternatives, Scored{string(other.Intent), other.Confidence})
	}
	return r
}

// hasValue says that an update has something to change.
func (a *Act) hasValue() bool {
	e := a.Entities
	return a.Intent == understand.Update && (e.Title != "" || e.HasDescription || e.Status != "")
}

// namesTaskAnew says that the act names a task other than by “it”. Until that task is known, “it” means none.
func (a *Act) namesTaskAnew() bool {
	switch a.Intent {
	case understand.Create, understand.Update, understand.Complete, understand.Delete:
		r := a.Entities.Reference
		return r == nil || !r.It && (r.Except == nil || !r.Except.It)
	}
	return false
}

// toolsByIntent maps each intent to the tool that performs it.
func toolsByIntent() map[understand.Intent]string {
	return map[understand.Intent]string{understand.Create: "add_task", understand.List: "list_tasks",
		understand.Update:   "update_task",
		understand.Complete: "complete_task", understand.Delete: "delete_task", understand.Undo: "undo_task"}
}

// toolOf is the tool that performs an intent; "" for one that none performs.
func toolOf(i understand.Intent) string { return toolsByIntent()[i] }

// writeIntentOf is the intent that a tool performs; "" for a tool that changes no tasks, and for an undo.
func writeIntentOf(tool string) understand.Intent {
	for i, name := range toolsByIntent() {
		if name == tool && i != understand.List && i != understand.Undo {
			return i
		}
	}
	return ""
}

// Question is a question to the person. It is kept as a pending row, which the next message of the conversation
// consumes.
type Question struct {
	Kind      string   `json:"kind"`
	Text      Remark   `json:"text"`
	Act       Act      `json:"act"` // what waits for the answer
	Options   []Option `json:"options,omitempty"`
	OtherActs []Act    `json:"rest,omitempty"`  // what else of the message waits
	Repeated  bool     `json:"again,omitempty"` // it was asked before, and the answer was unclear
}

// Option is one of the things that can be chosen, and what is done then.
type Option struct {
	Label string `json:"label"`
	Act   Act    `json:"act"`
}

// Open is the question that a conversation was left with. Row is the id of its pending row. Lapsed says that it can't
// be answered any more: it waited too long, or the message was sent before it was seen.
type Open struct {
	Row    string `json:"row"`
	Lapsed bool   `json:"lapsed,omitempty"`
	Question
}

// answerable says that there is a question, and that it has not lapsed.
func (o *Open) answerable() bool { return o.Row != "" && !o.Lapsed }
