package cli

import (
	"cmp"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// addCommands adds all commands to root, in the groups of ‘help all’, and sets up their help.
func (c *command) addCommands(root *cobra.Command) {
	for _, group := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Ask", append([]*cobra.Command{c.askCommand(), c.sourcesCommand(), c.undoCommand(), c.presetsCommand(),
			c.promptsCommand()},
			c.otherAssistants()...)},
		{"Tasks", []*cobra.Command{c.chatCommand(), c.taskCommand()}},
		{"Council", []*cobra.Command{c.councilCommand()}},
		{"Inquiry", []*cobra.Command{c.investigateCommand(), c.inquiryCommand()}},
		{"History", []*cobra.Command{c.findCommand(), c.explainCommand(), c.costCommand(), c.sessionCommand(),
			c.runCommand(), c.replayCommand(), c.shadowCommand(), c.treeCommand()}},
		{"Setup", []*cobra.Command{c.initCommand(), c.doctorCommand(), c.configCommand(), c.modelsCommand(),
			c.versionCommand()}},
		{"Server", []*cobra.Command{c.openCommand(), c.serveCommand(), c.mcpCommand(), c.userCommand(),
			c.readyCommand(), c.nodesCommand(), c.journalCommand()}},
	} {
		root.AddGroup(&cobra.Group{ID: group.title, Title: group.title + ":"})
		for _, cmd := range group.commands {
			cmd.GroupID = group.title
		}
		root.AddCommand(group.commands...)
	}
	describe(root)
	root.SetHelpCommandGroupID("Setup")
	root.SetCompletionCommandGroupID("Setup")
	c.setHelp(root)
}

// first are the commands that a beginner needs, in the order in which help shows them.
func first() []string {
	return []string{"ask", "chat", "council", "investigate", "explain", "open", "init", "doctor"}
}

// setHelp makes the help of root show the first commands, and ‘help all’ all of them in groups.
func (c *command) setHelp(root *cobra.Command) {
	ofCobra := root.HelpFunc()
	whole := func(cmd *cobra.Command, args []string) {
		out, b := cmd.OutOrStdout(), &strings.Builder{}
		cmd.LocalFlags().VisitAll(nameValue)
		cmd.InheritedFlags().VisitAll(nameValue)
		root.SetOut(b)
		ofCobra(cmd, args)
		root.SetOut(out)
		fmt.Fprint(out, c.readable(b.String()))
	}
	all := &cobra.Command{Use: "all", Hidden: true, Short: "Every command, in groups"}
	all.SetHelpFunc(func(*cobra.Command, []string) { whole(root, nil) })
	root.AddCommand(all)
	root.InitDefaultHelpCmd()
	topic, _, _ := root.Find([]string{"help"})
	topic.Run, topic.RunE = nil, func(_ *cobra.Command, args []string) error {
		cmd, unknown, err := root.Find(args)
		if err != nil || len(unknown) > 0 {
			return cmp.Or(err, groupRun(cmd, unknown))
		}
		cmd.InitDefaultHelpFlag()
		cmd.InitDefaultVersionFlag()
		return cmd.Help()
	}
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd != root {
			whole(cmd, args)
			return
		}
		out := root.OutOrStdout()
		root.LocalFlags().VisitAll(nameValue)
		fmt.Fprintf(out, "%s\n\nUsage:\n  sibyl [flags]\n  sibyl COMMAND\n\nExamples:\n%s\n\nCommands:\n",
			strings.TrimSpace(c.readable(root.Long)), root.Example)
		for _, name := range first() {
			at := slices.IndexFunc(root.Commands(), func(sub *cobra.Command) bool { return sub.Name() == name })
			fmt.Fprintf(out, "  %-12s %s\n", name, root.Commands()[at].Short)
		}
		fmt.Fprintf(out, "\nFlags:\n%s\n", root.LocalFlags().FlagUsages())
		fmt.Fprintln(out, "‘sibyl help all’ lists every command; add --help to one to have it explained.")
	})
}

// paragraph matches consecutive lines that are not indented.
var paragraph = regexp.MustCompile(`(?m)(?:^\S.*$\n?)+`)

// readable wraps the paragraphs of a help text at 100 columns, or at the width of a narrower terminal.
func (c *command) readable(text string) string {
	columns := 100
	if c.OutTTY {
		columns = min(columns, c.width()-1)
	}
	return paragraph.ReplaceAllStringFunc(text, func(lines string) string {
		return wrapLine(strings.Join(strings.Fields(lines), " "), columns) + "\n"
	})
}

// valueNames names the values of flags in help, where the name of the flag would not do.
var valueNames = map[string]string{
	"attach": "FILE", "config": "FILE", "html": "FILE", "notices": "FILE", "output": "FILE", "tree": "FILE",
	"data": "FOLDER", "documents": "FOLDER", "in": "FOLDER", "prompts": "FOLDER", "vault": "FOLDER",
	"chair": "ORACLE", "preset": "NAME", "set": "NAME=VALUE", "system": "TEXT",
	"conversation": "ID", "detective": "MODEL", "description": "TEXT", "listen": "ADDRESS",
	"since": "DAY", "until": "DAY", "expires": "TIME", "older-than": "TIME", "user": "NAME",
}

// namedValue is the value of a flag, with the name that help shows for it.
type namedValue struct {
	pflag.Value
	name string
}

// Type implements pflag.Value.
func (v namedValue) Type() string { return v.name }

// nameValue names the value of a flag and hides an empty default. For help only: completion needs the value's type.
func nameValue(f *pflag.Flag) {
	if f.NoOptDefVal != "" {
		return // it takes no value
	}
	name := cmp.Or(valueNames[f.Name], strings.ToUpper(f.Name))
	switch f.Value.Type() {
	case "int":
		name = "N"
	case "duration":
		name = "TIME"
	}
	if f.DefValue == "[]" || f.DefValue == "0s" {
		f.DefValue = "" // no default to show
	}
	f.Value = namedValue{f.Value, name}
}

// helpText has the description and examples of each command, below a line with its path.
//
//go:embed help.txt
var helpText string

// describe gives root and its subcommands their descriptions and examples from helpText.
func describe(root *cobra.Command) {
	for _, part := range strings.Split("\n"+helpText, "\n# ")[1:] {
		path, text, _ := strings.Cut(part, "\n")
		cmd, _, err := root.Find(strings.Fields(path)[1:])
		if err != nil {
			continue // a test checks that each exists
		}
		long, examples, _ := strings.Cut("\n"+text, "\nExamples:\n")
		cmd.Long, cmd.Example = strings.TrimSpace(long), strings.TrimRight(examples, "\n")
	}
}
