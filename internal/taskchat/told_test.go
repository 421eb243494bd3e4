package taskchat_test

import (
	"fmt"
	"strings"
	"testing"

	"sibyl/internal/task"
	"sibyl/internal/taskchat"
)

func TestRunExplainsWhichToolWasSelected(t *testing.T) {
	h := newHouse(t)
	ids := h.has(ada, "Apples")
	c := h.process("p").talk(ada)
	for _, one := range [][2]string{{"add Bread", `tool.selected tool_name=add_task confidence=0.92 parameters={"title":"Bread"} requires_confirmation=false`},
		{"delete apples", fmt.Sprintf(
			`tool.selected tool_name=delete_task confidence=0.92 parameters={"task_id":%d} requires_confirmation=true`,
			ids[0])}} {
		r, err := c.send(one[0])
		h.must(err)
		steps, err := c.engine.Explain(t.Context(), ada, r.RunID)
		h.must(err)
		var told []string
		for _, s := range steps {
			for _, e := range s.Events {
				if e.Type == (taskchat.ToolSelected{}).EventType() {
					told = append(told, e.String())
				}
			}
		}
		same(t, one[0], told, []string{one[1]})
	}
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
