package witness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/document"
	"sibyl/internal/files"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

const pumps = `Pumps of the waterworks

Pump A was installed on 3 May 2019 by the firm Hydra. It has 12 blades.

Pump B was installed in June 2020. The seal of pump B was replaced because it had leaked.`

const other = `Notes of the manager

The seal of pump B was replaced after 400 hours. Lunch was served at noon.`

func over(t testing.TB, o Options, texts ...string) Witness {
	t.Helper()
	var docs []document.Document
	for i, text := range texts {
		docs = append(docs, read(t, fmt.Sprintf("doc%d.txt", i), text))
	}
	return Documents(docs, o)
}

func answer(t testing.TB, w Witness, question, language string, earlier ...Exchange) Answer {
	t.Helper()
	a, err := w.Answer(t.Context(), question, language, earlier)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestCitationsCanBeCheckedAgainstTheDocuments(t *testing.T) {
	doc := read(t, "pumps.txt", pumps)
	w := Documents([]document.Document{doc, read(t, "notes.txt", other)}, Options{})
	a := answer(t, w, "Why was the seal of pump B replaced?", "en")
	if a.NotFound || len(a.Citations) == 0 || len(a.Citations) > 3 || a.By != "documents" {
		t.Fatalf("%+v", a)
	}
	var said []string
	for _, c := range a.Citations {
		said = append(said, c.Quote)
		found := false
		for _, d := range []document.Document{doc, read(t, "notes.txt", other)} {
			for _, ch := range document.Chunks(d) {
				found = found || ch.Document == c.Document && ch.DocumentHash == c.Hash && ch.Page == c.Page && ch.Index == c.Chunk && ch.Hash == c.ChunkHash &&
					files.Hash([]byte(ch.Text)) == c.ChunkHash && strings.Contains(ch.Text, c.Quote)
			}
		}
		if !found {
			t.Errorf("%+v is in no document", c)
		}
	}
	if a.Text != strings.Join(said, " ") {
		t.Errorf("%q is more than its quotations", a.Text)
	}
	if again := answer(t, w, "Why was the seal of pump B replaced?", "en"); !cmp.Equal(a, again) {
		t.Error("asked again it says something else")
	}
}

func TestWhatPointsBackIsQuotedWithWhatItPointsAt(t *testing.T) {
	a := answer(t, over(t, Options{}, pumps), "How many blades does pump A have?", "en")
	if want := "Pump A was installed on 3 May 2019 by the firm Hydra. It has 12 blades."; a.Text != want || len(a.Citations) != 1 {
		t.Errorf("%+v", a)
	}
}

func TestFollowUpIsUnderstoodByWhatWasAsked(t *testing.T) {
	w := over(t, Options{}, pumps)
	before := Exchange{Question: "Who installed pump A?", Answer: "Pump A was installed on 3 May 2019 by the firm Hydra."}
	if a := answer(t, w, "When exactly?", "en", before); !strings.Contains(a.Text, "3 May 2019") {
		t.Errorf("%+v", a)
	}
	if a := answer(t, w, "And why?", "en", Exchange{Question: "Was the seal of pump B replaced?", Answer: "Yes."}); !strings.Contains(a.Text, "because it had leaked") {
		t.Errorf("%+v", a)
	}
	if a := answer(t, over(t, Options{Hypothesis: "Pump A was installed by a firm"}, pumps), "When?", "en"); !strings.Contains(a.Text, "3 May 2019") {
		t.Errorf("by the hypothesis: %+v", a)
	}
	if a := answer(t, w, "When?", "en"); !a.NotFound {
		t.Errorf("nothing says what is asked about, and yet: %+v", a)
	}
}

func TestTwoAnswersHeldAgainstEachOtherAreQuotedAgain(t *testing.T) {
	w := over(t, Options{}, pumps, other)
	earlier := []Exchange{
		{Question: "Why was it replaced?", Answer: "The seal of pump B was replaced because it had leaked."},
		{Question: "When was it replaced?", Answer: "The seal of pump B was replaced after 400 hours. Lunch was served at noon."},
		{Question: "What else?", Answer: "That is not in the documents.", NotFound: true},
	}
	both := Exchange{Question: "Why and when?", Answer: earlier[0].Answer + " " + earlier[1].Answer}
	for language, question := range map[string]string{
		"en": "You said “The seal of pump B was replaced because it had leaked.”, and then “was replaced after 400 hours. Lunch was”: which of the two holds?",
		"de": "Sie sagten „The seal of pump B was replaced because it had leaked“ und dann „The seal of pump B was replaced after 400 hou“: Was gilt?",
	} {
		for _, all := range [][]Exchange{earlier, {both}} {
			a := answer(t, w, question, language, all...)
			var from []string
			for _, c := range a.Citations {
				from = append(from, c.Document+": "+c.Quote)
			}
			want := []string{"doc0.txt: The seal of pump B was replaced because it had leaked.", "doc1.txt: The seal of pump B was replaced after 400 hours."}
			if diff := cmp.Diff(want, from); diff != "" {
				t.Errorf("%s: %s", language, diff)
			}
		}
	}
}

func TestNothingToAnswerFromIsSaid(t *testing.T) {
	for language, want := range map[string]string{"en": "That is not in the documents.", "de": "Das steht nicht in den Dokumenten."} {
		a := answer(t, over(t, Options{}, pumps), "Who is the mayor of Westfield?", language)
		if !a.NotFound || a.Text != want || len(a.Citations) > 0 {
			t.Errorf("%+v", a)
		}
	}
	empty := Documents(nil, Options{})
	if err := empty.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "give a TXT") {
		t.Error(err)
	}
	if a := answer(t, empty, "When?", "en"); !a.NotFound {
		t.Errorf("%+v", a)
	}
	if err := over(t, Options{}, pumps).Check(t.Context()); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := over(t, Options{}, pumps).Answer(ctx, "When was pump A installed?", "en", nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// embedder gives vectors by meaning, as a test sees it: which of some words a text holds.
type embedder struct {
	mu       sync.Mutex
	texts    []string
	failing  error
	during   func() // a request
	asked    int
	meanings [][]string
}

func (e *embedder) Embed(_ context.Context, texts []string) ([][]float32, model.Usage, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.asked++; e.during != nil {
		e.during()
	}
	if e.failing != nil {
		return nil, model.Usage{}, e.failing
	}
	e.texts = append(e.texts, texts...)
	var all [][]float32
	for _, text := range texts {
		v := make([]float32, len(e.meanings)+1)
		v[len(e.meanings)] = 0.1
		for i, words := range e.meanings {
			if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(strings.ToLower(text), w) }) {
				v[i] = 1
			}
		}
		all = append(all, v)
	}
	return all, model.Usage{}, nil
}

const payments = "The firm's physician examined the crew of the ship on 4 April 2022.\n\n"

func TestEmbedderFindsWhatOtherWordsSay(t *testing.T) {
	text := payments + strings.Repeat("The weather of the harbour was noted by the port every hour of the day and night, without anything to be told of it. ", 12) + "\n\n" + pumps
	question := "When did the doctor examine the sailors of the ship?"
	if a := answer(t, over(t, Options{}, text), question, "en"); !a.NotFound {
		t.Fatalf("words alone find it, so that the test shows nothing: %+v", a)
	}
	e := &embedder{meanings: [][]string{{"physician", "doctor"}, {"crew", "sailor"}, {"weather"}, {"pump"}}}
	cache := t.TempDir()
	for range 2 {
		a := answer(t, over(t, Options{Embed: e, EmbedID: "test:one", Cache: cache}, text), question, "en")
		if !strings.Contains(a.Text, "4 April 2022") || len(a.Notes) > 0 {
			t.Errorf("%+v", a)
		}
	}
	count := map[string]int{}
	for _, text := range e.texts {
		count[text]++
	}
	if delete(count, question); len(count) < 2 {
		t.Fatalf("only %d chunks", len(count))
	}
	for text, n := range count {
		if n != 1 {
			t.Errorf("embedded %d times: %.40q", n, text)
		}
	}
	kept, err := filepath.Glob(cache + "/*.vectors")
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	content, err := os.ReadFile(kept[0])
	if err != nil {
		t.Fatal(err)
	}
	content[7] ^= 0xff
	if err := os.WriteFile(kept[0], content, 0o600); err != nil {
		t.Fatal(err)
	}
	before := len(e.texts)
	if a := answer(t, over(t, Options{Embed: e, EmbedID: "test:one", Cache: cache}, text), question, "en"); !strings.Contains(a.Text, "4 April") || len(e.texts) < before+len(count) {
		t.Errorf("vectors that are damaged are used: %+v", a)
	}
	before = len(e.texts)
	if answer(t, over(t, Options{Embed: e, EmbedID: "test:two", Cache: cache}, text), question, "en"); len(e.texts) < before+len(count) {
		t.Error("vectors of another model are used")
	}
}

func TestWithoutItsEmbedderWordsAreSearchedAndThatIsSaidOnce(t *testing.T) {
	e := &embedder{failing: &model.Error{Kind: model.Server, Model: "test:one", Message: "down"}}
	w := over(t, Options{Embed: e}, pumps)
	a := answer(t, w, "When was pump A installed?", "en")
	if !strings.Contains(a.Text, "3 May 2019") || len(a.Notes) != 1 || !strings.Contains(a.Notes[0], "only words") || !strings.Contains(a.Notes[0], "down") {
		t.Errorf("%+v", a)
	}
	if a := answer(t, w, "How many blades does pump A have?", "en"); !strings.Contains(a.Text, "12 blades") || len(a.Notes) > 0 || e.asked != 1 {
		t.Errorf("%+v after %d requests", a, e.asked)
	}
}

func TestWhoWithdrawsAQuestionDoesNotBlameTheEmbedder(t *testing.T) {
	e := &embedder{failing: context.Canceled}
	w := over(t, Options{Embed: e}, pumps)
	ctx, cancel := context.WithCancel(t.Context())
	e.during = cancel
	if _, err := w.Answer(ctx, "When was pump A installed?", "en", nil); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	e.failing, e.during = nil, nil
	if a := answer(t, w, "When was pump A installed?", "en"); len(a.Notes) > 0 || len(e.texts) == 0 {
		t.Errorf("%+v", a)
	}
}

func TestVectorsKeepWithinTheirRoom(t *testing.T) {
	e, cache := &embedder{meanings: [][]string{{"pump"}}}, t.TempDir()
	for n, text := range []string{pumps, other, payments} {
		answer(t, over(t, Options{Embed: e, EmbedID: "test:one", Cache: cache, Room: 30}, text), "When was pump A installed?", "en")
		kept, err := filepath.Glob(cache + "/*.vectors")
		if want := min(n+1, 2); err != nil || len(kept) != want {
			t.Fatalf("after %d documents: %v, %v", n+1, kept, err)
		}
		for i, name := range kept { // which of them is the oldest does not depend on the clock of the file system
			old := time.Now().Add(-time.Hour * time.Duration(i+1))
			if err := os.Chtimes(name, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestModelSeesQuestionAndEarlierExchangesAlone(t *testing.T) {
	m := modeltest.Script(t, modeltest.Say("  On Monday.  "), modeltest.Say(strings.Repeat("word ", 4000)))
	w := Model(m, "You are a witness.")
	earlier := []Exchange{{Question: "Who?", Answer: "Hydra."}, {Question: "Where?", Answer: ""}}
	a := answer(t, w, "When?", "en", earlier...)
	if a.Text != "On Monday." || a.By != "scripted:test" || a.NotFound || w.Name() != "scripted:test" {
		t.Errorf("%+v", a)
	}
	req := m.Requests()[0]
	want := []model.Message{{Role: model.User, Text: "Who?"}, {Role: model.Assistant, Text: "Hydra."}, {Role: model.User, Text: "When?"}}
	if diff := cmp.Diff(want, req.Messages); diff != "" || req.System != "You are a witness." || req.MaxOutputTokens == 0 || req.Purpose != Purpose {
		t.Errorf("%s %+v", diff, req)
	}
	if a := answer(t, w, "Tell all.", "en"); len(a.Text) > mostAnswer+8 || !strings.HasSuffix(a.Text, "word …") {
		t.Errorf("%d bytes", len(a.Text))
	}
}

func TestErrorsOfAModelKeepTheirKinds(t *testing.T) {
	w := Model(modeltest.Script(t, modeltest.Fail(model.RateLimit), modeltest.Fail(model.Auth)), "")
	if _, err := w.Answer(t.Context(), "When?", "en", nil); model.KindOf(err) != model.RateLimit {
		t.Error(err)
	}
	if err := w.Check(t.Context()); model.KindOf(err) != model.Auth {
		t.Error(err)
	}
}

func FuzzAnswer(f *testing.F) {
	w := over(f, Options{Hypothesis: "Pump A leaked"}, pumps, other)
	f.Add("You said “a”, and then “b”: which holds?", "en")
	f.Add("„", "de")
	f.Add("When,and how many and,why?", "en")
	f.Add("Wie viele 3. \xff?", "de")
	f.Fuzz(func(t *testing.T, question, language string) {
		a, err := w.Answer(t.Context(), question, language, []Exchange{{Question: question, Answer: question}})
		if err != nil || a.Text == "" || a.NotFound == (len(a.Citations) > 0) {
			t.Errorf("%+v, %v", a, err)
		}
	})
}

func BenchmarkAnswerFrom300Pages(b *testing.B) {
	d := document.Document{Name: "long.txt", Kind: document.Text}
	for page := range 300 {
		var text strings.Builder
		for line := range 40 {
			fmt.Fprintf(&text, "On page %d, line %d says that valve %d of hall %d was tested at %d bar. ", page, line, page*40+line, line%7, 3+(page+line)%17)
			if line%8 == 7 {
				text.WriteString("\n\n")
			}
		}
		d.Pages = append(d.Pages, document.Page{Number: page + 1, Text: strings.TrimSpace(text.String())})
	}
	b.Run("ready", func(b *testing.B) {
		for b.Loop() {
			answer(b, Documents([]document.Document{d}, Options{}), "At how many bar was valve 4711 tested?", "en")
		}
	})
	w := Documents([]document.Document{d}, Options{})
	b.Run("question", func(b *testing.B) {
		for b.Loop() {
			if a := answer(b, w, "At how many bar was valve 4711 tested?", "en"); !strings.Contains(a.Text, "4711") {
				b.Fatal(a)
			}
		}
	})
}
