// Package manual writes the manual pages of commands.
package manual

import (
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

// Write writes the pages of a command and of all below it to a folder that is there: sibyl-config-set.1 for ‘sibyl
// config set’. It changes the commands.
func Write(root *cobra.Command, version, folder string) error {
	quote(root)
	header := &doc.GenManHeader{Source: "Sibyl " + version, Manual: "Sibyl"}
	return doc.GenManTree(root, header, folder)
}

var signs = regexp.MustCompile("[\\\\`*_{}\\[\\]<>#|~]")

// quote makes Markdown of the texts of a command and of all below it. cobra takes them for Markdown, but they are
// plain: * and _ and < mean themselves, and a line that is indented stays one of its own.
func quote(cmd *cobra.Command) {
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
	for _, below := range cmd.Commands() {
		quote(below)
	}
}
