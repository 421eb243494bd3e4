package redact

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// worked is the time for which this thread has been computing: what else the machine does is not in it.
func worked(t *testing.T) time.Duration {
	var u unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Nano())
}

func TestTimeIsLinearInTheSize(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r := New("correct horse battery staple")
	for _, unit := range []string{"token=", "ya29.", "ATBB=", "SG.", "eyJ.", "eyJaaaaaaaaaaa.", "-----BEGIN PRIVATE" + " KEY-----\n", "Private-Lines: aaaaaaaaaaaaaaaa ", "LS0tLS1CRUdJTi/",
		"machine login x password ", "a:5432:", "https://a:b@", "\"value\":", "value=key ", "Cookie: a=b; ", "Authorization: Bearer ", "--password ", "-u a:b ", "AKIA", "glc_%",
		"aaaaaaaaaaaaaaaa-----END PRIVATE" + " KEY-----", "token=a1B2c3D4e5F6g7 ", "0123456789:AA", "name:value:", "sk-" + letters + "."} {
		cost := func(size int) time.Duration {
			text, best := []byte(strings.Repeat(unit, size/len(unit)+1)[:size]), time.Hour
			for range 3 {
				began := worked(t)
				r.Bytes(text)
				best = min(best, worked(t)-began)
			}
			return best
		}
		small, middle, large := cost(4<<10), cost(16<<10), cost(64<<10)
		if large > 80*small { // linear: 16; quadratic: 256
			t.Errorf("%q: 4 KB cost %v, 16 KB %v, 64 KB %v", unit, small, middle, large)
		}
	}
}
