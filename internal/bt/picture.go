package bt

import (
	"strings"
)

// Mark is what a picture shows beside a node: its last status and a note.
type Mark struct {
	Status  Status
	Note    string
	Changed bool // since the picture before
}

// Picture draws a tree as text, a line a node. marks is nil for the bare structure; else it has one Mark a node, and
// nodes that never ran show none.
func (t *Tree) Picture(marks []Mark) string {
	b := &strings.Builder{}
	b.WriteString(t.ID + "\n")
	t.draw(b, 0, "", true, marks)
	return b.String()
}

var statusGlyphs = [...]string{Idle: "", Running: "…", Success: "✓", Failure: "✗", Skipped: "⊘"}

func (t *Tree) draw(b *strings.Builder, i int32, indent string, last bool, marks []Mark) {
	n := t.Node(i)
	branch, deeper := "├─ ", "│  "
	if last {
		branch, deeper = "└─ ", "   "
	}
	b.WriteString(indent + branch + n.Glyph + " " + n.Type)
	if n.Name != "" && n.Name != n.Type {
		b.WriteString(" “" + n.Name + "”")
	}
	if marks == nil {
		t.drawPorts(b, i)
	} else if m := marks[i]; m.Status != Idle {
		b.WriteString("  " + statusGlyphs[m.Status])
		if m.Note != "" {
			b.WriteString(" " + m.Note)
		}
	}
	b.WriteByte('\n')
	kids := t.nodes[i].kids
	for k, kid := range kids {
		t.draw(b, kid, indent+deeper, k == len(kids)-1, marks)
	}
}

// drawPorts shows what is decided in the file: numbers, conditions and the constants of leaves.
func (t *Tree) drawPorts(b *strings.Builder, i int32) {
	n := &t.nodes[i]
	for _, p := range n.ports {
		switch {
		case p.slot >= 0 && p.key != "":
			b.WriteString(" " + p.port + "={" + p.key + "}")
		case p.text != "":
			b.WriteString(" " + p.port + "=" + p.text)
		case n.code == nil && n.kind != kLoop && n.kind != kRunOnce:
			b.WriteString(" " + p.port + "=" + textOf(float64(p.n)))
		case n.kind == kLoop && p.port == "max":
			b.WriteString(" max=" + textOf(float64(p.n)))
		}
	}
	if n.code != nil {
		b.WriteString(" ‹" + n.code.text + "›")
	}
	if n.bind != nil {
		for _, w := range n.bind.in {
			if w.slot < 0 && w.literal.IsValid() && !w.literal.IsZero() {
				b.WriteString(" " + w.port + "=" + textOf(w.literal.Interface()))
			}
		}
	}
	if g := n.guard; g != nil {
		for _, s := range []struct {
			name string
			code *script
		}{{"failureIf", g.failureIf}, {"successIf", g.successIf}, {"skipIf", g.skipIf}, {"while", g.while}} {
			if s.code != nil {
				b.WriteString(" " + s.name + "‹" + s.code.text + "›")
			}
		}
	}
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
