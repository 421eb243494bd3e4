package text

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestTheEndIsKeptInWhateverPiecesItComes(t *testing.T) {
	whole := strings.Repeat("0123456789abcde\n", 2000)
	for _, size := range []int{1, 7, maxTail, maxTail + 1, len(whole)} {
		var got Tail
		for rest := whole; rest != ""; {
			n, err := got.Write([]byte(rest[:min(size, len(rest))]))
			assert.Require(t, err == nil && n == min(size, len(rest)), "in pieces of %d: %d, %v", size, n, err)
			rest = rest[n:]
		}
		assert.That(t, got.String() == whole[len(whole)-maxTail:],
			"in pieces of %d it keeps %d bytes, from %.20q on", size, len(got.String()), got.String())
	}
}

func TestManyMayWriteAndReadAtOnce(t *testing.T) {
	var got Tail
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			fmt.Fprint(&got, i)
			_ = got.String()
		})
	}
	group.Wait()
	assert.That(t, len(got.String()) == 8, "it has %q", got.String())
}
