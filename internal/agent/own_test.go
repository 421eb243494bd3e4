package agent

import (
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/text"
)

// Each is long enough to be told from what anybody says.
const (
	recoveryOfTest = "# After a failure\n\nRead what it says, and choose another way than the one which has led to it before."
	hintOfTest     = "You have given the same reason several times, so name what exactly is missing."
)

// builtInRule is the longest plain sentence of the built-in prompts.
func builtInRule() (rule string) {
	for line := range strings.Lines(builtIn()) {
		for _, s := range text.Sentences(line) {
			if said := line[s.From:s.To]; len(said) > len(rule) && !strings.ContainsAny(said, "{`\"“<*:") {
				rule = said
			}
		}
	}
	return rule
}

func requestOfTest() Request {
	return Request{Recovery: recoveryOfTest, Prompt: System{Facts: []string{"the notes of the harbour and the code of the gate"}},
		Request: model.Request{
			System: "# A title\n\nYou answer the questions of one person from their own books, and say where each answer stands.\n" +
				"You have the notes of the harbour and the code of the gate, and nothing besides.\n\n" +
				"The office is open from nine to five on all days but Sunday. " + builtInRule(),
			Messages: []model.Message{
				{Role: model.User, Text: "When does the old counter of the harbour office close for good?\n\n" +
					Material("letter.txt\n   1| The old counter closes on the first of May, and the gate checks all licences from then on.")},
				{Role: model.Assistant, Text: "It closes on the first of May, when the gate takes over the checks of licences.\n" +
					"<" + `signal type="need_turn"><reason>` + hintOfTest + "</reason><confidence>0.9</confidence></" + "signal>"},
				{Role: model.ToolRole, Text: "Failed: harbour.md is not there, and nothing else has a name like it.", IsError: true},
				{Role: model.ToolRole, Text: "gate.go\n   7| // the gate warns for a month before it refuses anybody" + cutByTool},
				{Role: model.User, Text: Control(recoveryOfTest)},
				{Role: model.User, Text: Control("This was found for them.") +
					"\n\nplan.md\n   3| The counter will be a café with twelve tables by the end of the summer." +
					"\n\n" + Control(hintOfTest)},
			}}}
}

func TestWordsAreTakenForThoseOfWhoSaidThem(t *testing.T) {
	from := OriginOf(requestOfTest())
	for said, own := range map[string]bool{
		"You answer the questions of one person from their own books, and say where each answer stands.": true,
		"I have the notes of the harbour and the code of the gate.":                                      true,
		"When does the old counter of the harbour office close for good?":                                true,
		"The old counter closes on the first of May, and the gate checks all licences from then on.":     true,
		"It closes on the first of May, when the gate takes over the checks of licences.":                true,
		"// the gate warns for a month before it refuses anybody":                                        true,
		"The counter will be a café with twelve tables by the end of the summer.":                        true,
		"The office is open from nine to five on all days but Sunday.":                                   true,
		builtInRule(): false,
		hintOfTest:    false,
		"Read what it says, and choose another way than the one which has led to it before.": false,
		"Failed: harbour.md is not there, and nothing else has a name like it.":              false,
		strings.TrimSpace(Material("")):                                                      false,
		strings.TrimSpace(cutByTool) + " " + strings.TrimSpace(cutHere):                      false,
	} {
		got, dropped := from.Own(said)
		assert.That(t, own == (got == said) && own == (dropped == nil), "%q became %q", said, got)
	}
}

func TestEarlierReplyThatWasAnEchoMakesNoWordsItsOwn(t *testing.T) {
	asked := requestOfTest()
	asked.Messages = append(asked.Messages, model.Message{Role: model.Assistant, Text: hintOfTest})
	got, _ := OriginOf(asked).Own("The counter closes in May. " + hintOfTest)
	assert.That(t, got == "The counter closes in May.", "%q is left", got)
}
