package main

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
	"sibyl/internal/cli"
	"sibyl/internal/media/document/documenttest"
	"sibyl/internal/model/modeltest"
)

// notRun are the commands of the pages that no test can run, with the reasons.
var notRun = map[string]string{
	"sh scripts/test.sh":     "it runs the tests, this one among them",
	"go install ./cmd/sibyl": "it builds the program once more, into a folder of the person",
	"sibyl ask -c yes": "something has to wait for a yes: the scripts of " +
		"undo and of pipes say it where something does",
	"export ORACLES_DIR=~/oracles": "every command has a shell of its own: runsAs gives this to those that follow",
}

// runsAs says how a command is run where it can't be as it stands: the reason is in the comment.
var runsAs = map[string]string{
	// the program is built already, and stands on the path
	`go run ./cmd/sibyl ask --in . "How are leases acquired when a process is dead?"`: `cd "$REPOSITORY" && sibyl ask --in . "How are leases acquired when a process is dead?"`,
	"sibyl init": "sibyl init --yes --model openai:player", // nobody sits at a terminal
	`sibyl council oracle new The Accountant`: `ORACLES_DIR=~/oracles sibyl council oracle new The Accountant`,
	`sibyl council oracles --check`:           `ORACLES_DIR=~/oracles sibyl council oracles --check`,
}

// exitsWith are the commands that are meant to end otherwise than with 0. No model is played that leads an inquiry, so
// it is one without a detective.
var exitsWith = map[string]int{
	`sibyl investigate "The bridge was closed because of corrosion" --witness reports/`:           3,
	`sibyl investigate "The bridge was closed because of corrosion" --witness reports/ --limit 5`: 3,
}

// command is one of a page, with the line it stands in.
type command struct {
	line int
	text string
}

// commandsOf reads the commands of a page. A block of “sh” holds nothing but commands, one of “console” has them behind
// a dollar sign. A command in any other block would be run by nobody, so it is given as stray.
func commandsOf(page string) (all, stray []command) {
	kind, inside := "", false
	for i, line := range strings.Split(page, "\n") {
		fence, isFence := strings.CutPrefix(line, "```")
		shown, isShown := strings.CutPrefix(line, "$ ")
		switch {
		case isFence:
			kind, inside = fence, !inside
		case !inside || line == "":
		case kind == "sh":
			text, _, _ := strings.Cut(line, "   #")
			all = append(all, command{i + 1, strings.TrimSpace(text)})
		case kind == "console" && isShown:
			all = append(all, command{i + 1, shown})
		case isShown || strings.HasPrefix(line, "sibyl "):
			stray = append(stray, command{i + 1, line})
		}
	}
	return all, stray
}

// TestCommandsOfThePagesRun does what each page for people says, one command after the other, as somebody who follows
// it would.
func TestCommandsOfThePagesRun(t *testing.T) {
	needs.All(t, "many commands")
	known := map[string]bool{}
	for _, name := range pages() {
		text := assert.Must(os.ReadFile(name))(t)
		all, stray := commandsOf(string(text))
		for _, c := range stray {
			t.Errorf("%s:%d: ‘%s’ is in no block of sh or console, so nobody runs it", name, c.line, c.text)
		}
		assert.That(t, len(all) >= 4, "%s: only %d commands were found: the page is read in the wrong way", name, len(all))
		for _, c := range all {
			known[c.text] = true
		}
		t.Run(strings.TrimSuffix(filepath.Base(name), ".md"), func(t *testing.T) { follow(t, name, all) })
	}
	for _, text := range slices.Concat(slices.Collect(maps.Keys(notRun)), slices.Collect(maps.Keys(runsAs)),
		slices.Collect(maps.Keys(exitsWith))) {
		assert.That(t, known[text], "‘%s’ stands on no page any more", text)
	}
}

// withoutModel are the commands that no model is played for: it reads one file of code, and answers as an oracle.
var withoutModel = regexp.MustCompile(`^sibyl (chat|investigate) |caching|net/http|REPOSITORY`)

// elsewhere are the commands that pages only mention and no script runs, with who runs them.
var elsewhere = map[string]string{"sibyl open": "it serves until it is stopped: the stories of the page run it"}

// TestCommandsThatPagesMentionAreRun looks for a run of each command that stands within a sentence or a table: in a
// block of a page, or in a script.
func TestCommandsThatPagesMentionAreRun(t *testing.T) {
	needs.All(t, "many commands")
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	assert.Require(t, err == nil && len(scripts) >= 20, "the scripts are not where they were: %v, %v", scripts, err)
	var runs, mentions strings.Builder
	for _, name := range slices.Concat(pages(), scripts) {
		text := assert.Must(os.ReadFile(name))(t)
		runs.Write(text)
		if strings.HasSuffix(name, ".md") {
			mentions.Write(regexp.MustCompile("(?s)\n```.*?\n```").ReplaceAll(text, nil))
		}
	}
	run := regexp.MustCompile(`(?m)(?:^\$? ?|exec |exits \d+ |\| )(sibyl .*)`)
	known, found := map[string]bool{}, map[string]bool{}
	for _, m := range run.FindAllStringSubmatch(runs.String(), -1) {
		known[pathOf(m[1])] = true
	}
	for _, m := range regexp.MustCompile("`(sibyl [^`]*)`").FindAllStringSubmatch(mentions.String(), -1) {
		path := pathOf(m[1])
		if found[path] = true; !known[path] && elsewhere[path] == "" {
			t.Errorf("‘%s’: nothing runs ‘%s’", m[1], path)
		}
	}
	for path := range elsewhere {
		assert.That(t, found[path] && !known[path], "‘%s’ is mentioned no more, or is run by now", path)
	}
	assert.That(t, len(found) >= 20,
		"only %v were found: the pages are read in the wrong way", slices.Sorted(maps.Keys(found)))
}

// pathOf is the command that a line calls, without what it is given.
func pathOf(line string) string {
	words := strings.Fields(line)[1:]
	if at := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "-") }); at >= 0 {
		words = words[:at]
	}
	if cmd, _, err := cli.Commands().Find(words); err == nil {
		return cmd.CommandPath()
	}
	return "sibyl"
}

// pages are those for people who use the program.
func pages() (files []string) {
	for _, name := range []string{"README", "docs/getting-started", "docs/oracle", "docs/tasks", "docs/council",
		"docs/inquiry"} {
		files = append(files, filepath.Join("..", "..", filepath.FromSlash(name)+".md"))
	}
	return files
}

// follow runs the commands of one page in a fresh home.
func follow(t *testing.T, name string, all []command) {
	work, environment := reader(t)
	for _, c := range all {
		if notRun[c.text] != "" {
			continue
		}
		line := c.text
		if other := runsAs[line]; other != "" {
			line = other
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		cmd := exec.CommandContext(ctx, "sh", "-c", line)
		cmd.Dir, cmd.Env = work, environment
		if withoutModel.MatchString(line) {
			cmd.Env = append(cmd.Env, "SIBYL_MODEL=offline:rules")
		}
		out, err := cmd.CombinedOutput()
		stop()
		code := 0
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			code = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		assert.That(t, code == exitsWith[c.text],
			"%s:%d: ‘%s’ exits with %d, not %d:\n%s", name, c.line, c.text, code, exitsWith[c.text], out)
	}
}

// reader is somebody with a project, notes, reports and a model that is played: the folder they stand in, and their
// environment.
func reader(t *testing.T) (work string, environment []string) {
	t.Helper()
	home := t.TempDir()
	work = filepath.Join(home, "app")
	repository := assert.Must(filepath.Abs(filepath.Join("..", "..")))(t)
	for file, text := range map[string]string{
		"app/go.mod": "module app\n",
		"app/greet.go": "package app\n\n// Greet greets by name; its errors are handled by who calls " +
			"it.\nfunc Greet(name string) string { return \"Hello, \" + name }\n",
		"app/repo/greet.go": "package repo\n\n// Greet greets by name.\nfunc Greet(name string) string { return " +
			"\"Hello, \" + name }\n",
		"app/build.log": "greet.go:4: missing return\n",
		"app/reports/closure.md": "# Bridge\n\nThe bridge was closed on 4 March 2021 because of corrosion. The " +
			"repair cost 40000 euros.\n",
		"notes/caching.md": "# Caching\n\nWe decided against a cache.\n",
	} {
		assert.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(home, file)), 0o700),
			os.WriteFile(filepath.Join(home, file), []byte(text), 0o600)))
	}
	pdf := documenttest.PDF(true, []string{"The repair cost 40000 euros."})
	err := errors.Join(os.WriteFile(filepath.Join(work, "report.pdf"), pdf, 0o600),
		os.Symlink(home, filepath.Join(home, "src")), exec.Command("git", "init", "-q", work).Run(),
		exec.Command("git", "-C", work, "add", ".").Run(),
		// so that there is a difference
		os.WriteFile(filepath.Join(work, "build.log"), []byte("greet.go:5: missing return\n"), 0o600))
	assert.NoError(t, err)
	played := newPlayed()
	t.Cleanup(played.Close)
	played.Play(func(r modeltest.Request) modeltest.Answer {
		if asked := first(r, "user"); strings.HasPrefix(asked, "# ") ||
			strings.Contains(first(r, "system"), "You preside") {
			return opinion(r)
		}
		return played.answer(r)
	})
	return work, append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "XDG_") || strings.HasPrefix(v, "SIBYL_")
	}),
		"HOME="+home, "REPOSITORY="+repository, "SIBYL_DATA="+filepath.Join(home, "data"), "SIBYL_KEYS=file",
		"OLLAMA_HOST=127.0.0.1:1",
		"OPENAI_BASE_URL="+played.BaseURL+"/v1", "OPENAI_MODEL=player")
}
