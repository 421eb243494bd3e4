package text

import (
	"fmt"
	"slices"
	"strings"
	"sync"
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

func TestQuotationIsFoundWhateverItsSignsAndBlanks(t *testing.T) {
	for _, c := range []struct{ text, quotation, want string }{
		{"The daily\n  allowance is 16\u00a0mg.", "the daily allowance is 16 mg",
			"The daily\n  allowance is 16\u00a0mg"},
		{"He said “it’s shut” – twice.", "said \"it's shut\" - twice.", "said “it’s shut” – twice."},
		{"Stra\u00adße und Größe", "strasse", ""},
		{"Stra\u00adße und Größe", "straße", "Stra\u00adße"},
		{"at 16 mg, then at 6 mg", "6 mg", "6 mg"},
		{"at 16 mg", "6 mg", ""},
		{"at 1.6 mg", "6 mg", ""},
		{"costs 2,300 euros", "costs 2", ""},
		{"costs 2. Then more", "costs 2", "costs 2"},
		{"unlikely", "likely", ""},
		{"\xff bad \xfe bytes", "bad", "bad"},
		{"anything", "  ", ""},
		{"", "anything", ""},
	} {
		place, found := Find(c.text, c.quotation)
		got := c.text[place.From:place.To]
		assert.That(t, got == c.want && found == (c.want != ""), "%q in %q: %q, want %q", c.quotation, c.text, got, c.want)
	}
}

func FuzzFind(f *testing.F) {
	f.Add("He said “it’s – shut”.", "it's")
	f.Add("İ ẞ \xff", "i")
	f.Fuzz(func(t *testing.T, text, quotation string) {
		place, found := Find(text, quotation)
		assert.That(t, !found || (place.From >= 0 && place.To <= len(text) && place.From < place.To),
			"%+v in %d bytes", place, len(text))
	})
}

func TestTheEndIsKeptInWhateverPiecesItComes(t *testing.T) {
	whole := strings.Repeat("0123456789abcde\n", 2000)
	for _, size := range []int{1, 7, maxTail, maxTail + 1, len(whole)} {
		var got Tail
		for rest := whole; rest != ""; {
			n, err := got.Write([]byte(rest[:min(size, len(rest))]))
			assert.Require(t, err == nil && n == min(size, len(rest)), "in pieces of %d: %d, %v", size, n, err)
			rest = rest[n:]
		}
		assert.That(t, got.String() == whole[len(whole)-maxTail:],
			"in pieces of %d it keeps %d bytes, from %.20q on", size, len(got.String()), got.String())
	}
}

func TestManyMayWriteAndReadAtOnce(t *testing.T) {
	var got Tail
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			fmt.Fprint(&got, i)
			_ = got.String()
		})
	}
	group.Wait()
	assert.That(t, len(got.String()) == 8, "it has %q", got.String())
}
