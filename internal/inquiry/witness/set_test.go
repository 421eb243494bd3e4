package witness

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/document"
	"sibyl/internal/sentence"
)

// labelled is a question with the words that its answer must hold; "" where nothing answers.
type labelled struct {
	language, question, want string
	follows                  bool
	witness                  Witness
}

// readSet reads documents and their questions. The questions of a language are asked of all its documents at once.
func readSet(t testing.TB, name string) (set []labelled) {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(string(content), "\n== ") {
		language, rest, _ := strings.Cut(part, "\n")
		if strings.HasPrefix(part, "#") {
			continue
		}
		var docs []document.Document
		first := len(set)
		for file := range strings.SplitSeq("\n"+rest, "\n-- ") {
			if strings.TrimSpace(file) == "" {
				continue
			}
			name, body, _ := strings.Cut(file, "\n")
			var text strings.Builder
			for line := range strings.Lines(body) {
				sign, asked, _ := strings.Cut(line, " ")
				question, want, is := strings.Cut(asked, " => ")
				if sign != "?" && sign != "+" || !is {
					text.WriteString(line)
					continue
				}
				want = strings.TrimSpace(want)
				if want == "-" {
					want = ""
				}
				set = append(set, labelled{language: language, question: question, want: want, follows: sign == "+"})
			}
			docs = append(docs, read(t, name, text.String()))
		}
		w := Documents(docs, Options{})
		for i := range set[first:] {
			set[first+i].witness = w
		}
	}
	return set
}

// read makes a document of a text.
func read(t testing.TB, name, text string) document.Document {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/"+name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	docs, failed, err := document.Reader{}.ReadAll(t.Context(), dir)
	if err != nil || len(failed) > 0 || len(docs) != 1 {
		t.Fatal(docs, failed, err)
	}
	return docs[0]
}

// figures are what came of a set.
type figures struct{ answered, right, wrong, answerable, invented, unanswerable int }

func (f figures) String() string {
	return fmt.Sprintf("precision %d of %d, recall %d of %d, invented %d of %d", f.right, f.answered, f.right, f.answerable, f.invented, f.unanswerable)
}

// ask asks a set, and says what was not as it should be.
func ask(t testing.TB, set []labelled) (f figures, problems []string) {
	t.Helper()
	var earlier []Exchange
	for _, l := range set {
		if !l.follows {
			earlier = nil
		}
		a, err := l.witness.Answer(t.Context(), l.question, l.language, earlier)
		if err != nil {
			t.Fatal(err)
		}
		earlier = append(earlier, Exchange{Question: l.question, Answer: a.Text, NotFound: a.NotFound})
		if l.want != "" {
			f.answerable++
		} else {
			f.unanswerable++
		}
		if a.NotFound {
			if l.want != "" {
				problems = append(problems, "missed: "+l.question)
			}
			continue
		}
		f.answered++
		switch first := a.Citations[0].Quote; {
		case l.want == "":
			f.invented++
			problems = append(problems, "invented: "+l.question+" -> "+a.Text)
		case strings.Contains(first, l.want):
			f.right++
		default:
			f.wrong++
			problems = append(problems, "wrong: "+l.question+" -> "+a.Text)
		}
	}
	return f, problems
}

func TestAnswersOfLabelledSets(t *testing.T) {
	for name, least := range map[string]struct{ precision, recall float64 }{"dev": {0.97, 0.93}, "fresh": {0.93, 0.93}, "last": {0.85, 0.85}, "unseen": {0.85, 0.9}} {
		f, problems := ask(t, readSet(t, "testdata/"+name+".txt"))
		t.Logf("%s: %v\n%s", name, f, strings.Join(problems, "\n"))
		if float64(f.right) < least.precision*float64(f.answered) || float64(f.right) < least.recall*float64(f.answerable) || f.answerable < 14 || f.unanswerable < 14 {
			t.Errorf("%s: %v, want precision %v and recall %v\n%s", name, f, least.precision, least.recall, strings.Join(problems, "\n"))
		}
	}
}

// In folders on several matters each sentence that is quoted must be on the matter, not only the first.
func TestQuotationsFromFoldersAreOfTheMatter(t *testing.T) {
	for name, least := range map[string]struct{ precision, recall, silent float64 }{"folders": {0.9, 0.95, 0.82}, "folders-held": {0.85, 0.9, 0.9}} {
		quoted, right, answered, answerable, silent, unanswerable := 0, 0, 0, 0, 0, 0
		var problems []string
		for _, l := range readSet(t, "testdata/"+name+".txt") {
			a := answer(t, l.witness, l.question, l.language)
			wanted := strings.Split(l.want, " | ")
			isRight := func(c Citation) bool {
				return l.want != "" && slices.ContainsFunc(wanted, func(w string) bool { return strings.Contains(c.Quote, w) })
			}
			for _, c := range a.Citations {
				if quoted++; isRight(c) {
					right++
				} else {
					problems = append(problems, l.question+" -> "+c.Quote)
				}
			}
			switch {
			case l.want == "":
				if unanswerable++; a.NotFound {
					silent++
				}
			case slices.ContainsFunc(a.Citations, isRight):
				answered, answerable = answered+1, answerable+1
			default:
				answerable++
				problems = append(problems, "missed: "+l.question)
			}
		}
		got := fmt.Sprintf("%s: %d of %d quotations right, %d of %d questions answered, %d of %d others left alone", name, right, quoted, answered, answerable, silent, unanswerable)
		t.Log(got)
		if float64(right) < least.precision*float64(quoted) || float64(answered) < least.recall*float64(answerable) || float64(silent) < least.silent*float64(unanswerable) {
			t.Errorf("%s, want at least %v\n%s", got, least, strings.Join(problems, "\n"))
		}
	}
}

// What may stand above everything else as the answer is hardly ever wrong, or it had better not stand there.
func TestClearAnswersOfLabelledSetsAreRight(t *testing.T) {
	given, right, answerable := 0, 0, 0
	var problems []string
	for _, name := range []string{"dev", "fresh", "last", "unseen", "folders", "folders-held"} {
		for _, l := range readSet(t, "testdata/"+name+".txt") {
			language := sentence.LanguageOf(l.question)
			if language == "" || l.follows {
				continue
			}
			if l.want != "" {
				answerable++
			}
			w := l.witness.(*ofDocuments)
			said := ""
			for _, q := range w.corpus.Clear(w.corpus.Ask(l.question, language, nil)) {
				said += w.chunks[q.Part].Text[q.From:q.To]
			}
			if said == "" {
				continue
			}
			given++
			if l.want != "" && slices.ContainsFunc(strings.Split(l.want, " | "), func(w string) bool { return strings.Contains(said, w) }) {
				right++
			} else {
				problems = append(problems, l.question+" -> "+said)
			}
		}
	}
	t.Logf("%d of %d right, of %d that have an answer", right, given, answerable)
	if float64(right) < 0.96*float64(given) || float64(right) < 0.6*float64(answerable) {
		t.Errorf("%d of %d right, of %d that have an answer\n%s", right, given, answerable, strings.Join(problems, "\n"))
	}
}
