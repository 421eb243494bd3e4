package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/cli"
	"sibyl/internal/cli/manual"
)

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
		assert.That(t, cmd.Short != "", "‘%s’ has no line that says what it does", cmd.CommandPath())
		assert.That(t, cmd.Long != "" || cmd.Example != "",
			"‘%s’ has neither a description nor an example", cmd.CommandPath())
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			assert.That(t, f.Usage != "", "--%s of ‘%s’ does not say what it is", f.Name, cmd.CommandPath())
		})
	})
	assert.That(t, commands >= 80, "only %d commands were looked at", commands)
}

func TestExamplesCallCommandsAndFlagsThatExist(t *testing.T) {
	calls := regexp.MustCompile(`\bsibyl [^;|>\n#)]+`)
	eachCommand(func(cmd *cobra.Command) {
		if cmd.Parent() != nil && cmd.Parent().Name() == "completion" {
			return // these are cobra's own
		}
		for _, call := range calls.FindAllString(cmd.Example, -1) {
			assert.That(t, understood(call) == nil, "‘%s’ has the example %s: %v", cmd.CommandPath(), call, understood(call))
		}
	})
}

func TestEveryCommandHasAPageThatLeadsToAllBelowIt(t *testing.T) {
	pageOf := func(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }
	folder := t.TempDir()
	assert.NoError(t, manual.Write(cli.Commands(), "1.2.3", folder))
	eachCommand(func(cmd *cobra.Command) {
		if cmd.Name() == "help" {
			return // its page would say what all others say of --help
		}
		page, err := os.ReadFile(filepath.Join(folder, pageOf(cmd)+".1"))
		assert.That(t, err == nil, "‘%s’ has no page: %v", cmd.CommandPath(), err)
		text := string(page)
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			assert.That(t, f.Hidden || strings.Contains(text, "--"+f.Name),
				"the page of ‘%s’ lacks --%s", cmd.CommandPath(), f.Name)
		})
		for _, sub := range cmd.Commands() {
			assert.That(t, sub.Hidden || sub.Name() == "help" || strings.Contains(text, pageOf(sub)+"(1)"),
				"the page of ‘%s’ does not lead to ‘%s’", cmd.CommandPath(), sub.CommandPath())
		}
	})
}

func TestAPageSaysWhatWasWrittenWordForWord(t *testing.T) {
	cmd := &cobra.Command{Use: "sibyl FILE", Short: "Say “no”", Run: func(*cobra.Command, []string) {},
		Long:    "Takes <name> and *stars* of MY_DIR.\n.so /etc/passwd is no macro.\n\n  one\\two\n  two",
		Example: "  sibyl ~/a-b\n  sibyl 'c'"}
	cmd.Flags().StringP("out", "o", "here", "write to `FILE`")
	cmd.Flags().Bool("secret", false, "is not shown")
	cmd.Flags().Lookup("secret").Hidden = true
	t.Setenv("SOURCE_DATE_EPOCH", "1795348800") // 22 Nov 2026
	folder := t.TempDir()
	assert.NoError(t, manual.Write(cmd, "1.2.3", folder))
	text := assert.Must(os.ReadFile(filepath.Join(folder, "sibyl.1")))(t)
	assert.Contains(t, "the page", string(text),
		"sibyl - Say “no”\n", "Takes <name> and *stars* of MY_DIR.\n", "\\&.so /etc/passwd",
		"one\\\\two\n.br\ntwo\n",
		"\\fB--out\\fP=\"here\"\n\twrite to FILE\n", "  sibyl ~/a-b\n  sibyl 'c'\n", `"Nov 2026" "Sibyl 1.2.3"`)
	assert.That(t, !strings.Contains(string(text), "secret"), "the page shows a hidden flag:\n%s", text)
}
