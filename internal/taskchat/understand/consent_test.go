package understand

import (
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

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
