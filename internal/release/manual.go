package release

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"sibyl/internal/cli"
)

// helpFiles are a manual page for each command, below man/man1, and completions for four shells, below completions.
func helpFiles(version string, made time.Time) (files []file, err error) {
	root := cli.Commands()
	for _, shell := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"sibyl.bash", func(w io.Writer) error { return cli.BashCompletion(root, w, true) }},
		{"_sibyl", root.GenZshCompletion},
		{"sibyl.fish", func(w io.Writer) error { return root.GenFishCompletion(w, true) }},
		{"sibyl.ps1", root.GenPowerShellCompletionWithDesc},
	} {
		var script bytes.Buffer
		if err := shell.write(&script); err != nil {
			return nil, fmt.Errorf("completions %s: %w", shell.name, err)
		}
		files = append(files, file{name: "completions/" + shell.name, text: script.Bytes()})
	}
	var each func(*cobra.Command) error
	each = func(cmd *cobra.Command) error {
		if cmd.Hidden {
			return nil
		}
		text, err := page(cmd, version, made)
		if err != nil {
			return fmt.Errorf("manual page of ‘%s’: %w", cmd.CommandPath(), err)
		}
		files = append(files, file{name: "man/man1/" + pageOf(cmd) + ".1", text: text})
		for _, sub := range cmd.Commands() {
			if err := each(sub); err != nil {
				return err
			}
		}
		return nil
	}
	return files, each(root)
}

// pageOf is the name of a command's page: sibyl-config-set for ‘sibyl config set’.
func pageOf(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// page is the manual page of a command, which it changes: cobra takes texts for Markdown, and those of commands are
// plain ones, in which * and _ and < mean themselves and a line that is indented stays one of its own.
func page(cmd *cobra.Command, version string, made time.Time) ([]byte, error) {
	signs := regexp.MustCompile("[\\\\`*_{}\\[\\]<>#|~]")
	plain := func(text string) string {
		return signs.ReplaceAllString(strings.ReplaceAll(text, "\n  ", "  \n"), `\$0`)
	}
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	cmd.DisableAutoGenTag = true
	cmd.Short = plain(cmd.Short)
	cmd.Long = plain(cmd.Long)
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		_, about := pflag.UnquoteUsage(f)
		f.Usage = plain(about)
	})
	var text bytes.Buffer
	made = made.UTC()
	err := doc.GenMan(cmd, &doc.GenManHeader{Date: &made, Source: "Sibyl " + version, Manual: "Sibyl"}, &text)
	return text.Bytes(), err
}
