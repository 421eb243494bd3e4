package taskchat_test

import (
	"fmt"
	"strings"
	"testing"

	"sibyl/internal/taskchat"
)

// listed is a conversation that has been shown three tasks, and has spoken of the first.
func listed(t *testing.T) (h *house, ids []int64, c *talk) {
	t.Helper()
	h = newHouse(t)
	ids = h.has(ada, "Apples", "Bread", "Cheese")
	c = h.process("p").talk(ada)
	c.say("show my tasks", taskchat.StatusSuccess)
	c.say("rename task 1 to Red apples", taskchat.StatusSuccess)
	return h, ids, c
}

func TestItMeansNoTaskThatWasSpokenOfBeforeAnotherOne(t *testing.T) {
	for name, between := range map[string]func(c *talk){
		"a deleted task": func(c *talk) {
			c.say("delete task 2", taskchat.StatusConfirmation)
			c.say("yes", taskchat.StatusSuccess)
		},
		"several tasks": func(c *talk) { c.say("complete the second and the third", taskchat.StatusSuccess) },
		"one not there": func(c *talk) { c.say("complete zebra", taskchat.StatusClarification) },
	} {
		t.Run(name, func(t *testing.T) {
			h, _, c := listed(t)
			between(c)
			before := h.list(ada)
			if r, err := c.send("complete it"); err != nil || r.Status == taskchat.StatusSuccess {
				t.Errorf("“it” is taken for a task: %v, %v", r.Response, err)
			}
			same(t, "tasks", h.list(ada), before)
		})
	}
}

func TestItIsTheTaskThatWasAskedAbout(t *testing.T) {
	h, _, c := listed(t)
	c.say("delete task 2", taskchat.StatusConfirmation)
	c.say("no", taskchat.StatusSuccess)
	c.say("complete it", taskchat.StatusSuccess)
	h.wants(ada, "Red apples", "Bread ✓", "Cheese")
}

func TestItWithinAMessageIsWhatTheMessageSpokeOf(t *testing.T) {
	h, _, c := listed(t)
	c.say("add Milk. Complete it.", taskchat.StatusSuccess)
	h.wants(ada, "Red apples", "Bread", "Cheese", "Milk ✓")
	c.say("complete zebra. Complete it.", taskchat.StatusClarification)
	h.wants(ada, "Red apples", "Bread", "Cheese", "Milk ✓")
}

func TestItAfterAWishThatIsNotDoneMeansNothing(t *testing.T) {
	h, m := withModel(t)
	h.has(ada, "Apples", "Call John", "Call Anna")
	c := h.process("p").talk(ada)
	m.proposes(taskchat.Wish{Intent: "complete", Confidence: 1, Task: "apples"})
	c.say("complete apples", taskchat.StatusSuccess)
	h.wants(ada, "Apples ✓", "Call John", "Call Anna")
	it := taskchat.Wish{Intent: "update", Confidence: 1, Task: "it", Title: "Pears"}
	for name, first := range map[string]taskchat.Wish{
		"ambiguous":  {Intent: "complete", Confidence: 1, Task: "call"},
		"not sure":   {Intent: "complete", Confidence: 0.3, Task: "Call John"},
		"no title":   {Intent: "create", Confidence: 1},
		"not there":  {Intent: "complete", Confidence: 1, Task: "zebra"},
		"not a task": {Intent: "create", Confidence: 1, Title: string(make([]rune, 300))},
	} {
		m.proposes(first, it)
		c.say("complete that and this", taskchat.StatusClarification)
		t.Log(name)
		h.wants(ada, "Apples ✓", "Call John", "Call Anna")
	}
}

func TestPositionsOfAnExceptionAreThoseOfTheListShown(t *testing.T) {
	h, ids, c := listed(t)
	h.deleted(ada, ids[0])
	c.say("complete all but the second", taskchat.StatusSuccess)
	h.wants(ada, "Bread", "Cheese ✓")
}

func TestWhatIsToBeLeftOutIsLeftOutOrNothingIsDone(t *testing.T) {
	h, _, c := listed(t)
	for _, words := range []string{"complete all except the fifth", "complete everything except e", "complete all except zebra"} {
		c.say(words, taskchat.StatusError)
		c.say("2", taskchat.StatusSuccess) // which answers nothing
		h.wants(ada, "Red apples", "Bread", "Cheese")
	}
	c.say("rename task 3 to Blue cheese", taskchat.StatusSuccess)
	c.say("complete all except it", taskchat.StatusSuccess)
	h.wants(ada, "Red apples ✓", "Bread ✓", "Blue cheese")
}

func TestBothMeansTwoTasks(t *testing.T) {
	for _, words := range []string{"complete both", "complete both of them", "delete both", "hake beide ab", "apaga as duas", "completa ambas", "they are both done"} {
		t.Run(words, func(t *testing.T) {
			h, _, c := listed(t)
			r := c.say(words, taskchat.StatusClarification)
			same(t, "options", len(r.Clarification.Options), 3)
			h.wants(ada, "Red apples", "Bread", "Cheese")
		})
	}
	h := newHouse(t)
	h.has(ada, "Apples", "Bread")
	c := h.process("p").talk(ada)
	c.say("show my tasks", taskchat.StatusSuccess)
	c.say("complete both", taskchat.StatusSuccess)
	h.wants(ada, "Apples ✓", "Bread ✓")
}

func TestListWithinAMessageLeavesPositionsUnclearWhereItDiffers(t *testing.T) {
	h := newHouse(t)
	h.has(ada, "Apples ✓", "Bread", "Cheese")
	c := h.process("p").talk(ada)
	c.say("show my tasks", taskchat.StatusSuccess)
	c.say("show pending tasks and complete the second one", taskchat.StatusClarification)
	h.wants(ada, "Apples ✓", "Bread", "Cheese")
	c.say("the second one", taskchat.StatusSuccess)
	h.wants(ada, "Apples ✓", "Bread", "Cheese ✓")
	c.say("show my tasks and complete all of them", taskchat.StatusClarification)
	h.wants(ada, "Apples ✓", "Bread", "Cheese ✓")
	c.say("show my tasks and complete the second one", taskchat.StatusSuccess)
	h.wants(ada, "Apples ✓", "Bread ✓", "Cheese ✓")
}

func TestOneTitleIsNotGivenToSeveralTasks(t *testing.T) {
	h, _, c := listed(t)
	c.say("rename all tasks to Rice", taskchat.StatusClarification)
	c.say("both", taskchat.StatusClarification)
	h.wants(ada, "Red apples", "Bread", "Cheese")
}

func TestTitleOfSignsAloneIsFound(t *testing.T) {
	h := newHouse(t)
	h.has(ada, "🎉", "🎂", "Call John", "Calls John")
	c := h.process("p").talk(ada)
	c.say("complete 🎂", taskchat.StatusSuccess)
	c.say("complete Calls John", taskchat.StatusSuccess)
	h.wants(ada, "🎉", "🎂 ✓", "Call John", "Calls John ✓")
}

func TestStatusThatIsSaidNarrowsWhatIsDeleted(t *testing.T) {
	h, m := withModel(t)
	h.has(ada, "Meeting with Ada", "Meeting with Eve ✓")
	c := h.process("p").talk(ada)
	m.proposes(taskchat.Wish{Intent: "delete", Confidence: 1, Task: "the meeting", Status: "completed"})
	r := c.say("delete the meeting that is over", taskchat.StatusConfirmation)
	contains(t, r.Response, "Delete 'Meeting with Eve'?")
	c.say("yes", taskchat.StatusSuccess)
	h.wants(ada, "Meeting with Ada")
}

// A key is taken out of what is kept, and what is left of two titles may be the same.
func TestTitleWithASecretIsAskedAbout(t *testing.T) {
	h := newHouse(t)
	key := "sk-" + strings.Repeat("abcd1234", 4)
	h.has(ada, "Rotate "+key)
	c := h.process("p").talk(ada)
	c.say("complete rotate "+strings.Replace(key, "a", "e", 1), taskchat.StatusClarification) // another key
	r := c.say("1", taskchat.StatusSuccess)
	same(t, "response", r.Response, "Great! I've marked 'Rotate [redacted]' as completed ✓")
}

func TestAllAfterAListThatIsCutIsRefused(t *testing.T) {
	h := newHouse(t)
	var titles []string
	for n := range 120 {
		titles = append(titles, fmt.Sprintf("Report %d", n))
	}
	h.has(ada, titles...)
	c := h.process("p").talk(ada)
	contains(t, c.say("show my tasks", taskchat.StatusSuccess).Response, "\n50. Report 49\n… and 70 more.")
	for _, words := range []string{"complete all", "delete all of them", "complete all but the first"} {
		contains(t, c.say(words, taskchat.StatusError).Response, "too many tasks")
	}
	contains(t, c.say("complete task 51", taskchat.StatusError).Response, "shows only 50 tasks")
	h.wants(ada, titles...)
	c.say("complete task 50", taskchat.StatusSuccess)
	titles[49] += " ✓"
	h.wants(ada, titles...)
}

func TestQuestionSaysHowManyThereAre(t *testing.T) {
	h := newHouse(t)
	for range 60 {
		h.has(ada, "Call John")
	}
	r := h.process("p").talk(ada).say("complete call", taskchat.StatusClarification)
	contains(t, r.Response, "I found 60 tasks about 'call'.")
	same(t, "options", len(r.Clarification.Options), 10)
}

func TestAllThatAreToBeCompletedAreThoseThatAreNot(t *testing.T) {
	h := newHouse(t)
	h.has(ada, "Apples", "Bread ✓", "Cheese")
	c := h.process("p").talk(ada)
	c.say("show my tasks", taskchat.StatusSuccess)
	r := c.say("complete all", taskchat.StatusSuccess)
	same(t, "response", r.Response, "Great! I've marked 'Apples' and 'Cheese' as completed ✓")
	r = c.say("complete all", taskchat.StatusSuccess)
	contains(t, r.Response, "already completed")
}

func TestThatThereAreNoneOfAStateDoesNotDenyTheOthers(t *testing.T) {
	h := newHouse(t)
	h.has(ada, "Apples")
	c := h.process("p").talk(ada)
	for words, want := range map[string]string{"delete completed tasks": "You have no completed tasks.", "Lösche alle erledigten Aufgaben": "Du hast keine erledigten Aufgaben.",
		"reopen all completed tasks": "You have no completed tasks."} {
		if r := c.say(words, taskchat.StatusSuccess); r.Response != want {
			t.Errorf("%q is answered %q, not %q", words, r.Response, want)
		}
	}
	h.wants(ada, "Apples")
}
