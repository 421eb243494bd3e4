package inquiry_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/inquiry"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/inquiry/witness"
	"sibyl/internal/journal"
	"sibyl/internal/media/document"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/schema"
)

func TestDetectivesModelChoosesFromDocumentsAndWhatItInventsIsTold(t *testing.T) {
	h := newHouse(t)
	dir := t.TempDir()
	assert.NoError(t, os.WriteFile(filepath.Join(dir, "niacin.txt"),
		[]byte("The recommended daily allowance is 16 mg for adult men."), 0o600))
	docs, _, err := document.NewReader("").ReadAll(t.Context(), dir)
	assert.NoError(t, err)
	choice := func(words string) modeltest.Turn {
		turn := modeltest.Say(`{"quotations":[{"passage":1,"words":"` + words + `"}],"search":[]}`)
		turn.Usage = model.Usage{InputTokens: 10, OutputTokens: 1}
		return turn
	}
	m := modeltest.Script(t, choice("allowance is 61 mg"), choice("daily allowance is 16 mg")).
		As("openai:chooses", false)
	h.reads = func(w inquiry.WitnessSpec) (witness.Witness, []record.Document, error) {
		if w.Kind != record.WitnessDocuments || w.Model != acting || w.Text == "" {
			return nil, nil, errors.New("it is not told who chooses, and how")
		}
		known := []record.Document{{Name: docs[0].Name, Hash: docs[0].Hash, Pages: 1, Chunks: 1}}
		return witness.Documents(docs, witness.Options{Hypothesis: w.Hypothesis, Model: m, Prompt: w.Text}), known, nil
	}
	h.analyses = func(n int, _ model.Request) modeltest.Turn { return after(n, 1) }
	h.asks = func(int, model.Request) modeltest.Turn { return ask("What are the specific dosage recommendations?") }
	p := h.process("one", h.journal)
	r := p.begin(bridge, inquiry.Options{Witness: schema.Folder{Path: dir}, Limit: 5})
	_, s := p.wait(r)
	p.ended(s, record.Completed, record.Satisfied, 1)
	pair := s.Pairs[0]
	same(t, "answer", pair.Answer, "The recommended daily allowance is 16 mg for adult men.")
	same(t, "chosen by", pair.AnsweredBy, "openai:chooses")
	same(t, "document", pair.Citations[0].Document, "niacin.txt")
	same(t, "page", pair.Citations[0].Page, 1)
	same(t, "trail", trail(s), []string{"error"})
	contains(t, s.AuditTrail[0].Reason, "openai:chooses quoted what is not in the passage", "allowance is 61 mg")
	same(t, "its code", s.AuditTrail[0].Code, "witness.misquoted")
	same(t, "its values", s.AuditTrail[0].Values["words"].Text, "allowance is 61 mg")
	contains(t, p.lines(r.ID), acting+" is given the passages that are found for each question")
}

func TestTwoDatesThatTwoDocumentsGiveAreAContradictionThoughTheDetectiveReportsNone(t *testing.T) {
	h := newHouse(t)
	const closed, shut = "The bridge was closed on 4 March 2021.", "On 5 March 2021 the bridge was closed to all traffic."
	dir := t.TempDir()
	for name, text := range map[string]string{"council.txt": closed, "press.txt": shut} {
		assert.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	docs, _, err := document.NewReader("").ReadAll(t.Context(), dir)
	assert.NoError(t, err)
	m := modeltest.Script(t, modeltest.Say(`{"quotations":[{"passage":1,"words":"closed on 4 March 2021"}],"search":[]}`),
		modeltest.Say(`{"first":{"property":"date of the closure","value":"4 March 2021"},
			"second":{"property":"date of the closure","value":"5 March 2021"},"kind":"date"}`)).As("openai:chooses", false)
	h.reads = func(w inquiry.WitnessSpec) (witness.Witness, []record.Document, error) {
		var known []record.Document
		for _, d := range docs {
			known = append(known, record.Document{Name: d.Name, Hash: d.Hash, Pages: 1, Chunks: 1})
		}
		return witness.Documents(docs, witness.Options{Hypothesis: w.Hypothesis, Model: m, Prompt: w.Text,
			Comparing: w.Comparing}), known, nil
	}
	h.analyses = func(n int, _ model.Request) modeltest.Turn { return after(n, 1) }
	h.asks = func(int, model.Request) modeltest.Turn { return ask("When was the bridge closed?") }
	p := h.process("one", h.journal)
	_, s := p.wait(p.begin(bridge, inquiry.Options{Witness: schema.Folder{Path: dir}, Limit: 5}))
	p.ended(s, record.Completed, record.Satisfied, 1)
	assert.Require(t, len(s.AuditResult.Contradictions) == 1, "%+v", s.AuditResult)
	c := s.AuditResult.Contradictions[0]
	same(t, "words", c.Words, [2]string{strings.Trim(closed, "."), strings.Trim(shut, ".")})
	same(t, "places", c.Places, [2]record.Place{{Document: "council.txt", Page: 1}, {Document: "press.txt", Page: 1}})
	same(t, "kind", c.Kind, record.Kind("date"))
	same(t, "description", c.Description, "date of the closure: 4 March 2021, 5 March 2021")
}

func TestDocumentsThatAreHandedOverAreKeptWithTheInquiryAndReadAgainByAnotherProcess(t *testing.T) {
	h := newHouse(t)
	var told []string
	h.reads = func(w inquiry.WitnessSpec) (witness.Witness, []record.Document, error) {
		told = append(told, w.Handed)
		docs, _ := document.FromMaterial(w.Handed)
		return witness.Documents(docs, witness.Options{Hypothesis: w.Hypothesis}),
			[]record.Document{{Name: docs[0].Name, Hash: docs[0].Hash, Pages: 1, Chunks: 1}}, nil
	}
	h.analyses = func(n int, _ model.Request) modeltest.Turn { return after(n, 1) }
	h.asks = func(int, model.Request) modeltest.Turn { return ask("When was the bridge closed?") }
	material := document.JoinParts([]document.Part{{Name: "bridge.pdf p. 4",
		Text: "The bridge was closed on 3 May 2021."}})
	p := h.process("one", h.journal)
	r := p.begin(bridge, inquiry.Options{Documents: material, Witness: schema.Folder{Name: "ollama:set"}, Limit: 5})
	_, s := p.wait(r)
	same(t, "answer", s.Pairs[0].Answer, "The bridge was closed on 3 May 2021.")
	same(t, "page", s.Pairs[0].Citations[0].Page, 4)
	// when it was begun, and when it was asked: by what the run keeps
	same(t, "told", told, []string{material, material})
}

func TestOfflineInquirySaysNoAbsenceBesideAPassageThatWasFound(t *testing.T) {
	for name, one := range map[string]struct{ text, hypothesis, no string }{
		"English": {"The bridge was closed because of corrosion. The repair cost 2.4 million euros.", bridge,
			"I found no further passage on this."},
		"German": {"Die Brücke wurde wegen Korrosion gesperrt. Die Reparatur kostete 2,4 Millionen Euro.",
			"Die Brücke wurde wegen der Korrosion gesperrt.", "Dazu habe ich keine weitere Stelle gefunden."},
		"Portuguese": {"A ponte foi fechada por causa da corrosão. A reparação custou 2,4 milhões de euros.",
			"A ponte foi fechada por causa da corrosão.", "Não encontrei mais nenhuma passagem sobre isto."},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			h.offline = true
			dir := t.TempDir()
			assert.NoError(t, os.WriteFile(filepath.Join(dir, "report.txt"), []byte(one.text), 0o600))
			docs, _, err := document.NewReader("").ReadAll(t.Context(), dir)
			assert.NoError(t, err)
			h.reads = func(w inquiry.WitnessSpec) (witness.Witness, []record.Document, error) {
				known := []record.Document{{Name: docs[0].Name, Hash: docs[0].Hash, Pages: 1, Chunks: 1}}
				return witness.Documents(docs, witness.Options{Hypothesis: w.Hypothesis}), known, nil
			}
			p := h.process("one", h.journal)
			r := p.begin(one.hypothesis, inquiry.Options{Witness: schema.Folder{Path: dir}, Limit: 10})
			res, s := p.wait(r)
			p.ended(s, record.LimitReached, record.Collected, 7)
			same(t, "the last answer", s.Pairs[6].Answer, one.no)
			contains(t, res.Answer, "No further passage was found on: ")
			lacks(t, res.Answer, "Nothing was found", "No passage")
			for sentence := range strings.SplitSeq(one.text, ". ") {
				assert.That(t, strings.Count(res.Answer, sentence) <= 1, "“%s” is listed twice:\n%s", sentence, res.Answer)
			}
			told := p.lines(r.ID)
			contains(t, told, "No further passage was found for question 7")
			lacks(t, told, "No passage answers", "without a passage")
		})
	}
}

// within is how soon a stop takes effect.
const within = 3 * time.Second

func TestStopTakesEffectInTimeWhoeverIsAskedAndWhatWasAnsweredStays(t *testing.T) {
	hang := modeltest.Turn{Text: `{"`, Hang: true}
	for name, one := range map[string]struct {
		set   func(h *house, reached chan<- bool, over <-chan struct{})
		pairs int
		by    string // who has analysed the last pair
	}{
		"witness": {func(h *house, reached chan<- bool, _ <-chan struct{}) {
			usual := h.says
			h.says = func(ctx context.Context, q string, n int) (witness.Answer, error) {
				if n == 2 {
					reached <- true
					<-ctx.Done()
					return witness.Answer{}, ctx.Err()
				}
				return usual(ctx, q, n)
			}
		}, 1, acting},
		"witness that heeds nothing": {func(h *house, reached chan<- bool, over <-chan struct{}) {
			usual := h.says
			h.says = func(ctx context.Context, q string, n int) (witness.Answer, error) {
				if n == 2 {
					reached <- true
					<-over
				}
				return usual(ctx, q, n)
			}
		}, 1, acting},
		"detective asks": {func(h *house, reached chan<- bool, _ <-chan struct{}) {
			usual := h.asks
			h.asks = func(n int, req model.Request) modeltest.Turn {
				if n == 3 {
					reached <- true
					return hang
				}
				return usual(n, req)
			}
		}, 2, acting},
		"detective analyses": {func(h *house, reached chan<- bool, _ <-chan struct{}) {
			usual := h.analyses
			h.analyses = func(n int, req model.Request) modeltest.Turn {
				if n == 2 {
					reached <- true
					return hang
				}
				return usual(n, req)
			}
		}, 2, ""},
		"detective sums up": {func(h *house, reached chan<- bool, _ <-chan struct{}) {
			h.sums = func(model.Request) modeltest.Turn {
				reached <- true
				return hang
			}
		}, 3, acting},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t)
				reached, over := make(chan bool, 1), make(chan struct{})
				one.set(h, reached, over)
				p := h.process("one", h.journal)
				r := p.begin(bridge, options())
				<-reached
				assert.NoError(t, p.service.Cancel(t.Context(), ada, r.ID, "enough"))
				begun := time.Now()
				for assert.Must(h.journal.Run(t.Context(), ada, r.ID))(t).Status == journal.Running {
					assert.Require(t, time.Since(begun) <= within, "it goes on after %s", time.Since(begun))
					time.Sleep(50 * time.Millisecond) // of the bubble's clock
				}
				close(over)
				res, s := p.wait(r)
				same(t, "status of the run", res.Status, journal.Cancelled)
				p.ended(s, record.Failed, record.Stopped, one.pairs)
				same(t, "analysed by", s.Pairs[one.pairs-1].AnalysedBy, one.by)
				same(t, "summed up by", s.ProvisionalAudit.By, "")
				contains(t, s.ProvisionalAudit.Summary, "It was stopped")
			})
		})
	}
}
