package talk

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
)

// widths are those of the golden screens.
var widths = [...]int{60, 80, 200}

const leases = "A lease is **taken over at once** if the process that held it is gone:\n\n" +
	"- the lock file of the holder is free, see `run/lease.go:40-58`;\n- else it runs out after 8 seconds.\n\n" +
	"```go\nif dead(holder) {\n\treturn take(lease) // by compare-and-set, so that one of several has it and the " +
	"others try again later\n}\n```\n"

func eachWidth(t *testing.T, do func(t *testing.T, width int)) {
	for _, width := range widths {
		t.Run(fmt.Sprint(width), func(t *testing.T) { do(t, width) })
	}
}

func TestAnswerStandsInTheScrollbackWithItsSources(t *testing.T) {
	eachWidth(t, func(t *testing.T, width int) {
		h := hold(t, width, 24)
		r := h.ask("How are leases acquired when a process is dead?")
		r.say(leases[:40])
		r.end(answer(leases, "run/lease.go:40-58", "docs/architecture.md:120-131"))
		h.golden(fmt.Sprintf("answer_%d", width), "read 2 places")
	})
}

func TestSlowModelIsSeenToBeUnderWay(t *testing.T) {
	eachWidth(t, func(t *testing.T, width int) {
		h := hold(t, width, 24)
		r := h.ask("How are leases acquired when a process is dead?")
		r.updates <- told("asking played:model")
		r.updates <- step("turn 1 of 30")
		r.updates <- told("  Searched the code for “lease acquired when the process that holds it is dead, and who may " +
			"take it”: 10 found")
		r.updates <- step("turn 2 of 30")
		h.shows("turn 2 of 30")
		h.pass(72 * time.Second)
		h.golden(fmt.Sprintf("slow_%d", width), "1:12 min")
		r.end(answer("done"))
	})
}

func TestInterruptedAnswerLeavesTheConversationOpen(t *testing.T) {
	eachWidth(t, func(t *testing.T, width int) {
		h := hold(t, width, 24)
		r := h.ask("How are leases acquired when a process is dead?")
		r.say("A lease is taken over")
		h.shows("A lease is taken over")
		h.press("\x03")
		h.shows("stopping")
		<-r.ctx.Done()
		why := context.Cause(r.ctx)
		assert.That(t, errors.Is(why, errStopped), "the run was stopped because %v", why)
		r.end(service.Result{Status: journal.Cancelled,
			Shown: assistant.Shown{Answer: "Until it was stopped, `run/lease.go:40` was read.",
				Sources: []string{"run/lease.go:40"}}})
		h.golden(fmt.Sprintf("interrupted_%d", width), "is kept")
		h.ask("And now?").end(answer("It goes on."))
		h.shows("It goes on.")
	})
}

func TestFailingModelIsToldWithWhatHelps(t *testing.T) {
	h := hold(t, 80, 24)
	h.ask("How are leases acquired?").end(service.Result{Status: journal.Failed, Shown: assistant.Shown{
		Failure: &assistant.Failure{Kind: "rate_limit", Message: "no answer: the provider wants fewer requests",
			Hint: "wait a while, or ask another model with -m"}}})
	h.shows("wait a while")
	close(h.ask("Once more").updates)
	h.p.runs[1].result <- service.Result{Reason: "broken"}
	h.shows("the disk is full")
	h.p.refuse = errors.New("the journal can't be written")
	h.press("a third one\r")
	h.shows("can't be written\n❯ a third one\n  played") // nothing that was typed is lost
}

func TestPickerNarrowsByWhatIsTyped(t *testing.T) {
	eachWidth(t, func(t *testing.T, width int) {
		h := hold(t, width, 24)
		h.press("/model\r")
		h.golden(fmt.Sprintf("picker_%d", width), "work:big")
		h.press("qw")
		h.showsNo("work:big")
		h.press("\r")
		h.shows("the next question goes to ollama:qwen3:4b")
		r := h.ask("How?")
		assert.That(t, r.Model == "ollama:qwen3:4b", "asked of %q", r.Model)
		r.end(answer("So."))
	})
}

func TestQuestionThatNobodyIsChosenForIsAskedAfterTheChoice(t *testing.T) {
	eachWidth(t, func(t *testing.T, width int) {
		h := hold(t, width, 24)
		h.p.refuse = &ChoiceError{Err: errors.New("work has 2 models"), Title: "Which model of work should answer?",
			Models: []string{"big", "small"}, Chosen: func(id string) (model, told string) {
				h.p.refuse = nil
				return "work:" + id, "saved as providers.work.model"
			}}
		h.press("How are leases acquired?\r")
		h.golden(fmt.Sprintf("choice_%d", width), "small")
		h.press("sm\r")
		r := <-h.p.begun
		assert.That(t, r.Model == "work:small" && h.p.asked[0] == "How are leases acquired?",
			"%q was asked of %q", h.p.asked, r.Model)
		r.end(answer("So."))
		h.rests("saved as providers.work.model")
	})
}

func TestProvisionalTextThatIsTakenBackLeavesNoTrace(t *testing.T) {
	h := hold(t, 80, 24)
	r := h.ask("How?")
	r.say(strings.Repeat("I think that I know this already.\n\n", 40))
	h.shows("lines above")
	r.updates <- service.Update{Retract: true, Op: 1}
	h.showsNo("I think")
	r.say("Let me look.")
	h.shows("Let me look.")
	r.updates <- step("code_search")
	h.showsNo("Let me look.")
	r.end(answer("So."))
	s := h.shows("read 2 places")
	assert.That(t, !strings.Contains(s, "I think") && !strings.Contains(s, "Let me look.") &&
		!strings.Contains(s, "lines above"), "what was taken back is in the scrollback:\n%s", s)
}

func TestResizeInTheMiddleOfAnAnswerTearsNothing(t *testing.T) {
	h := hold(t, 80, 24)
	r := h.ask("How are leases acquired when a process is dead?")
	r.say(strings.Repeat("All of these words are one paragraph that has to be wrapped. ", 6))
	h.shows("wrapped. All")
	for i, width := range []int{60, 130, 55, 70} {
		height := 20 + i
		h.resize(width, height)
		h.tea.Send(tea.WindowSizeMsg{Width: width, Height: height})
		r.say(fmt.Sprintf("\n\nAt %d columns. ", width))
		s := h.shows(fmt.Sprintf("At %d columns.", width))
		assert.Require(t, strings.Count(s, "All of these words are one paragraph") <= 6,
			"at %d columns the text stands there more than once:\n%s", width, s)
		n := strings.Count(s, "reading the question")
		assert.Require(t, n <= 1, "at %d columns the last line stands there %d times:\n%s", width, n, s)
	}
	r.end(answer("Whole."))
	h.golden("resized", "read 2 places")
}

func TestTallAnswerIsPrintedWholeAndOnce(t *testing.T) {
	h := hold(t, 80, 24)
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "line %03d\n\n", i)
	}
	h.ask("How?").end(answer(b.String()))
	s := h.shows("read 2 places")
	at := 0
	for i := range 300 {
		line := fmt.Sprintf("\nline %03d\n", i)
		assert.Require(t, strings.Count(s, line) == 1 && strings.Index(s, line) >= at,
			"line %d stands there %d times, or not in its order", i, strings.Count(s, line))
		at = strings.Index(s, line)
	}
}

func TestHeldCallIsAnsweredInPlace(t *testing.T) {
	eachWidth(t, func(t *testing.T, width int) { heldAt(t, width) })
}

func heldAt(t *testing.T, width int) {
	h := hold(t, width, 24)
	calls := []assistant.Waiting{{Call: "vault_write", Target: "shopping.md",
		Why: bt.Because("a page asked for it"), Writes: true},
		{Call: "web_fetch", Target: "https://example.com", Why: bt.Because("nobody named the address")}}
	h.ask("Note what the page says").end(service.Result{Status: journal.NeedsUser,
		Shown: assistant.Shown{Answer: "I would write it down.", Waiting: calls,
			Warnings: []string{"a warning of its own"}}})
	h.shows("a warning of its own") // printed above the prompt, which may be drawn before it
	s := h.shows("Do it?")
	assert.That(t, !strings.Contains(s, "sibyl ask -c") && strings.Count(s, "shopping.md") == 1,
		"the terminal shows\n%s", s)
	h.golden(fmt.Sprintf("held_%d", width), "Do it?")
	h.answers("n")
	h.shows("example.com")
	h.answers("y")
	r := <-h.p.begun
	assert.That(t, h.p.asked[1] == "yes 2" && r.Session == "0session", "%q was asked in %s", h.p.asked[1], r.Session)
	r.end(answer("Done."))
	h.shows("Done.")
}

func TestNoToHeldCallsDeclinesThem(t *testing.T) {
	for name, keys := range map[string][]string{"n": {"n", "n"}, "Esc": {"\x1b", "\x1b"}, "Ctrl-C": {"\x03"},
		"Ctrl-C after a yes": {"y", "\x03"}} {
		t.Run(name, func(t *testing.T) {
			h := hold(t, 80, 24)
			h.ask("Note it").end(service.Result{Status: journal.NeedsUser, Shown: assistant.Shown{Answer: "Shall I?",
				Waiting: []assistant.Waiting{{Call: "vault_write"}, {Call: "web_fetch"}}}})
			h.shows("1. May I?")
			for n, key := range keys {
				if n > 0 {
					h.shows("2. May I?")
				}
				h.answers(key)
			}
			h.shows("not done")
			run := <-h.p.declined
			assert.That(t, run == "0run" && len(h.p.asked) == 1, "run %s was declined, and %q was asked", run, h.p.asked)
		})
	}
}

func TestTextOfOthersSteersNothing(t *testing.T) {
	h := hold(t, 80, 24)
	evil := "a\x1b[2J\x1b]52;c;ZXZpbA==\x07b\u202e\r\x9b31m"
	h.p.last = Exchange{Run: "0old", Question: evil, Answer: evil}
	h.p.sessions = map[string][]journal.Session{"oracle": {{ID: "0old", Title: evil}}}
	r := h.ask("How?")
	r.updates <- told(evil)
	r.updates <- step(evil)
	r.say(evil)
	res := answer(evil, evil)
	res.Notes, res.Warnings, res.Waiting = []string{evil}, []string{evil},
		[]assistant.Waiting{{Call: "a", Why: bt.Because(evil)}}
	h.shows("52;c")
	r.end(res)
	h.shows("Do it?")
	h.answers("n")
	h.press("/sessions\r")
	h.shows("Which session?")
	h.press("\r")
	if s := h.shows("session 0old"); strings.Contains(s, "\u202e") || h.clipboard != "" {
		t.Errorf("the terminal was steered; the clipboard has %q:\n%s", h.clipboard, s)
	}
}

func TestEveryWayOutLeavesTheTerminalAsItWas(t *testing.T) {
	for name, keys := range map[string]string{"Ctrl-D": "\x04", "/quit": "/quit\r", "Ctrl-C twice": "\x03\x03"} {
		t.Run(name, func(t *testing.T) {
			h := hold(t, 80, 24)
			h.press(keys)
			assert.Nil(t, h.ended())
			assert.That(t, !h.modes["?2004"] && h.modes["?25"], "modes of the terminal: %v", h.modes)
		})
	}
}

func TestLeavingStopsTheAnswerAndWaitsForIt(t *testing.T) {
	h := hold(t, 80, 24)
	r := h.ask("How?")
	h.press("/quit\r")
	<-r.ctx.Done()
	r.end(answer("So."))
	assert.Nil(t, h.ended())
}

func TestQuestionThatIsStillBeingBegunIsStopped(t *testing.T) {
	h := hold(t, 80, 24, func(c *Config) { c.Sibyl.(*played).slow = make(chan struct{}) })
	h.ask("How?")
	h.press("\x03")
	h.shows("stopped before it began")
	h.shows("❯ How?\n  the default model") // to be changed and asked again
	h.press("\r")
	<-h.p.begun
	h.press("/quit\r")
	assert.Nil(t, h.ended())
}

func TestPanicLeavesTheTerminalAsItWas(t *testing.T) {
	h := hold(t, 80, 24, func(c *Config) { c.Sibyl = panicking{c.Sibyl.(*played)} })
	h.press("/sessions\r")
	err := h.ended()
	assert.That(t, errors.Is(err, tea.ErrProgramPanic), "it ended with %v", err)
	assert.That(t, !h.modes["?2004"] && h.modes["?25"], "modes of the terminal: %v", h.modes)
}

// panicking is a program with a fault.
type panicking struct{ *played }

func (panicking) Sessions(context.Context, string) ([]journal.Session, error) {
	panic("a fault of the test")
}

func TestLastQuestionIsAskedAgainInItsPlace(t *testing.T) {
	h := hold(t, 80, 24)
	h.press("/again\r")
	h.shows("there is no answer yet")
	h.ask("How does it end?").end(answer("Badly."))
	h.shows("Badly.")
	h.press("/again work:big\r")
	r := <-h.p.begun
	assert.That(t, r.Replaces == "0run" && r.Words == "How does it end?" && r.Model == "work:big" && r.Of == "oracle",
		"%+v was asked", r.Asked)
	r.end(service.Result{Reason: "broken"})
	h.shows("the disk is full")
	h.press("/again\r")
	r = <-h.p.begun
	assert.That(t, r.Words == "How does it end?" && r.Model == "work:big", "%+v was asked after a failure", r.Asked)
	r.end(answer("Well."))
	h.shows("Well.")
}
