package bt

import "strings"

// Mark is what a picture shows beside a node: its last status and a note.
type Mark struct {
	Status  Status
	Note    string
	Changed bool // since the picture before
}

// Picture draws a tree as text, a line a node. marks is nil for the bare structure with the ports that the file gives as
// constants; else it has one Mark a node, and nodes that never ran show none.
func (t *Tree) Picture(marks []Mark) string {
	b := &strings.Builder{}
	b.WriteString(t.ID + "\n")
	t.draw(b, 0, "", true, marks)
	return b.String()
}

var statusGlyphs = [...]string{Idle: "■", Running: "…", Success: "✓", Failure: "✗", Skipped: "⊘"}

func (t *Tree) draw(b *strings.Builder, i int32, indent string, last bool, marks []Mark) {
	n := t.Node(i)
	branch, deeper := "├─ ", "│  "
	if last {
		branch, deeper = "└─ ", "   "
	}
	b.WriteString(indent + branch + n.Glyph + " " + n.Type)
	if n.Name != "" && n.Name != n.Type {
		b.WriteString(" “" + oneLine(n.Name) + "”")
	}
	if marks == nil {
		t.drawPorts(b, i)
	} else if m := marks[i]; m.Status != Idle || m.Note != "" {
		b.WriteString("  " + statusGlyphs[m.Status])
		if m.Note != "" {
			b.WriteString(" " + oneLine(m.Note))
		}
	}
	b.WriteByte('\n')
	kids := t.nodes[i].kids
	for k, kid := range kids {
		t.draw(b, kid, indent+deeper, k == len(kids)-1, marks)
	}
}

// drawPorts shows what is decided in the file: numbers, conditions, and the constants of leaves.
func (t *Tree) drawPorts(b *strings.Builder, i int32) {
	n := &t.nodes[i]
	show := func(port, text string) { b.WriteString(" " + port + "=" + shortened(oneLine(text))) }
	code := func(name string, s *script) {
		if s != nil {
			b.WriteString(" " + name + "‹" + oneLine(s.text) + "›")
		}
	}
	code("", n.code)
	for k, p := range n.ports {
		if p.text != "" && n.spec.ports[k].want != wantScript {
			show(p.port, p.text)
		}
	}
	if n.bind != nil {
		for _, w := range n.bind.in {
			if w.slot < 0 && !w.literal.IsZero() {
				show(w.port, textOf(w.literal.Interface()))
			}
		}
	}
	if g := n.guard; g != nil {
		code("failureIf", g.failureIf)
		code("successIf", g.successIf)
		code("skipIf", g.skipIf)
		code("while", g.while)
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// shortened is a constant as far as a picture has room for it.
func shortened(text string) string {
	const room = 60
	if runes := []rune(text); len(runes) > room {
		return string(runes[:room-1]) + "…"
	}
	return text
}

// Marks follows the events of a run, so that a picture can show where it is. A node keeps its last status until it is
// ticked again.
type Marks struct{ All []Mark }

// NewMarks is for a run of t that did not begin.
func NewMarks(t *Tree) *Marks { return &Marks{All: make([]Mark, len(t.nodes))} }

// Fresh forgets which marks changed: call it before each step.
func (m *Marks) Fresh() {
	for i := range m.All {
		m.All[i].Changed = false
	}
}

// On takes one event.
func (m *Marks) On(e Event) {
	switch e.Kind {
	case Ticked:
		m.All[e.Node] = Mark{Status: e.Status, Note: e.Note, Changed: true}
	case Halted:
		m.All[e.Node] = Mark{Note: "halted", Changed: true}
	}
}
