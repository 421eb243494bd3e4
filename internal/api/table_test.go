package api

import (
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestTableStaysBoundedAndKeepsWhatIsInUse(t *testing.T) {
	made := map[int]int{}
	of := newTable(100, func(key int) *int {
		made[key]++
		return &key
	})
	for i := range 2_000 {
		got := *of.get(i)
		assert.Require(t, got == i, "of %d it gives what belongs to %d", i, got)
		of.get(-1) // asked for all the time
		kept := len(of.recent) + len(of.older)
		assert.Require(t, kept <= 200, "after %d keys it keeps %d", i, kept)
	}
	assert.That(t, made[-1] == 1, "what is in use was made %d times", made[-1])
}
