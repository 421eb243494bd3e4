package talk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"sibyl/internal/journal"
	"sibyl/internal/render"
)

// slash is a command of the conversation, such as /model.
type slash struct {
	name, takes, about string // takes: the argument, as /help shows it; "": none
	always             bool   // it may run while an answer is in progress
	do                 func(m *model, said string) tea.Cmd
}

// slashes returns all commands as /help orders them: those of the assistants, then those of the conversation.
func (m *model) slashes() (all []slash) {
	for _, a := range m.Assistants {
		takes := "WORDS"
		if a.Bare != "" {
			takes = "[WORDS]"
		}
		say := func(m *model, words string) tea.Cmd { return m.sayTo(a, words) }
		all = append(all, slash{a.Command, takes, a.Title + " " + a.About, false, say})
	}
	return append(all, []slash{
		{"/again", "[MODEL]", "ask the last question again, in the place of its answer; with a name, ask that model " +
			"from here on", false, (*model).askAgain},
		{"/model", "[NAME]", "ask another model; without a name, choose one", false, (*model).changeModel},
		{"/in", "[FOLDER]", "search the code in this folder; - for none", false,
			func(m *model, said string) tea.Cmd { return m.changeFolder("code", said, &m.With.Code) }},
		{"/vault", "[FOLDER]", "search the notes in this folder; - for none", false,
			func(m *model, said string) tea.Cmd { return m.changeFolder("notes", said, &m.With.Vault) }},
		{"/sources", "[NUMBER]", "list what the last answer cites; with a number, show what was read", true,
			(*model).showSources},
		{"/why", "", "explain the last answer", true, (*model).why},
		{"/copy", "", "copy the last answer to the clipboard", true, (*model).copyAnswer},
		{"/edit", "[TEXT]", "change your last question in your editor, and ask it in its place; with a text, begin a " +
			"new one there", false, (*model).edit},
		{"/undo", "", "undo the last write to a note", false, (*model).undo},
		{"/new", "", "begin new sessions", false, (*model).newSession},
		{"/sessions", "[ID]", "continue another session; without an id, choose one", false, (*model).pickSession},
		{"/help", "", "show this", true, (*model).help},
		{"/quit", "", "leave", true, func(*model, string) tea.Cmd { return tea.Quit }},
	}...)
}

// slashOf returns the command that a line begins with, and its argument; false if there is no such command.
func (m *model) slashOf(line string) (slash, string, bool) {
	name := commandName(line)
	for _, s := range m.slashes() {
		if s.name == name {
			return s, strings.TrimSpace(line[len(name):]), true
		}
	}
	return slash{}, "", false
}

// commandName returns a line up to its first white space.
func commandName(line string) string {
	if end := strings.IndexFunc(line, unicode.IsSpace); end >= 0 {
		return line[:end]
	}
	return line
}

// sayTo asks an assistant the words behind its command, or else its Bare words; without both it only shows a hint.
func (m *model) sayTo(a Assistant, words string) tea.Cmd {
	typed := strings.TrimSpace(a.Command + " " + words)
	if words = cmp.Or(words, a.Bare); words == "" {
		m.setInput(a.Command + " ")
		m.hint = a.Command + " takes words, such as a question"
		return nil
	}
	return m.ask(Asked{Of: a.Name, Words: words, Flagged: true, Material: m.takePastedText()}, typed)
}

// alwaysThere reports whether a line is a command that may run while an answer is in progress.
func (m *model) alwaysThere(line string) bool {
	s, _, ok := m.slashOf(line)
	return ok && s.always
}

// runCommand runs a command; if it is unknown or takes no argument, the line returns to the input with a hint.
func (m *model) runCommand(line string) tea.Cmd {
	s, said, ok := m.slashOf(line)
	switch {
	case !ok:
		m.setInput(line)
		m.hint = fmt.Sprintf("unknown command %s: /help lists them; put a space before a question that begins with /",
			render.Clean(commandName(line)))
		return nil
	case said != "" && s.takes == "":
		m.setInput(line)
		m.hint = s.name + " takes no argument"
		return nil
	}
	return s.do(m, said)
}

// keyHelp lists for /help what can be typed besides commands.
func keyHelp() [][2]string {
	return [][2]string{
		{"--NAME VALUE", "between a command and its words: an option; Tab lists them"},
		{"@path", "in a question: attach this file"},
		{"Alt-Enter, Ctrl-J", "a new line"},
		{"Tab", "complete a command, an option, a path, a model, a session"},
		{"Up, Down, Ctrl-R", "earlier questions; search them"},
		{"Ctrl-C", "stop the answer; twice on an empty line: leave"},
		{"Ctrl-D, Ctrl-Z", "leave; suspend to the shell, ‘fg’ returns"},
	}
}

func (m *model) help(string) tea.Cmd {
	const margin = 23
	all := keyHelp()
	for n, s := range m.slashes() {
		all = slices.Insert(all, n, [2]string{strings.TrimSpace(s.name + " " + s.takes), s.about})
	}
	lines := []string{""}
	for _, one := range all {
		about := strings.Join(wrapped(one[1], m.lineWidth()-margin), "\n"+strings.Repeat(" ", margin))
		lines = append(lines, strings.Split(fmt.Sprintf("  %-*s%s", margin-2, one[0], about), "\n")...)
	}
	return m.print(append(lines, "")...)
}

func (m *model) askAgain(named string) tea.Cmd {
	if m.last.Run == "" {
		return m.fail(errNoAnswer)
	}
	m.With.Model = cmp.Or(named, m.With.Model)
	return m.ask(Asked{Of: m.last.Of, Words: m.last.Question, Flagged: m.last.Flagged, Replaces: m.last.Run},
		strings.TrimSpace("/again "+named))
}

func (m *model) changeModel(name string) tea.Cmd {
	if name != "" {
		m.With.Model = name
		return m.say("the next question goes to " + name)
	}
	return func() tea.Msg {
		names, err := m.Sibyl.Models(m.ctx)
		if err == nil && len(names) == 0 {
			err = errors.New("no model is available: ‘sibyl doctor’ says what is missing")
		}
		return pickMsg{title: "Which model?", items: itemsOf(names), err: err, chosen: (*model).changeModel}
	}
}

func (m *model) changeFolder(what, folder string, into *string) tea.Cmd {
	switch folder {
	case "":
		if *into == "" {
			return m.say("no " + what + " is searched")
		}
		return m.say(what + " is searched in " + *into)
	case "-":
		*into = ""
		return m.say("no " + what + " is searched from here on")
	}
	abs, err := Folder(m.env("HOME"), folder)
	if err != nil {
		return m.fail(err)
	}
	*into = abs
	return m.say(what + " is searched in " + abs + " from here on")
}

// Folder returns the absolute path of an existing folder; ~ is the home folder. A file is an error.
func Folder(home, path string) (string, error) {
	path, err := filepath.Abs(expandHome(home, path))
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("there is no folder %s", path)
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", fmt.Errorf("%s is not a folder", path)
	}
	return path, nil
}

// expandHome replaces a ~ at the beginning of a path with the home folder, but not the ~ of ~name.
func expandHome(home, path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) && home != "" {
		return home + rest
	}
	return path
}

var errNoAnswer = errors.New("there is no answer yet")

func (m *model) showSources(said string) tea.Cmd {
	switch {
	case m.last.Run == "":
		return m.fail(errNoAnswer)
	case len(m.last.Sources) == 0:
		return m.say("the last answer cites nothing")
	case said == "":
		return m.print(append(append([]string{""}, m.sources(m.last.Sources)...),
			m.faint("/sources and a number shows what was read"), "")...)
	}
	n, err := strconv.Atoi(said)
	if err != nil || n < 1 || n > len(m.last.Sources) {
		return m.say(fmt.Sprintf("%s is not between 1 and %d", said, len(m.last.Sources)))
	}
	source, run, layout := m.last.Sources[n-1], m.last.Run, m.layout(m.lineWidth())
	head := m.bold(m.fitLine(render.Clean(source)))
	return func() tea.Msg {
		text, err := m.Sibyl.Passage(m.ctx, run, source)
		return toldMsg{append(append([]string{"", head}, render.Lines(text, layout)...), ""), err}
	}
}

func (m *model) why(string) tea.Cmd {
	if m.last.Run == "" {
		return m.fail(errNoAnswer)
	}
	run := m.last.Run
	return m.printLater(func() ([]string, error) { return m.Sibyl.Why(m.ctx, run) })
}

// mostCopied is how many bytes terminals accept for the clipboard.
const mostCopied = 55 << 10

func (m *model) copyAnswer(string) tea.Cmd {
	switch {
	case m.last.Answer == "":
		return m.fail(errNoAnswer)
	case len(m.last.Answer) > mostCopied:
		return m.say(fmt.Sprintf("the answer has %d bytes, more than the %d a terminal accepts: ‘sibyl session "+
			"export -o FILE’ writes it", len(m.last.Answer), mostCopied))
	}
	return tea.Batch(tea.SetClipboard(render.Clean(m.last.Answer)),
		m.say("the answer was sent to the terminal's clipboard; some terminals need permission for this"))
}

type undoMsg struct {
	id, words string
	err       error
}

func (m *model) undo(string) tea.Cmd {
	return func() tea.Msg {
		id, words, err := m.Sibyl.LastWrite(m.ctx)
		return undoMsg{id, words, err}
	}
}

// askUndo asks the user whether to undo the last write to a note.
func (m *model) askUndo(msg undoMsg) tea.Cmd {
	switch {
	case msg.err != nil:
		return m.fail(msg.err)
	case msg.id == "":
		return m.say("there is no write to undo")
	}
	m.asking = append(m.asking, question{words: msg.words, title: "Undo this write?",
		onAnswer: func(m *model, yes bool) tea.Cmd {
			if !yes {
				return m.tell("nothing was changed")
			}
			return m.printLater(func() ([]string, error) {
				line, err := m.Sibyl.Undo(m.ctx, msg.id)
				return []string{line}, err
			})
		}})
	return nil
}

func (m *model) newSession(string) tea.Cmd {
	clear(m.Sessions)
	m.last, m.asking, m.open = Exchange{}, nil, ""
	m.setPrompt()
	return m.say("what you say next begins a new session")
}

// switchedMsg is the session to continue, with its last exchange.
type switchedMsg struct {
	session journal.Session
	last    Exchange
	err     error
}

func (m *model) pickSession(name string) tea.Cmd {
	to := m.To
	return func() tea.Msg {
		all, err := m.Sibyl.Sessions(m.ctx, to)
		switch {
		case err != nil:
		case name != "":
			return m.findSession(m.ctx, all, name)
		case len(all) == 0:
			err = errors.New("there are no sessions yet")
		}
		items := make([]item, len(all))
		for i, s := range all {
			items[i] = item{s.ID, fmt.Sprintf("%s  %s  %s",
				s.UpdatedAt.Local().Format("2006-01-02 15:04"), s.ID, s.Title)}
		}
		return pickMsg{title: "Which session?", items: items, err: err, chosen: (*model).pickSession}
	}
}

// findSession finds the session with this id, or else the only one whose id begins or ends with name.
func (m *model) findSession(ctx context.Context, all []journal.Session, name string) switchedMsg {
	var found []journal.Session
	for _, s := range all {
		if s.ID == name {
			found = []journal.Session{s}
			break
		}
		if strings.HasPrefix(s.ID, name) || strings.HasSuffix(s.ID, name) {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		return switchedMsg{err: fmt.Errorf("%d sessions match %s: /sessions lists them", len(found), name)}
	}
	last, err := m.Sibyl.Last(ctx, found[0].ID)
	if errors.Is(err, journal.ErrNotFound) {
		err = nil
	}
	return switchedMsg{found[0], last, err}
}

func (m *model) showSwitched(msg switchedMsg) tea.Cmd {
	if msg.err != nil {
		return m.fail(msg.err)
	}
	m.Sessions[m.To], m.asking, m.open = msg.session.ID, nil, ""
	m.setPrompt()
	return m.print(append(m.note("session "+msg.session.ID+": "+msg.session.Title), m.lastExchangeLines(msg.last)...)...)
}
