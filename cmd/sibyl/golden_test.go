package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden asks a question, looks at the run in every way there is, and wants all that is seen, and every exit code, to
// be as in testdata/golden/NAME.txt. explained looks only at the explanation. The question has a journal of its own.
func golden(ts *testscript.TestScript, neg bool, args []string) {
	compare(ts, neg, args, [][]string{
		{"explain", "last"},
		{"explain", "last", "--full"},
		{"explain", "last", "--json"},
		{"session", "audit", "last"},
		{"session", "audit", "last", "--json"},
		{"session", "show", "last"},
		{"session", "export", "last", "--format", "md"},
		{"session", "export", "last", "--format", "json"},
		{"run", "list"},
		{"replay", "last"},
		append([]string{"ask", "--json"}, args[1:]...),
	})
}

func explained(ts *testscript.TestScript, neg bool, args []string) {
	compare(ts, neg, args, [][]string{{"explain", "last"}})
}

// compare asks a question, runs the commands, and compares all that is seen with the golden file.
func compare(ts *testscript.TestScript, neg bool, args []string, commands [][]string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: NAME ARGS-OF-ASK…")
	}
	work := ts.MkAbs(".")
	ts.Setenv("SIBYL_DATA", filepath.Join(work, "data-"+args[0]))
	var seen strings.Builder
	for _, command := range append([][]string{append([]string{"ask"}, args[1:]...)}, commands...) {
		err := ts.Exec("sibyl", command...)
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			ts.Fatalf("sibyl %q: %v", command, err)
		}
		code := 0
		if exit != nil {
			code = exit.ExitCode()
		}
		fmt.Fprintf(&seen, "######## sibyl %s: exit code %d\n", strings.Join(command, " "), code)
		for _, stream := range []string{"stdout", "stderr"} {
			if text := ts.ReadFile(stream); text != "" {
				fmt.Fprintf(&seen, "#### %s\n%s\n", stream, strings.TrimSuffix(steady(text, work), "\n"))
			}
		}
	}
	want, err := filepath.Abs(filepath.Join("testdata", "golden", args[0]+".txt"))
	ts.Check(err)
	got := filepath.Join(work, args[0]+".txt")
	if *update {
		got = want
	}
	ts.Check(os.WriteFile(got, []byte(seen.String()), 0o644))
	if err := ts.Exec("diff", "-u", "-F", "^########", want, got); err != nil {
		ts.Fatalf("what is seen is not as in testdata/golden: %v; -update writes it anew", err)
	}
}

// The patterns of steady, each with what takes its place. The quotes of JSON may be escaped, as in a value that is JSON
// itself.
var unsteady = []struct{ pattern, by string }{
	{`127\.0\.0\.1:\d+`, "127.0.0.1:PORT"},
	{`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?Z?)?|\b\d\d:\d\d:\d\d\b`, "TIME"},
	{`(?m) \(\d+\.\d s\)$`, ""}, // which only a step that took long has
	{`\(oracle, \d[\dms.]*`, "(oracle, TIME"},
	{`\b\d+\.\d s\b`, "N s"},
	{`((?:_ms|timestamp)(?:\\*": ?|=))\d+`, "${1}N"},
	{`((?:digest|key|hash|prompt)\\*": ?\\*"|sha256:|digest )[0-9a-f]{16,64}\b`, "${1}HASH"},
	{`(?m)(^|\brun (?:resume )?|run_id": ?")[0-9a-v]{16}\b`, "${1}RUN"},
	{`(?m)((?i:\bsession )|"(?:session_)?id": ?")[0-9a-v]{16}\b`, "${1}SESSION"},
}

// innermost is an object or a list of JSON that holds no other, over several lines.
const innermost = `[[{](?:\n +(?:"(?:[^"\\]|\\.)*": )?(?:"(?:[^"\\]|\\.)*"|[-\w.]+),?)+\n *[]}]`

// steady puts words in the place of what differs from run to run, or with every word of a prompt or a tree. It gives
// each innermost object of JSON one line.
func steady(text, work string) string {
	text = strings.ReplaceAll(text, work, "WORK")
	for _, u := range unsteady {
		text = regexp.MustCompile(u.pattern).ReplaceAllString(text, u.by)
	}
	return regexp.MustCompile(innermost).ReplaceAllStringFunc(text, func(s string) string {
		return strings.Join(strings.Fields(s), " ")
	})
}
