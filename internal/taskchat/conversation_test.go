package taskchat_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/service/assistant"
	"sibyl/internal/service/servicetest"
	"sibyl/internal/task"
	"sibyl/internal/taskchat"
)

func TestConversationGoesWithItsQuestionAndTasksStay(t *testing.T) {
	h := newHouse(t)
	h.has(ada, "Apples")
	p := h.process("p")
	c := p.talk(ada)
	c.say("delete apples", taskchat.StatusConfirmation)
	later := func(d time.Duration) { h.now = func() time.Time { return time.Now().Add(d) } }
	retired := func(want int) {
		t.Helper()
		all := assert.Must(p.service.Retire(t.Context(), ada, h.now(), 10))(h)
		n := 0
		for _, r := range all {
			n += r.Sessions
		}
		same(t, "retired", n, want)
	}
	later(taskchat.Retention - time.Hour)
	retired(0)
	later(taskchat.Retention + time.Hour)
	retired(1)
	_, err := c.send("yes")
	assert.That(t, isNotFound(err), "a conversation that is gone: %v", err)
	h.wants(ada, "Apples")
	gone := assert.Must(h.journal.Tombstones(t.Context(), ada, journal.SessionFilter{Assistant: taskchat.Name}))(h)
	assert.That(t, len(gone) == 1, "tombstones: %v", gone)
}

func TestYesThatComesTooLateIsNone(t *testing.T) {
	h := newHouse(t)
	h.has(ada, "Apples")
	c := h.process("p").talk(ada)
	c.say("delete apples", taskchat.StatusConfirmation)
	h.now = func() time.Time { return time.Now().Add(31 * time.Minute) }
	same(t, "response", c.say("yes", taskchat.StatusSuccess).Response,
		"My question about 'Apples' has lapsed, and nothing was done about it.")
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

func TestTitleThatBreaksARuleIsRefusedInTheLanguageOfThePerson(t *testing.T) {
	title := strings.Repeat("x", task.MaxTitle+1)
	c := newHouse(t).process("p").talk(ada)
	for words, want := range map[string]string{
		"add " + title: fmt.Sprintf("That doesn't work: title has %d characters; %d at most.",
			task.MaxTitle+1, task.MaxTitle),
		"füge " + title + " hinzu": fmt.Sprintf(
			"Ein Titel hat 1 bis %d Zeichen in einer Zeile, eine Beschreibung höchstens %d.", task.MaxTitle,
			task.MaxDescription),
		"adicione a tarefa " + title: fmt.Sprintf(
			"um título tem de 1 a %d caracteres em uma linha, e uma descrição, no máximo %d.", task.MaxTitle,
			task.MaxDescription),
	} {
		contains(t, c.say(words, taskchat.StatusError).Response, want)
	}
}

func TestWhatTheModelWasSentIsToldPartByPart(t *testing.T) {
	h, m := withModel(t)
	h.has(ada, "Buy groceries")
	c := h.process("p").talk(ada)
	m.hears(heard{Language: "sv", Intents: []taskchat.Wish{{Intent: "create", Confidence: 0.8,
		Title: "hämta paketet"}}})
	c.say("jag borde nog hämta paketet", taskchat.StatusSuccess)
	m.proposes(wish("list", taskchat.Named{}))
	c.say("mer då", taskchat.StatusSuccess)
	runs := assert.Must(h.journal.Runs(t.Context(), ada, journal.Filter{Session: c.id}))(h)
	assert.Require(t, len(m.asked) == 3 && len(m.worded) > 0, "asked %d times, for words %d", len(m.asked), len(m.worded))
	servicetest.ToldAsSent(t, c.service, ada, runs, []model.Request{m.asked[0], m.asked[1], m.worded[0], m.asked[2], m.worded[1]})
	calls := 0
	for record := range runs[1].Records {
		r, err := c.service.Receipt(t.Context(), ada, runs[1].ID, record)
		if err == nil && r.Kind == taskchat.EffectCall {
			calls++
			assert.That(t, len(r.Sent) == 1 && r.Sent[0].Kind == assistant.PartCall && len(r.Got) == 1 &&
				r.Got[0].Kind == assistant.PartResult, "a call is told as %+v", r)
		}
	}
	assert.That(t, calls != 0, "nothing was called")
}
