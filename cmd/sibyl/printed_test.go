package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/cli"
)

// printedCommand matches a command that a message names. It ends with its quotation mark, not with an apostrophe.
var printedCommand = regexp.MustCompile(`[‘„]sibyl( [^’“„‘]*)?[’“]|\x60sibyl( [^\x60]*)?\x60`)

// quoted matches a word of a command line: bare, or with parts in quotation marks.
var quoted = regexp.MustCompile(`(?:"[^"]*"|'[^']*'|[^\s"'])+`)

// understood returns an error if a command that was printed is no command, or has a flag or a number of arguments that
// it doesn't take. What stands for something else, such as RUN, is taken as it is.
func understood(printed string) error {
	printed = strings.TrimLeft(strings.Trim(printed, "‘’„“`"), " ")
	printed, _, _ = strings.Cut(strings.ReplaceAll(printed, `\"`, `"`), " | ")
	words := quoted.FindAllString(printed, -1)[1:]
	for i, word := range words {
		words[i] = strings.NewReplacer(`"`, "", `'`, "").Replace(word)
	}
	root := cli.Commands()
	cmd, rest, err := root.Find(words)
	switch {
	case err != nil:
		return err
	case cmd == root && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") && !strings.Contains(rest[0], " ") &&
		rest[0] != "…" && rest[0] != "X":
		return fmt.Errorf("there is no command %q", rest[0])
	case cmd == root: // what is no command is asked
		if cmd, _, err = root.Find([]string{"ask"}); err != nil {
			return err
		}
	}
	switch err := cmd.ParseFlags(rest); {
	case errors.Is(err, pflag.ErrHelp):
		return nil
	case err != nil && !standsForAnother(err):
		return err
	}
	args := cmd.Flags().Args()
	if cmd.HasAvailableSubCommands() && len(args) > 0 && !takesArguments(cmd) {
		return fmt.Errorf("‘%s’ has no command %q", cmd.CommandPath(), args[0])
	}
	return errors.Join(cmd.ValidateArgs(args), cmd.ValidateFlagGroups())
}

// standsForAnother says whether the value of a flag is one to be replaced, such as in --limit N.
func standsForAnother(err error) bool {
	return regexp.MustCompile(`invalid argument "[A-Z…]+"`).MatchString(err.Error())
}

// takesArguments says whether a command with subcommands does something with other words.
func takesArguments(cmd *cobra.Command) bool { return strings.Contains(cmd.Use, " ") }

func TestCommandsThatAreNoneAreNotUnderstood(t *testing.T) {
	for _, printed := range []string{"‘sibyl ls’", "‘sibyl run cancel X’", "‘sibyl ask --most 3’", "‘sibyl run stop’",
		"‘sibyl config path there’", "‘sibyl ask -c -s last’", "`sibyl models all of them`"} {
		assert.That(t, understood(printed) != nil, "%s", printed)
	}
	for _, printed := range []string{"‘sibyl’", `‘sibyl "What is it?"’`, `‘sibyl ask -c "yes 1"’`, "‘sibyl run stop RUN’",
		"‘sibyl -m openai:x’", "`sibyl config set vault FOLDER`"} {
		assert.Nil(t, understood(printed))
	}
}

// TestEveryCommandInAMessageIsUnderstood reads the messages out of the source and, where a part of one is only known
// when it is printed, takes an X for it.
func TestEveryCommandInAMessageIsUnderstood(t *testing.T) {
	found := 0
	check := func(at, text string) {
		for _, printed := range printedCommand.FindAllString(text, -1) {
			found++
			assert.That(t, understood(printed) == nil, "%s: %s: %v", at, printed, understood(printed))
		}
	}
	walk := func(root string, read func(path string)) {
		assert.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				read(path)
			}
			return err
		}))
	}
	for _, root := range []string{"../../internal", "../../cmd"} {
		walk(root, func(path string) {
			switch {
			case strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata"):
			case strings.HasSuffix(path, ".go"):
				messagesOf(t, path, check)
			case strings.HasSuffix(path, ".txt"):
				check(path, string(assert.Must(os.ReadFile(path))(t)))
			}
		})
	}
	walk("../../web/src/words", func(path string) {
		if !strings.Contains(path, ".test.") {
			check(path, string(assert.Must(os.ReadFile(path))(t)))
		}
	})
	assert.That(t, found > 150, "only %d commands were found: the source is read in the wrong way", found)
}

// messagesOf calls check with every text of a file of Go, joined where it is written in several parts.
func messagesOf(t *testing.T, path string, check func(at, text string)) {
	t.Helper()
	files := token.NewFileSet()
	file := assert.Must(parser.ParseFile(files, path, nil, parser.SkipObjectResolution))(t)
	ast.Inspect(file, func(n ast.Node) bool {
		e, is := n.(ast.Expr)
		if !is {
			return true
		}
		text, isText := textOf(e)
		if isText {
			verb := regexp.MustCompile(`%[-+#]?[0-9.]*[sdvq]`)
			check(files.Position(e.Pos()).String(), verb.ReplaceAllString(text, "X"))
		}
		return !isText
	})
}

// textOf gives a literal, or a sum of some; what else is added is an X. It is false for other expressions.
func textOf(e ast.Expr) (text string, isText bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, e.Kind == token.STRING && err == nil
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return "", false
		}
		left, isLeft := textOf(e.X)
		right, isRight := textOf(e.Y)
		if !isLeft {
			left = "X"
		}
		if !isRight {
			right = "X"
		}
		return left + right, isLeft || isRight
	}
	return "", false
}

// saidBack matches what a message repeats of a command line that is none.
var saidBack = regexp.MustCompile(`unknown command ‘[^’]*’`)

// standsFor matches what a person replaces in a printed command: a word in capitals, or an ellipsis.
var standsFor = regexp.MustCompile(`…|(^| )[A-Z]{2,}`)

// runsPrinted runs, as it stands, a command that the last program of a script printed, and wants an exit code:
// runs CODE PATTERN. The pattern chooses among the printed commands, of which the first that matches is run.
func runsPrinted(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: runs CODE PATTERN")
	}
	wanted := regexp.MustCompile(args[1])
	var others []string
	for _, printed := range printedCommand.FindAllString(ts.ReadFile("stdout")+ts.ReadFile("stderr"), -1) {
		line := strings.Trim(printed, "‘’„“`")
		if !wanted.MatchString(line) || standsFor.MatchString(line) {
			others = append(others, line)
			continue
		}
		exits(ts, false, []string{args[0], "sh", "-c", line})
		return
	}
	ts.Fatalf("no command that can be run matches %s: %q", wanted, others)
}

// wantUnderstood fails if the last program of a script has printed a command that is not understood as it stands.
func wantUnderstood(ts *testscript.TestScript) {
	text := saidBack.ReplaceAllString(ts.ReadFile("stdout")+ts.ReadFile("stderr"), "")
	for _, printed := range printedCommand.FindAllString(text, -1) {
		if err := understood(printed); err != nil {
			ts.Fatalf("it printed %s, which is not understood: %v", printed, err)
		}
	}
}
