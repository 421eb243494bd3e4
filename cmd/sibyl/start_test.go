package main

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

// best is the least time that the program takes of some tries, so that a busy machine makes no difference.
func best(t *testing.T, args ...string) time.Duration {
	t.Helper()
	data := t.TempDir()
	least := time.Hour
	for range 10 {
		cmd := exec.CommandContext(t.Context(), "sibyl", args...)
		cmd.Env = append(os.Environ(), "SIBYL_DATA="+data, "HOME="+data, "OPENAI_API_KEY=", "OPENAI_BASE_URL=", "OLLAMA_HOST=127.0.0.1:1")
		began := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		least = min(least, time.Since(began))
	}
	return least
}

func TestProgramIsReadyAtOnce(t *testing.T) {
	if took := best(t, "--version"); took > 100*time.Millisecond {
		t.Errorf("‘sibyl --version’ takes %v", took)
	}
}

func TestOfflineAnswerInThisRepositoryComesAtOnce(t *testing.T) {
	took := best(t, "ask", "-q", "-m", "offline:rules", "--in", "../..", "How does the Acquire function of a lease work?")
	t.Log(took)
	if took > 500*time.Millisecond {
		t.Errorf("an offline answer takes %v", took)
	}
}
