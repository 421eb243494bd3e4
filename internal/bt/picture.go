package bt

import "strings"

// Picture draws a tree as text, one node a line, with the ports that are constants in the file.
func (t *Tree) Picture() string {
	b := &strings.Builder{}
	b.WriteString(t.ID + "\n")
	t.draw(b, 0, "", true)
	return b.String()
}

func (t *Tree) draw(b *strings.Builder, i int32, indent string, last bool) {
	n := t.Node(i)
	branch, deeper := "├─ ", "│  "
	if last {
		branch, deeper = "└─ ", "   "
	}
	b.WriteString(indent + branch + n.Glyph + " " + n.Type)
	if n.Name != "" && n.Name != n.Type {
		b.WriteString(" “" + oneLine(n.Name) + "”")
	}
	for _, port := range t.Says(i) {
		b.WriteString(" " + port)
	}
	b.WriteByte('\n')
	kids := t.nodes[i].kids
	for k, kid := range kids {
		t.draw(b, kid, indent+deeper, k == len(kids)-1)
	}
}

// Says lists what the file sets at node id, in texts of one line: numbers, conditions, and the constants of leaves.
func (t *Tree) Says(id int32) (all []string) {
	n := &t.nodes[id]
	show := func(port, text string) { all = append(all, port+"="+shortened(oneLine(text))) }
	code := func(name string, s *script) {
		if s != nil {
			all = append(all, name+"‹"+oneLine(s.text)+"›")
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
			if w.slot < 0 && w.literal.IsValid() && !w.literal.IsZero() {
				show(w.Name, textOf(w.literal.Interface()))
			}
		}
	}
	if g := n.guard; g != nil {
		for _, which := range []int{guardFailureIf, guardSuccessIf, guardSkipIf, guardWhile} {
			code(guardNames[which][1:], g[which])
		}
	}
	return all
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// shortened is a constant, shortened for a picture.
func shortened(text string) string {
	const room = 60
	if runes := []rune(text); len(runes) > room {
		return string(runes[:room-1]) + "…"
	}
	return text
}
