package inquiry_test

import (
	"encoding/json"
	"errors"
	"testing"

	"sibyl/internal/inquiry"
)

func TestNotesOfAnEarlierBuildAreRead(t *testing.T) {
	for _, kept := range []string{`{"notes":["down"]}`, `{"notes":[{"why":"down"}]}`} {
		var r inquiry.AnswerReceipt
		var e inquiry.AnswerHeard
		if err := errors.Join(json.Unmarshal([]byte(kept), &r), json.Unmarshal([]byte(kept), &e)); err != nil ||
			len(r.Notes) != 1 || r.Notes[0].Text != "down" || len(e.Notes) != 1 || e.Notes[0].Text != "down" {
			t.Errorf("%s: %+v, %+v, %v", kept, r.Notes, e.Notes, err)
		}
	}
}

func TestWhatLeavesTheMachineIsSaidBeforeTheFirstQuestion(t *testing.T) {
	for _, c := range []struct {
		opened inquiry.WitnessOpened
		want   string
	}{
		{inquiry.WitnessOpened{Name: "papers"}, "The witness is papers"},
		{inquiry.WitnessOpened{Name: "papers", Embeddings: "ollama:nomic"},
			"The witness is papers. The passages are also searched by meaning, with ollama:nomic"},
		{inquiry.WitnessOpened{Name: "papers", Embeddings: "openai:small", Away: true},
			"The witness is papers. All passages and the questions are sent to openai:small, which is not on " +
				"your machines, to search by meaning"},
		{inquiry.WitnessOpened{Name: "papers", Model: "openai:det"},
			"The witness is papers. openai:det is given the passages that are found for " +
				"each question, and chooses the quotations"},
	} {
		same(t, "line", c.opened.Story().Text, c.want)
	}
}
