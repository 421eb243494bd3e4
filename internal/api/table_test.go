package api

import "testing"

func TestTableStaysBoundedAndKeepsWhatIsInUse(t *testing.T) {
	made := map[int]int{}
	of := newTable(100, func(key int) *int {
		made[key]++
		return &key
	})
	for i := range 2_000 {
		if got := *of.get(i); got != i {
			t.Fatalf("of %d it gives what belongs to %d", i, got)
		}
		of.get(-1) // asked for all the time
		if kept := len(of.recent) + len(of.older); kept > 200 {
			t.Fatalf("after %d keys it keeps %d", i, kept)
		}
	}
	if made[-1] != 1 {
		t.Errorf("what is in use was made %d times", made[-1])
	}
}
