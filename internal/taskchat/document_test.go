package taskchat_test

import (
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
	"sibyl/internal/taskchat"
)

func describe(a *run.Assistant, d taskchat.Deps) []*assistant.Assistant {
	return []*assistant.Assistant{taskchat.Describe(a, d)}
}

// The flows and examples of requirement 3, by their names.

func TestAFollowUpAsksForWhatWasDoneLast(t *testing.T) {
	h := newHouse(t)
	h.has(ada, "Buy groceries", "Call John", "Review docs")
	c := h.process("p").talk(ada)
	c.say("show my tasks", taskchat.StatusSuccess)
	c.say("complete task 2", taskchat.StatusSuccess)
	c.say("and the third too", taskchat.StatusSuccess)
	h.wants(ada, "Buy groceries", "Call John ✓", "Review docs ✓")
}

func TestClarificationFlow(t *testing.T) {
	h := newHouse(t)
	h.has(ada, "Prepare meeting", "Cancel the meeting on Friday", "Meeting minutes", "Buy milk")
	c := h.process("p").talk(ada)
	r := c.say("update the meeting task", taskchat.StatusClarification)
	contains(t, r.Response, "I found 3 tasks about", "Which one did you mean?")
	same(t, "options", r.Clarification.Options, []string{"Prepare meeting", "Cancel the meeting on Friday",
		"Meeting minutes"})
	same(t, "clarification_count", c.metadata().AgentContext.ClarificationCount, 1)
	c.say("the first one", taskchat.StatusClarification) // what it is to be is not said yet
	r = c.say("Prepare the board meeting", taskchat.StatusSuccess)
	same(t, "title", parameters(t, r, "update_task")["title"], any("Prepare the board meeting"))
	h.wants(ada, "Prepare the board meeting", "Cancel the meeting on Friday", "Meeting minutes", "Buy milk")
}

func TestDeletionIsConfirmedByTheNextMessageAlone(t *testing.T) {
	h := newHouse(t)
	h.has(ada, "Buy groceries", "Call John")
	c := h.process("p").talk(ada)
	c.say("show my tasks", taskchat.StatusSuccess)
	r := c.say("delete task 2", taskchat.StatusConfirmation)
	contains(t, r.Response, "Call John")
	c.say("show my tasks", taskchat.StatusSuccess)
	c.say("yes", taskchat.StatusSuccess) // to nothing
	h.wants(ada, "Buy groceries", "Call John")
	c.say("delete task 2", taskchat.StatusConfirmation)
	c.say("no", taskchat.StatusSuccess)
	h.wants(ada, "Buy groceries", "Call John")
	c.say("delete task 2", taskchat.StatusConfirmation)
	r = c.say("yes", taskchat.StatusSuccess)
	same(t, "tools", called(r), []string{"list_tasks", "delete_task"})
	c.say("yes", taskchat.StatusSuccess)
	h.wants(ada, "Buy groceries")
}

func TestDeletionThatWasConfirmedForAnotherVersionIsAskedAgain(t *testing.T) {
	h := newHouse(t)
	ids := h.has(ada, "Buy groceries")
	c := h.process("p").talk(ada)
	c.say("show my tasks", taskchat.StatusSuccess)
	c.say("delete task 1", taskchat.StatusConfirmation)
	h.renamed(ada, ids[0], "Buy a house")
	r := c.say("yes", taskchat.StatusConfirmation)
	contains(t, r.Response, "Buy a house")
	h.wants(ada, "Buy a house")
	c.say("yes", taskchat.StatusSuccess)
	h.wants(ada)
}

func TestCompletedTaskIsToldWithItsTime(t *testing.T) {
	h := newHouse(t)
	h.has(ada, "Buy groceries ✓")
	c := h.process("p").talk(ada)
	r := c.say("complete buy groceries", taskchat.StatusSuccess)
	contains(t, r.Response, "already completed on "+h.now().Format("2 January 2006"))
}

func TestConversationOfAnotherUserIsNotThere(t *testing.T) {
	h := newHouse(t)
	p := h.process("p")
	c := p.talk(ada)
	c.say("add buy milk", taskchat.StatusSuccess)
	other := &talk{process: p, owner: eve, id: c.id}
	_, err := other.send("show my tasks")
	assert.That(t, err != nil && isNotFound(err), "another user's conversation: %v", err)
	unknown := &talk{process: p, owner: ada, id: "unknown"}
	_, err = unknown.send("show my tasks")
	assert.That(t, err != nil && isNotFound(err), "a conversation that never was: %v", err)
}
