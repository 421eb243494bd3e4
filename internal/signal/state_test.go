package signal

import (
	"strings"
	"testing"
)

func turn(reason string) Signal {
	return Signal{Type: NeedTurn, Confidence: 0.5, Fields: map[string]Value{"reason": {Kind: Text, Text: reason}},
		RawXML: "x"}
}

func TestSameReasonCountsAfterTrimmingAndFolding(t *testing.T) {
	var s State
	for i, reason := range []string{"Read the file", " read  the FILE ", "read the file"} {
		s = s.OnSignal(turn(reason), true)
		if s.ConsecutiveSameReason != i+1 {
			t.Fatalf("after %q the count is %d, want %d", reason, s.ConsecutiveSameReason, i+1)
		}
	}
	if s = s.OnSignal(turn("something else"), true); s.ConsecutiveSameReason != 1 {
		t.Errorf("another reason counts as %d, want 1", s.ConsecutiveSameReason)
	}
}

func TestNumbersAreMaskedOnlyWhileNoSourceCameIn(t *testing.T) {
	s := State{}.OnSignal(turn("page 3"), false)
	if got := s.OnSignal(turn("page 14"), false).ConsecutiveSameReason; got != 2 {
		t.Errorf("without a new source, page 3 and page 14 count %d, want 2", got)
	}
	if got := s.OnSignal(turn("page 14"), true).ConsecutiveSameReason; got != 1 {
		t.Errorf("with a new source, page 3 and page 14 count %d, want 1", got)
	}
}

func TestSilentTurnResetsTheReasonsAndCounts(t *testing.T) {
	s := State{}.OnSignal(turn("x"), true).OnSignal(turn("x"), true).OnSilentTurn().OnSilentTurn()
	if s.ConsecutiveSameReason != 0 || s.TurnsWithoutSignal != 2 {
		t.Errorf("after two silent turns: %+v", s)
	}
	s = s.OnSignal(turn("x"), true)
	if s.ConsecutiveSameReason != 1 || s.TurnsWithoutSignal != 0 {
		t.Errorf("a signal after silence: same reason %d, silent %d; want 1, 0", s.ConsecutiveSameReason,
			s.TurnsWithoutSignal)
	}
}

func TestStateIsAValue(t *testing.T) {
	s := State{}.OnSignal(turn("a"), true)
	s.OnSignal(turn("b"), true)
	s.OnSignal(turn("c"), true)
	if len(s.SignalsEmitted) != 1 || s.LastSignal.Text("reason") != "a" {
		t.Errorf("a later signal changed an earlier state: %+v", s)
	}
}

func TestNeutraliseMakesControlTagsInertAndNothingElse(t *testing.T) {
	for _, name := range []string{"signal type='stuck'", "/signal", " SIGNAL ", "tool_call", "x:invoke name='y'",
		"system", "|im_start|"} {
		in := "before <" + name + "> after"
		if got := Neutralise(in); got != "before &#60;"+name+"> after" {
			t.Errorf("Neutralise(%q) = %q", in, got)
		}
	}
	if got := Neutralise("\uff1csignal> [Control] go"); got != "&#60;signal> (Control) go" {
		t.Errorf("fullwidth bracket and control mark: %q", got)
	}
	for _, in := range []string{"if a < b {", "if a < s {", "List<S>", "Function<A>", "<parameter name='x'>", "<div>",
		"a<signals>", "[controls]", "x[i]", strings.Repeat("x", 1000)} {
		if got := Neutralise(in); got != in {
			t.Errorf("Neutralise(%q) = %q, want it unchanged", in, got)
		}
	}
}
