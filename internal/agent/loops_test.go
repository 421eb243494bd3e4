package agent_test

import (
	"testing"

	"sibyl/internal/bt"
)

func TestCycleOfParallelCallsIsFoundInWhateverOrderTheyEnd(t *testing.T) {
	b := set(t, `<Sequence>`+runTools+`<GoesRound ledger="{ledger}" reasons="0" calls="0" errors="0" longest="4" rounds="2" idle="0"/></Sequence>`)
	here, there := []call{reads("a"), reads("b")}, []call{reads("c"), reads("d"), reads("e")}
	for i, turn := range []struct {
		lastFirst bool
		calls     []call
		want      bt.Status
	}{{false, here, bt.Failure}, {false, there, bt.Failure}, {true, here, bt.Failure}, {true, there, bt.Success}} {
		if got := b.turn(turn.lastFirst, turn.calls...); got != turn.want {
			t.Errorf("turn %d: %s, want %s", i+1, got, turn.want)
		}
	}
}
