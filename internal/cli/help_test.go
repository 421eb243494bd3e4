package cli

import (
	"cmp"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sibyl/internal/behaviour/assert"
)

func TestEveryTextOfHelpIsOfACommand(t *testing.T) {
	root := Commands()
	for _, part := range strings.Split("\n"+helpText, "\n# ")[1:] {
		path, _, _ := strings.Cut(part, "\n")
		cmd, _, err := root.Find(strings.Fields(path)[1:])
		assert.That(t, err == nil && cmd.CommandPath() == path && cmd.Long+cmd.Example != "",
			"there is no command %q with a text (%v)", path, err)
	}
	for line := range strings.Lines(helpText) {
		n := len([]rune(strings.TrimSpace(line)))
		assert.That(t, n <= 100 || strings.HasPrefix(line, "  "), "%d columns: %s", n, line)
	}
}

func TestHelpSaysWhatStandsBehindAFlagInAWordOfPeople(t *testing.T) {
	type shown struct{ command, word string }
	word := regexp.MustCompile(`(?m)^ +(?:-., )?--([a-z-]+) (\S+)  `)
	seen := map[string]shown{}
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		b := &strings.Builder{}
		cmd.SetOut(b)
		assert.NoError(t, cmd.Help())
		for _, found := range word.FindAllStringSubmatch(b.String(), -1) {
			if found[2] != strings.ToUpper(found[2]) {
				t.Errorf("%s: --%s %s", cmd.CommandPath(), found[1], found[2])
			}
			seen[found[1]] = shown{cmd.CommandPath(), found[2]}
		}
		for _, sub := range cmd.Commands() {
			look(sub)
		}
	}
	look(Commands())
	for flag, want := range map[string]string{"attach": "FILE", "documents": "FOLDER", "chair": "ORACLE", "model": "MODEL",
		"limit": "N", "max-time": "TIME", "session": "SESSION"} {
		assert.Equalf(t, seen[flag].word, want, "--%s", flag)
	}
	for name := range valueNames {
		_, is := seen[name]
		assert.That(t, is, "there is no flag --%s", name)
	}
}

func TestShortFlagMeansTheSameInEveryCommand(t *testing.T) {
	shorts, longs := map[string]string{}, map[string]string{} // what each means, and the letter of each
	var all []*cobra.Command
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		all = append(all, cmd)
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Shorthand == "" {
				return
			}
			means := cmp.Or(valueNames[f.Name], strings.ToUpper(f.Name))
			if other := shorts[f.Shorthand]; other != "" && other != means {
				t.Errorf("%s: -%s is %s, and elsewhere %s", cmd.CommandPath(), f.Shorthand, means, other)
			}
			shorts[f.Shorthand], longs[f.Name] = means, f.Shorthand
		})
		for _, sub := range cmd.Commands() {
			look(sub)
		}
	}
	look(Commands())
	for _, cmd := range all {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			want := longs[f.Name]
			assert.That(t, f.Shorthand == want, "%s: --%s has no -%s", cmd.CommandPath(), f.Name, want)
		})
	}
	assert.That(t, shorts["s"] == "SESSION" && shorts["q"] == "QUIET", "-s is %s, and -q is %s", shorts["s"], shorts["q"])
}
