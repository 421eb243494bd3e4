package inquiry_test

import (
	"context"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/inquiry"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/inquiry/witness"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// wall is a hypothesis of which no answer about the wall alone says anything.
const wall = "The Great Wall is visible from the Moon"

// limited are the options of an inquiry of at most five questions.
var limited = inquiry.Options{Witness: options().Witness, Limit: 5}

// saying is a witness with these answers, in order.
func saying(answers ...string) func(context.Context, string, int) (witness.Answer, error) {
	return func(_ context.Context, _ string, n int) (witness.Answer, error) {
		return witness.Answer{Text: answers[min(n, len(answers))-1], By: "scripted:witness"}, nil
	}
}

func TestDetectiveIsNotSatisfiedWithoutWordsThatBearOnTheHypothesis(t *testing.T) {
	for name, evidence := range map[string][]bearing{
		"none is quoted":               nil,
		"what is quoted was not said":  {{1, "It can be seen from the Moon", "for"}},
		"it is about the subject only": {{1, "The Great Wall is in northern China", "for"}},
		"nothing is quoted":            {{1, "…", "for"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			h.quotesNothing, h.says = true, saying("The Great Wall is in northern China.")
			h.analyses = func(int, model.Request) modeltest.Turn { return said{Evidence: evidence, Complete: 100}.turn() }
			p := h.process("one", h.journal)
			_, s := p.wait(p.begin(wall, limited))
			assert.That(t, s.EndReason != record.Satisfied && s.AuditResult == nil, "it ended with %s", s.EndReason)
			audit := s.Audit()
			assert.Require(t, audit != nil && audit.ConsistencyScore == nil && len(audit.Evidence) == 0, "the audit is %+v", audit)
			assert.Contains(t, "its verdict", record.Verdict(&s), "The hypothesis is open", "no score")
			assert.That(t, len(h.requests(summing)) == 0, "a model was asked to sum up what nobody said")
			asked := h.requests(asking)
			assert.Contains(t, "the second request for a question", asked[1].Messages[0].Text, "for or against the hypothesis itself")
		})
	}
}

func TestWordsThatBearOnTheHypothesisAreShownWithTheVerdict(t *testing.T) {
	h := newHouse(t)
	h.quotesNothing = true
	h.asks = func(n int, _ model.Request) modeltest.Turn {
		return ask([]string{"Where is the Great Wall?", "From where can the Great Wall be seen?"}[n-1])
	}
	h.says = saying("The Great Wall is in northern China.", "No, it can't be seen from the Moon: it is far too narrow.")
	h.analyses = func(n int, _ model.Request) modeltest.Turn {
		if n == 1 {
			return said{Complete: 100}.turn()
		}
		return said{Complete: 100, Evidence: []bearing{{1, "it can't be seen from the Moon", "for"},
			{2, "No, it can’t be seen from the moon", "against"}}}.turn()
	}
	p := h.process("one", h.journal)
	_, s := p.wait(p.begin(wall, limited))
	assert.That(t, s.EndReason == record.Satisfied && len(s.Pairs) == 2, "it ended with %s after %d", s.EndReason, len(s.Pairs))
	same := s.Audit().Evidence
	assert.That(t, len(same) == 1 && same[0] == record.Bearing{Says: "against", Pair: 2,
		Words: "No, it can't be seen from the Moon"}, "the evidence is %+v", same)
	for what, text := range map[string]string{"the answer": record.Brief(s), "the file": string(record.Markdown(s))} {
		assert.That(t, strings.Contains(text, "against: “No, it can't be seen from the Moon” ("), "%s shows no evidence:\n%s",
			what, text)
	}
}

// Names stand in what bears on a hypothesis, but not every capital letter begins one.
func TestEvidenceIsKeptWhateverIsWrittenInCapitals(t *testing.T) {
	for hypothesis, words := range map[string]string{
		"Die Brücke wurde wegen Rost geschlossen":                       "Fact 1 holds",
		"The Bridge Was Closed Because Of Corrosion":                    "Fact 1 holds",
		"Why was it closed? Because I'm told so":                        "Fact 1 holds",
		"Anna Weber, Tom Reuter and Clara Lind met before the 4th":      "Tom Reuter was there",
		"It was reported by the Oder Tribune that the bridge is closed": "the Oder Tribune says so",
	} {
		t.Run(hypothesis, func(t *testing.T) {
			h := newHouse(t)
			h.quotesNothing, h.says = true, saying("Fact 1 holds, and Tom Reuter was there, the Oder Tribune says so.")
			h.analyses = func(n int, _ model.Request) modeltest.Turn {
				return said{Complete: 100, Evidence: []bearing{{n, words, "for"}}}.turn()
			}
			p := h.process("one", h.journal)
			_, s := p.wait(p.begin(hypothesis, limited))
			assert.That(t, s.EndReason == record.Satisfied, "it ended with %s", s.EndReason)
		})
	}
}

func TestTheSameWordsOfTwoAnswersAreTwoPiecesOfEvidence(t *testing.T) {
	h := newHouse(t)
	h.quotesNothing, h.says = true, saying("Yes, certainly.", "No. But what was said first: yes, certainly.")
	h.analyses = func(n int, _ model.Request) modeltest.Turn {
		return said{Complete: 100, More: n < 2, Evidence: []bearing{{1, "Yes, certainly", "for"},
			{min(n, 2), "yes, certainly", "against"}}[:n]}.turn()
	}
	p := h.process("one", h.journal)
	_, s := p.wait(p.begin(bridge, limited))
	assert.That(t, len(s.Audit().Evidence) == 2, "the evidence is %+v", s.Audit().Evidence)
}
