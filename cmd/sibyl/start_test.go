package main

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

// yardstick is a program that computes the same on every machine: what it takes says how fast the machine is. On the
// machine for which the bounds below were set it took usualYardstick.
func yardstick() {
	numbers := rand.New(rand.NewPCG(1, 2))
	all := make([]uint64, 1<<20)
	for i := range all {
		all[i] = numbers.Uint64()
	}
	slices.Sort(all)
}

const usualYardstick = 110 * time.Millisecond

// computes wants the program to compute for no longer than that, on a machine that is slower for as much longer. What
// it takes is the least of some tries, and what other processes do meanwhile is not counted.
func computes(t *testing.T, most time.Duration, args ...string) {
	t.Helper()
	data := t.TempDir()
	cost := func(program string, args ...string) time.Duration {
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Env = append(os.Environ(), "SIBYL_DATA="+data, "HOME="+data, "OPENAI_API_KEY=", "OPENAI_BASE_URL=",
			"OLLAMA_HOST=127.0.0.1:1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	took, measure := time.Hour, time.Hour
	for range 6 {
		measure = min(measure, cost("yardstick"))
		took = min(took, cost("sibyl", args...))
	}
	slower := max(1, float64(measure)/float64(usualYardstick))
	t.Logf("%v of computing, where the yardstick takes %v", took, measure)
	if took > time.Duration(slower*float64(most)) {
		t.Errorf("sibyl %q computes for %v, on a machine that is %.1f times as slow as the usual one",
			args, took, slower)
	}
}

func TestProgramIsReadyAtOnce(t *testing.T) { computes(t, 100*time.Millisecond, "--version") }

func TestOfflineAnswerInThisRepositoryComesAtOnce(t *testing.T) {
	computes(t, 500*time.Millisecond, "ask", "-q", "-m", "offline:rules", "--in", "../..",
		"How does the Acquire function of a lease work?")
}
