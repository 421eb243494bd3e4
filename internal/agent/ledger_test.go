package agent

import "testing"

// A server whose window is too small leaves out a part of what it was sent, and says nothing but how much it has read.
func TestRequestOfWhichTheServerReadOnlyAPartIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		replies []Reply
		told    bool
	}{
		"all was read": {[]Reply{{Sent: 4000, Counted: 4100}, {Sent: 4500, Counted: 4600}},
			false},
		"it counts fewer than is estimated": {[]Reply{{Sent: 4000, Counted: 2500}, {Sent: 4500, Counted: 2800}},
			false},
		"far fewer": {[]Reply{{Sent: 9000, Counted: 4096}}, true},
		"as many as before, although more was": {[]Reply{{Sent: 4000, Counted: 4096}, {Sent: 4800, Counted: 4096}},
			true},
		"as many as before, of the same": {[]Reply{{Sent: 4000, Counted: 4096}, {Sent: 4000, Counted: 4096}},
			false},
		"it counts nothing": {[]Reply{{Sent: 9000}, {Sent: 9500}}, false},
		"as many as before, since results were cut": {[]Reply{{Sent: 4000, Counted: 4096},
			{Sent: 4800, Counted: 4096, Cut: true}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			l := &Ledger{}
			for _, r := range c.replies {
				l.EnterReply(r)
			}
			told := 0
			for _, n := range l.Notices {
				if n.Type == NoticeTruncated {
					told++
				}
			}
			if want := map[bool]int{true: 1}[c.told]; told != want {
				t.Errorf("it is told %d times, not %d", told, want)
			}
		})
	}
}
