package main

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

// computes measures how long the program computes, with what other processes do meanwhile left out.
func computes(b *testing.B, args ...string) {
	data := b.TempDir()
	var all time.Duration
	for b.Loop() {
		cmd := exec.CommandContext(b.Context(), "sibyl", args...)
		cmd.Env = append(os.Environ(), "SIBYL_DATA="+data, "HOME="+data, "OPENAI_API_KEY=", "OPENAI_BASE_URL=",
			"OLLAMA_HOST=127.0.0.1:1")
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		all += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	b.ReportMetric(float64(all.Milliseconds())/float64(b.N), "cpu-ms/op")
}

// BenchmarkProgramIsReady is to be at most 100 ms on two cores of 2026.
func BenchmarkProgramIsReady(b *testing.B) { computes(b, "--version") }

// BenchmarkOfflineAnswerInThisRepository is to be at most 500 ms on two cores of 2026.
func BenchmarkOfflineAnswerInThisRepository(b *testing.B) {
	computes(b, "ask", "-q", "-m", "offline:rules", "--in", "../..", "How does the Acquire function of a lease work?")
}
