package bt

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// Models writes a <TreeNodesModel> with every node that BT.CPP does not know, so that Groot2 shows it with its ports.
func (r *Leaves) Models(w io.Writer) error {
	b := &strings.Builder{}
	b.WriteString("<root BTCPP_format=\"4\">\n  <TreeNodesModel>\n")
	for _, sp := range specs {
		if sp.ours {
			writeModel(b, sp.category, sp.name, sp.doc, func() {
				for _, p := range sp.ports {
					tag, typ := "input_port", "int"
					if p.want == wantOut || p.want == wantOutBool {
						tag = "output_port"
					}
					if p.want == wantOutBool || p.want == wantKey {
						typ = "bool"
					}
					writePort(b, tag, p.name, typ, nil, p.doc)
				}
			})
		}
	}
	for _, name := range keysOf(r.byName) {
		l := r.byName[name]
		category := "Action"
		if l.class == checkLeaf {
			category = "Condition"
		}
		writeModel(b, category, l.Name, l.Doc, func() {
			outs := map[string]bool{}
			for _, p := range l.out {
				outs[p.Name] = true
			}
			for _, p := range l.in {
				tag := "input_port"
				if outs[p.Name] {
					tag = "inout_port"
					delete(outs, p.Name)
				}
				var def *string
				if p.HasDef {
					def = &p.Default
				}
				writePort(b, tag, p.Name, typeName(p.Type), def, p.Doc)
			}
			for _, p := range l.out {
				if outs[p.Name] {
					writePort(b, "output_port", p.Name, typeName(p.Type), nil, p.Doc)
				}
			}
		})
	}
	b.WriteString("  </TreeNodesModel>\n</root>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func writeModel(b *strings.Builder, category, name, doc string, ports func()) {
	fmt.Fprintf(b, "    <%s ID=%s>\n", category, quoted(name))
	if doc != "" {
		fmt.Fprintf(b, "      <description>%s</description>\n", escaped(doc))
	}
	ports()
	fmt.Fprintf(b, "    </%s>\n", category)
}

func writePort(b *strings.Builder, tag, name, typ string, def *string, doc string) {
	fmt.Fprintf(b, "      <%s name=%s type=%s", tag, quoted(name), quoted(typ))
	if def != nil {
		fmt.Fprintf(b, " default=%s", quoted(*def))
	}
	fmt.Fprintf(b, ">%s</%s>\n", escaped(doc), tag)
}

func quoted(s string) string { return `"` + escaped(s) + `"` }

func escaped(s string) string {
	b := &strings.Builder{}
	if err := xml.EscapeText(b, []byte(s)); err != nil {
		return ""
	}
	return b.String()
}
