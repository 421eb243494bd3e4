package oracle_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/media/document"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
	"sibyl/internal/schema"
)

func TestAttachedDocumentStaysWholeWhileThereIsRoomAndIsCitedInFollowUps(t *testing.T) {
	h := setUp(t, modeltest.Say("It is of steel: `bridge.pdf p. 1`. "+enough()),
		modeltest.Say("The bearing was replaced: `bridge.pdf p. 2`. "+enough()),
		modeltest.Say("Paint is not named. "+enough()))
	first := h.question("What is the bridge made of?")
	first.Material = document.JoinParts([]document.Part{{Name: "bridge.pdf p. 1", Text: "A bridge of steel."},
		{Name: "bridge.pdf p. 2", Text: "The bearing was replaced."}})
	h.finish(h.startQuestion(first))
	a := h.finish(h.start("And what was replaced at the bridge?"))
	wantParts(t, "the first question, sent again", h.request(2).Messages[0].Text, "A bridge of steel.",
		"The bearing was replaced.")
	same(t, "citations without a source", len(a.Unsupported), 0)
	assert.That(t, slices.ContainsFunc(a.Sources, func(s agent.Source) bool {
		return s.Cited && s.Cite == "bridge.pdf p. 2"
	}), "the page is not among the sources: %+v", a.Sources)
	h.finish(h.start("Which licence plates appear?"))
	all := ""
	for _, m := range h.request(3).Messages {
		all += m.Text
	}
	wantParts(t, "a question on another topic", all, "A bridge of steel.", "The bearing was replaced.")
}

func TestDocumentThatIsHandedOverAgainTakesThePlaceOfTheOneBefore(t *testing.T) {
	h := setUp(t, modeltest.Say("Grey: `plan.md`. "+enough()), modeltest.Say("Blue: `plan.md`. "+enough()),
		modeltest.Say("Blue, still: `plan.md`. "+enough()))
	for _, plan := range []string{"The hull is grey.", "The hull is blue."} {
		q := h.question("Which colour has the hull by the plan?")
		q.Material = document.JoinParts([]document.Part{{Name: "plan.md", Text: plan}})
		h.finish(h.startQuestion(q))
	}
	h.finish(h.start("Which colour has the hull now?"))
	for n := 2; n <= 3; n++ {
		sent := ""
		for _, m := range h.request(n).Messages {
			sent += m.Text
		}
		wantParts(t, "a request", sent, "The hull is blue.")
		assert.That(t, !strings.Contains(sent, "The hull is grey."), "request %d has the earlier text: %s", n, sent)
	}
}

func TestOfAnAttachedDocumentWithoutRoomThePagesAboutTheQuestionAreRead(t *testing.T) {
	h := setUp(t, modeltest.Say("Long. "+enough()), modeltest.Say("In May: `log.pdf p. 77`. "+enough()))
	var pages []document.Part
	for n := range 100 {
		text := strings.Repeat(fmt.Sprintf("Nothing of note on day %d.\n", n+1), 80)
		if n == 76 {
			text += "The capstan was repaired in May.\n"
		}
		pages = append(pages, document.Part{Name: fmt.Sprintf("log.pdf p. %d", n+1), Text: text})
	}
	first := h.question("How long is the log?")
	first.Material = document.JoinParts(pages)
	h.finish(h.startQuestion(first))
	a := h.finish(h.start("When was the capstan repaired?"))
	sent := ""
	for _, m := range h.request(2).Messages {
		sent += m.Text
	}
	wantParts(t, "the request", sent, "The capstan was repaired in May.")
	assert.That(t, len(sent) < oracle.MaxMaterial*3/4, "%d bytes are sent", len(sent))
	assert.That(t, slices.ContainsFunc(a.Notices, func(n agent.Notice) bool {
		return n.Type == oracle.NoticeSetup && strings.Contains(n.Text, "Left out for want of room")
	}), "what was left out is told to nobody: %+v", a.Notices)
}

func TestSessionTellsWhatItWasSetUpWithAndAllThatWasHandedOver(t *testing.T) {
	h := setUp(t, modeltest.Say("Of steel: `bridge.txt:1`. "+enough()), modeltest.Say("Grey: `paint.txt:1`. "+enough()),
		modeltest.Say("Nothing else. "+enough()))
	for n, name := range []string{"bridge.txt", "paint.txt", ""} {
		q := h.question(fmt.Sprintf("What is the bridge like, part %d?", n))
		q.Web = new(false)
		if name != "" {
			q.Material = document.JoinParts([]document.Part{{Name: name, Text: "A bridge of grey steel."}})
		}
		h.finish(h.startQuestion(q))
	}
	of := oracle.Describe(&run.Assistant{}, h.surroundings(h.store))
	got := assert.Must(of.Setup(t.Context(), owner, h.session, ""))(t)
	same(t, "files", strings.Join(got.Files, " "), "bridge.txt paint.txt")
	same(t, "the preset", got.Preset, "")
	same(t, "the folder of code", got.Code, h.env.CodeRoot)
	assert.That(t, got.Web != nil && !*got.Web, "the web is %v", got.Web)
	none := assert.Must(of.Setup(t.Context(), "eve", h.session, ""))(t)
	assert.That(t, none.Code == "" && len(none.Files) == 0, "another person is told %+v", none)
}

func TestWhatIsDroppedIsShownNoMoreUntilItIsHandedOverAgain(t *testing.T) {
	turns := make([]modeltest.Turn, 0, 5)
	for range 5 {
		turns = append(turns, modeltest.Say("Grey. "+enough()))
	}
	h := setUp(t, turns...)
	of := oracle.Describe(&run.Assistant{}, h.surroundings(h.store))
	for n, c := range []struct {
		names       []string // handed over
		drop        []string
		files, lack string
	}{
		{[]string{"bridge.txt", "paint.txt"}, nil, "bridge.txt paint.txt", ""},
		{nil, []string{"bridge.txt", "nothing.txt"}, "paint.txt", "Words of bridge.txt"},
		{nil, nil, "paint.txt", "Words of bridge.txt"},
		{[]string{"bridge.txt"}, nil, "paint.txt bridge.txt", ""},
		{nil, []string{"paint.txt", "bridge.txt"}, "", "Words of"},
	} {
		q := h.question(fmt.Sprintf("What is the bridge like, part %d?", n))
		q.Drop = c.drop
		q.Preset = schema.Preset{Name: "brief", File: "brief.md", Prompt: "Be brief."}
		var parts []document.Part
		for _, name := range c.names {
			parts = append(parts, document.Part{Name: name, Text: "Words of " + name})
		}
		if parts != nil {
			q.Material = document.JoinParts(parts)
		}
		h.finish(h.startQuestion(q))
		got := assert.Must(of.Setup(t.Context(), owner, h.session, ""))(t)
		same(t, fmt.Sprintf("the files after question %d", n), strings.Join(got.Files, " "), c.files)
		same(t, "the preset", got.Preset, "brief")
		sent := ""
		for _, m := range h.request(n + 1).Messages {
			sent += m.Text
		}
		assert.That(t, c.lack == "" || !strings.Contains(sent, c.lack), "request %d still has %q: %s", n+1, c.lack, sent)
	}
}
