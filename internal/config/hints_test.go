package config

import (
	"slices"
	"testing"
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
			if _, err := Set(Options{Environ: s.environ, Home: s.home}, h.Name, []string{text}); err != nil {
				t.Errorf("%s %s: %v", h.Name, text, err)
			}
		}
	}
	if chosen < 20 {
		t.Errorf("%d choices", chosen)
	}
}

func TestHintsKnowModelsPathsAndLists(t *testing.T) {
	all := Hints([]string{"work"}, []string{"github"})
	of := func(name string) Hint {
		at := slices.IndexFunc(all, func(h Hint) bool { return h.Name == name })
		if at < 0 {
			t.Fatalf("%s has no hint", name)
		}
		return all[at]
	}
	if h := of("fallback.models"); !h.Model || !h.List || h.Path {
		t.Errorf("%+v", h)
	}
	if h := of("vault"); !h.Path || h.Model || h.List {
		t.Errorf("%+v", h)
	}
	if h := of("mcp.servers.github.private"); !slices.Equal(h.Choices, []string{"true", "false"}) {
		t.Errorf("%+v", h)
	}
	of("providers.work.window")
}
