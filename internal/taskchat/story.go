package taskchat

import (
	"strings"

	"sibyl/internal/bt"
	"sibyl/internal/taskchat/understand"
)

// Sentences of a run's story.
const (
	storyWanted   bt.Reason = "story.understood.wish: Understood what is wanted: {wish}"
	storyTask     bt.Reason = "story.found.task: Found what “{reference}” means: {tasks}"
	storyNoTask   bt.Reason = "story.found.none: Could not tell what “{reference}” means: {why}"
	storyQuestion bt.Reason = "story.asks.first: Had to ask you first"
	storyUnheard  bt.Reason = "story.failed.model: The model gave no usable answer, so plain rules read the message"
	storyReply    bt.Reason = "story.answered.words: Answered: “{words}”"

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

// mostReply is how many characters of an answer a story tells.
const mostReply = 200

func wishReasons() map[understand.Intent]bt.Reason {
	return map[understand.Intent]bt.Reason{
		understand.Create: wishCreate, understand.List: wishList, understand.Update: wishUpdate,
		understand.Complete: wishComplete,
		understand.Delete:   wishDelete, understand.Undo: wishUndo, understand.Confirm: wishYes,
		understand.Decline: wishNo,
		understand.Choose:  wishChoice, understand.Value: wishValue, understand.Help: wishHelp,
	}
}

func stories() []bt.Reason {
	all := []bt.Reason{storyWanted, storyTask, storyNoTask, storyQuestion, storyUnheard, storyReply}
	for _, wish := range wishReasons() {
		all = append(all, wish)
	}
	return all
}

// Story implements bt.Narrated. Talk is answered, and no more is to be told of it.
func (e IntentRead) Story() bt.Why {
	wish := wishReasons()[understand.Intent(e.IntentType)]
	if wish == "" {
		return bt.Why{}
	}
	return storyWanted.With(wish.With())
}

// Story implements bt.Narrated.
func (e TaskResolved) Story() bt.Why {
	if len(e.Tasks) == 0 {
		return storyNoTask.With(e.Reference, e.Why)
	}
	return storyTask.With(e.Reference, strings.Join(e.Tasks, ", "))
}

// Story implements bt.Narrated.
func (e Asked) Story() bt.Why { return storyQuestion.With() }

// Story implements bt.Narrated.
func (e ModelUnheard) Story() bt.Why { return storyUnheard.With() }
