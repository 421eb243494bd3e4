package oracle

import (
	"strings"
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/tool"
)

// A small model that may say that nothing answers says so too often.
func TestModelMaySayThatNothingAnswersOnlyWhereNoPlaceHasMostOfTheQuestion(t *testing.T) {
	const place = "# Heating\n\nThe pressure of the boiler must stay between 1.2 and 1.8 bar.\n"
	for question, want := range map[string]fit{
		"What pressure must the boiler have?":           surelyAbout,
		"When was the pressure of the boiler measured?": maybeAbout,
		"Who cleans the windows of the school?":         notAbout,
		"Which pressure does Vitodens recommend?":       notAbout,
	} {
		o := newOffline(Situation{Question: question, NoTools: true})
		got := o.fits(passage{lines: strings.Split(place, "\n"), path: "heating.md"})
		assert.Equalf(t, got, want, "%s", question)
	}
}

func TestNotesOfAModelThatIsToldOfNoToolsAreNotCheckedAsAnAnswer(t *testing.T) {
	opened := agent.Step{Receipt: agent.CallReceipt{Result: &tool.Result{
		Refs: []tool.Ref{{Source: tool.Vault, Path: "backup.md", Opened: true}},
		Data: []byte(`{"start":1,"content":"Backups are kept for 35 days."}`)}}}
	for purpose, want := range map[string]bool{Purpose: true, PurposeNotes: false} {
		_, checked := newListener(agent.Request{Request: model.Request{Purpose: purpose,
			Facts: Situation{Question: "How long?", NoTools: true, Steps: []agent.Step{opened}}}}).(*backedListener)
		assert.That(t, checked == want, "%s: checked %v", purpose, checked)
	}
}
