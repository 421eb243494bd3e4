package record

import "testing"

func TestEveryReasonOfAnEndLeadsToItsStatus(t *testing.T) {
	for reason, want := range map[EndReason]Status{Satisfied: Completed, Limit: LimitReached, NoProgress: LimitReached,
		Collected: LimitReached,
		Stopped:   Failed, Broken: Failed, TimedOut: Failed, "": Running, "bored": Running} {
		got, err := reason.Status()
		if got != want || (err != nil) != (want == Running) {
			t.Errorf("“%s” leads to “%s”, %v; want “%s”", reason, got, err, want)
		}
	}
}
