package oracle

import (
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/tool"
)

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
