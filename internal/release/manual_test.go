package release

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sibyl/internal/cli"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// eachCommand calls f with every command that people are shown.
func eachCommand(f func(*cobra.Command)) {
	var each func(*cobra.Command)
	each = func(cmd *cobra.Command) {
		if !cmd.Hidden {
			f(cmd)
			for _, sub := range cmd.Commands() {
				each(sub)
			}
		}
	}
	each(cli.Commands())
}

func TestEveryCommandAndFlagSaysWhatItIs(t *testing.T) {
	commands := 0
	eachCommand(func(cmd *cobra.Command) {
		commands++
		if cmd.Short == "" {
			t.Errorf("‘%s’ has no line that says what it does", cmd.CommandPath())
		}
		if cmd.Long == "" && cmd.Example == "" {
			t.Errorf("‘%s’ has neither a description nor an example", cmd.CommandPath())
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("--%s of ‘%s’ does not say what it is", f.Name, cmd.CommandPath())
			}
		})
	})
	if commands < 80 {
		t.Errorf("only %d commands were looked at", commands)
	}
}

func TestExamplesCallCommandsAndFlagsThatExist(t *testing.T) {
	root, calls := cli.Commands(), regexp.MustCompile(`\bsibyl ([^;|>\n]+)`)
	eachCommand(func(cmd *cobra.Command) {
		if cmd.Parent() != nil && cmd.Parent().Name() == "completion" {
			return // these are cobra's own
		}
		for _, call := range calls.FindAllStringSubmatch(cmd.Example, -1) {
			words := strings.Fields(call[1])
			found, _, err := root.Find(words)
			if err != nil {
				t.Errorf("‘%s’ has an example that can't be called: %s: %v", cmd.CommandPath(), call[0], err)
				continue
			}
			for _, word := range words {
				name, isFlag := strings.CutPrefix(word, "--")
				name, _, _ = strings.Cut(name, "=")
				if isFlag && name != "" && found.Flags().Lookup(name) == nil && found.InheritedFlags().Lookup(name) == nil {
					t.Errorf("‘%s’ has an example with a flag that is none of ‘%s’: %s", cmd.CommandPath(), found.CommandPath(), call[0])
				}
			}
		}
	})
}

func TestEveryCommandHasAPageThatLeadsToAllBelowIt(t *testing.T) {
	files, err := helpFiles("1.2.3", noon)
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	for _, f := range files {
		pages[f.name] = string(f.text)
	}
	eachCommand(func(cmd *cobra.Command) {
		text, ok := pages["man/man1/"+pageOf(cmd)+".1"]
		if !ok {
			t.Errorf("‘%s’ has no page", cmd.CommandPath())
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(text, "--"+f.Name) {
				t.Errorf("the page of ‘%s’ lacks --%s", cmd.CommandPath(), f.Name)
			}
		})
		for _, sub := range cmd.Commands() {
			if !sub.Hidden && sub.Name() != "help" && !strings.Contains(text, pageOf(sub)+"(1)") {
				t.Errorf("the page of ‘%s’ does not lead to ‘%s’", cmd.CommandPath(), sub.CommandPath())
			}
		}
	})
	for name, word := range map[string]string{"sibyl.bash": "__start_sibyl", "_sibyl": "#compdef sibyl", "sibyl.fish": "complete -c sibyl", "sibyl.ps1": "Register-ArgumentCompleter"} {
		if !strings.Contains(pages["completions/"+name], word) {
			t.Errorf("completions/%s is no script for its shell", name)
		}
	}
}

func TestAPageSaysWhatWasWrittenWordForWord(t *testing.T) {
	cmd := &cobra.Command{Use: "sibyl FILE", Short: "Say “no”", Run: func(*cobra.Command, []string) {},
		Long:    "Takes <name> and *stars* of MY_DIR.\n.so /etc/passwd is no macro.\n\n  one\\two\n  two",
		Example: "  sibyl ~/a-b\n  sibyl 'c'"}
	cmd.Flags().StringP("out", "o", "here", "write to `FILE`")
	cmd.Flags().Bool("secret", false, "is not shown")
	cmd.Flags().Lookup("secret").Hidden = true
	text, err := page(cmd, "1.2.3", noon)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"sibyl - Say “no”\n", "Takes <name> and *stars* of MY_DIR.\n", "\\&.so /etc/passwd", "one\\\\two\n.br\ntwo\n",
		"\\fB--out\\fP=\"here\"\n\twrite to FILE\n", "  sibyl ~/a-b\n  sibyl 'c'\n", `"Nov 2026" "Sibyl 1.2.3"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "secret") {
		t.Errorf("the page shows a hidden flag:\n%s", text)
	}
}
