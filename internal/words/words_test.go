package words

import (
	"slices"
	"strings"
	"testing"
	"unicode"
)

func norms(list []Token) (all []string) {
	for _, t := range list {
		all = append(all, t.Norm)
	}
	return all
}

func TestTokensAreWhatTheFormSays(t *testing.T) {
	speech := Form{InWords: "'’", InFigures: ".,:/"}
	answers := Form{InWords: "'’-", InFigures: ".,:/", Units: true}
	dates := Form{InFigures: ".,:/-’'", Fold: strings.ToLower}
	for _, c := range []struct {
		form Form
		text string
		want string
	}{
		{speech, "It’s 14:05, on 3.5.2021.", "it's 14:05 , on 3.5.2021 ."},
		{speech, "Größe 40km – a-b\n\nX", "grosse 40km – a - b \n \n x"},
		{answers, "It’s the well-known 40km of the 15th, 3-4", "it's the well-known 40 km of the 15th , 3 - 4"},
		{answers, "Müller-Lüdenscheidt", "müller-lüdenscheidt"},
		{dates, "On 2019-05-03 he didn't. ÄB 1’200", "on 2019-05-03 he didn ' t . äb 1’200"},
		{Form{}, "a.b 1.5", "a . b 1 . 5"},
		{Form{}, " \t\x00\xff\u200b", ""},
		{Form{Fold: func(string) string { return "" }}, "gone !", "!"},
	} {
		if c.form.InWords == answers.InWords {
			c.form.Fold = func(word string) string { return strings.ToLower(strings.ReplaceAll(word, "’", "'")) }
		}
		if got := strings.Join(norms(c.form.Tokens(c.text)), " "); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
	list := speech.Tokens("Ab c 12 !")
	if !list[2].IsFigure() || !list[2].Word || list[3].Word || list[3].IsFigure() || list[2].From != 5 || list[2].To != 7 {
		t.Errorf("%+v", list)
	}
}

func FuzzTokens(f *testing.F) {
	f.Add("It’s 14:05, on 3.5.2021.\n40km x-y’", "'’-", ".,:/", true)
	f.Fuzz(func(t *testing.T, text, inWords, inFigures string, units bool) {
		end := 0
		for _, k := range (Form{InWords: inWords, InFigures: inFigures, Units: units}).Tokens(text) {
			if k.From < end || k.To <= k.From || k.To > len(text) || k.Norm == "" || !k.Word && k.Norm != text[k.From:k.To] {
				t.Fatalf("%q: %+v after %d", text, k, end)
			}
			end = k.To
		}
	})
}

func TestPhrasesAreFoundByTheirLongest(t *testing.T) {
	p := ParsePhrases("in, in front of, the/a door, *est, premiss*, $, é claro, / , ", Fold)
	f := Form{}
	for text, want := range map[string][2]int{
		"in": {0, 1}, "stands in front of it": {1, 3}, "a door": {0, 2}, "the fastest": {1, 1}, "est": {0, 0}, "two premisses": {1, 1}, "5 $": {1, 1}, "e claro": {0, 2}, "a / b": {1, 1}, "front": {0, 0}, "": {0, 0},
	} {
		if at, n := p.In(f.Tokens(text)); at != want[0] || n != want[1] || p.Has(f.Tokens(text)) != (want[1] > 0) {
			t.Errorf("%q: at %d, %d long, want %v", text, at, n, want)
		}
	}
	if !p.Is("in") || p.Is("front") || p.At(nil, 0) != 0 || p.At(f.Tokens("in"), -1) != 0 || (Phrases{}).Is("in") {
		t.Error("a word by itself is taken for another")
	}
}

func TestNumbersAreReadInFiguresAndInWords(t *testing.T) {
	f := Form{InWords: "'’", InFigures: ".,:/"}
	for _, c := range []struct {
		code, text string
		value      float64
		n          int
	}{
		{"en", "1,250.5 tonnes", 1250.5, 1}, {"de", "1.250,5 Tonnen", 1250.5, 1}, {"pt", "1.250 reais", 1250, 1}, {"en", "1,5", 1.5, 1}, {"de", "1.5", 1.5, 1},
		{"en", "3 million", 3e6, 2}, {"pt", "20mil", 20000, 1}, {"en", "120k", 120000, 1}, {"en", "two hundred and five trucks", 205, 4}, {"de", "dreihundertzwölf Leute", 312, 1},
		{"de", "einundzwanzig", 21, 1}, {"pt", "duzentos e cinco", 205, 3}, {"en", "twenty five", 25, 2}, {"en", "five six", 5, 1}, {"en", "trucks", 0, 0}, {"xx", "7", 7, 1}, {"xx", "seven", 0, 0},
		{"de", strings.Repeat("hundert", 40), 0, 0}, {"en", "", 0, 0},
	} {
		value, n, written := NumbersOf(c.code).At(f.Tokens(c.text), 0)
		if value != c.value || n != c.n || n > 0 && written != unicode.IsLetter(rune(c.text[0])) {
			t.Errorf("%s %q: %v of %d tokens, want %v of %d", c.code, c.text, value, n, c.value, c.n)
		}
	}
	if _, is := NumbersOf("de").Word("jahrhundert"); is {
		t.Error("a century is a number")
	}
}

func TestFormsOfAWordMeet(t *testing.T) {
	for code, pairs := range map[string][]string{"de": {"lieferung lieferungen", "prufte prufen"}, "pt": {"decidimos decidir", "reunioes reuniao"}, "en": {"caches caching"}} {
		for _, pair := range pairs {
			if w := strings.Fields(pair); EndingsOf(code).Stem(w[0]) != EndingsOf(code).Stem(w[1]) {
				t.Errorf("%s: %s is %s, and %s is %s", code, w[0], EndingsOf(code).Stem(w[0]), w[1], EndingsOf(code).Stem(w[1]))
			}
		}
	}
	if got := EndingsOf("de").Stem("den"); got != "den" {
		t.Errorf("too little stays of “den”: %s", got)
	}
	if list := EndingsOf("pt"); !slices.IsSortedFunc(list, func(a, b string) int { return len(b) - len(a) }) {
		t.Error("a shorter ending comes first")
	}
}
