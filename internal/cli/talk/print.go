package talk

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"sibyl/internal/render"
	"sibyl/web/src/words/sentences"
)

// print queues lines for the scrollback, above the live lines, and begins to print them.
func (m *model) print(lines ...string) tea.Cmd {
	m.queue = append(m.queue, lines...)
	return m.flush()
}

// flush prints the next queued lines, unless a print is pending. It prints only as many as fit on the screen together
// with the live lines, since the renderer makes room below those.
func (m *model) flush() tea.Cmd {
	if !m.ready || m.printing || len(m.queue) == 0 {
		return nil
	}
	n := min(len(m.queue), m.freeRows())
	chunk := strings.Join(m.queue[:n], "\n")
	if chunk == "" { // tea.Println drops an empty text
		chunk = " "
	}
	m.queue = m.queue[n:]
	m.printing = true
	return tea.Sequence(tea.Println(chunk), func() tea.Msg { return printedMsg{} })
}

// freeRows returns the number of screen rows that the live lines leave free.
func (m *model) freeRows() int { return max(1, m.Height/4) }

// say prints a text as a note.
func (m *model) say(line string) tea.Cmd { return m.print(m.note(line)...) }

// tell prints a text about a run as a note, in the language of the last one.
func (m *model) tell(format string) tea.Cmd { return m.say(sentences.Format(m.language, format)) }

// fail prints an error as a note.
func (m *model) fail(err error) tea.Cmd { return m.say(err.Error()) }

// printLater runs a function that may block in the background, and prints its lines as notes, or only its error.
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

// note lays out a text that is no answer: wrapped, faint and marked with a dot.
func (m *model) note(text string) (lines []string) {
	if m.Reword != nil {
		text = m.Reword(text)
	}
	for i, line := range wrapped(render.Clean(text), m.lineWidth()-2) {
		mark := "  "
		if i == 0 {
			mark = "· "
		}
		lines = append(lines, m.faint(mark+line))
	}
	return lines
}

// question lays out the user's words behind the prompt; of long ones only the first rows.
func (m *model) question(prompt, words string) (lines []string) {
	const most = 12 // rows; the user knows the rest
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

// wrapped breaks a text into lines of at most width columns (at least 8), between words where possible.
func wrapped(text string, width int) []string {
	return strings.Split(ansi.Wrap(strings.ReplaceAll(text, "\t", "    "), max(8, width), ""), "\n")
}

// lineWidth is the width of lines: without the last column, since filling it moves the cursor in some terminals.
func (m *model) lineWidth() int { return max(10, m.Width-1) }

// besideFrom is the width of the terminal from which sources have a column to the right of the answer.
const besideFrom = 110

// The maximum widths of an answer and of its side column, and the gap between them.
const (
	mostAnswer = 100
	mostBeside = 48
	between    = 3
)

// sideWidth returns the width of the column to the right of the answer; 0: there is none.
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

// layout returns the options for rendering Markdown at this width.
func (m *model) layout(width int) render.Options {
	o := render.Options{Width: width, Colour: m.colour, Links: m.links}
	if m.links {
		o.Cite = render.Citer(m.env, m.With.Code, m.With.Vault)
	}
	return o
}

// sources lays out the list of sources, for the side column if there is one; nil without sources.
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

// columns puts lines into the column to the right of an answer, or below it if there is none.
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
