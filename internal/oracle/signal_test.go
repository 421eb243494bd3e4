package oracle_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
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
		wantNoParts(t, "a piece", p, "<signal ty", "</signal", "<reason", "<confidence")
	}
	same(t, "all that was shown", h.shown,
		"Look here. \nFirst <signal is only a word.  Then  after.\nThe end, as it reads in `a.go:1`: a < b. \n\n")
	all := h.endedAnswers(h.session)
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
		assert.That(t, !s.At.Before(before) && !s.At.After(time.Now()), "%s was parsed at %v", s.Type, s.At)
	}
	same(t, "timestamp of the last signal", a.Signal.At, a.Signals[1].At)
	raw := assert.Must(json.Marshal(h.signals()[0].Signal))(t)
	wantParts(t, "the audited signal", string(raw), `"timestamp":"`+a.Signals[0].At.Format(time.RFC3339Nano)+`"`)
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
	assert.Must(live.Wait(t.Context()))(t)
	assert.That(t, ops["one"] != 0 && ops["two"] != 0 && ops["one"] != ops["two"],
		"the operations of the two turns' text are %v", ops)
}
