package understand

import (
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestWordsSaidElsewhereAreAWishOnlyWhereTheyNameTheListOrAReminder(t *testing.T) {
	for words, want := range map[string][]string{
		"remind me to buy milk":                         {"buy milk"},
		"Please add milk to my list.":                   {"milk"},
		"put eggs on my list and remind me to call Bob": {"eggs", "call Bob"},
		"new task: water the plants":                    {"water the plants"},
		"Erinnere mich daran, Milch zu kaufen":          {"Milch zu kaufen"},
		"adiciona leite à minha lista":                  {"leite"},
		"show my tasks":                                 {""},
		"what's on my list?":                            {""},
		"add error handling to the parser":              nil,
		"add a test for the lexer":                      nil,
		"show all":                                      nil,
		"what is left?":                                 nil,
		"find the lease":                                nil,
		"show the lease":                                nil,
		"delete task 2":                                 nil,
		"How do I remind people of a deadline?":         nil,
		"don't remind me to buy milk":                   nil,
		"create these functions: a, b":                  nil,
		"add it to my list":                             nil,
		"hi":                                            nil,
		"":                                              nil,
	} {
		_, got := ReadWish(words)
		if len(got) != len(want) {
			t.Errorf("%q: %+v", words, got)
			continue
		}
		for n, title := range want {
			assert.That(t, got[n].Entities.Title == title, "%q: %q, not %q", words, got[n].Entities.Title, title)
		}
	}
}

func TestCourtesyIsNothingButKnownWords(t *testing.T) {
	for words, want := range map[string]bool{"hello": true, "Good morning to you!": true, "thanks a lot": true,
		"Hallo, danke": true, "obrigado!": true, "Bonjour !": true, "hola, gracias": true, "Dzień dobry": true,
		"thanks, delete it": false, "bonjour, ajoute du lait": false, "milk": false, "supprime le lait": false,
		"what a day": false, "ciao Milch": false, "yes": false, "do it": false, "please do it": false, "now, please": false,
		"✅": false, "": false, "hi, all of them": false} {
		assert.That(t, IsCourtesy(words) == want, "%q: %v", words, !want)
	}
}

func TestReferencesInFiveLanguages(t *testing.T) {
	for want, all := range map[string][]string{
		"#2": {"2", "#2", "task 2", "Task #2", "number 2", "no. 2", "the second one", "second", "2nd",
			"the 2nd task", "task two", "the second on my list", "Aufgabe 2", "die zweite", "die zweite Aufgabe",
			"Nr. 2", "a segunda", "a tarefa 2", "a 2ª", "la tâche 2", "la deuxième", "la segunda", "la tarea 2",
			"number two."},
		"#1": {"the first one", "die erste", "a primeira", "la première", "el primero", "Aufgabe eins"},
		"#-1": {"the last", "last one", "die letzte", "a última", "a ultima", "la dernière",
			"la última tarea"},
		"#-2": {"the second to last one", "die vorletzte", "a penúltima"},
		"#1 #3": {"1 and 3", "1, 3", "tasks 1 and 3", "the first and the third", "1 und 3",
			"a primeira e a terceira", "1 et 3", "1 y 3"},
		"#2 #3 #4": {"2-4", "tasks 2 to 4", "2 bis 4", "from 2 to 4"},
		"#1 #2":    {"the first two", "die ersten zwei", "die ersten beiden"},
		"it":       {"it", "that one", "this task", "them", "es", "die", "isso", "essa", "ça", "eso", "the task"},
		"all": {"all", "everything", "all of them", "all my tasks", "my tasks", "all completed tasks", "alle",
			"alles", "alle Aufgaben", "tudo", "todas", "todas as tarefas", "toutes", "toutes les tâches",
			"todas las tareas"},
		"both": {"both", "both of them", "beide", "die beiden", "ambas", "as duas", "les deux", "los dos"},
		"all but #1": {"all but the first", "everything except task 1", "alle außer der ersten",
			"todas menos a primeira"},
		"[meeting]": {"the meeting task", "meeting", "the task about the meeting", "the one about the meeting",
			`the task "meeting"`, "task called “meeting”"},
		"[Zahnarzt]":    {"die Aufgabe mit dem Zahnarzt", "den beim Zahnarzt"},
		"[canalizador]": {"a do canalizador", "a tarefa do canalizador"},
		"[call 112]":    {"call 112"}, "[meeting at 3]": {"the meeting at 3"}, "[2nd of May]": {"2nd of May",
			"the 2nd of May"}, "[first draft]": {"the first draft"}, "[2 of the boxes]": {"2 of the boxes"},
		"[chapter 2]": {"chapter 2"}, "[3 May]": {"3 May"}, "[17:30]": {"17:30"}, "[0]": {"0"},
		"[Ausgabe 2026]": {"Ausgabe 2026"}, "[second-hand books]": {"the second-hand books"},
		"[2.5 kg flour]": {"2.5 kg flour"},
	} {
		for _, words := range all {
			assert.Equalf(t, Refer(words).said(), want, "%q", words)
		}
	}
	assert.That(t, Refer(" .") == nil, "no words refer to something")
}

func TestAPlainYesInEachLanguage(t *testing.T) {
	for language, all := range map[string]string{
		"en": `yes|Yes!|yes please|yep, delete it|do it|ok|sure, go for it|yeah go ahead|yes, thank you|y|👍|👍🏽|Yes 👍`,
		"de": "ja|Ja, bitte|klar, mach das|ja, alles|yes|ok", "pt": "sim|sim, pode apagar|claro que sim|sim sim apaga",
		"fr": "oui|oui merci|Oui, s’il te plaît",
		"es": "sí|sí por favor|SÍ|si", "it": "sì, grazie", "nl": "ja graag", "sv": "ja tack", "da": "ja tak",
		"nb": "ja takk", "fi": "kyllä|joo", "pl": "tak|tak, proszę",
		"cs": "ano, prosím", "ro": "da|da, te rog", "hu": "igen", "tr": "evet|evet lütfen", "el": "ναι|Ναι, παρακαλώ",
		"ru": "да|да, пожалуйста", "uk": "так",
		"ja": "はい|はい、お願いします", "zh": "是的|好的，谢谢", "ko": "네|예", "ar": "نعم", "hi": "हाँ|जी हाँ",
		"": "yes|ja|oui|sí|sim|evet|はい", "vi": "yes|ok",
	} {
		for words := range strings.SplitSeq(all, "|") {
			assert.Equalf(t, Consent(words, language), Yes, "%q in %q", words, language)
		}
	}
}

func TestAPlainNoInEachLanguage(t *testing.T) {
	for words := range strings.SplitSeq(
		`no|No!|no thanks|nope|never mind|don't delete it|no, forget it|n|👎|nein|Nein danke|nein, behalten|bloß nicht|nein, bloß nicht|não|nao|não obrigado|não apagues|`+
			`esquece|non|non merci|no, gracias|mejor no|no grazie|nee|nej tack|nej tak|nei takk|ei|ei kiitos|nie|ne|nu|nem|hayır|Όχι|нет|ні|いいえ|不|不要|아니요|لا|नहीं|neither of them`, "|") {
		assert.Equalf(t, Consent(words, "en"), No, "%q", words)
	}
}

func TestYesOfAnotherLanguageIsNone(t *testing.T) {
	for language, all := range map[string]string{"da": "tak|mange tak|igen|da", "de": "da|tak|ano|si", "sv": "igen|tak",
		"pt": "da|ano|si|ja", "en": "tak|da|igen|ja|vale", "pl": "da|ja|ano",
		"es": "y|da|ano", "vi": "tak|da", "": "tak|mange tak"} {
		for words := range strings.SplitSeq(all, "|") {
			assert.That(t, Consent(words, language) != Yes, "%q is a yes in %q", words, language)
		}
	}
}

func TestWhatIsNotWhollyAPlainYesIsNone(t *testing.T) {
	for words := range strings.SplitSeq(
		`|yes?|yes but not that one|yes and no|no wait yes|yes no|yes, the second|yes 2|yes, delete all|yes and add milk|yes if it is done|he said yes|"yes"|“ja”|'yes'|«oui»|maybe|I guess|yesterday|not ok|of course not now?|why not|`+
			`delete it|delete task 2|thanks|please|ok thanks|lol ok|ja aber später|ja nein|jein|ja ja|ja?|lösch sie|doch|sim mas depois|acho que sim|apaga isso|talvez|oui mais non|sí pero no|sino|simplesmente|Januar|da drüben|是吗？|ναι;|tack|`+
			`sure not|right now|nein ja|yes!!! no|👍👎|delete it no|no, delete it|okey dokey then|да нет`, "|") {
		for _, language := range []string{"", "en", "de", "pt", "fr", "es", "el", "ru", "zh"} {
			assert.That(t, Consent(words, language) != Yes, "%q is read as a yes in %q", words, language)
		}
	}
	assert.That(t, Consent("yes"+strings.Repeat("!", longestAnswer), "") == Unclear && Consent("\xffyes", "") != Yes,
		"what is too long or no text is a yes")
}

func TestNoWordsMeanTwoThingsInOneLanguage(t *testing.T) {
	for words, all := range consentKinds() {
		assert.That(t, len(strings.Fields(words)) <= longestConsent, "%q has more words than are looked up", words)
		seen := map[string]string{}
		for _, c := range all {
			for _, language := range append(c.languages, strings.Repeat("each", 1-min(len(c.languages), 1))) {
				if before := seen[language]; language != "" && before != "" && before != c.kind {
					t.Errorf("%q is both %s and %s in %s", words, before, c.kind, language)
				}
				seen[language] = c.kind
			}
		}
	}
}
