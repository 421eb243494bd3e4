package talk

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
)

// begun is what was asked by the last keys.
func (b *bare) begun() Asked {
	b.t.Helper()
	if b.live == nil {
		b.t.Fatalf("nothing was asked; the screen shows\n%s", b.View().Content)
	}
	a := b.live.Asked
	b.live = nil
	return a
}

func TestWordsGoToTheAssistantThatTheirCommandNames(t *testing.T) {
	for typed, want := range map[string]Asked{
		"How?":                           {Of: "oracle", Words: "How?"},
		"/ask How?":                      {Of: "oracle", Words: "How?", Flagged: true},
		"/task buy milk":                 {Of: "tasks", Words: "buy milk", Flagged: true},
		"/task":                          {Of: "tasks", Words: "show my tasks", Flagged: true},
		"/council --oracle skeptic Move": {Of: "council", Words: "--oracle skeptic Move", Flagged: true},
	} {
		b := newBare(t)
		b.press(typed + "<enter>")
		assert.Equalf(t, b.begun(), want, "%s", typed)
		assert.That(t, strings.Contains(b.printed(), "❯ "+typed), "%s: %s", typed, b.printed())
	}
}

func TestCommandThatNeedsWordsWaitsForThem(t *testing.T) {
	b := newBare(t)
	b.press("/council<enter>")
	assert.That(t, b.live == nil && b.input.Value() == "/council " &&
		strings.Contains(b.View().Content, "/council takes words"), "%q is typed:\n%s", b.input.Value(), b.View().Content)
}

func TestEachAssistantHasASessionOfItsOwn(t *testing.T) {
	h := hold(t, 80, 24)
	h.ask("How?").end(answer("So."))
	h.rests("read 2 places")
	for n, session := range []string{"", "0tasks"} {
		r := h.ask(fmt.Sprintf("/task buy %d", n))
		assert.That(t, h.p.runs[n+1].Of == "tasks" && (n == 0 || r.Session == session), "%+v", r.Asked)
		r.end(answer(fmt.Sprintf("Added %d.", n)))
		h.rests(fmt.Sprintf("Added %d.", n))
	}
	if r := h.ask("And why?"); r.Session != "0session" || r.Of != "oracle" {
		t.Errorf("%+v", r.Asked)
	} else {
		r.end(answer("Because."))
	}
}

func TestOpenQuestionHasTheNextWords(t *testing.T) {
	eachWidth(t, func(t *testing.T, width int) {
		h := hold(t, width, 24)
		ask := answer("Delete “milk”? Please answer yes or no.")
		ask.Asks, ask.Notes = true, nil
		h.ask("/task delete milk").end(ask)
		h.golden(fmt.Sprintf("open_%d", width), "your words answer Tasks")
		if r := h.ask("yes"); r.Of != "tasks" || r.Session != "0tasks" {
			t.Errorf("%+v", r.Asked)
		} else {
			r.end(answer("Deleted."))
		}
		h.showsNo("tasks ❯\n")
		h.shows("tasks ❯ yes\n")
		if r := h.ask("How?"); r.Of != "oracle" {
			t.Errorf("%+v", r.Asked)
		} else {
			r.end(answer("So."))
		}
	})
}

func TestOpenQuestionIsLeftByEscapeOrByACommandOfAnother(t *testing.T) {
	for _, keys := range []string{"<esc>How?<enter>", "/ask How?<enter>"} {
		b := newBare(t)
		b.open = "tasks"
		b.setPrompt()
		b.press(keys)
		got := b.begun()
		assert.That(t, got.Of == "oracle" && b.open == "", "%s: %+v", keys, got)
	}
}

func TestPlainWishIsOfferedAndIsAQuestionOtherwise(t *testing.T) {
	for keys, want := range map[string]Asked{
		"y":       {Of: "tasks", Words: "remind me to eat"},
		"n":       {Of: "oracle", Words: "remind me to eat"},
		"<enter>": {Of: "oracle", Words: "remind me to eat"},
	} {
		b := newBare(t)
		b.press("remind me to eat<enter>")
		s := b.View().Content
		assert.Require(t, b.live == nil && strings.Contains(s, "Tasks: Add “eat”? [y/N]"), "the screen shows\n%s", s)
		b.press(keys)
		assert.Equalf(t, b.begun(), want, "%s", keys)
	}
	for _, keys := range []string{"<c-c>", "<esc>"} { // neither, and nothing typed is lost
		b := newBare(t)
		b.press("remind me to eat<enter>" + keys)
		assert.That(t, b.live == nil && len(b.asking) == 0 && b.input.Value() == "remind me to eat",
			"%s: %q is typed", keys, b.input.Value())
	}
	b := newBare(t, func(c *Config) { c.To = "tasks" })
	b.press("remind me to eat<enter>")
	got := b.begun()
	assert.That(t, got.Of == "tasks", "it was offered what it is asked for anyway: %+v", got)
}

func TestKeysOfAnOfferAreSeenAtEveryWidth(t *testing.T) {
	for _, width := range []int{20, 40, 60, 80, 200} {
		b := newBare(t, func(c *Config) { c.Width = width })
		b.press("remind me to " + strings.Repeat("carry the very long ladder ", 20) + "<enter>")
		s := b.View().Content
		assert.That(t, strings.Contains(s, "[y/N]"), "%d columns:\n%s", width, s)
	}
	eachWidth(t, func(t *testing.T, width int) {
		b := newBare(t, func(c *Config) { c.Width = width })
		b.press("remind me to call the dentist about the appointment in March<enter>")
		golden(t, fmt.Sprintf("offer_%d", width), ansi.Strip(b.View().Content)+"\n")
	})
}

func TestFileWithBlanksInItsNameIsCompletedInQuotes(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"My Report.pdf", "Your Report.pdf", "Your.pdf"} {
		assert.NoError(t, os.WriteFile(name, nil, 0o600))
	}
	b := newBare(t)
	b.run("what is in @My<tab>")
	got := b.input.Value()
	assert.That(t, got == `what is in @"My Report.pdf"`, "%q is typed", got)
}

func TestQuestionOverTheLimitIsAskedOnceThePersonSaysSo(t *testing.T) {
	for keys, over := range map[string]bool{"y": true, "n": false, "<esc>": false, "<c-c>": false} {
		b := newBare(t, func(c *Config) { c.Width = 120 })
		b.press("How?<enter>")
		b.Update(startedMsg{of: b.live, err: &service.LimitError{Spent: 2, Limit: 1, Currency: "USD"}})
		s := b.View().Content
		assert.Require(t, b.live == nil && strings.Contains(s, "today has cost 2.00 USD") &&
			strings.Contains(s, "Go on? [y/N]"), "the screen shows\n%s", s)
		b.press(keys)
		switch {
		case over && (b.live == nil || !b.live.OverLimit):
			t.Errorf("%s: it was not asked", keys)
		case !over && (b.live != nil || b.input.Value() != "How?"):
			t.Errorf("%s: %q is typed", keys, b.input.Value())
		}
	}
}

func TestAnswersAreShownAsTheyAreFinished(t *testing.T) {
	h := hold(t, 80, 30)
	r := h.ask("/council Move the office")
	asked := []run.RequestedEffect{{Op: 1, Label: "Skeptic"}, {Op: 2, Label: "Optimist"}}
	r.updates <- service.Update{Step: &service.Step{Status: "RUNNING", Started: asked}}
	h.shows("Skeptic and 1 more")
	early := func(name, text string) string { return "## " + name + "\n\n" + text + "\n" }
	r.updates <- service.Update{Record: &journal.Record{Kind: run.KindCompletion},
		Early: &assistant.EarlyPart{Markdown: early("Optimist", "Yes."), Used: assistant.Usage{Input: 1200, Output: 34}}}
	h.shows("Yes.")
	s := h.shows("1 of 2 have answered")
	assert.That(t, strings.Contains(s, "1234 tokens"), "no tokens:\n%s", s)
	res := answer(early("Skeptic", "No.") + "\n" + early("Optimist", "Yes."))
	r.end(res)
	if s := h.shows("read 2 places"); strings.Count(s, "Yes.") != 1 || strings.Count(s, "No.") != 1 {
		t.Errorf("an answer stands there twice, or not at all:\n%s", s)
	}
}

func TestMissingValueIsAskedForWhereItIsTyped(t *testing.T) {
	t.Chdir(t.TempDir())
	refused := &MissingError{Flag: Flag{"witness", "documents, or provider:model", "witness"},
		Title: "Where are the documents?"}
	begin := func() *bare {
		b := newBare(t)
		b.press("/investigate It fell<enter>")
		b.Update(startedMsg{of: b.live, err: refused})
		s := b.View().Content
		assert.Require(t, strings.Contains(s, "witness ❯") && strings.Contains(s, "documents, or provider:model") &&
			strings.Contains(b.printed(), "Where are the documents?"), "the screen shows\n%s", s)
		return b
	}
	b := begin()
	b.press("my papers<enter>")
	got := b.begun()
	assert.That(t, got.Words == `--witness "my papers" It fell` && got.Of == "inquiry" &&
		strings.Contains(b.printed(), "witness ❯ my papers"), "%+v\n%s", got, b.printed())
	for _, keys := range []string{"<esc>", "<c-c>"} {
		b = begin()
		assert.That(t, b.press(keys) == nil && b.live == nil && b.input.Value() == "/investigate It fell" && b.missing == nil,
			"%s: %q is typed", keys, b.input.Value())
	}
}

func TestWordsThatAreKeptWithoutAnAnswerAreNotTypedAgain(t *testing.T) {
	b := newBare(t)
	b.press("/council Move<enter>")
	b.Update(startedMsg{of: b.live, err: &KeptError{"0council", errors.New("kept, but not answered")}})
	assert.That(t, b.input.Value() == "" && b.Sessions["council"] == "0council" &&
		strings.Contains(b.printed(), "kept, but not answered"),
		"%q is typed; %v\n%s", b.input.Value(), b.Sessions, b.printed())
}

func TestModeIsSaidByThePromptAndTheFirstLine(t *testing.T) {
	eachWidth(t, func(t *testing.T, width int) {
		h := hold(t, width, 24, func(c *Config) { c.To = "tasks" })
		r := h.ask("buy milk")
		assert.That(t, r.Of == "tasks", "%+v", r.Asked)
		r.end(answer("Added."))
		h.golden(fmt.Sprintf("tasks_%d", width), "session 0tasks")
		if r := h.ask("/ask How?"); r.Of != "oracle" || r.Words != "How?" {
			t.Errorf("%+v", r.Asked)
		} else {
			r.end(answer("So."))
		}
	})
}

func TestHelpNamesEachAssistantAndFitsTheTerminal(t *testing.T) {
	for _, width := range widths {
		b := newBare(t, func(c *Config) { c.Width = width })
		b.press("/help<enter>")
		assert.Contains(t, fmt.Sprintf("the screen of %d columns", width), b.printed(),
			"/ask WORDS", "/task [WORDS]", "/council WORDS", "/investigate WORDS",
			"Inquiry questions a witness", "/quit")
		for line := range strings.Lines(b.printed()) {
			n := len([]rune(strings.TrimSuffix(line, "\n")))
			assert.That(t, n < width, "%q has %d columns", line, n)
		}
	}
}

func TestSessionsAreThoseOfTheAssistantThatWordsGoTo(t *testing.T) {
	b := newBare(t, func(c *Config) { c.To = "tasks" })
	b.p.sessions = map[string][]journal.Session{"oracle": {{ID: "0aaa"}}, "tasks": {{ID: "0bbb", Title: "shopping"}}}
	b.run("/sessions<enter>")
	s := b.View().Content
	assert.That(t, strings.Contains(s, "0bbb") && !strings.Contains(s, "0aaa"), "the screen shows\n%s", s)
}

func TestPasteGoesWithACommandToo(t *testing.T) {
	b := newBare(t)
	long := strings.Repeat("a line\n", 100)
	b.Update(tea.PasteMsg{Content: long})
	b.press("/council What of this?<enter>")
	got := b.begun()
	assert.That(t, got.Material == long && len(b.pasted) == 0, "%d bytes", len(got.Material))
}

func TestFailureThatIsTheAnswerIsToldOnce(t *testing.T) {
	b := newBare(t)
	res := answer("I couldn't find that task.")
	res.Failure = &assistant.Failure{Message: res.Answer}
	n := strings.Count(strings.Join(b.resultLines(res, ""), "\n"), "find that task")
	assert.That(t, n == 1, "it is told %d times", n)
}

func TestKeysThatWereBegunBeforeAHeldCallWasSeenDoNotAnswerIt(t *testing.T) {
	b := newBare(t)
	b.askWaiting("oracle", "0run", "", []assistant.Waiting{{Call: "vault_write"}})
	b.press("why yes")
	assert.Require(t, len(b.asking) == 1 && b.live == nil, "it was answered: %+v", b.live)
	b.at = b.at.Add(tooSoon)
	b.press("y")
	got := b.begun()
	assert.That(t, got.Words == "yes 1", "%+v", got)
}

func TestPasteIsGivenBackWhereItLedToNothing(t *testing.T) {
	b := newBare(t)
	long := strings.Repeat("a line\n", 100)
	b.Update(tea.PasteMsg{Content: long})
	b.press("What is in @nofile.txt?<enter>")
	b.Update(startedMsg{of: b.live, err: errors.New("there is no such file")})
	assert.That(t, b.input.Value() == "What is in @nofile.txt?" && len(b.pasted) == 1 && b.pasted[0] == long,
		"%q and %d pastes are left", b.input.Value(), len(b.pasted))
}
