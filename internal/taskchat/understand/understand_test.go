package understand

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/quick"
	"unicode/utf8"
)

// spoken is a context in which everything that can be named is there.
var spoken = Context{Shown: 5, Spoken: true}

type sample struct {
	words, want string
}

func checkAll(t *testing.T, c Context, samples ...sample) {
	t.Helper()
	for _, s := range samples {
		if got := readingText(Read(s.words, c)); got != s.want {
			t.Errorf("%q\n\tgot  %s\n\twant %s", s.words, got, s.want)
		}
	}
}

func TestAndWithinATitleStays(t *testing.T) {
	checkAll(t, spoken,
		sample{"add milk and eggs", `create "milk and eggs"`},
		sample{"buy bread and butter", `create "buy bread and butter"`},
		sample{"remind me to buy and wrap the present", `create "buy and wrap the present"`},
		sample{"Brot und Butter kaufen", `create "Brot und Butter kaufen"`},
		sample{"adiciona arroz e feijão", `create "arroz e feijão"`},
		sample{"rename task 2 to salt and pepper", `update "salt and pepper" #2`},
	)
}

func TestTitlesBehindAColonAreWithoutTheFrameThatNamesTheList(t *testing.T) {
	checkAll(t, spoken,
		sample{"please add these to my list: water plants, call mom and buy stamps", `create "water plants"; create "call mom"; create "buy stamps"`},
		sample{"add to my list: eggs, milk and bread", `create "eggs"; create "milk"; create "bread"`},
		sample{"add to my list: bread and butter", `create "bread and butter"`},
		sample{"put on my list: buy stamps", `create "buy stamps"`},
		sample{"put these on my list: eggs; milk", `create "eggs"; create "milk"`},
		sample{"setz auf die Liste: Brot, Milch", `create "Brot"; create "Milch"`},
		sample{"adicione à minha lista: pão, leite", `create "pão"; create "leite"`})
}

func TestClausesThatEachBeginWithAVerbAreSeveralTasks(t *testing.T) {
	checkAll(t, spoken,
		sample{"add buy milk, call mom and pay rent", `create "buy milk"; create "call mom"; create "pay rent"`},
		sample{"Müll rausbringen und Oma anrufen", `create "Müll rausbringen"; create "Oma anrufen"`},
		sample{"lembra de comprar pão e lavar o carro", `create "comprar pão"; create "lavar o carro"`},
	)
}

func TestNumbersWithinATitleAreNoReference(t *testing.T) {
	for _, words := range []string{"add buy 2 litres of milk", "remind me to call at 3", "add: review task 2 of the course", "add first aid course", "add visit the second-hand shop",
		"add renew the lease on the 3rd", "Füge 3 Eier kaufen hinzu", "lembra de pagar a parcela 2"} {
		for _, x := range Read(words, spoken).Results {
			if x.Intent != Create || x.Entities.Reference != nil {
				t.Errorf("%q: got %s, want a new task without a reference", words, resultText(x))
			}
		}
	}
	checkAll(t, spoken, sample{"rename task 2 to Task 5", `update "Task 5" #2`}, sample{"benenne Aufgabe 2 in Aufgabe 5 um", `update "Aufgabe 5" #2`})
}

func TestAPositionWithMoreBehindItIsNoPosition(t *testing.T) {
	for _, words := range []string{"delete task 2 of the course", "complete 2 of the boxes", "delete 2 litres of milk", "delete 2-in-1 printer", "delete the second-hand books", "apaga a 2 da lista de compras da Ana"} {
		for _, x := range Read(words, spoken).Results {
			if ref := x.Entities.Reference; ref != nil && ref.Positions != nil {
				t.Errorf("%q: got %s, want no position", words, resultText(x))
			}
		}
	}
}

func TestQuestionsNegationsAndReportsChangeNothing(t *testing.T) {
	for _, words := range []string{
		"should I delete task 2?", "should i delete task 2", "can tasks be deleted?", "how do I complete a task?", "what if I deleted everything?", "did you delete task 2?", "was task 2 deleted",
		"don't delete task 2", "please do not complete 1", "never delete anything", "I don't think you should delete task 2", "my boss said delete task 2", "he told me: delete all tasks", `"delete task 2"`,
		"if I delete task 2, is it gone?", "delete task 2? no!", "what does deleting task 2 do", "delete task 2, my wife said",
		"Soll ich Aufgabe 2 löschen?", "Lösch Aufgabe 2 nicht!", "Bitte keine Aufgaben löschen", "Mein Chef meinte, lösche alles", "Was passiert, wenn ich 2 lösche?", "Hast du die zweite erledigt?",
		"devo apagar a 2?", "não apague nada", "ela pediu para apagar a 2", "e se eu apagar tudo?", "você já concluiu a 2?",
	} {
		for _, x := range Read(words, spoken).Results {
			switch x.Intent {
			case Help, Chat, List, Decline:
			default:
				t.Errorf("%q: got %s, want nothing that changes a task", words, resultText(x))
			}
		}
	}
}

func TestTalkChangesNothing(t *testing.T) {
	for _, words := range []string{"thanks!", "good morning", "I love you", "yesterday was a good day", "ok thanks", "haha", "Danke dir!", "Na, wie geht's?", "Das war ein langer Tag", "obrigada!", "boa tarde", "você é legal", "👋", "…", "", "   "} {
		for _, x := range Read(words, spoken).Results {
			if x.Intent != Chat {
				t.Errorf("%q: got %s, want talk", words, resultText(x))
			}
		}
	}
}

// affirms says whether words are nothing but a clear yes, in any of the languages: "yes please, go ahead", "ja, lösch sie", "pode", "👍".
func affirms(words string) bool {
	words = strings.ToValidUTF8(words, "\uFFFD")
	if len(words) > maxBytes {
		return false
	}
	tokens := tokenize(words)
	for _, l := range lexicons() {
		t := newText(words, tokens, l)
		if yes, _ := t.tally(span{0, len(t.tokens)}, Delete); yes {
			return true
		}
	}
	return false
}

func TestOnlyAClearYesAffirms(t *testing.T) {
	for _, words := range []string{"yes", "Yes!", "yes please, go ahead", "yep, delete it", "do it", "ok", "sure", "👍", "👍🏽", "ja", "Ja, lösch sie", "mach das", "sim", "pode", "sim, pode apagar", "com certeza"} {
		if !affirms(words) {
			t.Errorf("%q is no yes, want one", words)
		}
	}
	for _, words := range []string{"", "yes?", "yes but not now", "yes and no", "no", "I guess", "maybe", "yesterday", "no problem", "not ok", "delete it", "ok thanks", "yes, and add milk", "yes, task 3", "yes, delete all", "yes, complete it",
		"he said yes", `"yes"`, "thanks", "please", "hm", "yes if it is done", "ja aber später", "jein", "nein", "ja?", "lösch sie", "já", "talvez", "sim mas depois", "apaga isso", "acho que sim", "delete task 2"} {
		if affirms(words) {
			t.Errorf("%q is a yes, want none", words)
		}
	}
}

func TestWithADeleteAskedAboutOnlyAClearYesConfirms(t *testing.T) {
	for _, g := range slices.Concat(readGold(t, golds[0]), readGold(t, golds[1])) {
		c := spoken
		c.Open = &Open{Kind: KindConfirm, Intent: Delete}
		r := Read(g.words, c)
		if r.Results[0].Intent == Confirm && len(r.Results) == 1 && !affirms(g.words) {
			t.Errorf("%q confirms, and is no clear yes", g.words)
		}
	}
}

func TestTheLanguageIsOfTheMessageAndElseOfTheConversation(t *testing.T) {
	for _, c := range []struct{ words, before, want string }{
		{"remove the second one", "de", "en"}, {"lösche Aufgabe 2", "en", "de"}, {"apaga a tarefa 2", "en", "pt"}, {"2", "de", "de"}, {"ok", "pt", "pt"}, {"milk", "", "en"}, {"42", "xx", "en"}, {"Milch", "de", "de"},
	} {
		if got := Read(c.words, Context{Language: c.before}).Language; got != c.want {
			t.Errorf("%q after %q: got %s, want %s", c.words, c.before, got, c.want)
		}
	}
}

func TestOneWrongLetterInACommandIsUnderstood(t *testing.T) {
	checkAll(t, spoken,
		sample{"delte task 2", "delete #2"}, sample{"compelte the first one", "complete #1"}, sample{"renmae 2 to X", `update "X" #2`}, sample{"shwo my tasks", "list"},
		sample{"lösceh Aufgabe 2", "delete #2"}, sample{"apga a tarefa 2", "delete #2"}, sample{"addd milk", `create "milk"`},
	)
	for _, words := range []string{"remote access for Anna", "Finnish lessons", "compete in chess"} { // words of their own, one letter from a command
		if x := Read(words, spoken).Results[0]; x.Intent != Create && x.Confidence >= thresholds[x.Intent] {
			t.Errorf("%q: got %s (%.2f), want no command that is sure", words, resultText(x), x.Confidence)
		}
	}
}

func TestAccentsCaseAndUmlautsMakeNoDifference(t *testing.T) {
	for _, same := range [][]string{
		{"lösche Aufgabe 2", "loesche aufgabe 2", "LÖSCHE AUFGABE 2", "losche Aufgabe 2", "lo\u0308sche Aufgabe 2"},
		{"não", "nao", "NÃO"}, {"don't forget the milk", "dont forget the milk", "Don’t forget the milk"},
	} {
		want := readingText(Read(same[0], spoken))
		for _, words := range same[1:] {
			if got := readingText(Read(words, spoken)); !strings.EqualFold(got, want) {
				t.Errorf("%q: got %s, want %s as for %q", words, got, want, same[0])
			}
		}
	}
}

func TestAPronounWithNothingSpokenOfIsDoubted(t *testing.T) {
	for _, words := range []string{"delete it", "complete that one", "lösch das", "apaga isso"} {
		if x := Read(words, Context{}).Results[0]; !x.Entities.Reference.It || x.Confidence >= thresholds[x.Intent] {
			t.Errorf("%q: got %s (%.2f), want a pronoun below the threshold", words, resultText(x), x.Confidence)
		}
	}
}

func TestWhatMayBeSomethingElseHasAlternatives(t *testing.T) {
	for _, words := range []string{"I bought the milk", "finish the report", "change the sheets", "cancel the gym", "find a plumber", "complete the report"} {
		if x := Read(words, spoken).Results[0]; len(x.Alternatives) == 0 || x.Alternatives[0].Intent == x.Intent {
			t.Errorf("%q: got %s with %v, want another way to read it", words, resultText(x), x.Alternatives)
		}
	}
}

func TestMoreThanIsReadIsNotActedOn(t *testing.T) {
	r := Read("delete all tasks "+strings.Repeat("x ", maxBytes), spoken)
	if len(r.Results) != 1 || r.Results[0].Intent != Chat {
		t.Errorf("got %s, want chat", readingText(r))
	}
	if affirms("yes" + strings.Repeat("!", maxBytes)) {
		t.Error("more than is read affirms")
	}
}

// checkReading checks what holds for every reading.
func checkReading(t *testing.T, words string, r Reading) {
	t.Helper()
	if len(r.Results) == 0 || known(r.Language) != r.Language {
		t.Fatalf("%q: language %q, %d results", words, r.Language, len(r.Results))
	}
	flat := strings.Join(strings.Fields(strings.ToValidUTF8(words, "\uFFFD")), " ")
	within := func(text string) bool {
		if strings.Contains(flat, text) {
			return true
		}
		for _, word := range strings.Fields(text) { // a time that stood before the title is put behind it, and German words have several orders
			if !strings.Contains(flat, word) {
				return false
			}
		}
		return true
	}
	for _, x := range r.Results {
		e := x.Entities
		if !(x.Confidence > 0 && x.Confidence <= 1) || x.Reasoning == "" {
			t.Errorf("%q: confidence %v, reasoning %q", words, x.Confidence, x.Reasoning)
		}
		if !within(e.Title) || !within(e.Description) || !utf8.ValidString(e.Title) {
			t.Errorf("%q: title %q and description %q are not its words", words, e.Title, e.Description)
		}
		for ref := e.Reference; ref != nil; ref = ref.Except {
			if !within(ref.Title) {
				t.Errorf("%q: the title %q of a reference is not its words", words, ref.Title)
			}
			ways := 0
			for _, way := range []bool{ref.Positions != nil, ref.It, ref.All, ref.Title != ""} {
				if way {
					ways++
				}
			}
			if ways != 1 || ref.Except != nil && !ref.All {
				t.Errorf("%q: %s names tasks in %d ways, want one", words, resultText(x), ways)
			}
			for _, p := range ref.Positions {
				if p == 0 {
					t.Errorf("%q: position 0", words)
				}
			}
		}
	}
}

func TestEveryReadingIsWellFormed(t *testing.T) {
	contexts := []Context{{}, spoken, {Open: &Open{Kind: KindConfirm, Intent: Delete}}, {Open: &Open{Kind: KindValue, Intent: Create}}, {Open: &Open{Kind: KindChoose, Intent: Complete, Options: []string{"Buy milk", "Call Anna"}}}}
	for _, g := range slices.Concat(readGold(t, golds[0]), readGold(t, golds[1])) {
		for _, c := range append(contexts, g.context) {
			r := Read(g.words, c)
			checkReading(t, g.words, r)
			if again := Read(g.words, c); !reflect.DeepEqual(r, again) {
				t.Errorf("%q is read in two ways", g.words)
			}
		}
	}
	if err := quick.Check(func(a, b string) bool {
		checkReading(t, a+b, Read(a+b, spoken))
		return !t.Failed()
	}, nil); err != nil {
		t.Error(err)
	}
}

func FuzzRead(f *testing.F) {
	file := slices.Concat(readGold(f, golds[0]), readGold(f, golds[1]))
	for i := 0; i < len(file); i += 9 {
		f.Add(file[i].words, "confirm")
		f.Add(file[i].words, "")
	}
	f.Fuzz(func(t *testing.T, words, kind string) {
		c := spoken
		if kind != "" {
			c.Open = &Open{Kind: kind, Intent: Delete, Options: []string{words, "Buy milk"}}
		}
		r := Read(words, c)
		checkReading(t, words, r)
		if !reflect.DeepEqual(r, Read(words, c)) {
			t.Errorf("%q is read in two ways", words)
		}
		if affirms(words) && c.Open != nil && kind == KindConfirm && r.Results[0].Intent != Confirm {
			t.Errorf("%q affirms, and is read as %s", words, readingText(r))
		}
	})
}

func BenchmarkRead(b *testing.B) {
	const words = "Hi! Could you please add buy two litres of milk, call mom at 3 and pay the rent to my list, then complete task 2 and delete the second to last one? And show me what is left, newest first. Thanks a lot!!"
	for b.Loop() {
		Read(words, spoken)
	}
}

func BenchmarkLongest(b *testing.B) {
	words := strings.Repeat("add buy milk, call mom and pay the rent, then complete task 2 and delete the second to last one, ", 85)[:maxBytes]
	for b.Loop() {
		Read(words, spoken)
	}
}
