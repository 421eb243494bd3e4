package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkFirstByte times the program from its start to the first byte of an offline answer on a small repository,
// with a journal that is there already.
func BenchmarkFirstByte(b *testing.B) {
	repo, data := b.TempDir(), b.TempDir()
	if err := os.WriteFile(filepath.Join(repo, "greet.go"),
		[]byte("package greet\n\n// Greet builds the greeting.\nfunc Greet() string { return \"hello\" }\n"),
		0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		cmd := exec.CommandContext(b.Context(), "sibyl", "ask", "-q", "--in", repo, "How does the Greet function work?")
		cmd.Env = append(os.Environ(), "SIBYL_DATA="+data, "HOME="+data, "OPENAI_API_KEY=", "OPENAI_BASE_URL=",
			"OLLAMA_HOST=127.0.0.1:1")
		out, err := cmd.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		if n, err := out.Read(make([]byte, 1)); n != 1 {
			b.Fatal(err)
		}
		b.StopTimer()
		_ = out.Close()
		_ = cmd.Wait()
		b.StartTimer()
	}
}
