package talk

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"sibyl/internal/render"
)

// View draws the live lines (answer in progress, input, menu, hint), and keeps their widths and the cursor in m.frame.
func (m *model) View() tea.View {
	below := m.linesBelow()
	input := m.inputLines()
	height := m.Height - m.freeRows() - len(below) - len(input)
	above := m.answerLines(max(0, height))
	if over := len(above) + len(input) + len(below) - max(1, m.Height-m.freeRows()); over > 0 { // a small terminal
		below = below[:len(below)-min(over, len(below))]
		above = above[min(len(above), max(0, len(above)+len(input)+len(below)-max(1, m.Height-m.freeRows()))):]
	}
	lines := append(append(above[:len(above):len(above)], input...), below...)
	for i := range lines {
		lines[i] = m.fitLine(lines[i])
	}
	v := tea.NewView(strings.Join(lines, "\n"))
	m.frame = frame{width: m.Width}
	for _, line := range lines {
		m.frame.widths = append(m.frame.widths, ansi.StringWidth(line))
	}
	if c := m.cursor(); c != nil {
		c.Y += len(above)
		m.frame.x, m.frame.y = c.X, c.Y
		v.Cursor = c
	}
	return v
}

// inputLines lays out the input, or the picker, question or search that is open in its place.
func (m *model) inputLines() []string {
	switch {
	case m.picking != nil:
		return m.picking.lines(m)
	case len(m.asking) > 0:
		return m.askingLines()
	case m.searching != nil:
		return []string{m.fitLine(fmt.Sprintf("%sfind ‘%s’: %s", promptMark, m.searching.text,
			strings.Join(strings.Fields(render.Clean(m.foundEntry())), " ")))}
	}
	return strings.Split(strings.TrimRight(m.input.View(), "\n"), "\n")
}

func (m *model) cursor() *tea.Cursor {
	if m.picking != nil || len(m.asking) > 0 || m.searching != nil {
		return nil
	}
	return m.input.Cursor()
}

// askingLines lays out the first open question, with its keys.
func (m *model) askingLines() (lines []string) {
	const most = 10 // rows of what it is about
	q := m.asking[0]
	for _, line := range wrapped(render.Clean(q.words), m.lineWidth()-2) {
		lines = append(lines, "  "+line)
	}
	if len(lines) > most {
		lines = append(lines[:most], m.faint("  …"))
	}
	keys := "y: yes, n: no"
	if q.enterMeansNo {
		keys = "[y/N]"
	}
	title := ansi.Truncate(render.Clean(q.title), 3*m.lineWidth()-2*len(keys), "…") // the keys stay visible
	asks := wrapped(promptMark+title+" "+keys, m.lineWidth())
	for i := range asks {
		asks[i] = m.bold(asks[i])
	}
	return append(lines, asks...)
}

// answerLines lays out the answer in progress: progress, the end of its text, status; nil without an answer.
func (m *model) answerLines(room int) []string {
	l := m.live
	if l == nil {
		return nil
	}
	status := m.fitLine(m.faint(l.status(m.Now(), m.lineWidth()+1)))
	if m.sideWidth() > 0 && l.text.Len() > 0 {
		text, over := l.lastLines(max(0, room-2))
		text = m.columns(text, m.progressLines(len(l.progress), max(3, room-2), m.sideWidth()))
		return append(m.withHiddenCount(text, over), status)
	}
	happened := m.progressLines(min(3, len(l.progress)), 3, m.lineWidth())
	if l.text.Len() > 0 {
		happened = nil
	}
	text, over := l.lastLines(max(0, room-2-len(happened)))
	return append(m.withHiddenCount(append(happened, text...), over), status)
}

// withHiddenCount puts above lines how many more there are, if there are any.
func (m *model) withHiddenCount(lines []string, above int) []string {
	if above == 0 {
		return lines
	}
	return append([]string{m.faint(fmt.Sprintf("… %d lines above, shown in full at the end", above))}, lines...)
}

// progressLines lays out what was done last, each in one line of at most width columns, at most rows in all.
func (m *model) progressLines(most, rows, width int) (lines []string) {
	l := m.live
	for _, line := range l.progress[len(l.progress)-min(most, len(l.progress)):] {
		lines = append(lines, m.faint(ansi.Truncate("· "+strings.TrimSpace(line), width, "…")))
	}
	return lines[max(0, len(lines)-rows):]
}

// linesBelow lays out the lines below the input: the menu, the size of pasted text, and the hint or else the foot line.
func (m *model) linesBelow() (lines []string) {
	if m.menu != nil {
		lines = append(lines, m.menu.lines(m)...)
	}
	if len(m.pasted) > 0 {
		lines = append(lines, m.fitLine(m.faint(fmt.Sprintf("  with the pasted text: %s (Ctrl-X removes it)",
			m.pastedSize()))))
	}
	foot := m.hint
	if foot == "" {
		foot = m.footLine()
	}
	return append(lines, m.fitLine(m.faint("  "+foot)))
}

// footLine says what the next question uses (model, folders, session), or which open question the input answers.
func (m *model) footLine() string {
	to := m.addressee()
	switch {
	case m.missing != nil:
		return m.missing.flag.About + " · Tab completes, Esc cancels"
	case m.open != "":
		return "your words answer " + to.Title + " · Esc returns to " + m.assistant(m.To).Title
	}
	parts := []string{render.Clean(cmp.Or(m.With.Model, m.lastModel, "the default model"))}
	if to.Folders {
		parts = append(parts, m.folder("code", m.With.Code), m.folder("notes", m.With.Vault))
	}
	if m.live != nil {
		parts = append(parts, "Ctrl-C stops")
	} else if session := m.Sessions[m.To]; session != "" {
		parts = append(parts, "session "+session)
	}
	return strings.Join(parts, " · ")
}

// folder says in a few words which folder is searched, with ~ as home.
func (m *model) folder(what, dir string) string {
	if dir == "" {
		return "no " + what
	}
	if home := m.env("HOME"); home != "" {
		if below, err := filepath.Rel(home, dir); err == nil && below != "." && filepath.IsLocal(below) {
			dir = filepath.Join("~", below)
		}
	}
	return what + " " + render.Clean(dir)
}

// fitLine cuts a line to the line width.
func (m *model) fitLine(line string) string { return ansi.Truncate(line, m.lineWidth(), "…") }
