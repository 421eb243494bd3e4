package oracle

import (
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
)

func TestLinesStandOnceMoreFollowsThem(t *testing.T) {
	fence := "```"
	for reply, want := range map[string]string{
		"one line":                                  "",
		"one line\n\n":                              "",
		"one\ntwo\nthr":                             "one\ntwo\n",
		"one\n\n" + fence + "go\nx := 1\n":          "one\n\n",
		fence + "\nx\n" + fence + "\nso":            fence + "\nx\n" + fence + "\n",
		"{\"name\": \"vault_write\",\n\"arg":        "",
		"so\n\n[a](b) is\nit\nor not":               "so\n\n",
		"[a](b) is it\n\nThis\nis":                  "[a](b) is it\n\nThis\n",
		"<div>\nhold\n\nof what the model wrote\nx": "<div>\nhold\n\nof what the model wrote\n",
	} {
		l := newListener(agent.Request{Request: model.Request{Purpose: Purpose}})
		assert.That(t, reply[:l.Standing(reply)] == want, "of %q %q stands", reply, reply[:l.Standing(reply)])
	}
}

func TestNothingStandsWhereACallMayFollowOrWordsAreNotTheModelsOwn(t *testing.T) {
	reply := "The way is long.\nAnd wide.\nSo"
	l := newListener(agent.Request{Request: model.Request{Purpose: Purpose, Tools: []model.Tool{{Name: "code_read"}}}})
	assert.That(t, l.Standing(reply) == 0, "a call may follow")
	const hint = "You have said what you will do, but no call came with it. Do it now."
	l = newListener(agent.Request{Request: model.Request{Purpose: Purpose,
		Messages: []model.Message{{Role: model.User, Text: agent.Control(hint)}}}})
	assert.That(t, l.Standing(hint+"\n"+reply) == 0, "a hint was repeated")
}
