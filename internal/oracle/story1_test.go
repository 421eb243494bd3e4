package oracle_test

import (
	"slices"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
)

// grabby is a model that calls every search there is, offered or not, all at once: what is called is the tree's doing.
func grabby() modeltest.Turn {
	t := modeltest.Say(needTurn("looking everywhere at once"))
	for _, name := range []string{"code_search", "vault_search", "thread_seek", "web_search"} {
		t = t.AndCall(name, `{"query":"all"}`)
	}
	return t
}

func TestQuestionIsClassifiedBeforeAnythingIsGathered(t *testing.T) {
	h := setUp(t, modeltest.SayAndCall(needTurn("looking"), "code_search", `{"query":"auth"}`),
		modeltest.Say("Found. "+partial("the rest")))
	h.ask(auth)
	first := h.steps()[0]
	same(t, "record that the first step takes in", first.Record, int64(0))
	classified := slices.IndexFunc(first.Events, func(e run.TraceEvent) bool {
		return e.Type == oracle.ClassChosen{}.EventType()
	})
	offering := slices.IndexFunc(first.Events, func(e run.TraceEvent) bool {
		return e.Type == oracle.ToolsOffered{}.EventType()
	})
	assert.That(t, classified >= 0 && offering >= classified,
		"Classify is event %d and OfferTools %d of the first step; want both, in this order", classified, offering)
	same(t, "effects of the first step", len(first.Start), 1)
	same(t, "the effect", first.Start[0].Name(), "turn 1 of 30")
}

// inOrder names the tools of a request as the model sees them.
func inOrder(req model.Request) []string {
	names := []string{}
	for _, t := range req.Tools {
		names = append(names, t.Name)
	}
	return names
}
