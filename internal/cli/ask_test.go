package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/config"
	"sibyl/internal/oracle"
	"sibyl/internal/schema"
	"sibyl/internal/taskchat"
)

// flagsOf are the flags of a question as a person gives them, read.
func flagsOf(t *testing.T, args ...string) (*optionFlagSet[oracle.Options], error) {
	t.Helper()
	cmd := &cobra.Command{}
	f := optionFlags[oracle.Options](cmd)
	return f, cmd.ParseFlags(args)
}

func TestFlagComesBeforeTheSettingEvenIfItSaysNothingIsWanted(t *testing.T) {
	cfg := config.Config{MaxTurns: 30, MaxTokens: 5000, MaxTime: time.Minute, Model: "a:b"}
	f := assert.Must(flagsOf(t, "--max-tokens=0", "--no-fallback", "-m=c:d"))(t)
	o, err := f.withSettings(cfg)
	want := oracle.Options{Model: "c:d", MaxTurns: 30, MaxTime: time.Minute, Fallback: new(false)}
	diff := cmp.Diff(want, o)
	assert.That(t, diff == "" && err == nil, "%v\n%s", err, diff)
}

func TestFilesWithBlanksInTheirNamesAreNamedInQuotes(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "My Report.txt", "The bridge was closed.\n")
	write(t, "plain.txt", "It opened again.\n")
	c := &command{}
	for words, want := range map[string]string{
		`what is in @"My Report.txt"?`:              "My Report.txt",
		`is @"My Report.txt" newer than @plain.txt`: "My Report.txt plain.txt",
		`what is in @My Report.txt?`:                `@My: there is no such file; write @"My Report.txt" for the file with blanks in its name`,
		`what is in @"Your Report.txt"?`:            `@"Your Report.txt": there is no such file`,
		`write to @My friend`:                       "",
	} {
		parts, err := c.readMentions(t.Context(), words)
		var names []string
		for _, p := range parts {
			names = append(names, filepath.ToSlash(p.Name))
		}
		got := strings.Join(names, " ")
		if err != nil {
			got = err.Error()
		}
		assert.That(t, got == want, "%s: %q, not %q", words, got, want)
	}
}

func TestWordsThatBeginWithAHyphenAreNoFlags(t *testing.T) {
	o := schema.Of[taskchat.Options]()
	for words, want := range map[string]string{"-5 eggs": "-5 eggs", "- 5 eggs": "- 5 eggs",
		"--model a:b -5 eggs": "-5 eggs", "eggs -5": "eggs -5"} {
		var into taskchat.Options
		got, err := flagsBefore(o, &into, map[*schema.Field]bool{}, words)
		assert.That(t, err == nil && got == want, "%q: %q, %v", words, got, err)
	}
	_, err := flagsBefore(o, &taskchat.Options{}, map[*schema.Field]bool{}, "--nonsense eggs")
	assert.That(t, err != nil, "a flag that there is not was taken for words")
}

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
		{[]string{"ask", "--in", papers, "add a note about the bridge"}, "I can't write without a language model"},
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
