package taskchat_test

import (
	"testing"

	"sibyl/internal/taskchat"
)

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
