package digest

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// answersIn takes the answers out of a session.
func answersIn(entries []Entry) (answers []Answer) {
	for _, e := range entries {
		if e.Oracle != "" {
			answers = append(answers, Answer{e.Oracle, e.Text})
		}
	}
	return answers
}

func TestComparisonsOfAnswers(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "compare", "*.txt"))
	if err != nil || len(files) < 5 {
		t.Fatalf("%d sessions (%v)", len(files), err)
	}
	for _, file := range files {
		entries, language := session(t, file), filepath.Base(file)[:2]
		c := Compare(entries, answersIn(entries), language)
		golden(t, strings.TrimSuffix(file, ".txt")+".golden", c.Markdown(language))
		for _, p := range slices.Concat(c.Agree, c.Differ) {
			if len(p.By) < 2 {
				t.Errorf("%s: %q is said by %q: it takes two to agree or differ", language, p.Text, p.By)
			}
		}
		for _, p := range c.Overlooked {
			if len(p.By) != 0 || len(p.Sources) == 0 {
				t.Errorf("%s: %q, by %q, in %q: what all overlook has a transcript and no oracle", language, p.Text, p.By, p.Sources)
			}
		}
	}
}

func TestOneAnswerNeitherAgreesNorDiffers(t *testing.T) {
	entries := session(t, filepath.Join("testdata", "compare", "en.txt"))
	c := Compare(entries, answersIn(entries)[:1], "en")
	if len(c.Agree) != 0 || len(c.Differ) != 0 {
		t.Errorf("one answer agrees in %v and differs in %v", c.Agree, c.Differ)
	}
}

func TestTheSameAnswerTwiceAgreesAndDoesNotDiffer(t *testing.T) {
	entries := session(t, filepath.Join("testdata", "compare", "pt.txt"))
	a := answersIn(entries)[0]
	c := Compare(entries, []Answer{{"A", a.Text}, {"B", a.Text}}, "pt")
	if len(c.Agree) == 0 || len(c.Differ) != 0 {
		t.Errorf("the same text twice: agrees in %v, differs in %v", c.Agree, c.Differ)
	}
}

func TestAnEmptyComparisonSaysThatNothingWasFound(t *testing.T) {
	for code, l := range languages() {
		md := Compare(nil, nil, code).Markdown(code)
		if strings.Count(md, l.say["none"]) != 3 || !strings.HasPrefix(md, "*"+l.say["compare made"]+"*") {
			t.Errorf("%s: an empty comparison reads\n%s", code, md)
		}
	}
}

func TestAComparisonOfAModelNamesIt(t *testing.T) {
	md := Comparison{Agree: []Point{{Text: "x", By: []string{"A", "B"}, Sources: []string{"t2"}}}, By: "ollama:llama3"}.Markdown("en")
	for _, want := range []string{"ollama:llama3", "- x — A, B (Transcript 2)", "None."} {
		if !strings.Contains(md, want) {
			t.Errorf("%q is not in\n%s", want, md)
		}
	}
}
