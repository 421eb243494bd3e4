package taskchat_test

import (
	"testing"

	"sibyl/internal/task"
	"sibyl/internal/taskchat"
)

func TestTaskThatChangedSinceItWasOfferedIsLeftAlone(t *testing.T) {
	h := newHouse(t)
	ids := h.has(ada, "Call John", "Call Anna")
	c := h.process("p").talk(ada)
	c.say("complete call", taskchat.StatusClarification)
	h.renamed(ada, ids[0], "Pay the rent")
	r := c.say("1", taskchat.StatusError)
	contains(t, r.Response, "'Call John' has changed in the meantime")
	h.wants(ada, "Pay the rent", "Call Anna")
}

func TestTaskThatChangedSinceItsNewTitleWasAskedForIsLeftAlone(t *testing.T) {
	h := newHouse(t)
	ids := h.has(ada, "Call John", "Call Anna")
	c := h.process("p").talk(ada)
	c.say("show my tasks", taskchat.StatusSuccess)
	c.say("rename task 1", taskchat.StatusClarification)
	h.renamed(ada, ids[0], "Pay the rent")
	c.say("Call Jim", taskchat.StatusError)
	h.wants(ada, "Pay the rent", "Call Anna")
}

func TestTaskThatWasCompletedSinceItWasOfferedIsToldSo(t *testing.T) {
	h := newHouse(t)
	ids := h.has(ada, "Call John", "Call Anna")
	c := h.process("p").talk(ada)
	c.say("complete call", taskchat.StatusClarification)
	_, _, err := h.tasks.Complete(t.Context(), task.By{Owner: string(ada)}, ids[0], 0)
	h.must(err)
	contains(t, c.say("1", taskchat.StatusSuccess).Response, "'Call John' was already completed on")
}

// A yes to several holds for each of them that is as it was.
func TestYesToSeveralIsForThoseThatAreLeft(t *testing.T) {
	h := newHouse(t)
	ids := h.has(ada, "Apples", "Bread", "Cheese")
	c := h.process("p").talk(ada)
	c.say("show my tasks", taskchat.StatusSuccess)
	c.say("delete task 1 to 3", taskchat.StatusConfirmation)
	h.deleted(ada, ids[0])
	r := c.say("yes", taskchat.StatusSuccess)
	same(t, "response", r.Response, "I couldn't find 'Apples'. It may have been deleted. Try 'show my tasks' to see what's current.\nI've deleted 'Bread' and 'Cheese'.")
	h.wants(ada)
}

func TestYesToSeveralOfWhichOneChangedIsAskedForAgain(t *testing.T) {
	h := newHouse(t)
	ids := h.has(ada, "Apples", "Bread")
	c := h.process("p").talk(ada)
	c.say("show my tasks", taskchat.StatusSuccess)
	c.say("delete both", taskchat.StatusConfirmation)
	h.renamed(ada, ids[1], "Brioche")
	contains(t, c.say("yes", taskchat.StatusConfirmation).Response, "Delete 2 tasks: 'Apples' and 'Brioche'?")
	h.wants(ada, "Apples", "Brioche")
}

func TestYesToATaskThatWasDeletedAndBroughtBackIsAskedForAgain(t *testing.T) {
	h := newHouse(t)
	ids := h.has(ada, "Apples")
	c := h.process("p").talk(ada)
	c.say("delete apples", taskchat.StatusConfirmation)
	h.deleted(ada, ids[0])
	_, err := h.tasks.Undo(t.Context(), task.By{Owner: string(ada)})
	h.must(err)
	c.say("yes", taskchat.StatusConfirmation)
	h.wants(ada, "Apples")
}

func TestYesInAnotherConversationIsNone(t *testing.T) {
	h := newHouse(t)
	h.has(ada, "Apples")
	h.has(eve, "Apples")
	p := h.process("p")
	c := p.talk(ada)
	c.say("delete apples", taskchat.StatusConfirmation)
	p.talk(ada).say("yes", taskchat.StatusSuccess)
	p.talk(eve).say("yes", taskchat.StatusSuccess)
	h.wants(ada, "Apples")
	h.wants(eve, "Apples")
	c.say("yes", taskchat.StatusSuccess)
	h.wants(ada)
	h.wants(eve, "Apples")
}

func TestQuestionTellsTheTasksThatItsAnswerIsFor(t *testing.T) {
	h := newHouse(t)
	ids := h.has(ada, "Call John", "Call Anna", "Buy milk")
	h.renamed(ada, ids[2], "Buy oat milk")
	c := h.process("p").talk(ada)
	asked := c.say("delete buy oat milk", taskchat.StatusConfirmation).Clarification
	milk := taskchat.Item{ID: ids[2], Title: "Buy oat milk", Status: "pending", Version: 2}
	same(t, "kind and intent", asked.Kind+" "+asked.Intent, "confirm delete")
	same(t, "tasks", asked.Tasks, []taskchat.Item{milk})
	c.say("no", taskchat.StatusSuccess)
	asked = c.say("complete call", taskchat.StatusClarification).Clarification
	same(t, "kind and intent", asked.Kind+" "+asked.Intent, "choose complete")
	for n, option := range asked.OptionTasks {
		if len(option) != 1 || asked.Options[n] != option[0].Title || option[0].Version != 1 {
			t.Errorf("option %d, %q, is of %+v", n+1, asked.Options[n], option)
		}
	}
	same(t, "options", len(asked.OptionTasks), 2)
}
