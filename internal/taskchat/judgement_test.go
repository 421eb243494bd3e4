package taskchat_test

import (
	"strings"
	"testing"

	"sibyl/internal/taskchat"
)

// What rules once took from a model that reads the messages.

func TestAnswerToAnOpenQuestionIsTakenWhateverItLooksLike(t *testing.T) {
	for _, how := range []string{"as a value", "as the wish that it completes"} {
		t.Run(how, func(t *testing.T) {
			h, m := withModel(t)
			h.has(ada, "Backups", "Buy milk")
			c := h.process("p").talk(ada)
			m.proposes(wish("update", titled("Backups")))
			c.say("change the backups task", taskchat.StatusClarification)
			if m.answers("value", "Delete the old backups"); how != "as a value" {
				m.proposes(taskchat.Wish{Intent: "update", Confidence: 0.9, Title: "Delete the old backups"})
			}
			r := c.say("Delete the old backups", taskchat.StatusSuccess)
			same(t, "response", r.Response, "Done: 'Backups' is now 'Delete the old backups'.")
			h.wants(ada, "Delete the old backups", "Buy milk")
		})
	}
}

func TestPositionBeforeOptionsIsAChoiceAmongThem(t *testing.T) {
	h, m := withModel(t)
	h.has(ada, "Buy milk", "Call John", "Call Anna")
	c := h.process("p").talk(ada)
	lists(c, m)
	m.proposes(wish("complete", titled("call")))
	c.say("the call is done", taskchat.StatusClarification)
	m.proposes(wish("complete", at(1)))
	c.say("the first one", taskchat.StatusSuccess)
	h.wants(ada, "Buy milk", "Call John ✓", "Call Anna")
}

func TestOtherWordsInPlaceOfAYesAreTakenForTheTask(t *testing.T) {
	h, m := withModel(t)
	c := h.process("p").talk(ada)
	m.proposes(taskchat.Wish{Intent: "create", Confidence: 0.6, Title: "the passport"})
	c.say("I should see to the passport", taskchat.StatusClarification)
	m.answers("value", "Renew the passport")
	c.say("call it Renew the passport", taskchat.StatusSuccess)
	h.wants(ada, "Renew the passport")
	m.proposes(wish("delete", titled("passport")))
	c.say("delete the passport task", taskchat.StatusConfirmation)
	m.answers("value", "Renew the passport")
	c.say("Renew the passport", taskchat.StatusConfirmation)
	h.wants(ada, "Renew the passport")
}

func TestOptionThatAModelNamesByItsWordsIsChosen(t *testing.T) {
	h, m := withModel(t)
	h.has(ada, "Call John", "Call Anna")
	c := h.process("p").talk(ada)
	m.proposes(wish("complete", titled("call")))
	c.say("the call is done", taskchat.StatusClarification)
	m.answers("choice", "Call Anna")
	c.say("the one with Anna", taskchat.StatusSuccess)
	h.wants(ada, "Call John", "Call Anna ✓")
}

func TestNoAndAnotherWishInOneMessageAreBothHeard(t *testing.T) {
	h, m := withModel(t)
	h.has(ada, "Buy milk")
	c := h.process("p").talk(ada)
	m.proposes(wish("delete", titled("milk")))
	c.say("delete the milk", taskchat.StatusConfirmation)
	m.hears(taskchat.Heard{Answer: taskchat.Said{Kind: "no"}, Intents: []taskchat.Wish{wish("complete", titled("milk"))}})
	c.say("no, it's done", taskchat.StatusSuccess)
	h.wants(ada, "Buy milk ✓")
}

func TestTaskIsLookedUpBeforeAnythingIsAskedAndNamedByItsTitle(t *testing.T) {
	h, m := withModel(t)
	h.has(ada, "Call the plumber", "Dentist")
	c := h.process("p").talk(ada)
	unsure := taskchat.Wish{Intent: "complete", Confidence: 0.79, Task: taskchat.Named{Words: "the pipe man", Title: "plumber"}}
	m.proposes(unsure)
	r := c.say("the pipe man was here, I think", taskchat.StatusClarification)
	same(t, "response", r.Response, "Would you like me to mark 'Call the plumber' as completed?")
	c.say("yes", taskchat.StatusSuccess)
	h.wants(ada, "Call the plumber ✓", "Dentist")
	unsure.Task.Title = "roof"
	m.proposes(unsure)
	contains(t, c.say("and the roof", taskchat.StatusClarification).Response, "I found no task called 'roof'.")
}

func TestConfidenceThatReachesTheThresholdIsEnough(t *testing.T) {
	for _, one := range []struct {
		intent string
		least  float64
	}{{"list", 0.70}, {"create", 0.80}, {"complete", 0.80}, {"update", 0.85}} {
		h, m := withModel(t)
		h.has(ada, "Apples")
		c := h.process("p").talk(ada)
		w := taskchat.Wish{Intent: one.intent, Confidence: one.least, Task: titled("Apples"), Title: "Pears"}
		m.proposes(w)
		c.say("apples and pears", taskchat.StatusSuccess)
		if w.Confidence -= 0.01; one.intent == "update" {
			w.Task, w.Title = titled("Pears"), "Apples"
		}
		m.proposes(w)
		c.say("apples and pears", taskchat.StatusClarification)
	}
}

func TestSmallTalkIsAnsweredInTheModelsWords(t *testing.T) {
	h, m := withModel(t)
	h.has(ada, "Apples")
	c := h.process("p").talk(ada)
	m.hears(taskchat.Heard{Language: "fr", Intents: []taskchat.Wish{wish("talk", taskchat.Named{})}, Reply: "Bonjour ! Que faut-il noter ?"})
	r := c.say("bonjour", taskchat.StatusSuccess)
	same(t, "response", r.Response, "Bonjour ! Que faut-il noter ?")
	same(t, "calls", len(r.ToolCalls)+len(m.worded), 0)
	m.hears(taskchat.Heard{Intents: []taskchat.Wish{wish("talk", taskchat.Named{}), wish("complete", titled("Apples"))}, Reply: "You are welcome!"})
	r = c.say("thanks, and the apples are bought", taskchat.StatusSuccess)
	same(t, "response", r.Response, "Great! I've marked 'Apples' as completed ✓\nYou are welcome!")
}

func TestUnclearReplyIsAskedOnceMoreAndThenLapses(t *testing.T) {
	for _, reply := range []taskchat.Heard{{Answer: taskchat.Said{Kind: "unclear"}}, {Intents: []taskchat.Wish{wish("talk", taskchat.Named{})}, Reply: "Nice, isn't it?"},
		{Answer: taskchat.Said{Kind: "choice", Choices: []int{7}}}} {
		h, m := withModel(t)
		h.has(ada, "Apples")
		c := h.process("p").talk(ada)
		m.proposes(wish("delete", titled("Apples")))
		c.say("delete the apples", taskchat.StatusConfirmation)
		m.hears(reply)
		contains(t, c.say("what a day", taskchat.StatusConfirmation).Response, "Delete 'Apples'?")
		contains(t, c.say("what a day", taskchat.StatusSuccess).Response, "My question about 'Apples' has lapsed, and nothing was done about it.")
		m.hears(taskchat.Heard{Intents: []taskchat.Wish{wish("talk", taskchat.Named{})}, Reply: "Yes what?"})
		c.say("yes", taskchat.StatusSuccess)
		h.wants(ada, "Apples")
	}
	h := newHouse(t)
	h.has(ada, "Call John", "Call Anna")
	c := h.process("p").talk(ada)
	c.say("delete Call John", taskchat.StatusConfirmation)
	c.say("nein, das war ein Irrtum", taskchat.StatusSuccess) // which begins with a no
	c.say("complete call", taskchat.StatusClarification)
	c.say("thanks a lot", taskchat.StatusClarification)
	contains(t, c.say("thanks a lot", taskchat.StatusSuccess).Response, "My last question has lapsed")
	h.wants(ada, "Call John", "Call Anna")
}

func TestQuestionThatLapsesByAnotherSubjectIsToldSo(t *testing.T) {
	h, m := withModel(t)
	h.has(ada, "Apples")
	c := h.process("p").talk(ada)
	m.proposes(wish("delete", titled("Apples")))
	c.say("delete the apples", taskchat.StatusConfirmation)
	m.proposes(wish("list", taskchat.Named{}))
	same(t, "response", c.say("show my tasks", taskchat.StatusSuccess).Response,
		"My question about 'Apples' has lapsed, and nothing was done about it.\nHere is your task:\n1. Apples")
	h.wants(ada, "Apples")
}

func TestTitleWithWordsThatNobodySaidIsAskedAbout(t *testing.T) {
	h, m := withModel(t)
	h.has(ada, "Dentist on Monday")
	c := h.process("p").talk(ada)
	add := func(title string) { m.proposes(taskchat.Wish{Intent: "create", Confidence: 1, Title: title}) }
	add("Renew passport urgently")
	r := c.say("my passport runs out, I should get it renewed", taskchat.StatusClarification)
	same(t, "response", r.Response, "Would you like me to add the task 'Renew passport urgently'?")
	c.say("no", taskchat.StatusSuccess)
	add("Renew the passport")
	c.say("but do note it", taskchat.StatusSuccess) // what it is about was said before
	m.proposes(taskchat.Wish{Intent: "update", Confidence: 1, Task: titled("Dentist"), Title: "Dentist on Friday"})
	c.say("move the tooth thing to Friday", taskchat.StatusSuccess)
	m.hears(taskchat.Heard{Language: "de", Intents: []taskchat.Wish{{Intent: "create", Confidence: 1, Title: "Anna anrufen"}}})
	c.say("ruf ich später: Anna", taskchat.StatusSuccess)
	m.proposes(taskchat.Wish{Intent: "update", Confidence: 1, Task: titled("Anna"), Description: "her number is 555"})
	contains(t, c.say("add Anna's number", taskchat.StatusClarification).Response, "her number is 555")
	h.wants(ada, "Dentist on Friday", "Renew the passport", "Anna anrufen")
}

func TestReopenFindsCompletedTasks(t *testing.T) {
	h, m := withModel(t)
	h.has(ada, "Apples ✓", "Bread ✓", "Apples too")
	c := h.process("p").talk(ada)
	reopen := func(task taskchat.Named) {
		m.proposes(taskchat.Wish{Intent: "update", Confidence: 1, Task: task, Status: "pending"})
	}
	reopen(at(1))
	r := c.say("reopen task 1", taskchat.StatusClarification)
	same(t, "options", r.Clarification.Options, []string{"Apples ✓", "Bread ✓"})
	m.answers("choice", "", 2)
	same(t, "response", c.say("the second", taskchat.StatusSuccess).Response, "'Bread' is open again.")
	reopen(titled("apples"))
	c.say("the apples are not done after all", taskchat.StatusSuccess)
	h.wants(ada, "Apples", "Bread", "Apples too")
	reopen(taskchat.Named{})
	same(t, "response", c.say("reopen it", taskchat.StatusSuccess).Response, "You have no completed tasks.")
}

func TestDescriptionCanBeReadInConversation(t *testing.T) {
	h, m := withModel(t)
	h.has(ada, "Apples", "Call John")
	c := h.process("p").talk(ada)
	m.proposes(taskchat.Wish{Intent: "update", Confidence: 1, Task: titled("John"), Description: "about the contract"})
	c.say("note about the contract for John", taskchat.StatusSuccess)
	lists(c, m)
	m.proposes(wish("list", at(2)))
	same(t, "response", c.say("show task 2", taskchat.StatusSuccess).Response, "2. Call John\n   about the contract")
	m.proposes(wish("list", at(1)))
	same(t, "response", c.say("and the first?", taskchat.StatusSuccess).Response, "1. Apples\n   (no description)")
	m.proposes(wish("list", titled("john")))
	same(t, "response", c.say("what about John?", taskchat.StatusSuccess).Response, "Here is your task:\n1. Call John\n   about the contract")
	m.proposes(taskchat.Wish{Intent: "list", Confidence: 1, Details: true})
	same(t, "response", c.say("all with notes", taskchat.StatusSuccess).Response, "Here are your tasks:\n1. Apples\n2. Call John\n   about the contract")
	m.proposes(wish("list", at(5)))
	contains(t, c.say("show task 5", taskchat.StatusError).Response, "shows only 2 tasks")
}

func TestReminderIsAddedAndToldHonestly(t *testing.T) {
	for language, honest := range map[string]string{"en": "nothing here rings", "de": "hier klingelt nichts", "pt-PT": "aqui nada toca"} {
		h, m := withModel(t)
		m.hears(taskchat.Heard{Language: language, Intents: []taskchat.Wish{{Intent: "create", Confidence: 1, Title: "at nine: oven", Reminder: true}}})
		r := h.process("p").talk(ada).say("remind me at nine: oven", taskchat.StatusSuccess)
		contains(t, r.Response, "'at nine: oven'", honest)
		h.wants(ada, "at nine: oven")
	}
}

func TestListOfATimeIsShownWholeAndToldHonestly(t *testing.T) {
	h := newHouse(t)
	h.has(ada, "Apples", "Bread ✓")
	c := h.process("p").talk(ada)
	for words, want := range map[string]string{
		"what's due today?":        "Tasks have no dates here, so I can't choose them by time.\nHere is your task:\n1. Apples",
		"was steht heute an?":      "Aufgaben haben hier keine Termine, deshalb kann ich sie nicht nach der Zeit auswählen.\nDas ist deine Aufgabe:\n1. Apples",
		"o que falta fazer amanhã": "As tarefas não têm datas aqui, então não posso escolher pelo tempo.\nAqui está a sua tarefa:\n1. Apples",
	} {
		same(t, words, c.say(words, taskchat.StatusSuccess).Response, want)
	}
	contains(t, c.say("me lembra de pagar a luz amanhã", taskchat.StatusSuccess).Response, "aqui nada toca")
}

func TestWordingThatLosesATitleIsNotShown(t *testing.T) {
	h, m := withModel(t)
	c := h.process("p").talk(ada)
	m.say = func(s taskchat.Sentence) string { return strings.ReplaceAll(s.Text, "Apfel", "Mela") }
	m.hears(taskchat.Heard{Language: "it", Intents: []taskchat.Wish{{Intent: "create", Confidence: 1, Title: "Apfel"}}})
	same(t, "response", c.say("aggiungi Apfel", taskchat.StatusSuccess).Response, "I've added 'Apfel' to your tasks. You got this!")
	m.say = func(taskchat.Sentence) string { return "Aggiunto: 'Birne'." }
	m.hears(taskchat.Heard{Language: "it", Intents: []taskchat.Wish{{Intent: "create", Confidence: 1, Title: "Birne"}}})
	same(t, "response", c.say("aggiungi Birne", taskchat.StatusSuccess).Response, "Aggiunto: 'Birne'.")
}

func TestUndoTakesBackWhatThisConversationDidLast(t *testing.T) {
	h, m := withModel(t)
	ids := h.has(ada, "Apples", "Bread", "Cheese")
	c := h.process("p").talk(ada)
	undo := func(status taskchat.Status) string {
		t.Helper()
		m.proposes(wish("undo", taskchat.Named{}))
		return c.say("undo that", status).Response
	}
	contains(t, undo(taskchat.StatusError), "nothing to undo in this conversation")
	lists(c, m)
	m.proposes(wish("complete", at(1, 2)))
	c.say("one and two are done", taskchat.StatusSuccess)
	m.proposes(wish("delete", at(3)))
	c.say("delete three", taskchat.StatusConfirmation)
	c.say("yes", taskchat.StatusSuccess)
	same(t, "response", undo(taskchat.StatusSuccess), "Undone: 'Cheese' is back on your list.")
	same(t, "response", undo(taskchat.StatusSuccess), "'Bread' and 'Apples' are open again.")
	h.wants(ada, "Apples", "Bread", "Cheese")
	m.proposes(taskchat.Wish{Intent: "update", Confidence: 1, Task: at(1), Title: "Pears"})
	c.say("rename it to Pears", taskchat.StatusSuccess)
	h.renamed(ada, ids[1], "Rolls") // by another way
	contains(t, undo(taskchat.StatusError), "something else was changed since")
	h.wants(ada, "Pears", "Rolls", "Cheese")
}

func TestMetadataAndAlternativesAreInTheResponse(t *testing.T) {
	h, m := withModel(t)
	ids := h.has(ada, "Apples")
	c := h.process("p").talk(ada)
	lists(c, m)
	w := wish("complete", at(1))
	w.Alternatives = []taskchat.Likely{{Intent: "delete", Confidence: 0.2}}
	m.proposes(w)
	r := c.say("apples: done", taskchat.StatusSuccess)
	same(t, "references", r.Metadata.TaskReferences, map[string]int64{"1": ids[0]})
	same(t, "last tool", r.Metadata.LastToolUsed, "complete_task")
	same(t, "alternatives", r.Intents[0].Alternatives, []taskchat.Scored{{Name: "delete", Confidence: 0.2}})
	same(t, "metadata", r.Metadata.AgentContext.ConfidenceHistory, []float64{0.95, 0.95})
}

func TestDeletionIsConfirmedByAYesOfTheConversationsLanguageAlone(t *testing.T) {
	for _, one := range []struct{ language, thanks, yes string }{{"da", "tak", "ja tak"}, {"pl", "da", "tak"}, {"de", "da", "ja"}, {"ja", "tak", "はい"}, {"tr", "da", "evet"}} {
		h, m := withModel(t)
		h.has(ada, "Apples")
		c := h.process("p").talk(ada)
		m.hears(taskchat.Heard{Language: one.language, Intents: []taskchat.Wish{wish("delete", titled("Apples"))}})
		c.say("apples", taskchat.StatusConfirmation)
		m.hears(taskchat.Heard{Language: one.language, Answer: taskchat.Said{Kind: "unclear"}})
		c.say(one.thanks, taskchat.StatusConfirmation)
		h.wants(ada, "Apples")
		c.say(one.yes, taskchat.StatusSuccess)
		h.wants(ada)
	}
}

func TestConfirmationNamesTheYesThatIsReadWhereTheLanguageHasNone(t *testing.T) {
	h, m := withModel(t)
	h.has(ada, "Apples")
	c := h.process("p").talk(ada)
	m.say = func(s taskchat.Sentence) string { return "Xóa 'Apples'? Trả lời " + s.Keep[len(s.Keep)-1] + "." }
	m.hears(taskchat.Heard{Language: "vi-VN", Intents: []taskchat.Wish{wish("delete", titled("Apples"))}})
	same(t, "response", c.say("xóa apples", taskchat.StatusConfirmation).Response, "Xóa 'Apples'? Trả lời yes.")
	c.say("yes", taskchat.StatusSuccess)
	h.wants(ada)
}

func TestLanguageThatAModelNamesBadlyIsThatOfTheMessageBefore(t *testing.T) {
	h, m := withModel(t)
	c := h.process("p").talk(ada)
	for _, tag := range []string{"de-AT", "und", "Deutsch", "x"} {
		m.hears(taskchat.Heard{Language: tag, Intents: []taskchat.Wish{{Intent: "create", Confidence: 1, Title: "Apfel"}}})
		same(t, tag, c.say("Apfel", taskchat.StatusSuccess).Response, "Ich habe 'Apfel' zu deinen Aufgaben hinzugefügt.")
	}
	same(t, "wordings", len(m.worded), 0)
}

func TestWordsOfLanguagesWithoutLatinLettersAreComparedByCharacters(t *testing.T) {
	for _, one := range []struct{ language, message, said, unsaid string }{
		{"ja", "明日牛肉を買うのを忘れないで", "明日牛肉を買う", "明日牛乳を買う"},
		{"ru", "не забудь купить молоко", "купить молока", "купить мыло"},
		{"tr", "yarın İlaç almayı hatırlat", "İlaç almayı", "İlaç bırakmayı"},
		{"pl", "muszę kupić świeże jabłka", "kupić świeże jabłko", "kupić świeże gruszki"},
	} {
		h, m := withModel(t)
		c := h.process("p").talk(ada)
		add := func(title string, status taskchat.Status) {
			m.hears(taskchat.Heard{Language: one.language, Intents: []taskchat.Wish{{Intent: "create", Confidence: 1, Title: title}}})
			c.say(one.message, status)
		}
		add(one.said, taskchat.StatusSuccess)
		add(one.unsaid, taskchat.StatusClarification)
		h.wants(ada, one.said)
	}
}

func TestTaskThatIsDoneAndRenamedInOneWishIsBoth(t *testing.T) {
	h, m := withModel(t)
	h.has(ada, "Milk")
	m.proposes(taskchat.Wish{Intent: "update", Confidence: 1, Task: titled("Milk"), Title: "Oat milk", Status: "completed"})
	c := h.process("p").talk(ada)
	c.say("milk is done, it was oat milk", taskchat.StatusSuccess)
	h.wants(ada, "oat milk ✓")
}

func TestWhatAModelWritesBesideADeletionOrCompletionIsIgnored(t *testing.T) {
	h, m := withModel(t)
	h.has(ada, "Milk")
	m.proposes(taskchat.Wish{Intent: "complete", Confidence: 1, Task: titled("Milk"), Title: "Nonsense", Description: "as the person wished"})
	h.process("p").talk(ada).say("milk: done", taskchat.StatusSuccess)
	h.wants(ada, "Milk ✓")
}

func TestAnswerThatAModelTellsTwiceIsTakenOnce(t *testing.T) {
	h, m := withModel(t)
	h.has(ada, "Call John", "Call Anna")
	c := h.process("p").talk(ada)
	m.proposes(wish("create", taskchat.Named{}))
	c.say("a new task", taskchat.StatusClarification)
	m.hears(taskchat.Heard{Answer: taskchat.Said{Kind: "value", Value: "Buy milk"}, Intents: []taskchat.Wish{{Intent: "create", Confidence: 1, Title: "buy milk"}}})
	c.say("Buy milk", taskchat.StatusSuccess)
	m.proposes(wish("complete", titled("call")))
	c.say("the call is done", taskchat.StatusClarification)
	m.hears(taskchat.Heard{Answer: taskchat.Said{Kind: "choice", Choices: []int{2}}, Intents: []taskchat.Wish{wish("complete", at(2))}})
	same(t, "response", c.say("the second", taskchat.StatusSuccess).Response, "Great! I've marked 'Call Anna' as completed ✓")
	h.wants(ada, "Call John", "Call Anna ✓", "Buy milk")
}

func TestWishThatAModelTellsTwiceIsOne(t *testing.T) {
	h, m := withModel(t)
	h.has(ada, "Apples", "Bread")
	c := h.process("p").talk(ada)
	add := taskchat.Wish{Intent: "create", Confidence: 1, Title: "Cheese"}
	m.proposes(wish("delete", titled("Apples")), add, wish("delete", titled("Apples")), add)
	c.say("delete the apples, add Cheese", taskchat.StatusConfirmation)
	same(t, "response", c.say("yes", taskchat.StatusSuccess).Response, "I've deleted 'Apples'.")
	h.wants(ada, "Bread", "Cheese")
	m.proposes(wish("undo", taskchat.Named{}), wish("undo", taskchat.Named{}))
	c.say("undo the last two", taskchat.StatusSuccess)
	h.wants(ada, "Apples", "Bread")
}
