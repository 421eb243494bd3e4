package cli

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
)

// completion is what a shell is offered behind a command line, without what explains it.
func completion(t *testing.T, home string, args ...string) (offers []string, directive string) {
	t.Helper()
	code, out, _ := sibyl(t, home, Streams{}, nil, append([]string{cobra.ShellCompNoDescRequestCmd}, args...)...)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	assert.Require(t, code == ExitAnswered && strings.HasPrefix(lines[len(lines)-1], ":"),
		"%v: exit %d: %q", args, code, out)
	return lines[:len(lines)-1], lines[len(lines)-1]
}

func TestValuesAreCompletedWhereTheyStand(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, ".config", "sibyl", "config.yaml"),
		"fallback:\n  models: [work:big]\nproviders:\n  work:\n    base_url: http://127.0.0.1:1/v1\n")
	write(t, filepath.Join(home, "src", "bridge.md"), "The bridge was closed because of corrosion.\n")
	t.Chdir(home)
	for _, args := range [][]string{{"ask", "--in", "src", "-q", "Why was the bridge closed?"},
		{"chat", "-q", "remind me to paint the bridge"}, {"council", "say", "Shall we paint the bridge?"}} {
		code, _, errs := sibyl(t, home, Streams{}, nil, args...)
		assert.Require(t, code == ExitAnswered || code == ExitPartial, "%v: exit %d: %s", args, code, errs)
	}
	for _, c := range []struct{ line, holds, lacks string }{
		{"explain", "last", ""},
		{"sources --run", "last", ""},
		{"ask -s", "last", "new"},
		{"chat --conversation", "new", ""},
		{"ask -m", "work:big", "anthropic:"},
		{"ask -m off", "offline:rules", "work:big"},
		{"tree show", "oracle", ""},
		{"council ask", "skeptic", ""},
		{"council ask skeptic", "optimist", "skeptic"},
		{"config set", "providers.work.window", "providers.*.window"},
		{"config set web.", "web.access", "vault"},
		{"config set web.access", "off", ""},
		{"config set inquiry.witness", "work:big", ""},
		{"config set-key", "anthropic", ""},
		{"config test", "witness", ""},
		{"task done", "1", ""},
		{"session export -f", "jsonl", ""},
		{"council export -f", "md", "jsonl"},
		{"user add eve --scope", "operate", ""},
		{"ask @sr", "@src/", ""},
		{"ask @src/", "@src/bridge.md", ""},
	} {
		args := strings.Fields(c.line)
		if last := args[len(args)-1]; last != "off" && last != "web." && !strings.HasPrefix(last, "@") {
			args = append(args, "")
		}
		offers, _ := completion(t, home, args...)
		// what is late is not offered: a busy machine may be too slow
		for tries := 0; len(offers) == 0 && tries < 20; tries++ {
			offers, _ = completion(t, home, args...)
		}
		assert.That(t, slices.Contains(offers, c.holds) && !slices.Contains(offers, c.lacks),
			"%s: %q, want %q and not %q", c.line, offers, c.holds, c.lacks)
	}
	for line, want := range map[string]string{"council show": "2", "inquiry show": "", "run stop": ""} {
		offers, _ := completion(t, home, append(strings.Fields(line), "")...)
		for tries := 0; want != "" && len(offers) == 0 && tries < 20; tries++ {
			offers, _ = completion(t, home, append(strings.Fields(line), "")...)
		}
		assert.That(t, (len(offers) > 0) == (want != "") && strings.HasPrefix(strings.Join(offers, ""), want),
			"%s: %q", line, offers)
	}
}

func TestPlacesOfFilesAreLeftToTheShell(t *testing.T) {
	home := t.TempDir()
	for line, want := range map[string]string{"ask": ":0", "config set vault": ":0", "investigate why -w": ":0",
		"ask --in": ":16", "version": ":4"} {
		offers, directive := completion(t, home, append(strings.Fields(line), "")...)
		assert.That(t, len(offers) == 0 && directive == want, "%s: %q %s, want %s", line, offers, directive, want)
	}
}

func TestCompletionWritesNothingAndSaysNothingWhereThereIsNothing(t *testing.T) {
	home := t.TempDir()
	for _, args := range [][]string{{"explain", ""}, {"council", "show", ""}, {"ask", "-m", "work"},
		{"--config", "missing.yaml", "explain", ""}, {"--database", "nonsense:", "session", "show", ""}} {
		offers, _ := completion(t, home, args...)
		assert.That(t, len(offers) == 0, "%v: %q", args, offers)
	}
	left, err := os.ReadDir(home)
	assert.That(t, err == nil && len(left) == 0, "%v, %v", left, err)
}

func TestWhatIsWaitedForEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), completionTime)
		defer stop()
		begun, late := time.Now(), make(chan struct{})
		got, err := waitWithin(ctx, func() (string, error) {
			<-late
			return "late", nil
		})
		if took := time.Since(begun); took != completionTime || got != "" || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%q, %v after %s", got, err, took)
		}
		close(late)
	})
}

func TestWhatAShellWouldTakeApartIsNotOffered(t *testing.T) {
	v := &values{begun: "a", args: []string{"ac"}}
	v.addAll("a b", "a\nb", "", "b", "ac")
	v.add("ab", "says\tthis\nand \x1b[31mthat")
	want := []string{"ab\tsays this and [31mthat"}
	assert.That(t, slices.Equal(v.lines, want), "%q, want %q", v.lines, want)
}

func TestEveryCompletionStandsAtACommandOrFlag(t *testing.T) {
	there := map[string]bool{}
	eachCommand(func(cmd *cobra.Command) {
		path := strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), "sibyl"), " ")
		there[path] = true
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			there["--"+f.Name] = true
			there[path+" --"+f.Name] = true
		})
	})
	for place := range completions() {
		assert.That(t, there[place], "there is no command or flag %s", place)
	}
}

func TestModelsOfAServerOnThisMachineAreCompleted(t *testing.T) {
	home, _ := endpointOf(t, "big", "small")
	offers, _ := completion(t, home, "ask", "-m", "work:")
	assert.That(t, slices.Equal(offers,
		[]string{"work:big", "work:small"}), "%q", offers)
}

func TestBashCompletesWithoutItsPackage(t *testing.T) {
	needs.Program(t, "bash")
	home := t.TempDir()
	code, script, errs := sibyl(t, home, Streams{}, nil, "completion", "bash")
	assert.Require(t, code == ExitAnswered, "%v", errs)
	write(t, filepath.Join(home, "script"), script)
	write(t, filepath.Join(home, "some folder", "a.txt"), "a")
	for line, want := range map[string]string{"sibyl config set web.access o": "on off",
		"sibyl ask --in some": "some folder", "sibyl ask -m offline:r": "rules"} {
		said := "on\noff\n:4\n"
		switch {
		case strings.Contains(line, "--in"):
			said = ":16\n"
		case strings.Contains(line, "-m"):
			said = "offline:rules\n:4\n"
		}
		cmd := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-c", `sibyl() { printf %s "$SAID"; }
source ./script
COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=9 COMP_WORDS=($1) COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
__start_sibyl
echo "${COMPREPLY[*]}"`, "bash", line)
		cmd.Dir, cmd.Env = home, []string{"PATH=" + os.Getenv("PATH"), "SAID=" + said}
		var told strings.Builder
		cmd.Stderr = &told // compopt says that no shell is typed into
		out, err := cmd.Output()
		got := strings.TrimSpace(strings.ReplaceAll(string(out), `\`, ""))
		assert.That(t, err == nil && got == want && !strings.Contains(told.String(), "command not found"),
			"%s: %q, %v, %s, want %q", line, got, err, told.String(), want)
	}
}

func TestEachShellIsGivenAScriptOfItsOwn(t *testing.T) {
	for shell, word := range map[string]string{"bash": "__start_sibyl", "zsh": "#compdef sibyl",
		"fish": "complete -c sibyl", "powershell": "Register-ArgumentCompleter"} {
		code, out, errs := sibyl(t, newHome(t), Streams{}, nil, "completion", shell)
		assert.That(t, code == ExitAnswered && strings.Contains(out, word),
			"%s: exit %d, no %q: %.200s%s", shell, code, word, out, errs)
	}
}
