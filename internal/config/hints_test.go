package config

import (
	"slices"
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestEachChoiceOfASettingIsTaken(t *testing.T) {
	_, s := mustLoad(t, "providers: {work: {base_url: \"https://llm.test/v1\"}}")
	chosen := 0
	for _, h := range Hints([]string{"work"}, nil) {
		for _, text := range h.Choices {
			if h.Name == "providers.work.kind" && text != string(KindOpenAI) { // each has its own needs
				continue
			}
			chosen++
			_, err := Set(Options{Environ: s.environ, Home: s.home}, h.Name, []string{text})
			assert.That(t, err == nil, "%s %s: %v", h.Name, text, err)
		}
	}
	assert.That(t, chosen >= 20, "%d choices", chosen)
}

func TestHintsKnowModelsPathsAndLists(t *testing.T) {
	all := Hints([]string{"work"}, []string{"github"})
	of := func(name string) Hint {
		at := slices.IndexFunc(all, func(h Hint) bool { return h.Name == name })
		assert.Require(t, at >= 0, "%s has no hint", name)
		return all[at]
	}
	h := of("fallback.models")
	assert.That(t, h.Model && h.List && !h.Path, "%+v", h)
	h = of("vault")
	assert.That(t, h.Path && !h.Model && !h.List, "%+v", h)
	h = of("mcp.servers.github.private")
	assert.That(t, slices.Equal(h.Choices, []string{"true", "false"}), "%+v", h)
	of("providers.work.window")
}
