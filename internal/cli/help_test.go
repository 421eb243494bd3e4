package cli

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model/modeltest"
)

// eachCommand calls a function with every command.
func eachCommand(do func(*cobra.Command)) {
	var look func(*cobra.Command)
	look = func(cmd *cobra.Command) {
		do(cmd)
		for _, sub := range cmd.Commands() {
			look(sub)
		}
	}
	look(Commands())
}

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
	eachCommand(func(cmd *cobra.Command) {
		b := &strings.Builder{}
		cmd.SetOut(b)
		assert.NoError(t, cmd.Help())
		for _, found := range word.FindAllStringSubmatch(b.String(), -1) {
			if found[2] != strings.ToUpper(found[2]) {
				t.Errorf("%s: --%s %s", cmd.CommandPath(), found[1], found[2])
			}
			seen[found[1]] = shown{cmd.CommandPath(), found[2]}
		}
	})
	for flag, want := range map[string]string{"attach": "FILE", "documents": "FOLDER", "chair": "ORACLE", "model": "MODEL",
		"limit": "N", "max-time": "TIME", "session": "SESSION"} {
		assert.Equalf(t, seen[flag].word, want, "--%s", flag)
	}
	for name := range valueNames {
		_, is := seen[name]
		assert.That(t, is, "there is no flag --%s", name)
	}
}

func TestHelpOfEachCommandIsWholeOnANarrowTerminal(t *testing.T) {
	const columns = 60
	help := func(args []string, s Streams) string {
		t.Helper()
		code, out, errs := sibyl(t, t.TempDir(), s, nil, args...)
		assert.That(t, code == ExitAnswered && errs == "", "%s: exit %d: %s", args, code, errs)
		return out
	}
	eachCommand(func(cmd *cobra.Command) {
		if cmd.HasParent() && !cmd.IsAvailableCommand() {
			return
		}
		args := append(strings.Fields(cmd.CommandPath())[1:], "--help")
		narrow := help(args, Streams{OutTTY: true, Width: columns})
		for line := range strings.Lines(narrow) {
			line = strings.TrimRight(line, "\n")
			assert.That(t, len([]rune(line)) <= columns || keptWhole.MatchString(line) || strings.HasPrefix(line, "\t") || len(strings.Fields(line)) == 1,
				"%s: %d columns: %s", cmd.CommandPath(), len([]rune(line)), line)
		}
		assert.Same(t, strings.Fields(help(args, Streams{})), strings.Fields(narrow))
	})
}

func TestShortFlagMeansTheSameInEveryCommand(t *testing.T) {
	shorts, longs := map[string]string{}, map[string]string{} // what each means, and the letter of each
	eachCommand(func(cmd *cobra.Command) {
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
	})
	eachCommand(func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			want := longs[f.Name]
			assert.That(t, f.Shorthand == want, "%s: --%s has no -%s", cmd.CommandPath(), f.Name, want)
		})
	})
	assert.That(t, shorts["s"] == "SESSION" && shorts["q"] == "QUIET", "-s is %s, and -q is %s", shorts["s"], shorts["q"])
}

func TestSourcesShowsWhatTheLastAnswerCitesAsItWasRead(t *testing.T) {
	home := t.TempDir()
	first, second := filepath.Join(home, "src", "bridge.md"), filepath.Join(home, "src", "road.md")
	write(t, first, "# Bridge\n\nThe bridge was closed because of corrosion, and the bridge was old.\n")
	write(t, second, "# Road\n\nThe road to the bridge was closed as well.\n")
	says := func(code int, args []string, want ...string) (said string) {
		t.Helper()
		got, out, errs := sibyl(t, home, Streams{}, nil, args...)
		for _, part := range want {
			assert.That(t, got == code && strings.Contains(out+errs, part),
				"%v: exit %d: %s%s\nwithout %q", args, got, out, errs, part)
		}
		return out
	}
	says(ExitUsage, []string{"sources"}, "there is no answer yet")
	answer := says(ExitAnswered, []string{"ask", "-q", "--in", filepath.Dir(first), "Why was the bridge closed?"},
		"1. `bridge.md:1-3`", "2. `road.md:1-3`", "`sibyl sources 2`")
	assert.Require(t, !strings.Contains(answer, "The road to the bridge was closed as well.\n```"),
		"the answer shows more than the best passage:\n%s", answer)
	write(t, second, "# Road\n\nIt is another road now.\n")
	only := says(ExitAnswered, []string{"sources", "2"},
		"2. `road.md:1-3`:\n\n```md\n# Road\n\nThe road to the bridge was closed as well.\n```")
	assert.That(t, !strings.Contains(only, "corrosion"), "another passage is shown:\n%s", only)
	says(ExitAnswered, []string{"sources", "--run", "last"}, "1. `bridge.md:1-3`:", "2. `road.md:1-3`:")
	says(ExitUsage, []string{"sources", "3"}, "there is no passage 3; the last answer cites 2")
}

func TestSourcesHaveTheNumbersOfAnAnswerThatQuotesALineFirst(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, "notes", "boiler.md"), "The boiler was serviced on 3 May 2021.\nIt cost 240 euros.\n")
	_, answer, _ := sibyl(t, home, Streams{}, nil, "ask", "-q", "--vault", filepath.Join(home, "notes"),
		"When was the boiler serviced?")
	assert.Require(t, strings.HasPrefix(answer, "`boiler.md:1` ") && strings.Contains(answer, "1. `boiler.md:1-2`"),
		"the answer is %s", answer)
	code, out, errs := sibyl(t, home, Streams{}, nil, "sources", "1")
	assert.That(t, code == ExitAnswered && strings.Contains(out, "1. `boiler.md:1-2`:\n") &&
		strings.Contains(out, "240 euros"), "exit %d: %s%s", code, out, errs)
	code, _, errs = sibyl(t, home, Streams{}, nil, "sources", "2")
	assert.That(t, code == ExitUsage && strings.Contains(errs, "the last answer cites 1"), "exit %d: %s", code, errs)
}

func TestSourcesShowsTheCitedLinesOfALongAttachmentAndAllOfItWhenAsked(t *testing.T) {
	answer := "It stopped (log.txt:40-41), and the disk was full (log.txt:99)."
	server := modeltest.NewServer(t, modeltest.Answer{Chunks: []string{answer}, Repeat: true})
	home := t.TempDir()
	t.Chdir(home)
	log := &strings.Builder{}
	for n := range 120 {
		fmt.Fprintf(log, "entry %03d\n", n+1)
	}
	write(t, filepath.Join(home, "log.txt"), log.String())
	environ := []string{"OLLAMA_HOST=" + server.BaseURL}
	says := func(code int, args ...string) string {
		t.Helper()
		got, out, errs := sibyl(t, home, Streams{}, environ, args...)
		assert.Require(t, got == code, "%v: exit %d: %s%s", args, got, out, errs)
		return out + errs
	}
	says(ExitAnswered, "ask", "-q", "-m", "ollama:llama:7b", "--no-web", "-a", "log.txt", "Why did it stop?")
	want := "1. `log.txt:40-41`, 2 of 120 lines:\n\n```txt\nentry 040\nentry 041\n```\n\n" +
		"2. `log.txt:99`, 1 of 120 lines:\n\n```txt\nentry 099\n```\n\n" +
		"`sibyl sources 1 --all` shows all that was read of it.\n\nAttached: `log.txt`\n"
	got := says(ExitAnswered, "sources")
	assert.That(t, got == want, "the sources are\n%s\nwant\n%s", got, want)
	got = says(ExitAnswered, "sources", "2")
	assert.That(t, !strings.Contains(got, "entry 040") && strings.Contains(got, "entry 099"),
		"the second source is\n%s", got)
	got = says(ExitAnswered, "sources", "2", "--all")
	assert.That(t, strings.Contains(got, "entry 001\n"), "all of the second source is\n%s", got)
	all := says(ExitAnswered, "sources", "--all")
	assert.That(t, strings.Count(all, "entry 001\n") == 1 && strings.Count(all, "entry 120\n") == 1 &&
		!strings.Contains(all, "--all"), "all of it is\n%s", all)
}
