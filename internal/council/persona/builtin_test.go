package persona

import (
	"slices"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

// councils are the built-in oracles by language; in each row those who think alike.
func councils() map[string][]string {
	return map[string][]string{
		"pt": {"Cético", "Visionário", "Otimista", "Pragmático", "Historiador", "Advogado do Diabo", "Ouvinte",
			"Filósofo"},
		"en": {"Skeptic", "Visionary", "Optimist", "Pragmatist", "Historian", "Devil’s Advocate", "Listener",
			"Philosopher"},
		"de": {"Skeptiker", "Visionär", "Mutmacher", "Pragmatiker", "Historiker", "Advocatus Diaboli", "Zuhörer",
			"Philosoph"},
	}
}

func TestBuiltInOraclesLoadWithoutAWarning(t *testing.T) {
	l := list(t, New(Config{Placeholder: "<<OTHER>>"})) // which is for files of a person
	assert.That(t, len(l.Skipped) == 0, "skipped: %v", l.Skipped)
	slugs := map[string]bool{}
	for _, p := range l.Oracles {
		assert.That(t, len(p.Warnings) == 0 && p.Mode == InPlace && p.Placeholder == "{{CONTEXT}}",
			"%s: %s, %q", p.File, p.Mode, p.Warnings)
		assert.That(t, !slugs[p.Slug], "%s: another oracle has the slug %s", p.File, p.Slug)
		slugs[p.Slug] = true
		assert.That(t, p.File == "/prompts/oracles/"+strings.TrimPrefix(p.File, "/prompts/oracles/") &&
			strings.Trim(p.File, "abcdefghijklmnopqrstuvwxyz-/.") == "",
			"%s is no path of lower-case ASCII below /prompts/oracles", p.File)
		before, _, _ := strings.Cut(p.Content, p.Placeholder)
		assert.That(t, strings.HasPrefix(before[strings.LastIndex(before, "\n#")+1:], "## ") &&
			strings.HasSuffix(before, "\n\n"), "%s: the context has no section of its own", p.File)
	}
}

func TestBuiltInOraclesHaveCounterpartsInEachLanguage(t *testing.T) {
	s := New(Config{})
	of := map[string][]string{}
	for _, p := range list(t, s).Oracles {
		of[p.Language] = append(of[p.Language], p.Name)
	}
	for language, names := range councils() {
		slices.Sort(of[language])
		want := slices.Sorted(slices.Values(names))
		assert.That(t, slices.Equal(of[language], want), "%s: %q, want %q", language, of[language], want)
	}
}

func TestTheSkepticIsTheOneOfTheDataModelWordForWord(t *testing.T) {
	p := assert.Must(find(New(Config{}), "cetico"))(t)
	const want = `# Cético

Você é um pensador cético e rigoroso. Seu papel é desafiar as ideias apresentadas, identificar falhas lógicas, questionar premissas não fundamentadas e exigir evidências.

## Contexto do Usuário

{{CONTEXT}}

## Instruções

Analise o contexto acima e forneça um feedback crítico e construtivo. Identifique:
1. Premissas questionáveis
2. Lacunas no raciocínio
3. Possíveis contra-argumentos
4. Sugestões de refinamento

Seja direto mas respeitoso. Seu objetivo é fortalecer o pensamento, não desencorajá-lo.
`
	assert.That(t, p.Content == want, "it holds:\n%s", p.Content)
}
