package oracle_test

import (
	"strings"
	"testing"

	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle/prompt"
	"sibyl/internal/tool"
	"sibyl/prompts"
)

// heading is the first line of a prompt file: it tells whether the prompt holds the file.
func heading(t *testing.T, file string) string {
	t.Helper()
	text, err := prompts.FS.ReadFile("oracle/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "# ") {
			return line
		}
	}
	t.Fatalf("%s has no heading", file)
	return ""
}

func TestStory4PromptHoldsTheSegmentOfItsClassAndNoOther(t *testing.T) {
	own := map[string]string{"code": "code-analysis.md", "documentation": "documentation.md", "research": "research.md",
		"conversational": "conversation.md", "action": "actions.md"}
	for _, c := range []struct {
		name, question, class, segment string
	}{
		{"Scenario1CodeAnalysisForCode", auth, "code", "code"},
		{"DocumentationForDocumentation", caching, "documentation", "docs"},
		{"Scenario2ResearchMethodologyForResearch", weather, "research", "research"},
		{"Scenario4ConversationForThanks", thanks, "conversational", "conversation"},
		{"ActionsForAnAction", save, "action", "actions"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := setUp(t, theEnd)
			a := h.ask(c.question)
			same(t, "query type", a.QueryType, c.class)
			for class, file := range own {
				if class == c.class {
					holds(t, "the prompt", h.request(1).System, heading(t, file))
				} else {
					lacks(t, "the prompt", h.request(1).System, heading(t, file))
				}
			}
			same(t, "segments in the receipt", h.receipts()[0].Segments, []string{"base", "signals", "tools", c.segment, "closing"})
		})
	}
}

func TestStory4Scenario3EveryRequestHoldsTheWholeSignalInstructions(t *testing.T) {
	text, err := prompts.FS.ReadFile("oracle/signals.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, question := range []string{auth, caching, weather, thanks, save} {
		h := setUp(t, modeltest.Say(needTurn("think it over")), modeltest.Say(needTurn("once more")), modeltest.Say("So it is. "+enough()))
		h.turns = 3
		h.ask(question)
		for i, req := range h.script.Requests() {
			if !strings.Contains(req.System, strings.TrimSpace(string(text))) {
				t.Errorf("%s: request %d lacks the signal instructions", question, i+1)
			}
		}
	}
}

func TestSameInputsGiveTheSamePrompt(t *testing.T) {
	prompted := func(question string) (hash, text string) {
		h := setUp(t, theEnd)
		h.ask(question)
		return h.receipts()[0].Prompt, h.request(1).System
	}
	firstHash, firstText := prompted(auth)
	againHash, againText := prompted(auth)
	same(t, "hash of the prompt", againHash, firstHash)
	same(t, "the prompt", againText, firstText)
	if !strings.HasPrefix(firstHash, "sha256:") {
		t.Errorf("the receipt names the prompt %q", firstHash)
	}
	if other, _ := prompted(weather); other == firstHash {
		t.Error("a research question has the prompt of a code question")
	}
}

func TestPromptStaysWithinItsLimit(t *testing.T) {
	h := setUp(t, modeltest.SayAndCall(needTurn("search"), "code_search", `{}`), modeltest.Say("Nothing. "+partial("all")))
	h.env.WindowTokens = 1 // any history is large
	h.world.on("code_search", fails(tool.Failed, "", "broken"))
	h.ask(auth)
	for i, r := range h.receipts() {
		if r.PromptSize > prompt.Limit || len(r.LeftOut) > 0 {
			t.Errorf("request %d has %d tokens of prompt, and left out %v", i+1, r.PromptSize, r.LeftOut)
		}
	}
}
