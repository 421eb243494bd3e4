package bt

import (
	"reflect"
	"strings"
)

// Setting is a port of a tree that takes a number, yes or no, or one of several words, with the place of its value in
// Tree.Source. Nodes that are written once and used several times share it.
type Setting struct {
	Node  int32  `json:"node" doc:"The first node that has it."`
	Port  string `json:"port"`
	Doc   string `json:"doc" doc:"What it is for."`
	Value string `json:"value" doc:"In force in the run."` // unless Key has it
	// a key of the main tree that gives the value; "": the file does
	Key    string   `json:"-"`
	OneOf  []string `json:"one_of" doc:"The words that it takes; of a number, none."`
	Whole  bool     `json:"whole" doc:"It takes whole numbers only."`
	Least  *float64 `json:"least,omitempty"`
	Most   *float64 `json:"most,omitempty"`
	From   int      `json:"from" doc:"Where its value begins in the text of the tree, in bytes."`
	To     int      `json:"to" doc:"Where it ends."`
	Absent bool     `json:"absent" doc:"It is not written down: with its name, as an attribute, it goes in there."`
}

// Settings are the settings of a tree, in the order of its nodes.
func (t *Tree) Settings() (all []Setting) {
	text := strings.TrimPrefix(string(t.Source), "\ufeff")
	src := &source{file: t.File, text: text}
	root := src.parse()
	if root == nil {
		return nil
	}
	at := map[position]*element{}
	var index func(e *element)
	index = func(e *element) {
		at[src.positionOf(e.at)] = e
		for _, kid := range e.kids {
			index(kid)
		}
	}
	index(root)
	keys := map[int32]string{}
	for name, slot := range t.rootKeys {
		keys[slot] = name
	}
	for i := range t.nodes {
		n := &t.nodes[i]
		place := position{int(n.line), int(n.col)}
		e := at[place]
		if e == nil {
			continue // its setting is listed already, with another node
		}
		delete(at, place)
		for _, s := range t.nodeSettings(int32(i), keys) {
			s.locate(e, text, len(t.Source)-len(text))
			all = append(all, s)
		}
	}
	return all
}

// nodeSettings are the settings of a node, without their places.
func (t *Tree) nodeSettings(id int32, keys map[int32]string) (all []Setting) {
	n := &t.nodes[id]
	add := func(s Setting, slot int32) {
		s.Node = id
		if slot >= 0 {
			s.Value, s.Key = "", keys[slot]
			if s.Key == "" {
				return // it is computed in the tree
			}
		}
		all = append(all, s)
	}
	for k, v := range n.ports {
		if p := n.spec.ports[k]; p.want == wantInt && v.text != "" {
			add(Setting{Port: p.name, Doc: p.doc, Value: v.text, Whole: true, Least: new(float64(p.least))}, v.slot)
		}
	}
	if n.bind == nil {
		return all
	}
	for _, w := range n.bind.in {
		s := Setting{Port: w.Name, Doc: w.Doc, OneOf: w.OneOf}
		if len(w.Between) > 0 {
			s.Least = &w.Between[0]
		}
		if len(w.Between) > 1 {
			s.Most = &w.Between[1]
		}
		switch w.Type.Kind() {
		case reflect.Int, reflect.Int64:
			s.Whole = true
		case reflect.Bool:
			s.OneOf = []string{"true", "false"}
		case reflect.Float64:
		case reflect.String:
			if s.OneOf == nil {
				continue
			}
		default:
			continue
		}
		if w.literal.IsValid() {
			s.Value = textOf(w.literal.Interface())
		} else if w.slot < 0 {
			continue // nobody gives it, and it has no default
		}
		add(s, w.slot)
	}
	return all
}

// locate sets where the value is, or would be, in its element. shift is how many bytes of the file come before text.
func (s *Setting) locate(e *element, text string, shift int) {
	if a, there := e.attr(s.Port); there {
		s.From = a.open + shift
		s.To = s.From + strings.IndexByte(text[a.open:], text[a.open-1]) // up to its own quotation mark
		return
	}
	s.From = e.at + len("<") + len(e.name) + shift
	s.To, s.Absent = s.From, true
}
