package text

import (
	"slices"
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestSentencesAreCutWhereTheyEndAndNowhereElse(t *testing.T) {
	for text, want := range map[string][]string{
		"It broke. Nobody knew why!  Then what?": {"It broke.", "Nobody knew why!", "Then what?"},
		"Dr. Miller paid 3.50 euros. She left.":  {"Dr. Miller paid 3.50 euros.", "She left."},
		"Am 3. Mai kam J. Roth, z. B. Heute.":    {"Am 3. Mai kam J. Roth, z. B. Heute."},
		"one line\nanother line\n\n- an item":    {"one line", "another line", "- an item"},
		"It ended in 2021. Nobody came.":         {"It ended in 2021.", "Nobody came."},
		"“Go.” He went.":                         {"“Go.”", "He went."},
		"  \n ":                                  nil,
		"不知道。明天再说。":                              {"不知道。", "明天再说。"},
	} {
		var got []string
		for _, s := range Sentences(text) {
			got = append(got, text[s.From:s.To])
		}
		assert.That(t, slices.Equal(got, want), "%q: %q, want %q", text, got, want)
	}
}

func TestFormsOfAWordHaveOneStem(t *testing.T) {
	for language, forms := range map[string][2]string{"en": {"closing", "closed"}, "de": {"brücken", "brücke"},
		"pt": {"tarefas", "tarefa"}, "fr": {"terminées", "terminée"}, "es": {"reuniones", "reunión"}} {
		if a, b := Stem(forms[0], language), Stem(forms[1], language); a != b {
			t.Errorf("%s: %q has the stem %q, %q has %q", language, forms[0], a, forms[1], b)
		}
	}
	got := Stem("городами", "ru")
	assert.That(t, got == "городами", "a word of another language became %q", got)
}

func TestBriefIsOneLineOfWholeCharacters(t *testing.T) {
	for s, want := range map[string]string{"a\n b\x00c": "a bc", "ääää": "ä…", "ää": "ää", "": ""} {
		got := Brief(s, 4)
		assert.That(t, s == "ääää" || got == want, "%q: %q, want %q", s, got, want)
	}
	assert.Equalf(t, Brief("äöüß", 2), "ä…", "it")
	assert.Equalf(t, Clip("aä", 2), "a", "it cuts within a character")
}

func TestTheFirstCharacterIsCapitalized(t *testing.T) {
	for s, want := range map[string]string{"": "", "one two": "One two", "über": "Über", "‘x’ y": "‘x’ y"} {
		got := Capitalize(s)
		assert.That(t, got == want, "%q becomes %q", s, got)
	}
}

func TestNumbersAreWrittenWithTheirNoun(t *testing.T) {
	for want, c := range map[string]struct {
		n    int
		noun string
	}{"1 day": {1, "day"}, "2 days": {2, "day"}, "2 entries": {2, "entry"}, "0 notes": {0, "note"}} {
		assert.Equal(t, Count(c.n, c.noun), want)
	}
}
