package understand

import (
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Answer is what words say to a question of yes or no.
type Answer int

// Unclear is whatever is not nothing but a plain yes or no.
const (
	Unclear Answer = iota
	Yes
	No
)

// consents are all words that make a plain yes or no, with commas between them, and the languages that they mean it in;
// those without one mean it in each. Any of "courtesy" and "thanks" may stand around a yes or a no, "urging" around a
// yes. "assent" is a yes, unless with thanks, which makes it a mere "I see".
const consents = `
yes: yes, 👍, 👌
yes en: y, yep, yeah, yup, yes i do, yes i am, sure, sure thing, of course, absolutely, definitely, certainly
yes en: go ahead, go for it, do it
yes en: please do, confirm, confirmed, i confirm, correct, right, exactly, that's right, that is right, affirmative
yes de nl sv da no nb nn: ja
yes de: jawohl, jep, jap, ja klar, klar, na klar, natürlich, selbstverständlich, genau, richtig, mach das, mach es
yes de: ich bestätige, bestätigt
yes pt: sim, claro, claro que sim, com certeza, isso mesmo, pode, podes, pode apagar, podes apagar, pode excluir
yes pt: pode ser, confirmo
yes fr: oui, ouais, bien sûr, d'accord, vas y, allez y, absolument, exactement, je confirme, mais oui
yes es: sí, si, claro, claro que sí, por supuesto, de acuerdo, adelante, hazlo, correcto, exacto, confirmo
yes it: sì, si, certo, certamente, va bene, confermo; nl: ja zeker, zeker, jazeker, natuurlijk, ja graag
yes sv: ja visst, javisst, ja tack; da no nb nn: ja tak, ja takk; pt: com certeza que sim
yes fi: kyllä, joo; pl: tak, oczywiście, jasne; cs: ano, samozřejmě; sk: áno; ro sr hr bs sl: da; ro: desigur
yes hu: igen, persze
yes tr: evet, elbette; el: ναι, βέβαια; ru bg sr: да; ru: конечно, давай; uk: так, звичайно; ja: はい, ええ, うん, お願いします
yes zh: 是, 是的, 好, 好的, 对, 對, 可以, 确定, 確定; ko: 네, 예, 응, 그래; ar: نعم, أجل, بالتأكيد, ايوه
yes hi: हाँ, हां, जी हाँ, जी हां, ज़रूर
assent: ok, okay
assent en: k, fine, alright, all right; de: in ordnung; pt: está bem, tá bem; es: vale; tr: tamam; nl: oké; ko: 알겠어요
no: no, n, nope, nah, don't, do not, never mind, nevermind, cancel, cancel that, stop, forget it, leave it, keep it
no: not now, better not, no way
no: absolutely not, of course not, don't do it, don't delete it, don't delete them, do not delete it, neither
no: neither of them, none, none of them, not that one, not this one
no: no tak, nein, nö, nee, nicht, nicht löschen, bloß nicht, lieber nicht, doch nicht, doch lieber nicht
no: auf keinen fall, abbrechen, stopp, lass es
no: lass, behalten, vergiss es, keine davon, keine von beiden, nicht die, nicht diese, não, nao, melhor não, cancela
no: cancelar, deixa, deixa ficar, deixa pra lá, esquece
no: não apagues, não apague, nenhuma, nenhuma delas, non, surtout pas, annule, annuler, laisse, laisse tomber, aucune
no: mejor no, claro que no
no: déjalo, olvídalo, ninguna, annulla, lascia, nej, nei, nej tack, nej tak, nei takk, ei, nie, ne, nu, nem, hayır
no: hayir, όχι, нет, не надо, ні
no: いいえ, いや, だめ, やめて, 不, 不是, 不要, 不行, 不用, 否, 取消, 아니요, 아니, 아뇨, 취소, لا, كلا, नहीं, जी नहीं, 👎
courtesy: please, pls, kindly, bitte, gern, gerne, por favor, faz favor, s'il te plaît, s'il vous plaît, per favore
courtesy: graag, alsjeblieft, alstublieft
courtesy: snälla, gärna, vær så snill, proszę, prosím, te rog, kérem, kérlek, lütfen, παρακαλώ, пожалуйста, будь ласка
courtesy: 부탁해요, من فضلك, कृपया, 请, 請
thanks: thanks, thank you, thx, thanks a lot, danke, danke schön, vielen dank, obrigado, obrigada, merci, gracias
thanks: grazie, dank je, bedankt, dank u
thanks: tack, tak, takk, kiitos, dziękuję, dzięki, děkuji, díky, mulțumesc, köszönöm, teşekkürler, ευχαριστώ, спасибо
thanks: дякую, ありがとう, 谢谢, 謝謝, 감사합니다, شكرا
thanks: धन्यवाद
urging: delete it, delete them, delete that, remove it, remove them, i'm sure, i am sure, all of them, both
urging: both of them, lösch sie, lösch es
urging: lösche sie, lösche es, löschen, alles, alle, beide, ganz sicher, ich bin sicher, apaga, apague, apagar, exclui
urging: exclua, tudo, todas, ambas
urging: tenho a certeza, tenho certeza, supprime la, supprime le, bórrala, bórralo, bórralas
neither: ja ja, ja ja ja`

// longestConsent is how many words an entry of consents has at most, and longestAnswer how many bytes a plain answer.
const (
	longestConsent = 4
	longestAnswer  = 120
)

// consent is what words mean in some languages, or in each.
type consent struct {
	kind      string
	languages []string
}

var consentKinds = sync.OnceValue(func() map[string][]consent {
	kinds := map[string][]consent{}
	for line := range strings.Lines(consents) {
		kind := line[:max(strings.IndexAny(line, " :"), 0)]
		for part := range strings.SplitSeq(line, ";") {
			head, phrases, _ := strings.Cut(part, ": ")
			languages := strings.Fields(strings.TrimPrefix(head, kind))
			for phrase := range strings.SplitSeq(phrases, ",") {
				if words := strings.Join(consentWords(phrase), " "); words != "" {
					kinds[words] = append(kinds[words], consent{kind, languages})
				}
			}
		}
	}
	return kinds
})

// consentKind is the kind of an entry in a language, which may be unknown (""); "" if it means yes only in other
// languages.
func consentKind(words, language string) string {
	all := consentKinds()[words]
	for _, c := range all { // what holds for some languages stands before what holds for each
		if len(c.languages) == 0 || slices.Contains(c.languages, language) {
			return c.kind
		}
	}
	if language == "" && len(all) > 0 {
		return all[0].kind
	}
	return ""
}

// Consents says whether words for yes are known in a language.
func Consents(language string) bool {
	return language == "en" || strings.Contains(consents, " "+language+" ") ||
		strings.Contains(consents, " "+language+": ")
}

// Consent says whether words are nothing but a plain yes or no in a language, with or without a courtesy; "" is any of
// some twenty-five. It looks them up in a closed list; all else, a yes of another language, a yes with more behind it,
// and a yes that is asked or quoted, is Unclear.
func Consent(words, language string) Answer {
	if len(words) > longestAnswer || strings.ContainsAny(words, "?？؟;;\"“”„«»‘") {
		return Unclear
	}
	said := map[string]bool{}
	for left := consentWords(clean(words)); len(left) > 0; {
		n := min(longestConsent, len(left))
		for n > 0 && consentKind(strings.Join(left[:n], " "), language) == "" {
			n--
		}
		if n == 0 {
			return Unclear
		}
		said[consentKind(strings.Join(left[:n], " "), language)] = true
		left = left[n:]
	}
	switch yes := said["yes"] || said["assent"]; {
	case said["neither"], yes && said["no"], !said["yes"] && said["assent"] && said["thanks"], said["no"] &&
		said["urging"]:
		return Unclear
	case yes:
		return Yes
	case said["no"]:
		return No
	}
	return Unclear
}

// consentWords are the words and emoji of a text in lower case. A skin tone or a sign between them counts for nothing.
func consentWords(text string) []string {
	return strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case r == '\uFE0F', unicode.Is(unicode.Sk, r):
			return -1
		case unicode.In(r, unicode.Letter, unicode.Mark, unicode.Number, unicode.So), r == '\'':
			return unicode.ToLower(r)
		}
		return ' '
	}, text))
}
