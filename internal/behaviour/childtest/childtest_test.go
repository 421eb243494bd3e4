//go:build unix

package childtest

import (
	"os"
	"os/exec"
	"testing"
)

func TestTetherEndsWithTheLastThatHoldsIt(t *testing.T) {
	c := New(t)
	in, words, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	// the child waits for words
	cmd := exec.CommandContext(t.Context(), "sh", "-c", c.Open+"exec 3<&0\n(read line <&3) &\n"+c.Tell)
	cmd.Stdin = in
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	c.Told(t)
	select {
	case <-c.ended:
		t.Error("the tether has ended, and the child of the script has not")
	default:
	}
	if err := words.Close(); err != nil {
		t.Fatal(err)
	}
	c.Ended(t)
	_ = in.Close()
}
