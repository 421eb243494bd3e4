package talk

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"sibyl/internal/oracle"
	"sibyl/internal/render"
)

// twice is the time within which a second Ctrl-C leaves.
const twice = 2 * time.Second

// key handles a key: for the picker, else the open question, the history search, the menu or the input.
func (m *model) key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	if name != "ctrl+c" {
		m.leaving = time.Time{}
	}
	switch {
	case name == "ctrl+z":
		m.typed.pause()
		return tea.Suspend
	case name == "ctrl+c":
		return m.interrupt()
	case m.picking != nil:
		return m.pickKey(k)
	case len(m.asking) > 0:
		return m.askingKey(name)
	case m.searching != nil:
		return m.searchKey(k)
	}
	if m.menu != nil && m.menuKey(name) {
		return nil
	}
	return m.inputKey(name, k)
}

// inputKey handles a key in the input.
func (m *model) inputKey(name string, k tea.KeyPressMsg) tea.Cmd {
	switch name {
	case "enter":
		return m.enter()
	case "tab":
		return m.complete()
	case "ctrl+r":
		m.searching = &search{at: len(m.history.entries)}
		return nil
	case "ctrl+x":
		m.pasted = nil
		return nil
	case "ctrl+d":
		if m.input.Value() == "" {
			return tea.Quit
		}
	case "esc":
		m.dropMissing()
		m.open = ""
		m.setPrompt()
		return nil
	case "up":
		if m.input.Line() == 0 && m.input.LineInfo().RowOffset == 0 {
			m.browseHistory(-1)
			return nil
		}
	case "down":
		if m.atBottom() {
			m.browseHistory(1)
			return nil
		}
	}
	var cmd tea.Cmd
	m.input, cmd = m.input.Update(k)
	m.suggest()
	return cmd
}

// atBottom reports whether the cursor is in the last row of the input.
func (m *model) atBottom() bool {
	info := m.input.LineInfo()
	return m.input.Line() == m.input.LineCount()-1 && info.RowOffset >= info.Height-1
}

// interrupt handles Ctrl-C: it cancels what is open, else stops the answer, else clears the input; twice, it leaves.
func (m *model) interrupt() tea.Cmd {
	again := m.Now().Sub(m.leaving) <= twice
	switch {
	case m.picking != nil || m.searching != nil || m.menu != nil:
		m.picking, m.searching, m.menu = nil, nil, nil
	case len(m.asking) > 0:
		giveUp := m.asking[0].giveUp
		m.asking = nil
		if giveUp != nil {
			return giveUp(m)
		}
		return m.tell("not done")
	case m.missing != nil && m.live == nil:
		m.dropMissing()
	case m.live != nil && m.live.stopping && again:
		return tea.Quit
	case m.live != nil:
		m.live.stopping = true
		m.leaving = m.Now()
		m.live.stop(errStopped)
	case m.input.Value() != "" || len(m.pasted) > 0:
		m.pasted = nil
		m.setInput("")
		m.historyIndex = len(m.history.entries)
	case again:
		return tea.Quit
	default:
		m.leaving = m.Now()
		m.hint = "Ctrl-C again leaves"
	}
	return nil
}

// enter sends the input, as a command or a question; during an answer it accepts only commands that are allowed then.
func (m *model) enter() tea.Cmd {
	text := strings.TrimSpace(m.input.Value())
	// a backslash at the end begins a new line, for terminals that can't send Alt-Enter
	if strings.HasSuffix(m.input.Value(), "\\") && m.atBottom() {
		m.setInput(strings.TrimSuffix(m.input.Value(), "\\") + "\n")
		return nil
	}
	command := strings.HasPrefix(m.input.Value(), "/")
	if m.missing != nil { // a path may begin in the same way
		_, _, command = m.slashOf(text)
	}
	switch {
	case text == "" && len(m.pasted) == 0:
		return nil
	case text == "":
		m.hint = "type a question about the pasted text"
		return nil
	case m.live != nil && !(command && m.alwaysThere(text)):
		m.hint = "still answering: Ctrl-C stops it"
		return nil
	}
	m.setInput("")
	m.menu = nil
	if err := m.history.add(text); err != nil {
		m.hint = "the history can't be saved: " + err.Error()
	}
	m.historyIndex, m.draft = len(m.history.entries), ""
	switch {
	case command:
		m.dropMissing()
		return m.runCommand(text)
	case m.missing != nil:
		return m.fillMissing(text)
	case m.editing.Run != "":
		return m.askEdited(text)
	}
	return m.askOrRedirect(Asked{Of: m.addressee().Name, Words: text, Material: m.takePastedText()})
}

// askOrRedirect asks a question; if it is plainly for another assistant, it first offers to send it there.
func (m *model) askOrRedirect(a Asked) tea.Cmd {
	other, offer := m.Sibyl.Offer(a.Words, a.Of)
	if other == "" || m.open != "" || a.Material != "" {
		return m.ask(a, a.Words)
	}
	to := m.assistant(other)
	then := func(m *model, yes bool) tea.Cmd {
		if yes {
			return m.ask(Asked{Of: other, Words: a.Words}, to.Command+" "+a.Words)
		}
		return m.ask(a, a.Words)
	}
	giveUp := func(m *model) tea.Cmd {
		m.setInput(a.Words)
		return m.tell("not done")
	}
	m.asking = append(m.asking, question{words: a.Words, title: to.Title + ": " + offer, enterMeansNo: true,
		onAnswer: then, giveUp: giveUp})
	return nil
}

// takePastedText returns the pasted material, and forgets it.
func (m *model) takePastedText() string {
	material := strings.Join(m.pasted, "\n")
	m.pasted = nil
	return material
}

// A paste of at least one of these sizes is kept as material for the question, and not put into the input.
const (
	pastedLines = 60
	pastedBytes = 8 << 10
)

// paste puts a pasted text into the history search or the input, or keeps it as material; a picker ignores it.
func (m *model) paste(msg tea.PasteMsg) tea.Cmd {
	text := render.Clean(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(msg.Content))
	switch {
	case m.picking != nil:
		return nil
	case m.searching != nil:
		m.searching.text += strings.Join(strings.Fields(text), " ")
		m.searchHistory(len(m.history.entries))
		return nil
	case len(text) >= pastedBytes || strings.Count(text, "\n") >= pastedLines:
		whole := len(text)
		for _, p := range m.pasted {
			whole += len(p) + 1
		}
		if whole > oracle.MaxMaterial {
			m.hint = fmt.Sprintf("that has %d bytes, more than the limit of %d: put it in a file in %s", whole,
				oracle.MaxMaterial, "the folder you are asking about")
			return nil
		}
		m.pasted = append(m.pasted, text)
		return nil
	}
	var cmd tea.Cmd
	m.input, cmd = m.input.Update(tea.PasteMsg{Content: text})
	m.suggest()
	return cmd
}

func (m *model) pastedSize() string {
	lines, size := 0, 0
	for _, p := range m.pasted {
		lines += strings.Count(strings.TrimRight(p, "\n"), "\n") + 1
		size += len(p)
	}
	return fmt.Sprintf("%d lines, %d bytes", lines, size)
}

// browseHistory replaces the input with another entry of the history, or with the draft behind the last one.
func (m *model) browseHistory(step int) {
	to := m.historyIndex + step
	if to < 0 || to > len(m.history.entries) {
		return
	}
	if m.historyIndex == len(m.history.entries) {
		m.draft = m.input.Value()
	}
	m.historyIndex, m.menu = to, nil
	if to == len(m.history.entries) {
		m.setInput(m.draft)
	} else {
		m.setInput(m.history.entries[to])
	}
}

// search is a search of the history for a text.
type search struct {
	text string
	at   int // index of the found entry; the history's length: none
}

// foundEntry returns the entry that the search has found; "": none.
func (m *model) foundEntry() string {
	if at := m.searching.at; at < len(m.history.entries) {
		return m.history.entries[at]
	}
	return ""
}

// searchHistory moves the search to the last match before an index; without one it stays, or starts over at the end.
func (m *model) searchHistory(before int) {
	if at := m.history.find(m.searching.text, before); at >= 0 {
		m.searching.at = at
	} else if before == len(m.history.entries) {
		m.searching.at = before
	}
}

func (m *model) searchKey(k tea.KeyPressMsg) tea.Cmd {
	s := m.searching
	switch name := k.String(); {
	case name == "ctrl+r":
		m.searchHistory(s.at)
	case name == "esc" || name == "ctrl+g":
		m.searching = nil
	case name == "backspace":
		if r := []rune(s.text); len(r) > 0 {
			s.text = string(r[:len(r)-1])
			m.searchHistory(len(m.history.entries))
		}
	case k.Text != "":
		s.text += k.Text
		m.searchHistory(len(m.history.entries))
	default: // Enter, and other keys without a text
		text := m.foundEntry()
		m.searching = nil
		if text != "" {
			m.setInput(text)
		}
	}
	return nil
}

// tooSoon is how long an unrequested question ignores keys, since the user may have typed them before seeing it.
const tooSoon = 700 * time.Millisecond

func (m *model) askingKey(name string) tea.Cmd {
	q := m.asking[0]
	yes := name == "y" || name == "Y" || name == "shift+y"
	no := name == "n" || name == "N" || name == "shift+n" || name == "esc" || name == "enter" && q.enterMeansNo
	switch {
	case m.Now().Sub(q.since) < tooSoon:
		return nil
	case !yes && !no:
		m.hint = "y or n"
		return nil
	}
	m.asking = m.asking[1:]
	if name == "esc" && q.enterMeansNo {
		return q.giveUp(m)
	}
	return q.onAnswer(m, yes)
}
