package talk

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/oracle"
	"sibyl/internal/service"
)

// bare is a conversation without a terminal.
type bare struct {
	*model
	t  *testing.T
	p  *played
	at time.Time
}

func newBare(t *testing.T, change ...func(*Config)) *bare {
	t.Helper()
	b := &bare{t: t, p: newPlayed(), at: began}
	c := Config{Sibyl: b.p, Assistants: four(), To: "oracle", Width: 80, Height: 24, Environ: []string{"NO_COLOR=1"},
		Now: func() time.Time {
			return b.at
		}}
	for _, one := range change {
		one(&c)
	}
	b.model = newModel(t.Context(), c)
	return b
}

// keys are those that have no letter.
var keys = map[string]tea.KeyPressMsg{"<enter>": {Code: tea.KeyEnter}, "<tab>": {Code: tea.KeyTab},
	"<up>": {Code: tea.KeyUp}, "<down>": {Code: tea.KeyDown}, "<esc>": {Code: tea.KeyEscape},
	"<back>": {Code: tea.KeyBackspace}, "<c-c>": {Code: 'c', Mod: tea.ModCtrl}, "<c-d>": {Code: 'd', Mod: tea.ModCtrl},
	"<c-j>": {Code: 'j', Mod: tea.ModCtrl},
	"<c-r>": {Code: 'r', Mod: tea.ModCtrl}, "<c-x>": {Code: 'x', Mod: tea.ModCtrl},
	"<c-z>": {Code: 'z', Mod: tea.ModCtrl}, "<a-enter>": {Code: tea.KeyEnter, Mod: tea.ModAlt}}

// press presses keys, and gives what the last one asks for.
func (b *bare) press(typed string) (cmd tea.Cmd) {
	b.t.Helper()
	for typed != "" {
		var k tea.KeyPressMsg
		if end := strings.IndexByte(typed, '>'); typed[0] == '<' && end > 0 {
			k, typed = keys[typed[:end+1]], typed[end+1:]
		} else {
			r := []rune(typed)[0]
			k, typed = tea.KeyPressMsg{Code: r, Text: string(r)}, typed[len(string(r)):]
		}
		_, cmd = b.Update(k)
	}
	return cmd
}

// run presses keys, and takes in what comes of what they ask for, but for what takes its time.
func (b *bare) run(typed string) {
	b.t.Helper()
	if cmd := b.press(typed); cmd != nil {
		b.Update(cmd())
	}
}

// printed is what goes to the scrollback.
func (b *bare) printed() string { return strings.Join(b.queue, "\n") }

func isQuit(cmd tea.Cmd) bool {
	if cmd == nil {
		return false
	}
	_, ok := cmd().(tea.QuitMsg)
	return ok
}

func TestCtrlCIsForWhatIsNearest(t *testing.T) {
	b := newBare(t)
	b.press("some words")
	assert.Require(t, !isQuit(b.press("<c-c>")) && b.input.Value() == "", "%q is typed", b.input.Value())
	assert.Require(t, !isQuit(b.press("<c-c>")) && strings.Contains(b.View().Content, "Ctrl-C again leaves"),
		"it left at once, or does not say how to")
	b.at = b.at.Add(twice + time.Millisecond)
	assert.That(t, !isQuit(b.press("<c-c>")), "the second one came too late, and left")
	assert.That(t, !isQuit(b.press("x<back><c-c>")), "a key between the two, and it left")
	assert.That(t, isQuit(b.press("<c-c>")), "two within the time do not leave")
}

func TestCtrlDLeavesAtAnEmptyLineOnly(t *testing.T) {
	b := newBare(t)
	assert.That(t, !isQuit(b.press("words<c-d>")), "it left what is typed")
	assert.That(t, isQuit(b.press("<c-c><c-d>")), "it did not leave")
}

func TestCtrlZSuspends(t *testing.T) {
	b := newBare(t)
	_, ok := b.press("<c-z>")().(tea.SuspendMsg)
	assert.That(t, ok, "it does not")
}

func TestSeveralLinesAreOneQuestion(t *testing.T) {
	b := newBare(t)
	b.press("one<c-j>two<a-enter>three\\<enter>four")
	assert.That(t, b.live == nil && b.input.Value() == "one\ntwo\nthree\nfour", "%q is typed", b.input.Value())
	h := len(b.inputLines())
	assert.That(t, h == 4, "the input has %d rows", h)
}

func TestPasteIsOneText(t *testing.T) {
	b := newBare(t)
	b.Update(tea.PasteMsg{Content: "first\r\nsecond\rthird"})
	assert.Require(t, b.live == nil && b.input.Value() == "first\nsecond\nthird", "%q is typed", b.input.Value())
	b.press("<c-c>")
	long := strings.Repeat("a line of a log\n", 500)
	b.Update(tea.PasteMsg{Content: long})
	assert.Require(t, b.input.Value() == "" && strings.Contains(b.View().Content, "500 lines"),
		"the screen shows\n%s", b.View().Content)
	b.press("Why?<enter>")
	msg := b.startRun(t.Context(), b.live).(startedMsg)
	assert.That(t, msg.err == nil && b.p.runs[0].Material == long && b.p.asked[0] == "Why?",
		"%v; %q was asked, on %d bytes", msg.err, b.p.asked, len(b.p.runs[0].Material))
	b.live = nil
	b.Update(tea.PasteMsg{Content: long})
	b.press("<c-x>")
	b.Update(tea.PasteMsg{Content: strings.Repeat("x", oracle.MaxMaterial+1)})
	assert.That(t, len(b.pasted) == 0 && strings.Contains(b.View().Content, "the limit of 262144"),
		"too much was taken, or nothing says so:\n%s", b.View().Content)
}

func TestHistoryIsKeptPerFileWithoutSecrets(t *testing.T) {
	file := filepath.Join(t.TempDir(), "typed", "x.jsonl")
	kept := func(c *Config) { c.History = file }
	b := newBare(t, kept)
	for _, q := range []string{"first question", "my key is hunter2", "second<c-j>of two lines"} {
		b.press(q + "<enter>")
		b.live = nil
	}
	if b.press("<up><up>"); b.input.Value() != "second\nof two lines" { // the first goes up within it
		t.Errorf("%q is typed", b.input.Value())
	}
	text, err := os.ReadFile(file)
	assert.Require(t, err == nil && !strings.Contains(string(text), "hunter2"), "%q, %v", text, err)
	info, _ := os.Stat(file)
	assert.That(t, runtime.GOOS == "windows" || info.Mode().Perm() == fs.FileMode(0o600), "its mode is %v", info.Mode())
	b = newBare(t, kept)
	b.press("a draft<up>")
	assert.That(t, b.input.Value() == "second\nof two lines", "%q is typed", b.input.Value())
	b.press("<up><up>")
	assert.That(t, b.input.Value() == "first question", "%q is typed", b.input.Value())
	b.press("<down><down><down>")
	assert.That(t, b.input.Value() == "a draft", "the draft is lost: %q", b.input.Value())
}

func TestHistoryIsBounded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.jsonl")
	var text strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&text, "%q\n", fmt.Sprintf("%d %s", i, strings.Repeat("x", 400)))
	}
	text.WriteString("torn\n")
	assert.NoError(t, os.WriteFile(file, []byte(text.String()), 0o600))
	h, err := openHistory(file, func(s string) string { return s })
	assert.Require(t, err == nil && len(h.entries) == mostEntries && strings.HasPrefix(h.entries[mostEntries-1], "2999 "),
		"%d entries, %v", len(h.entries), err)
	info, err := os.Stat(file)
	assert.That(t, err == nil && info.Size() <= mostKept, "%v, %v", info.Size(), err)
	err = h.add(strings.Repeat("x", mostEntry+1))
	assert.That(t, err == nil && len(h.entries) == mostEntries, "an entry that is too long was kept: %v", err)
}

func TestHistoryIsSearched(t *testing.T) {
	b := newBare(t)
	b.history.entries = []string{"How are Leases taken?", "something else", "When do leases end?", "the last"}
	b.press("<c-r>leases")
	s := b.View().Content
	assert.That(t, strings.Contains(s, "When do leases end?"), "the screen shows\n%s", s)
	b.press("<c-r>")
	s = b.View().Content
	assert.That(t, strings.Contains(s, "How are Leases taken?"), "the screen shows\n%s", s)
	b.press("<enter>")
	assert.That(t, b.input.Value() == "How are Leases taken?" && b.live == nil, "%q is typed", b.input.Value())
}

func TestCompletion(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"docs/one.md", "docs/only.txt", "main.go"} {
		assert.NoError(t, errors.Join(os.MkdirAll(filepath.Join(dir, "docs"), 0o700), os.WriteFile(filepath.Join(dir, name),
			nil, 0o600)))
	}
	t.Chdir(dir)
	for typed, want := range map[string]string{
		"/wh<tab>":                       "/why",
		"/s<tab><tab>":                   "/sessions",
		"/s<down><down>":                 "/sessions",
		"see @ma<tab>":                   "see @main.go",
		"see @d<tab>":                    "see @docs" + string(filepath.Separator),
		"see @docs/o<tab>":               "see @docs/on",
		"/in d<tab>":                     "/in docs" + string(filepath.Separator),
		"/in m<tab>":                     "/in m", // a file
		"/model ol<tab>":                 "/model ollama:",
		"/model w<tab>":                  "/model work:big",
		"/sessions 0a<tab>":              "/sessions 0abc",
		"no@ma<tab>":                     "no@ma",
		"/council --or<tab>":             "/council --oracle",
		"/council --oracle sk<tab>":      "/council --oracle skeptic",
		"/council --history t<tab>":      "/council --history true",
		"/investigate --witness ma<tab>": "/investigate --witness main.go",
		"/t<tab><tab>":                   "/task",
		"--or<tab>":                      "--or",
	} {
		b := newBare(t)
		b.p.sessions = map[string][]journal.Session{"oracle": {{ID: "0abc", Title: "leases"}, {ID: "0xyz"}}}
		b.run(typed)
		assert.Equalf(t, b.input.Value(), want, "%s", typed)
	}
}

func TestUnknownCommandIsNotAsked(t *testing.T) {
	b := newBare(t)
	b.press("/etc/hosts is what?<enter>")
	assert.That(t, b.live == nil && b.input.Value() == "/etc/hosts is what?" && strings.Contains(b.hint, "/help"),
		"%q is typed, the hint is %q", b.input.Value(), b.hint)
	b.setInput(" /etc/hosts is what?")
	b.press("<enter>")
	assert.That(t, b.live != nil && b.live.Words == "/etc/hosts is what?", "behind a space it is no question")
}

func TestQuestionWaitsForTheAnswerUnderWay(t *testing.T) {
	b := newBare(t)
	b.press("first<enter>second<enter>")
	assert.That(t, b.live.Words == "first" && b.input.Value() == "second" && strings.Contains(b.hint, "Ctrl-C"),
		"%q is asked, %q is typed", b.live.Words, b.input.Value())
}

func TestFoldersAreChangedAndChecked(t *testing.T) {
	b, dir := newBare(t), t.TempDir()
	b.press("/in " + dir + "<enter>")
	b.press("/vault " + filepath.Join(dir, "none") + "<enter>")
	assert.That(t, b.With.Code == dir && b.With.Vault == "" && strings.Contains(b.printed(), "none"),
		"%+v\n%s", b.With, b.printed())
	b.press("/in -<enter>")
	assert.That(t, b.With.Code == "", "the folder stays")
}

func TestCommandsNeedAnAnswer(t *testing.T) {
	for _, command := range []string{"/why", "/copy", "/sources"} {
		b := newBare(t)
		b.press(command + "<enter>")
		assert.That(t, strings.Contains(b.printed(), "there is no answer yet"), "%s: %s", command, b.printed())
	}
}

func TestLastAnswerIsExplainedAndItsSourcesShown(t *testing.T) {
	b := newBare(t)
	b.last = Exchange{Run: "0run", Answer: "So.", Sources: []string{"run/lease.go:12-14", "docs/a.md:3"}}
	b.run("/why<enter>")
	b.run("/sources<enter>")
	b.run("/sources 1<enter>")
	b.run("/sources 3<enter>")
	assert.Contains(t, "the screen", b.printed(), "a question about the code", "2. `docs/a.md:3`", "12  func take() {",
		"3 is not between 1 and 2")
}

func TestCopyHandsTheAnswerToTheTerminal(t *testing.T) {
	h := hold(t, 80, 24)
	h.ask("How?").end(answer("So **it** is."))
	h.rests("read 2 places")
	h.press("/copy\r")
	h.shows("clipboard")
	h.until("the clipboard", func(string) bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		text, err := base64.StdEncoding.DecodeString(h.clipboard)
		return err == nil && string(text) == "So **it** is."
	})
	b := newBare(t)
	b.last = Exchange{Run: "0run", Answer: strings.Repeat("x", mostCopied+1)}
	b.press("/copy<enter>")
	assert.That(t, strings.Contains(b.printed(), "session export -o FILE"), "a long one: %s", b.printed())
}

func TestUndoAsksFirst(t *testing.T) {
	b := newBare(t)
	b.run("/undo<enter>")
	assert.That(t, len(b.asking) == 0 && strings.Contains(b.printed(), "no write"), "%s", b.printed())
	b.p.write = "0write  shopping.md (append)"
	b.run("/undo<enter>")
	s := b.View().Content
	assert.Require(t, strings.Contains(s, "shopping.md") && len(b.p.undone) == 0, "the screen shows\n%s", s)
	b.run("n")
	b.run("/undo<enter>")
	b.run("<c-c>")
	b.run("/undo<enter>")
	b.run("y")
	assert.That(t, fmt.Sprint(b.p.undone) == "[0write]" && strings.Contains(b.printed(), "as it was before"),
		"%q was put back\n%s", b.p.undone, b.printed())
}

func TestSessionsAreSwitched(t *testing.T) {
	b := newBare(t)
	b.p.sessions = map[string][]journal.Session{"oracle": {{ID: "0abc", Title: "about leases"},
		{ID: "0abd", Title: "about notes"}}}
	b.p.last = Exchange{Run: "0old", Question: "How did it end?", Answer: "Well."}
	b.run("/sessions 0ab<enter>")
	assert.Require(t, b.Sessions["oracle"] == "" && strings.Contains(b.printed(), "2 sessions"), "%s", b.printed())
	b.run("/sessions<enter>")
	if cmd := b.press("notes<enter>"); cmd == nil {
		t.Fatal("nothing was chosen")
	} else {
		b.Update(cmd())
	}
	assert.That(t, b.Sessions["oracle"] == "0abd" && strings.Contains(b.printed(), "How did it end?"),
		"session %s\n%s", b.Sessions["oracle"], b.printed())
	b.press("/new<enter>")
	assert.That(t, b.Sessions["oracle"] == "" && b.last.Run == "", "/new goes on with it")
}

func TestContinuedSessionShowsItsLastExchange(t *testing.T) {
	h := hold(t, 80, 24, func(c *Config) {
		c.Sessions = map[string]string{"oracle": "0abc"}
		c.Sibyl.(*played).last = Exchange{Run: "0old", Question: "How did it end?", Answer: "Well, see `a.go:3`.",
			Sources: []string{"a.go:3"}}
	})
	h.shows("How did it end?")
	h.shows("1. `a.go:3`")
	if r := h.ask("Why?"); r.Session != "0abc" {
		t.Errorf("asked in %s", r.Session)
	} else {
		r.end(answer("So."))
	}
}

func TestNoSizeOfATerminalBreaksTheFrame(t *testing.T) {
	for width := 1; width < 40; width += 6 {
		for height := 1; height < 12; height += 3 {
			b := newBare(t)
			b.Update(tea.WindowSizeMsg{Width: width, Height: height})
			b.press("/s")
			b.View()
			b.press("<c-c><c-c>")
			b.press("some words that are longer than the line<enter>")
			b.live.apply([]service.Update{told("code_search"), {Text: strings.Repeat("words 漢字 ", 60)}},
				b.layout(b.answerWidth()))
			lines := strings.Split(b.View().Content, "\n")
			assert.That(t, len(lines) <= height, "%d×%d: %d rows", width, height, len(lines))
			for _, line := range lines {
				w := ansi.StringWidth(line)
				assert.That(t, w <= max(width, 10), "%d×%d: %q has %d columns", width, height, line, w)
			}
		}
	}
}

func TestConversationEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	h := newEmulator(t, 80, 24)
	done := make(chan error, 1)
	r, w, err := os.Pipe()
	assert.NoError(t, err)
	defer func() { _ = errors.Join(r.Close(), w.Close()) }()
	go func() {
		_, err := Hold(ctx, Config{Sibyl: newPlayed(), Assistants: four(), To: "oracle", In: r, Out: h, Width: 80,
			Height: 24, Environ: []string{"TERM=xterm"}, options: []tea.ProgramOption{tea.WithWindowSize(80, 24)}})
		done <- err
	}()
	h.until("the first frame", func(s string) bool { return strings.Contains(s, "❯") })
	why := errors.New("the machine goes down")
	cancel(why)
	select {
	case err := <-done:
		assert.That(t, errors.Is(err, why), "it ended with %v", err)
	case <-time.After(patience):
		t.Fatal("it goes on")
	}
	assert.That(t, !h.modes["?2004"] && h.modes["?25"], "modes of the terminal: %v", h.modes)
}
