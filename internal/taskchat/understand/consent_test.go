package understand

import (
	"strings"
	"testing"
)

func TestAPlainYesAndNoInEachLanguage(t *testing.T) {
	yes := `yes|Yes!|yes please|yep, delete it|do it|ok|sure, go for it|yeah go ahead|yes, thank you|y|👍|👍🏽|Yes 👍|ja|Ja, bitte|klar, mach das|ja, alles|sim|sim, pode apagar|claro que sim|sim sim apaga|oui|oui merci|Oui, s’il te plaît|sí|` +
		`sí por favor|SÍ|si|sì, grazie|ja graag|ja tack|ja tak|kyllä|joo|tak|tak, proszę|ano, prosím|da|da, te rog|igen|evet|evet lütfen|ναι|Ναι, παρακαλώ|да|да, пожалуйста|так|はい|はい、お願いします|是的|好的，谢谢|네|예|نعم|हाँ|जी हाँ`
	no := `no|No!|no thanks|nope|never mind|don't delete it|no, forget it|n|👎|nein|Nein danke|nein, behalten|bloß nicht|nein, bloß nicht|não|nao|não obrigado|não apagues|esquece|non|non merci|no, gracias|mejor no|no grazie|nee|nej tack|nej tak|nei takk|` +
		`ei|ei kiitos|nie|ne|nu|nem|hayır|Όχι|нет|ні|いいえ|不|不要|아니요|لا|नहीं|neither of them`
	for want, all := range map[Answer]string{Yes: yes, No: no} {
		for words := range strings.SplitSeq(all, "|") {
			if got := Consent(words); got != want {
				t.Errorf("%q: got %d, want %d", words, got, want)
			}
		}
	}
}

func TestWhatIsNotWhollyAPlainYesIsNone(t *testing.T) {
	for words := range strings.SplitSeq(`|yes?|yes but not that one|yes and no|no wait yes|yes no|yes, the second|yes 2|yes, delete all|yes and add milk|yes if it is done|he said yes|"yes"|“ja”|'yes'|«oui»|maybe|I guess|yesterday|not ok|of course not now?|why not|`+
		`delete it|delete task 2|thanks|please|ok thanks|lol ok|ja aber später|ja nein|jein|ja ja|ja?|lösch sie|doch|sim mas depois|acho que sim|apaga isso|talvez|oui mais non|sí pero no|sino|simplesmente|Januar|da drüben|是吗？|ναι;|tack|mange tak|`+
		`sure not|right now|nein ja|yes!!! no|👍👎|delete it no|no, delete it|okey dokey then|да нет`, "|") {
		if got := Consent(words); got == Yes {
			t.Errorf("%q is read as a yes", words)
		}
	}
	if Consent("yes"+strings.Repeat("!", longestAnswer)) != Unclear || Consent("\xffyes") == Yes {
		t.Error("what is too long or no text is a yes")
	}
}

func TestNoWordsMeanBothYesAndNo(t *testing.T) {
	kinds := map[string]string{}
	for line := range strings.Lines(consents) {
		kind, phrases, _ := strings.Cut(line, ": ")
		for phrase := range strings.SplitSeq(phrases, ",") {
			words := consentWords(phrase)
			key := strings.Join(words, " ")
			if before := kinds[key]; key != "" && before != "" && before != kind {
				t.Errorf("%q is both %s and %s", key, before, kind)
			}
			if len(words) > longestConsent {
				t.Errorf("%q has more words than are looked up", key)
			}
			kinds[key] = kind
		}
	}
}
