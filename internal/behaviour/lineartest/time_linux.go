package lineartest

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// computed is the processor time of this process so far.
func computed(t testing.TB) time.Duration {
	t.Helper()
	var at unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &at); err != nil {
		t.Fatal(err)
	}
	return time.Duration(at.Nano())
}
