package taskchat_test

import (
	"testing"

	"sibyl/internal/taskchat"
)

func TestATaskIsMovedToAnotherDayInItsTitle(t *testing.T) {
	h := newHouse(t)
	h.has(ada, "Dinner with Kim on Friday evening", "Dentist monday 9am")
	c := h.process("p").talk(ada)
	c.say("move dinner with kim to Saturday", taskchat.StatusSuccess)
	h.wants(ada, "Dinner with Kim on Saturday evening", "Dentist monday 9am")
	c.say("make it Sunday instead", taskchat.StatusSuccess)
	h.wants(ada, "Dinner with Kim on Sunday evening", "Dentist monday 9am")
	c.say("swap monday for tuesday in the dentist task", taskchat.StatusSuccess)
	h.wants(ada, "Dinner with Kim on Sunday evening", "Dentist tuesday 9am")
	c.say("add call grandma", taskchat.StatusSuccess)
	c.say("sorry, I meant tomorrow night", taskchat.StatusSuccess)
	h.wants(ada, "Dinner with Kim on Sunday evening", "Dentist tuesday 9am", "call grandma tomorrow night")
	c.say("verschieb den dentist auf Mittwoch", taskchat.StatusSuccess)
	h.wants(ada, "Dinner with Kim on Sunday evening", "Dentist Mittwoch 9am", "call grandma tomorrow night")
}

func TestADayIsTheAnswerToWhenATaskIsMoved(t *testing.T) {
	h := newHouse(t)
	h.has(ada, "Dentist on Monday")
	c := h.process("p").talk(ada)
	c.say("show my tasks", taskchat.StatusSuccess)
	c.say("postpone task 1", taskchat.StatusClarification)
	c.say("Friday", taskchat.StatusSuccess)
	h.wants(ada, "Dentist on Friday")
	c.say("postpone it", taskchat.StatusClarification)
	c.say("to next week please", taskchat.StatusSuccess)
	h.wants(ada, "Dentist next week")
	c.say("actually next month", taskchat.StatusSuccess)
	h.wants(ada, "Dentist next month")
}

func TestAnotherTitleTakesThePlaceOfTheOneBefore(t *testing.T) {
	h := newHouse(t)
	c := h.process("p").talk(ada)
	c.say("add buy milk", taskchat.StatusSuccess)
	c.say("call it buy oat milk instead", taskchat.StatusSuccess)
	h.wants(ada, "buy oat milk")
}

func TestWhenSomethingWasDoneIsNoPartOfItsTitle(t *testing.T) {
	h := newHouse(t)
	h.has(ada, "Buy present for Lena", "File tax return")
	c := h.process("p").talk(ada)
	c.say("tick off the present for lena today", taskchat.StatusSuccess)
	c.say("show my tasks", taskchat.StatusSuccess)
	c.say("rename task 2 to File the tax return", taskchat.StatusSuccess)
	c.say("ok i finished it just now", taskchat.StatusSuccess)
	h.wants(ada, "Buy present for Lena ✓", "File the tax return ✓")
	h.has(ada, "Report on Monday")
	c.say("complete the report on Friday", taskchat.StatusClarification)
	h.wants(ada, "Buy present for Lena ✓", "File the tax return ✓", "Report on Monday")
}

func TestTasksThatAreNamedOneAfterTheOtherAreEachMeant(t *testing.T) {
	h := newHouse(t)
	h.has(ada, "Do the dishes", "Fold laundry", "Hoover the stairs", "Buy milk and eggs", "Milk the cow")
	c := h.process("p").talk(ada)
	c.say("dishes and laundry are both done", taskchat.StatusSuccess)
	c.say("complete milk and eggs", taskchat.StatusSuccess)
	h.wants(ada, "Do the dishes ✓", "Fold laundry ✓", "Hoover the stairs", "Buy milk and eggs ✓", "Milk the cow")
	c.say("complete the stairs and the windows", taskchat.StatusClarification)
	h.wants(ada, "Do the dishes ✓", "Fold laundry ✓", "Hoover the stairs", "Buy milk and eggs ✓", "Milk the cow")
}
