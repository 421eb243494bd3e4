package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/schema"
	"sibyl/internal/taskchat"
)

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
