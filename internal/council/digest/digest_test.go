package digest

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

func TestADigestSaysFirstThatRulesMadeIt(t *testing.T) {
	for code, l := range languages() {
		first, _, _ := strings.Cut(Write(Frame{}, said("Wir treffen uns am 3. Mai in Bremen."), code), "\n")
		if first != "*"+l.say["made"]+"*" {
			t.Errorf("%s: the first line is %q", code, first)
		}
	}
}

// said are transcripts, one of each text.
func said(texts ...string) (entries []Entry) {
	for i, text := range texts {
		entries = append(entries, Entry{ID: fmt.Sprintf("t%d", i+1), Sequence: i + 1, Text: text})
	}
	return entries
}

func TestWithNoTranscriptThereIsNothingToDigest(t *testing.T) {
	got := Write(Frame{Name: "X", Content: "1. Premises"}, []Entry{{ID: "r1", Oracle: "X", Text: "We must sell the house by Friday."}, {ID: "t1", Text: " \n"}}, "en")
	if !strings.Contains(got, languages()["en"].say["nothing"]) || strings.Contains(got, "house") {
		t.Errorf("an answer and an empty transcript give\n%s", got)
	}
}

func TestAnUnknownLanguageIsPortuguese(t *testing.T) {
	for code, want := range map[string]string{"": "pt", "fr": "pt", "pt-BR": "pt", "de_AT": "de", "EN": "en"} {
		if got := languageOf(code).code; got != want {
			t.Errorf("%q is read as %s, not %s", code, got, want)
		}
	}
}

func TestEveryLanguageSaysAndKnowsTheSame(t *testing.T) {
	want := languages()["pt"]
	for code, l := range languages() {
		for name := range want.say {
			if l.say[name] == "" {
				t.Errorf("%s does not say %q", code, name)
			}
			if strings.Count(l.say[name], "%") != strings.Count(want.say[name], "%") {
				t.Errorf("%s says %q with other places to fill in than pt", code, name)
			}
		}
		for name := range want.words {
			if _, known := l.words[name]; !known && name != "ordinal" && name != "between" {
				t.Errorf("%s has no words for %q", code, name)
			}
		}
	}
}

// parts are the finding of one kind as text, for tables.
func parts(code string, k kind, texts ...string) (list []string) {
	talk := languageOf(code).read(said(texts...))
	for _, f := range talk.found[k] {
		list = append(list, talk.sentences[f.at].text)
	}
	return list
}

func TestWhatIsListed(t *testing.T) {
	for _, c := range cases(t) {
		t.Run(c.language+"/"+c.kind+"/"+c.text, func(t *testing.T) {
			got := parts(c.language, kind(slices.Index(kindNames[:], c.kind)), c.text)
			if listed := len(got) > 0; listed != c.listed {
				t.Errorf("listed: %v (%q), want %v", listed, got, c.listed)
			}
		})
	}
}

func TestAQuestionThatIsAnsweredLaterIsNotOpen(t *testing.T) {
	for _, c := range []struct {
		texts []string
		open  int
	}{
		{[]string{"How much does the hall cost?", "The hall costs 300 dollars."}, 0},
		{[]string{"How much does the hall cost?", "The hall is lovely and costs a lot."}, 1},
		{[]string{"The hall costs 300 dollars.", "Who opens the hall on Sunday mornings?"}, 1},
		{[]string{"Is the hall free in May? Yes, I asked."}, 0},
		{[]string{"Who opens the hall? I have no idea."}, 1},
		{[]string{"Who opens the hall on Sunday?", "I wonder who opens the hall on Sunday."}, 1},
	} {
		if got := parts("en", open, c.texts...); len(got) != c.open {
			t.Errorf("%q: open are %q, want %d", c.texts, got, c.open)
		}
	}
}

func TestEverySentenceInADigestWasSaid(t *testing.T) {
	inMarks := regexp.MustCompile(`[“„]([^“”]*)[”“]`)
	files, _ := filepath.Glob(filepath.Join("testdata", "*", "*.txt"))
	for _, file := range files {
		entries := session(t, file)
		all := ""
		for _, e := range entries {
			all += " " + flat(e.Text)
		}
		for _, code := range []string{"pt", "en", "de"} {
			for _, m := range inMarks.FindAllStringSubmatch(Write(Frame{}, entries, code), -1) {
				if quote := strings.TrimSuffix(m[1], ellipsis); !strings.Contains(all, quote) {
					t.Errorf("%s, %s: %q was not said", file, code, quote)
				}
			}
		}
	}
}

// flat is a text on one line.
func flat(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

func TestTwoPersonasReadASessionDifferently(t *testing.T) {
	entries := session(t, filepath.Join("testdata", "en", "business.txt"))
	a, b := Write(frame(t, "pragmatist"), entries, "en"), Write(frame(t, "cetico"), entries, "en")
	if strings.Index(a, "## Decisions") > strings.Index(a, "## Claims") || strings.Index(b, "## Claims") > strings.Index(b, "## Decisions") {
		t.Errorf("the order does not follow the persona:\n%s\n%s", a, b)
	}
	none := Write(Frame{Name: "Nobody", Content: "# Nobody\n\nJust listen."}, entries, "en")
	if strings.Contains(none, "Nobody") {
		t.Errorf("a persona without a list asks nothing, but\n%s", none)
	}
}

func TestADigestFitsATerminalPageOrTwo(t *testing.T) {
	var texts []string
	for i := range 40 {
		texts = append(texts, fmt.Sprintf("Nobody ever buys model %d. How much is model %d? I'll ask Ann about model %d by Friday. It costs %d dollars. Everybody likes it.", i+10, i+10, i+10, i+500))
	}
	if lines := strings.Count(Write(frame(t, "pragmatist"), said(texts...), "en"), "\n"); lines > 70 {
		t.Errorf("%d lines", lines)
	}
}

// hostile are texts without end or rest for a rule that looks around itself.
func hostile(words int) []string {
	var b strings.Builder
	for i := range words {
		fmt.Fprintf(&b, "word%d ", i%5000)
	}
	return []string{
		b.String(), strings.Repeat("não sei se ", words/3), strings.Repeat("120 mil reais e ", words/4), strings.Repeat("nunca, ", words), strings.Repeat("why? ", words),
		strings.Repeat("a\n", words), strings.Repeat("the house costs 5000 dollars and the house costs 6000 dollars. ", words/11), strings.Repeat("(", words), strings.Repeat("mil ", words),
	}
}

func TestWorkGrowsWithTheTextAndNoFaster(t *testing.T) {
	for i, small := range hostile(2000) {
		large := hostile(8000)[i]
		l := languageOf("en")
		for _, s := range l.split(large, 0) {
			if n := len(s.stems); n > hardRun+fewest {
				t.Fatalf("text %d: a sentence of %d stems", i, n)
			}
		}
		count := func(text string) float64 {
			return testing.AllocsPerRun(1, func() {
				entries := said(text)
				Write(Frame{}, entries, "en")
				Compare(entries, []Answer{{"A", text}, {"B", text}}, "en")
			})
		}
		if a, b := count(small), count(large); b > 6*a+1000 {
			t.Errorf("text %d: %.0f allocations for 2,000 words and %.0f for 8,000", i, a, b)
		}
	}
}

func FuzzDigest(f *testing.F) {
	for _, text := range hostile(30) {
		f.Add(text, text)
	}
	f.Add("R$", "z.B. 3.")
	f.Add("120\u0301 mil", "it's 5’5 \xff\xfe e\u0301")
	f.Add("fünfundzwanzigtausendhundertundund", "½ ١٢ Ⅷ ² 9e999 1.2.3.4")
	f.Fuzz(func(t *testing.T, a, b string) {
		entries := said(a, b)
		for _, code := range []string{"pt", "en", "de"} {
			first := Write(Frame{Name: a, Content: "1. " + b}, entries, code)
			if first != Write(Frame{Name: a, Content: "1. " + b}, entries, code) {
				t.Fatal("the same text gives two digests")
			}
			Compare(entries, []Answer{{"A", a}, {"B", b}, {"A", b}}, code).Markdown(code)
		}
	})
}

func TestAnInstructionIsKnownByItsWords(t *testing.T) {
	for text, want := range map[string]string{
		"Premissas questionáveis": "claim", "Lacunas no raciocínio": "open", "Sugestões de refinamento": "", "Questionable premises": "claim",
		"Fragwürdige Annahmen": "claim", "Lücken in der Argumentation": "open", "Close with the next action, small enough to fit into an hour": "decision",
		"Liste os limites reais (tempo, dinheiro, pessoas)": "figure", "State the opposite claim in one sentence": "", "Stell die Gegenthese in einem Satz auf": "",
		"Show what kept coming back": "central", "Describe an ordinary day ten years from now": "",
	} {
		got := languageOf("de").lens(text) // a persona may speak another language than the session
		if name := kindNames[got.kind]; got.known != (want != "") || got.known && name != want {
			t.Errorf("%q takes %q (%v), want %q", text, name, got.known, want)
		}
	}
}

func TestAnInstructionThatTakesNothingNeedsAModel(t *testing.T) {
	got := Write(Frame{Name: "Cético", Content: "1. Premissas\n2. Sugestões de refinamento\n"}, said("Comprei um sofá azul ontem com a Marta."), "pt")
	l := languageOf("pt")
	for _, want := range []string{"**Premissas** — " + l.say["none here"], "**Sugestões de refinamento** — " + l.say["model"]} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

func TestNumbersAreReadAsTheyAreSaid(t *testing.T) {
	for _, c := range []struct {
		language, text, kind string
		value                float64
	}{
		{"pt", "Foram R$ 1.234,50 no total.", money, 1234.5},
		{"pt", "Custa cento e vinte mil reais.", money, 120000},
		{"pt", "Deu 1,5 milhão de euros.", money, 1.5e6},
		{"pt", "Caiu vinte e cinco por cento.", percent, 25},
		{"pt", "Fechou 20% acima.", percent, 20},
		{"en", "It was $1,234.50 in total.", money, 1234.5},
		{"en", "It costs one hundred and twenty thousand dollars.", money, 120000},
		{"en", "We grew by 2.5 percent.", percent, 2.5},
		{"en", "About 120k dollars.", money, 120000},
		{"de", "Es waren 1.234,50 Euro.", money, 1234.5},
		{"de", "Es waren hundertzwanzigtausend Euro.", money, 120000},
		{"de", "Es waren fünfundzwanzig Prozent.", percent, 25},
		{"de", "Es waren 1,5 Millionen Euro.", money, 1.5e6},
	} {
		talk := languageOf(c.language).read(said(c.text))
		if len(talk.sentences) != 1 || len(talk.sentences[0].figures) != 1 {
			t.Errorf("%q: %d sentences, figures %v", c.text, len(talk.sentences), talk.sentences)
			continue
		}
		if q := talk.sentences[0].figures[0]; q.kind != c.kind || q.value != c.value {
			t.Errorf("%q is %s %v, want %s %v", c.text, q.kind, q.value, c.kind, c.value)
		}
	}
}
