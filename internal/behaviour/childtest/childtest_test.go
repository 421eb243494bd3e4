//go:build unix

package childtest

import (
	"os"
	"os/exec"
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestTetherEndsWithTheLastThatHoldsIt(t *testing.T) {
	c := New(t)
	in, words, err := os.Pipe()
	assert.NoError(t, err)
	// the child waits for words
	cmd := exec.CommandContext(t.Context(), "sh", "-c", c.Open+"exec 3<&0\n(read line <&3) &\n"+c.Tell)
	cmd.Stdin = in
	assert.NoError(t, cmd.Run())
	c.Told(t)
	select {
	case <-c.ended:
		t.Error("the tether has ended, and the child of the script has not")
	default:
	}
	assert.NoError(t, words.Close())
	c.Ended(t)
	_ = in.Close()
}
