package record

import (
	"errors"
	"testing"
)

func TestEveryStatusMeetsEveryReasonOfAnEnd(t *testing.T) {
	statuses := []Status{Running, Completed, Failed, LimitReached, "", "paused"}
	reasons := []EndReason{Satisfied, Limit, NoProgress, Collected, Stopped, Broken, TimedOut, "", "bored"}
	want := map[EndReason]Status{Satisfied: Completed, Limit: LimitReached, NoProgress: LimitReached, Collected: LimitReached, Stopped: Failed, Broken: Failed, TimedOut: Failed}
	for _, status := range statuses {
		for _, reason := range reasons {
			got, err := status.Next(reason)
			to, legal := want[reason]
			if legal = legal && status == Running; legal {
				if err != nil || got != to {
					t.Errorf("“%s” by “%s” is “%s”, %v; want “%s”", status, reason, got, err, to)
				}
				continue
			}
			if illegal, ok := errors.AsType[*Illegal](err); !ok || got != status || illegal.Status != status || illegal.Reason != reason || err.Error() == "" {
				t.Errorf("“%s” by “%s” is “%s”, %v; want an *Illegal, and the status as it is", status, reason, got, err)
			}
		}
	}
}
