package talk

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"sibyl/internal/render"
)

// print puts lines into the scrollback, above what lives.
func (m *model) print(lines ...string) tea.Cmd {
	m.queue = append(m.queue, lines...)
	return m.flush()
}

// flush prints the next lines. The renderer makes room below what lives, so that lines and what lives must fit on the
// screen together.
func (m *model) flush() tea.Cmd {
	if !m.ready || m.printing || len(m.queue) == 0 {
		return nil
	}
	n := min(len(m.queue), m.freeRows())
	chunk := strings.Join(m.queue[:n], "\n")
	if chunk == "" { // which would be left out
		chunk = " "
	}
	m.queue = m.queue[n:]
	m.printing = true
	return tea.Sequence(tea.Println(chunk), func() tea.Msg { return printedMsg{} })
}

// freeRows is how many rows of the screen what lives leaves free.
func (m *model) freeRows() int { return max(1, m.Height/4) }

// say prints a line beside the answers.
func (m *model) say(line string) tea.Cmd { return m.print(m.note(line)...) }

// fail prints what went wrong.
func (m *model) fail(err error) tea.Cmd { return m.say(err.Error()) }

// printLater prints what a function gives that may wait.
func (m *model) printLater(do func() ([]string, error)) tea.Cmd {
	return func() tea.Msg {
		lines, err := do()
		var all []string
		for _, line := range lines {
			all = append(all, m.note(line)...)
		}
		return toldMsg{all, err}
	}
}

// note lays out a line beside the answers.
func (m *model) note(text string) (lines []string) {
	for i, line := range wrapped(render.Clean(text), m.lineWidth()-2) {
		mark := "  "
		if i == 0 {
			mark = "· "
		}
		lines = append(lines, m.faint(mark+line))
	}
	return lines
}

// question lays out what the person said, behind the prompt at which they did.
func (m *model) question(prompt, words string) (lines []string) {
	const most = 12 // rows; who typed more knows it
	all := wrapped(render.Clean(strings.TrimSpace(words)), m.lineWidth()-ansi.StringWidth(prompt))
	for i, line := range all {
		if i == most && len(all) > most+1 {
			return append(lines, m.faint("  … "+itoa(len(all)-most)+" more lines"))
		}
		mark := "  "
		if i == 0 {
			mark = prompt
		}
		lines = append(lines, m.bold(mark+line))
	}
	return lines
}

// wrapped breaks a text between words.
func wrapped(text string, width int) []string {
	return strings.Split(ansi.Wrap(strings.ReplaceAll(text, "\t", "    "), max(8, width), ""), "\n")
}

// lineWidth is the width that lines have: a line that fills the last column moves the cursor in some terminals.
func (m *model) lineWidth() int { return max(10, m.Width-1) }

// besideFrom is the width from which on sources stand beside the answer.
const besideFrom = 110

// Widths of an answer and of what stands beside it.
const (
	mostAnswer = 100
	mostBeside = 48
	between    = 3
)

// sideWidth is the width of what stands beside the answer; 0: nothing does.
func (m *model) sideWidth() int {
	if m.Width < besideFrom {
		return 0
	}
	return min(mostBeside, m.lineWidth()/3)
}

func (m *model) answerWidth() int {
	if b := m.sideWidth(); b > 0 {
		return min(mostAnswer, m.lineWidth()-b-between)
	}
	return min(mostAnswer, m.lineWidth())
}

// layout says how Markdown is laid out.
func (m *model) layout(width int) render.Options {
	o := render.Options{Width: width, Colour: m.colour, Links: m.links}
	if m.links {
		o.Cite = render.Citer(m.env, m.With.Code, m.With.Vault)
	}
	return o
}

// sources lays the sources of an answer out, as wide as there is room for them.
func (m *model) sources(cites []string) []string {
	if len(cites) == 0 {
		return nil
	}
	width := m.sideWidth()
	if width == 0 {
		width = m.answerWidth()
	}
	var b strings.Builder
	for i, cite := range cites {
		b.WriteString(itoa(i+1) + ". `" + cite + "`\n")
	}
	return append([]string{m.bold("Sources")}, render.Lines(b.String(), m.layout(width))...)
}

// columns puts lines beside an answer, or below it where there is no room.
func (m *model) columns(answer, side []string) []string {
	switch {
	case len(side) == 0:
		return answer
	case m.sideWidth() == 0:
		return append(append(answer, ""), side...)
	}
	width := m.answerWidth()
	lines := make([]string, max(len(answer), len(side)))
	for i := range lines {
		if i < len(answer) {
			lines[i] = answer[i]
		}
		if i < len(side) {
			pad := strings.Repeat(" ", max(0, width-ansi.StringWidth(lines[i])))
			lines[i] += pad + " " + m.faint("│") + " " + side[i]
		}
	}
	return lines
}

func (m *model) faint(text string) string { return m.paint(text, "2") }

func (m *model) bold(text string) string { return m.paint(text, "1") }

func (m *model) paint(text, code string) string {
	if !m.colour || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[m"
}

func itoa(n int) string { return strconv.Itoa(n) }
