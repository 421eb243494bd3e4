package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

// TestWithoutAModelEachAssistantSaysWhatItCanDoAndHowToGetOne wants both in one line.
func TestWithoutAModelEachAssistantSaysWhatItCanDoAndHowToGetOne(t *testing.T) {
	home := t.TempDir()
	papers := filepath.Join(home, "papers")
	write(t, filepath.Join(papers, "bridge.txt"), "The bridge was closed because of rust in 2019.")
	write(t, filepath.Join(papers, "go.mod"), "module bridge\n")
	write(t, filepath.Join(papers, "bridge.go"), "package bridge\n\n// Close closes the bridge.\nfunc Close() {}\n")
	for _, c := range []struct {
		args []string
		can  string
	}{
		{[]string{"ask", "--in", papers, "How does Close close the bridge?"}, "these are the best matches"},
		{[]string{"ask", "--in", papers, "Where is the quux handled?"}, "I searched the code"},
		{[]string{"ask", "--in", papers, "add a note about the bridge"}, "I can't write notes without a model"},
		{[]string{"chat", "what is the meaning of life?"}, "plain forms like these are all that I understand"},
		{[]string{"chat", "help"}, "plain forms like these are all that I understand"},
		{[]string{"council", "ask", "skeptic"}, "‘sibyl council ask skeptic"},
		{[]string{"investigate", "The bridge was closed because of rust.", "--witness", papers, "--limit", "5"},
			"quotations are collected and not judged"},
	} {
		if c.args[0] == "council" {
			sibyl(t, home, Streams{}, nil, "council", "say", "I think that we should close the bridge.")
		}
		_, out, told := sibyl(t, home, Streams{}, nil, c.args...)
		found := false
		for line := range strings.Lines(out + told) {
			found = found || strings.Contains(line, c.can) && strings.Contains(line, "sibyl init")
		}
		assert.That(t, found, "%q does not say in one line that %q, and how to get a model:\n%s%s", c.args, c.can, out, told)
	}
	_, err := os.Stat(filepath.Join(home, ".config"))
	assert.That(t, err != nil, "looking for a model has written settings")
}
