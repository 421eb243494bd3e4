package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// screenWidth gives the program terminals of so many columns in the place of its pipes.
const screenWidth = "SIBYL_TEST_SCREEN"

// TestScreensArePleasantAtEveryWidth runs the commands that people run most on terminals of three widths. What stands
// on them at the end is kept in testdata/screens, a file for each width: all that is seen of the story screens.txtar.
func TestScreensArePleasantAtEveryWidth(t *testing.T) {
	needs.All(t, "many screens")
	for _, width := range []int{60, 80, 200} {
		t.Run(strconv.Itoa(width), func(t *testing.T) {
			s := &screens{width: width}
			testscript.Run(t, testscript.Params{
				Files: []string{filepath.Join("testdata", "screens", "screens.txtar")},
				Setup: func(env *testscript.Env) error {
					env.Setenv("TERM", "xterm-256color")
					env.Setenv("PAGER", "")
					env.Defer(func() { s.compare(t) })
					err := setup(env)
					env.Setenv("SIBYL_DATA", "") // it is below the home, as usual
					return err
				},
				Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"convene": convene,
					"recites": recites, "screen": s.show, "word": word},
			})
		})
	}
}

// screens are those of one width.
type screens struct {
	width int
	seen  strings.Builder
}

// show runs the program and keeps what stands on its terminal at the end: screen CODE ARGS…
func (s *screens) show(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: screen CODE ARGS…")
	}
	ts.Setenv(screenWidth, strconv.Itoa(s.width))
	defer ts.Setenv(screenWidth, "")
	err := ts.Exec("sh", append([]string{"-c", `exec sibyl "$@" 2>&1`, "sibyl"}, args[1:]...)...)
	code := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		code = exit.ExitCode()
	}
	text := settled(ts.ReadFile("stdout"))
	if got := strconv.Itoa(code); got != args[0] {
		ts.Fatalf("it exits %s, not %s:\n%s", got, args[0], text)
	}
	for line := range strings.Lines(text) {
		if w := ansi.StringWidth(strings.TrimSuffix(line, "\n")); w > s.width {
			ts.Logf("sibyl %q: a line has %d columns where the terminal has %d: %s", args[1:], w, s.width, line)
		}
	}
	fmt.Fprintf(&s.seen, "######## sibyl %s\n%s\n", strings.Join(args[1:], " "), readable(sameWidth(inOrder(text))))
}

// settled is what stands on a terminal after a text with the sequences that the program uses to take lines back.
func settled(text string) string {
	lines := []string{""}
	for text != "" {
		last := len(lines) - 1
		switch at := takesBack.FindStringSubmatchIndex(text); {
		case at == nil:
			lines[last] += text
			text = ""
			continue
		case at[0] > 0:
			lines[last] += text[:at[0]]
			text = text[at[0]:]
			continue
		case strings.HasPrefix(text, "\n"):
			lines = append(lines, "")
			text = text[1:]
		default:
			up := 0
			if at[2] >= 0 {
				up, _ = strconv.Atoi(text[at[2]:at[3]])
			}
			lines = lines[:last-up+1]
			lines[last-up] = ""
			text = text[at[1]:]
		}
	}
	return strings.Join(lines, "\n")
}

var takesBack = regexp.MustCompile(`\n|\r\x1b\[(?:K|(\d+)A\x1b\[J)`)

// inOrder puts the answers of oracles and what is read at the same time, which come as they are ready, into one order.
func inOrder(text string) string {
	text = readLines.ReplaceAllStringFunc(text, func(group string) string {
		lines := slices.Collect(strings.Lines(group))
		slices.Sort(lines)
		return strings.Join(lines, "")
	})
	each := answerOfOracle.FindAllString(text, -1)
	slices.Sort(each)
	n := -1
	return answerOfOracle.ReplaceAllStringFunc(text, func(string) string {
		n++
		return each[n]
	})
}

var (
	answerOfOracle = regexp.MustCompile(`(?m)^\S*## \w+\S*\n\n.*Opinion \d\.\n`)
	readLines      = regexp.MustCompile(`(?m)(?:^\S*· Read .*\n)+`)
)

// sameWidth puts the same in the place of what differs from run to run, as wide as it is.
func sameWidth(screen string) string {
	for _, differs := range []struct{ pattern, by string }{
		{`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`, "00000000-0000-4000-8000-000000000000"},
		{`(?m)(^|\brun (?:resume )?)[0-9a-v]{16}\b`, "${1}0run0run0run0run"},
		{`\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d`, "2026-10-24_12-00-00"},
		{`\d{4}-\d\d-\d\d \d\d:\d\d`, "2026-10-24 12:00"},
		{`(?m)^\d{4}-\d\d-\d\d  `, "2026-10-24  "},
		{`(?m)^\d{4}-\d\d    `, "2026-10    "},
		{`(?m) \(\d+\.\d s\)$`, ""}, // which only a step that took long has
		{`\b\d+\.\d(\s+)s\b`, "0.1${1}s"},
	} {
		screen = regexp.MustCompile(differs.pattern).ReplaceAllString(screen, differs.by)
	}
	return screen
}

// readable writes the sequences of a screen so that they can be read: ‹2› begins what is faint, ‹› ends all looks.
func readable(screen string) string {
	return regexp.MustCompile(`\x1b\[([0-9;]*)m`).ReplaceAllString(screen, "‹$1›")
}

// compare wants the screens to be those that are kept.
func (s *screens) compare(t *testing.T) {
	file := filepath.Join("testdata", "screens", fmt.Sprintf("%d.txt", s.width))
	if *update {
		assert.NoError(t, os.WriteFile(file, []byte(s.seen.String()), 0o644))
	}
	want := assert.Must(os.ReadFile(file))(t)
	diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(s.seen.String(), "\n"))
	assert.That(t, diff == "" || t.Failed(),
		"the screens are not those of %s, which -update writes anew (-want +got):\n%s", file, diff)
}

// recites starts a model that reads a file and then answers with the text of another, and that leads an inquiry to its
// end; it has the program use it: recites FILE.
func recites(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: recites FILE")
	}
	text := ts.ReadFile(args[0])
	s := modeltest.NewServer(nil)
	s.Models = []string{"reciter"}
	s.Play(func(r modeltest.Request) modeltest.Answer { return recited(r, text) })
	ts.Defer(s.Close)
	ts.Setenv("OPENAI_BASE_URL", s.BaseURL+"/v1")
	ts.Setenv("OPENAI_MODEL", "reciter")
}

// recited is what the model of recites says to a request.
func recited(r modeltest.Request, text string) modeltest.Answer {
	says := func(pieces ...string) modeltest.Answer {
		return modeltest.Answer{Chunks: pieces, Usage: model.Usage{InputTokens: 4000, CachedTokens: 3000,
			OutputTokens: 120}}
	}
	told := first(r, "system")
	now := r.Messages[len(r.Messages)-1].Content
	switch {
	case strings.Contains(now, "(“To ask”)"):
		return says(`{"question":"When was the bridge closed?","strategy":"breadth","aspect":"when","gaps":[]}`)
	case strings.Contains(now, "(“To analyse”)"):
		return says(`{"evidence":[{"pair":1,"words":"closed on 4 March 2021 because of corrosion","says":"for"}],` +
			`"gaps":[{"id":"","category":"missing_information","severity":"low","aspect":"who","description":"Nobody says who ordered it.","pair":1}],` +
			`"completenessScore":90,"requiresFollowUp":false,"contradictions":[],"retracted":[]}`)
	case strings.Contains(told, "You find what documents say"):
		return says(`{"quotations":[{"passage":1,"words":"The bridge was closed on 4 March 2021 because of corrosion."}],"search":[]}`)
	case strings.Contains(told, "You read two statements"):
		return says(`{"first":{"property":"date of the closure","value":"4 March 2021"},` +
			`"second":{"property":"state of the cables","value":"light rust"},"kind":"other"}`)
	case strings.Contains(now, "(“To sum up”)"):
		return says("The answers support the hypothesis: corrosion was found, " +
			"and the bridge was closed for it (answer 1).")
	}
	looks := [][]string{{"code_read", `{"path":"greet.go"}`},
		{"code_search", `{"query":"who calls Greet and what do they do with the name"}`}}
	for _, m := range r.Messages {
		if m.Role == "tool" {
			looks = looks[1:]
		}
	}
	if len(looks) == 0 {
		return says(text, sure)
	}
	look := call(looks[0]...)
	look.Usage = says().Usage
	return look
}
