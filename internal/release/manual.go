package release

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
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
	var each func(*cobra.Command)
	each = func(cmd *cobra.Command) {
		if cmd.Hidden {
			return
		}
		cmd.InitDefaultHelpFlag()
		cmd.InitDefaultVersionFlag()
		files = append(files, file{name: "man/man1/" + pageOf(cmd) + ".1", text: page(cmd, version, made)})
		for _, sub := range cmd.Commands() {
			each(sub)
		}
	}
	each(root)
	return files, nil
}

// pageOf is the name of a command's page: sibyl-config-set for ‘sibyl config set’.
func pageOf(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// page is the manual page of a command. The texts of commands are plain ones, in which * and _ and < mean themselves: cobra's own pages take them
// for Markdown.
func page(cmd *cobra.Command, version string, made time.Time) []byte {
	var p roff
	p.line(".TH", strings.ToUpper(pageOf(cmd)), "1", made.UTC().Format(time.DateOnly), "Sibyl "+version, "Sibyl")
	p.line(".SH", "NAME")
	p.text(pageOf(cmd) + " - " + cmd.Short)
	p.line(".SH", "SYNOPSIS")
	p.text(cmd.UseLine())
	if about := cmd.Long; about != "" {
		p.line(".SH", "DESCRIPTION")
		p.paragraphs(about)
	}
	p.commands(cmd)
	p.flags("OPTIONS", cmd.NonInheritedFlags())
	p.flags("OPTIONS OF ALL COMMANDS", cmd.InheritedFlags())
	if cmd.Example != "" {
		p.line(".SH", "EXAMPLES")
		p.raw(".nf\n")
		for line := range strings.Lines(cmd.Example) {
			p.text(strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "  "))
		}
		p.raw(".fi\n")
	}
	if cmd.HasParent() {
		p.line(".SH", "SEE ALSO")
		p.raw(`\fB` + escaped(pageOf(cmd.Parent())) + `\fR(1)` + "\n")
	}
	return p.Bytes()
}

// roff writes the language of manual pages, with the macros of man(7).
type roff struct{ bytes.Buffer }

func (p *roff) raw(text string) { p.WriteString(text) }

// line calls a macro.
func (p *roff) line(macro string, args ...string) {
	p.raw(macro)
	for _, arg := range args {
		p.raw(` "` + strings.ReplaceAll(escaped(arg), `"`, `\(dq`) + `"`)
	}
	p.raw("\n")
}

// text writes a line of words; one that would be a call of a macro is kept from being one.
func (p *roff) text(line string) {
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		p.raw(`\&`)
	}
	p.raw(escaped(line) + "\n")
}

// paragraphs writes a text of which empty lines part the paragraphs. A line that is indented stays one of its own.
func (p *roff) paragraphs(text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "":
			p.raw(".PP\n")
		case strings.HasPrefix(line, " "):
			p.raw(".br\n")
			p.text(strings.TrimLeft(line, " "))
		default:
			p.text(line)
		}
	}
}

// commands lists what is below a command.
func (p *roff) commands(cmd *cobra.Command) {
	if !cmd.HasAvailableSubCommands() {
		return
	}
	p.line(".SH", "COMMANDS")
	for _, sub := range cmd.Commands() {
		if !sub.Hidden {
			p.raw(".TP\n" + `\fB` + escaped(pageOf(sub)) + `\fR(1)` + "\n")
			p.text(sub.Short)
		}
	}
}

// flags lists flags under a heading; nothing where there are none.
func (p *roff) flags(heading string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	p.line(".SH", heading)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		p.raw(".TP\n")
		if f.Shorthand != "" {
			p.raw(`\fB\-` + escaped(f.Shorthand) + `\fR, `)
		}
		p.raw(`\fB\-\-` + escaped(f.Name) + `\fR`)
		value, about := pflag.UnquoteUsage(f)
		if value != "" {
			p.raw(` \fI` + escaped(value) + `\fR`)
		}
		p.raw("\n")
		p.text(about + usual(f))
	})
}

// usual says what holds without a flag, where that is anything.
func usual(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "false", "0", "0s", "[]":
		return ""
	}
	return " (default " + f.DefValue + ")"
}

// escaped is a text in which everything stands for itself, in ASCII alone, which every formatter reads.
func escaped(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`) // one that can be copied into a shell
		case r == '\'':
			b.WriteString(`\(aq`)
		case r == '`':
			b.WriteString(`\(ga`)
		case r == '^':
			b.WriteString(`\(ha`)
		case r == '~':
			b.WriteString(`\(ti`)
		case r > 126:
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
