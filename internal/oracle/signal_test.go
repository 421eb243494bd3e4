package oracle_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
)

// What the person is told of an answer with nothing behind it.
const (
	nothingLookedUp = "Nothing was looked up for this answer: it relies on what the model knows."
	nothingOpened   = "No source was opened for this answer: it relies on what the model knows."
	nothingWritten  = "Nothing was written."
)

// bytewise streams a text one byte at a time.
func bytewise(text string) modeltest.Turn { return modeltest.Turn{Chunks: strings.Split(text, "")} }

func TestNoSignalMarkupReachesAnswerPiecesOrSession(t *testing.T) {
	h := setUp(t,
		bytewise("Look here. "+needTurn("read <b>more</b>")).AndCall("code_read", lines("a.go", 1, 9)),
		bytewise("First <signal is only a word. "+element("done", "0.9")+" Then "+needTurn("more")+" after."),
		bytewise("The end, as it reads in `a.go:1`: a < b. "+enough()+"\n"+enough()))
	a := h.ask(auth)
	same(t, "answer", a.Answer, "The end, as it reads in `a.go:1`: a < b.")
	for _, p := range h.raw {
		lacks(t, "a piece", p, "<signal ty", "</signal", "<reason", "<confidence")
	}
	same(t, "all that was shown", h.shown, "Look here. \nFirst <signal is only a word.  Then  after.\nThe end, as it reads in `a.go:1`: a < b. \n\n")
	all := h.ended(h.session)
	same(t, "the session's exchange", all, []oracle.Answer{a})
}

func TestAllSignalsAreInTheJournalWithTheirRawXML(t *testing.T) {
	signals := []string{needTurn("read more"), needCapability("sending an email"), stuck("no hit"), partial("the rest")}
	var turns []modeltest.Turn
	for _, s := range signals {
		turns = append(turns, modeltest.Say("Words. "+s))
	}
	h := setUp(t, turns...)
	a := h.ask(auth)
	var inReceipts, inAnswer []string
	for _, r := range h.receipts() {
		inReceipts = append(inReceipts, r.Report.Signal.RawXML)
	}
	for _, s := range a.Signals {
		inAnswer = append(inAnswer, s.RawXML)
	}
	same(t, "raw XML in the receipts", inReceipts, signals)
	same(t, "raw XML in the answer", inAnswer, signals)
}

func TestTimestampOfASignalIsTheDateAndTimeAtWhichItWasParsed(t *testing.T) {
	h := setUp(t, reading(1), modeltest.Say("Done. "+enough()+needTurn("an extra one")))
	before := time.Now().Truncate(time.Millisecond)
	a := h.ask(auth)
	same(t, "signals", len(a.Signals), 3)
	for _, s := range a.Signals {
		if s.At.Before(before) || s.At.After(time.Now()) {
			t.Errorf("%s was parsed at %v", s.Type, s.At)
		}
	}
	same(t, "timestamp of the last signal", a.Signal.At, a.Signals[1].At)
	raw, err := json.Marshal(h.signals()[0].Signal)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, "the audited signal", string(raw), `"timestamp":"`+a.Signals[0].At.Format(time.RFC3339Nano)+`"`)
}

func TestConversationNeedsNoSourceEvenWhereOneIsOffered(t *testing.T) {
	h := setUp(t, modeltest.Say(needCapability("code search")), modeltest.Say("You're welcome!"))
	a := h.ask(thanks)
	same(t, "tools of the second request", offered(h.request(2)), []string{"code_read", "code_search"})
	same(t, "stop reason", a.StopReason, oracle.StopSatisfied)
	same(t, "answer", a.Answer, "You're welcome!")
}

func TestAnswerWithoutSignalIsTakenWhereNothingCanBeRead(t *testing.T) {
	h := setUp(t, modeltest.Say("From memory: it checks a token."))
	h.world.without("code_search", "code_read", "vault_search", "vault_read", "vault_write", "thread_seek", "web_search", "web_fetch")
	a := h.ask(auth)
	same(t, "stop reason", a.StopReason, oracle.StopSatisfied)
	same(t, "notices", told(a), []string{nothingLookedUp})
}

// The answer is asked for with tools withdrawn, since the model said that it had enough. What it says then tells why the run stops.
func TestModelThatHadEnoughWithoutAWordSaysAfterwardsWhetherItHas(t *testing.T) {
	for name, c := range map[string]struct {
		first, then string
		want        string
	}{
		"enough, and it has":            {enough(), "It checks a token. " + enough(), oracle.StopSatisfied},
		"enough, and it is stuck":       {enough(), "I found nothing. " + stuck("no hit"), oracle.StopStuck},
		"enough, and it wants to go on": {enough(), "So far. " + needTurn("more"), oracle.StopSatisfied},
		"enough, and it is partial":     {enough(), "So far. " + partial("the tests"), oracle.StopPartial},
		"partial, and it is stuck":      {partial("all"), "I found nothing. " + stuck("no hit"), oracle.StopPartial},
	} {
		t.Run(name, func(t *testing.T) {
			h := setUp(t, reading(1), modeltest.Say(c.first), modeltest.Say(c.then))
			a := h.ask(auth)
			same(t, "stop reason", a.StopReason, c.want)
			same(t, "turns", a.Turns, 3)
			same(t, "tools of the third request", offered(h.request(3)), []string{})
			holds(t, "what is said before it", lastText(h.request(3)), "[control] You have what you need.")
		})
	}
}

func TestThreeMalformedSignalsCountAsSilence(t *testing.T) {
	malformed := func(n int) modeltest.Turn {
		return modeltest.SayAndCall(element("done", "0.9"), "code_read", lines(spelled[n]+".go", 1, 9))
	}
	h := setUp(t, malformed(1), malformed(2), malformed(3), theEnd)
	a := h.ask(auth)
	same(t, "decisions", consulted(a), []string{"1: malformed, go_on by rules", "2: malformed, go_on by rules", "3: silent, go_on by rules"})
	holds(t, "what is said after the third", lastText(h.request(4)), "[control] "+hintRemind)
	same(t, "problems", len(a.Problems), 3)
}

func TestEmptyReplyIsNotAnAnswerEvenAfterReading(t *testing.T) {
	h := setUp(t, modeltest.Call("code_read", lines("one.go", 1, 9)), modeltest.Say("\n "), modeltest.Say("It checks a token. "+enough()))
	a := h.ask(auth)
	same(t, "turns", a.Turns, 3)
	same(t, "answer", a.Answer, "It checks a token.")
}

func TestSignalInAClosedFenceIsTextAndNotObeyed(t *testing.T) {
	fenced := "Signals look so:\n```xml\n" + enough() + "\n```\n"
	h := setUp(t, reading(1), modeltest.Say(fenced+needTurn("more")), modeltest.Say(fenced+"So it is. "+enough()))
	a := h.ask(auth)
	same(t, "turns", a.Turns, 3)
	holds(t, "the answer", a.Answer, "```xml\n"+enough()+"\n```")
}

func TestProvisionalTextIsMarkedWithItsTurn(t *testing.T) {
	h := setUp(t, modeltest.Say("one "+needTurn("more")), modeltest.Say("two "+partial("more")))
	live := h.start(auth)
	ops := map[string]uint64{}
	for u := range live.Watch(t.Context(), 0) {
		if u.Piece != nil {
			ops[strings.TrimSpace(u.Piece.Text)] = u.Piece.Op
		}
	}
	if _, err := live.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if ops["one"] == 0 || ops["two"] == 0 || ops["one"] == ops["two"] {
		t.Errorf("the operations of the two turns' text are %v", ops)
	}
}
