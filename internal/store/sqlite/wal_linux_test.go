package sqlite

import (
	"fmt"
	"os"
	"testing"

	"sibyl/internal/journal/journaltest"
)

// The process writes nothing else meanwhile.
func TestRunMakesFewWritesToTheDisk(t *testing.T) {
	const n, most = 200, 16
	db := openAt(t, newPath(t))
	before := writes(t)
	for i := range n {
		if err := journaltest.Whole(t, db, fmt.Sprintf("%010d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if a := float64(writes(t)-before) / n; a > most {
		t.Errorf("a run makes %.1f writes, want at most %d", a, most)
	}
}

// writes is how often this process has written to a file.
func writes(t *testing.T) (n int) {
	t.Helper()
	io, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Skipf("the system does not count writes: %v", err)
	}
	var skip int
	if _, err := fmt.Sscanf(string(io), "rchar: %d\nwchar: %d\nsyscr: %d\nsyscw: %d", &skip, &skip, &skip, &n); err != nil {
		t.Fatal(err)
	}
	return n
}
