package talk

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"sibyl/internal/render"
)

// item is a choice: its id, and the line that shows it.
type item struct{ id, line string }

// itemsOf returns an item for each name, which is both id and line.
func itemsOf(names []string) (items []item) {
	for _, name := range names {
		items = append(items, item{name, name})
	}
	return items
}

// pickMsg opens a picker, or reports the error that prevents it.
type pickMsg struct {
	title  string
	items  []item
	chosen func(m *model, id string) tea.Cmd
	err    error
}

// picker is a list to choose from, filtered by what is typed.
type picker struct {
	pickMsg
	typed string
	at    int
}

func (m *model) pick(msg pickMsg) tea.Cmd {
	if msg.err != nil {
		return m.fail(msg.err)
	}
	m.picking = &picker{pickMsg: msg}
	return nil
}

// matching returns the items whose lines contain what is typed, ignoring case.
func (p *picker) matching() (all []item) {
	for _, i := range p.items {
		if strings.Contains(strings.ToLower(i.line), strings.ToLower(p.typed)) {
			all = append(all, i)
		}
	}
	return all
}

func (m *model) pickKey(k tea.KeyPressMsg) tea.Cmd {
	p := m.picking
	all := p.matching()
	switch name := k.String(); {
	case name == "esc":
		m.picking = nil
	case name == "up" || name == "ctrl+p" || name == "shift+tab":
		p.at = max(0, p.at-1)
	case name == "down" || name == "ctrl+n" || name == "tab":
		p.at = max(0, min(len(all)-1, p.at+1))
	case name == "enter" && len(all) > 0:
		m.picking = nil
		return p.chosen(m, all[p.at].id)
	case name == "backspace":
		if r := []rune(p.typed); len(r) > 0 {
			p.typed, p.at = string(r[:len(r)-1]), 0
		}
	case k.Text != "":
		p.typed, p.at = p.typed+k.Text, 0
	}
	return nil
}

// lines lays out the title and as much of the list as there is room for, at most ten items, around the chosen one.
func (p *picker) lines(m *model) []string {
	all := p.matching()
	room := max(1, min(10, m.Height-m.freeRows()-4))
	lines := []string{m.fitLine(promptMark + m.bold(p.title) + " " + render.Clean(p.typed) +
		m.faint("  (type to filter; Enter selects, Esc cancels)"))}
	from := max(0, min(p.at-room/2, len(all)-room))
	for i := from; i < min(len(all), from+room); i++ {
		line := m.fitLine("  " + strings.Join(strings.Fields(render.Clean(all[i].line)), " "))
		if i == p.at {
			line = m.bold("›" + strings.TrimPrefix(line, " "))
		}
		lines = append(lines, line)
	}
	if rest := len(all) - room; rest > 0 {
		lines = append(lines, m.faint(fmt.Sprintf("  %d of %d", p.at+1, len(all))))
	}
	if len(all) == 0 {
		lines = append(lines, m.faint("  no match"))
	}
	return lines
}
