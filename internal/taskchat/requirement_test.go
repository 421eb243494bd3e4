package taskchat_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/taskchat"
)

func TestMessageThatIsNotUnderstoodIsNoSuccess(t *testing.T) {
	h := newHouse(t)
	c := h.process("p").talk(ada)
	for _, words := range []string{"asdf qwer", "2", "the weather is nice", "buy?", "¿qué?", "…"} {
		r := c.say(words, taskchat.StatusClarification)
		contains(t, r.Response, r.Clarification.Question)
		same(t, "calls", len(r.ToolCalls), 0)
	}
	same(t, "clarification_count: nothing was asked to choose", c.metadata().AgentContext.ClarificationCount, 0)
	c.say("add buy milk", taskchat.StatusSuccess)
	h, m := withModel(t)
	c = h.process("p").talk(ada)
	m.hears(heard{}) // neither a wish nor a reply
	c.say("blah", taskchat.StatusClarification)
	m.hears(heard{Reply: "You're welcome!"})
	c.say("thanks", taskchat.StatusSuccess)
	m.err = &model.Error{Kind: model.Server, Message: "down"}
	c.say("something else", taskchat.StatusClarification) // the rules do not understand it either
	c.say("add buy bread", taskchat.StatusSuccess)
}

func TestClarificationCountCountsClarificationsAlone(t *testing.T) {
	h := newHouse(t)
	h.has(ada, "Prepare meeting", "Meeting minutes", "Buy milk")
	c := h.process("p").talk(ada)
	c.say("show my tasks", taskchat.StatusSuccess)
	c.say("delete task 3", taskchat.StatusConfirmation)
	same(t, "after a confirmation", c.metadata().AgentContext.ClarificationCount, 0)
	c.say("no", taskchat.StatusSuccess)
	c.say("update the meeting task", taskchat.StatusClarification)
	same(t, "after a question", c.metadata().AgentContext.ClarificationCount, 1)
	c.say("delete task 3", taskchat.StatusConfirmation)
	same(t, "after another confirmation", c.metadata().AgentContext.ClarificationCount, 1)
}

func TestToolSelectionResultStandsInTheResponseItsTraceAndTheExplanation(t *testing.T) {
	h := newHouse(t)
	h.has(ada, "Buy milk")
	c := h.process("p").talk(ada)
	for _, one := range []struct {
		words, tool, parameters string
		status                  taskchat.Status
		confirmed               bool
	}{
		{"add buy bread", "add_task", `"title":"buy bread"`, taskchat.StatusSuccess, false},
		{"show my tasks", "list_tasks", `{`, taskchat.StatusSuccess, false},
		{"complete task 1", "complete_task", `"task_id":1`, taskchat.StatusSuccess, false},
		{"delete task 1", "delete_task", `"task_id":1`, taskchat.StatusConfirmation, true},
		{"yes", "delete_task", `"task_id":1`, taskchat.StatusSuccess, true},
	} {
		r := c.say(one.words, one.status)
		assert.Require(t, len(r.ToolSelections) == 1, "“%s” selects %+v", one.words, r.ToolSelections)
		got := r.ToolSelections[0]
		same(t, one.words, []any{got.ToolName, got.RequiresConfirmation}, []any{one.tool, one.confirmed})
		assert.That(t, got.Confidence > 0 && got.Confidence <= 1, "“%s”: confidence %v", one.words, got.Confidence)
		contains(t, string(got.Parameters), one.parameters)
		contains(t, r.ReasoningTrace, "ToolSelectionResult "+string(assert.Must(json.Marshal(got))(t)))
		x := assert.Must(c.service.Explain(t.Context(), ada, r.RunID))(t)
		var told []string
		for _, step := range x.Steps {
			for _, e := range step.Events {
				if e.Type == "tool.selected" {
					told = append(told, string(assert.Must(json.Marshal(e))(t)))
				}
			}
		}
		assert.Require(t, len(told) == 1, "“%s”: events %v", one.words, told)
		contains(t, told[0], "Chose the tool "+one.tool, `"tool_name"`, `"confidence"`, `"parameters"`, `"requires_confirmation"`)
		same(t, "a yes is wanted", strings.Contains(told[0], "it needs a yes"), one.confirmed)
	}
}

func TestWordingThatFailsIsNotTriedTwiceAndThePersonsLanguageStays(t *testing.T) {
	for language, said := range map[string]struct {
		added, unsure, option string
		asked                 int // for words, for each message
	}{
		"fr": {"J’ai ajouté 'du pain' à tes tâches.", "Laquelle de ces choses ?", "ajouter la tâche 'du lait'", 0},
		"es": {"He añadido 'du pain' a tus tareas.", "¿Cuál de estas cosas?", "añadir la tarea 'du lait'", 0},
		"it": {"I've added 'du pain' to your tasks.", "Which of these did you mean?", "add the task 'du lait'", 1},
	} {
		for how, fails := range map[string]func(m *reader){
			"unusable":       func(m *reader) { m.wording = "nothing of use" },
			"too few":        func(m *reader) { m.wording = `{"sentences":[]}` },
			"other titles":   func(m *reader) { m.say = func(taskchat.Sentence) string { return "something else" } },
			"it is the last": func(m *reader) { m.wordingErr = &model.Error{Kind: model.Server, Message: "down"} },
		} {
			t.Run(language+" "+how, func(t *testing.T) {
				h, m := withModel(t)
				fails(m)
				c := h.process("p").talk(ada)
				m.hears(heard{Language: language, Intents: []taskchat.Wish{{Intent: "create", Confidence: 0.95,
					Title: "du pain"}}})
				r := c.say("du pain", taskchat.StatusSuccess)
				contains(t, r.Response, said.added)
				same(t, "requests for words", len(m.worded), said.asked)
				m.hears(heard{Language: language, Intents: []taskchat.Wish{{Intent: "create", Confidence: 0.4,
					Title: "du lait", Alternatives: []taskchat.Likely{{Intent: "list", Confidence: 0.35}}}}})
				r = c.say("du lait", taskchat.StatusClarification)
				if how != "other titles" || said.asked == 0 { // a question has no title to keep
					contains(t, r.Response, said.unsure)
				}
				contains(t, strings.Join(r.Clarification.Options, "\n"), said.option)
				same(t, "requests for words", len(m.worded), 2*said.asked)
			})
		}
	}
}
