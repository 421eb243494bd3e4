package taskchat

import (
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/taskchat/understand"
)

// Events gives one event of each type.
func Events() []bt.Typed {
	return []bt.Typed{IntentRead{}, TaskResolved{}, ToolSelected{}, Asked{}, ModelUnheard{}, agent.NotOwn{},
		agent.RequestCut{}}
}

func eventReasons() []bt.Reason {
	all := []bt.Reason{wishRead, taskFound, taskNotFound, toolSelected, toolWaits, askedFirst, modelUnheard,
		agent.SaidNotOwn, agent.SaidCut}
	for _, wish := range wishReasons() {
		all = append(all, wish)
	}
	return all
}

// IntentRead is what a message was understood to want.
type IntentRead struct {
	IntentResult
}

const (
	wishRead bt.Reason = "control.understood.wish: Understood what is wanted: {wish}"

	wishCreate   bt.Reason = "wish.create: a new task"
	wishList     bt.Reason = "wish.list: to see the list"
	wishUpdate   bt.Reason = "wish.update: to change a task"
	wishComplete bt.Reason = "wish.complete: to complete a task"
	wishDelete   bt.Reason = "wish.delete: to delete a task"
	wishUndo     bt.Reason = "wish.undo: to undo a change"
	wishYes      bt.Reason = "wish.confirm: yes"
	wishNo       bt.Reason = "wish.decline: no"
	wishChoice   bt.Reason = "wish.choose: one of what was offered"
	wishValue    bt.Reason = "wish.value: what was asked for"
	wishHelp     bt.Reason = "wish.help: help"
)

// EventType implements bt.Typed.
func (IntentRead) EventType() string { return "intent.read" }

// Story implements bt.Narrated. Talk is answered, and no more is to be told of it.
func (e IntentRead) Story() bt.Why {
	wish := wishReasons()[understand.Intent(e.IntentType)]
	if wish == "" {
		return bt.Why{}
	}
	return wishRead.With(wish.With())
}

func wishReasons() map[understand.Intent]bt.Reason {
	return map[understand.Intent]bt.Reason{
		understand.Create: wishCreate, understand.List: wishList, understand.Update: wishUpdate,
		understand.Complete: wishComplete,
		understand.Delete:   wishDelete, understand.Undo: wishUndo, understand.Confirm: wishYes,
		understand.Decline: wishNo,
		understand.Choose:  wishChoice, understand.Value: wishValue, understand.Help: wishHelp,
	}
}

// TaskResolved says which tasks a reference was found to mean. No tasks: the person is asked, or told that there is
// none.
type TaskResolved struct {
	Reference string   `json:"reference"`
	Tasks     []string `json:"tasks"`
	bt.Why
}

const (
	taskFound    bt.Reason = "control.found.task: Found what “{reference}” means: {tasks}"
	taskNotFound bt.Reason = "control.found.none: Could not tell what “{reference}” means: {why}"
)

// EventType implements bt.Typed.
func (TaskResolved) EventType() string { return "task.resolved" }

// Story implements bt.Narrated.
func (e TaskResolved) Story() bt.Why {
	if len(e.Tasks) == 0 {
		return taskNotFound.With(e.Reference, e.Why)
	}
	return taskFound.With(e.Reference, strings.Join(e.Tasks, ", "))
}

// ToolSelected is the call that a wish leads to.
type ToolSelected struct {
	ToolSelectionResult
}

const (
	toolSelected bt.Reason = "control.selected.tool: Chose the tool {tool}, sure to {confidence}, with {parameters}"
	toolWaits    bt.Reason = "control.selected.confirmed: Chose the tool {tool}, sure to {confidence}, with " +
		"{parameters}; it needs a yes"
)

// EventType implements bt.Typed.
func (ToolSelected) EventType() string { return "tool.selected" }

// Story implements bt.Narrated.
func (e ToolSelected) Story() bt.Why {
	told := toolSelected
	if e.RequiresConfirmation {
		told = toolWaits
	}
	return told.With(e.ToolName, e.Confidence, string(e.Parameters))
}

// Asked is a question to the person.
type Asked struct {
	Kind    string   `json:"kind"` // confirm, choose or value
	Intent  string   `json:"intent"`
	Options []string `json:"options,omitempty"`
}

const askedFirst bt.Reason = "control.asks.first: Had to ask you first"

// EventType implements bt.Typed.
func (Asked) EventType() string { return "person.asked" }

// Story implements bt.Narrated.
func (e Asked) Story() bt.Why { return askedFirst.With() }

// ModelUnheard says that the model could not be asked or gave no usable answer, so that the rules' reading stands.
type ModelUnheard struct {
	Kind string `json:"kind"`
}

const modelUnheard bt.Reason = "control.failed.model: The model gave no usable answer, so plain rules read the message"

// EventType implements bt.Typed.
func (ModelUnheard) EventType() string { return "model.unheard" }

// Story implements bt.Narrated.
func (e ModelUnheard) Story() bt.Why { return modelUnheard.With() }
