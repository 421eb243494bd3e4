package bt

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// compiler turns elements into nodes and keys into slots.
type compiler struct {
	src   *source
	reg   *Registry
	trees map[string]*treeDef
	t     *Tree
	uses  []use
}

// scope is the keys of one subtree instance.
type scope struct {
	keys   map[string]int32
	parent *scope
	root   *scope
	auto   bool // _autoremap
	c      *compiler
}

func (s *scope) slot(key string) int32 {
	if rest, isRoot := strings.CutPrefix(key, "@"); isRoot {
		return s.root.slot(rest)
	}
	if i, ok := s.keys[key]; ok {
		return i
	}
	if s.auto && !strings.HasPrefix(key, "_") {
		i := s.parent.slot(key)
		s.keys[key] = i
		return i
	}
	i := int32(len(s.c.t.slots))
	s.c.t.slots = append(s.c.t.slots, slot{name: key})
	s.keys[key] = i
	return i
}

type role uint8

const (
	reads role = iota
	readsIfSet
	writes
)

// use is one place where a key is read or written; at is its offset, -1 outside the file.
type use struct {
	slot int32
	node int32
	role role
	typ  reflect.Type
	port string
	at   int
}

func (c *compiler) given(root *scope, ports []Port) {
	for _, p := range ports {
		slot := root.slot(p.Name)
		c.t.slots[slot].typ = p.Type
		c.uses = append(c.uses, use{slot: slot, node: -1, role: writes, typ: p.Type, port: p.Name, at: -1})
	}
}

func (c *compiler) wanted(root *scope, ports []Port) {
	for _, p := range ports {
		how := reads
		if p.Optional {
			how = readsIfSet
		}
		c.uses = append(c.uses, use{slot: root.slot(p.Name), node: -1, role: how, typ: p.Type, port: p.Name, at: -1})
	}
}

// build adds the node of el and all below it, and returns its index; -1 after a problem.
func (c *compiler) build(el *element, sc *scope, parent int32, path string, stack []string) int32 {
	typ, at := el.name, el.at
	if id, ok := el.attr("ID"); ok && typ != "SubTree" {
		switch typ {
		case "Action", "Condition", "Control", "Decorator":
			typ = id.value
		}
	}
	i := int32(len(c.t.nodes))
	n := node{parent: parent, path: path}
	n.line, n.col = c.src.place(at)
	if parent >= 0 {
		n.depth = c.t.nodes[parent].depth + 1
	}
	if name, ok := el.attr("name"); ok {
		n.name = name.value
	}
	c.t.nodes = append(c.t.nodes, n)
	switch {
	case typ == "SubTree":
		c.subTree(el, sc, i, stack)
	case kindByName[typ] != nil:
		c.kernelNode(el, kindByName[typ], sc, i, stack)
	default:
		leaf, ok := c.reg.leaves[typ]
		if !ok {
			known := append(keysOf(c.reg.leaves), keysOf(kindByName)...)
			hint := didYouMean(typ, known)
			if hint == "" {
				hint = "‘sibyl tree models’ lists the nodes there are"
			}
			c.src.problem(at, hint, "there is no node <%s>", typ)
			return -1
		}
		c.leafNode(el, &leaf, sc, i)
	}
	return i
}

// kids builds the children and gives each a path of its own.
func (c *compiler) kids(el *element, sc *scope, i int32, stack []string) {
	seen := map[string]int{}
	var kids []int32
	for _, k := range el.kids {
		label := k.name
		if id, ok := k.attr("ID"); ok {
			label = id.value
		}
		if name, ok := k.attr("name"); ok {
			label = name.value
		}
		seen[label]++
		if seen[label] > 1 {
			label += "#" + strconv.Itoa(seen[label])
		}
		if kid := c.build(k, sc, i, c.t.nodes[i].path+"/"+label, stack); kid >= 0 {
			kids = append(kids, kid)
		}
	}
	c.t.nodes[i].kids = kids
}

func (c *compiler) subTree(el *element, sc *scope, i int32, stack []string) {
	c.t.nodes[i].kind = kSubTree
	id, ok := el.attr("ID")
	if !ok {
		c.src.problem(el.at, `write <SubTree ID="Name"/>`, "a SubTree without ID")
		return
	}
	def := c.trees[id.value]
	if def == nil {
		c.src.problem(id.at, didYouMean(id.value, keysOf(c.trees)), "there is no tree %s", id.value)
		return
	}
	for _, up := range stack {
		if up == id.value {
			c.src.problem(el.at, "a tree can't contain itself: use Repeat or Loop", "tree %s contains itself", id.value)
			return
		}
	}
	def.used = true
	c.t.nodes[i].tree = id.value
	inner := &scope{keys: map[string]int32{}, parent: sc, root: sc.root, c: c}
	for _, a := range el.attrs {
		switch {
		case a.name == "ID" || a.name == "name":
		case a.name == "_autoremap":
			inner.auto = a.value == "true" || a.value == "1"
		case c.guardAttr(a, sc, i):
		default:
			c.remap(a, sc, inner, i)
		}
	}
	body := c.build(def.body, inner, i, c.t.nodes[i].path+"/"+label(def.body), append(stack[:len(stack):len(stack)], id.value))
	if body >= 0 {
		c.t.nodes[i].kids = []int32{body}
	}
}

func label(el *element) string {
	for _, name := range []string{"name", "ID"} {
		if a, ok := el.attr(name); ok {
			return a.value
		}
	}
	return el.name
}

// remap connects a port of a subtree: to a key outside, or to a literal of its own.
func (c *compiler) remap(a attribute, outer, inner *scope, i int32) {
	if key, isKey := keyOf(a); isKey {
		inner.keys[a.name] = outer.slot(key)
		return
	}
	slot := inner.slot(a.name)
	c.t.slots[slot].initial = untyped(a.value)
	c.uses = append(c.uses, use{slot: slot, node: i, role: writes, port: a.name, at: a.at})
}

// keyOf reads "{key}"; "{=}" is a key called like the port.
func keyOf(a attribute) (string, bool) {
	v := a.value
	if len(v) < 3 || v[0] != '{' || v[len(v)-1] != '}' {
		return "", false
	}
	if v == "{=}" {
		return a.name, true
	}
	return v[1 : len(v)-1], true
}

func (c *compiler) kernelNode(el *element, sp *spec, sc *scope, i int32, stack []string) {
	n := &c.t.nodes[i]
	n.kind, n.spec, n.elseStatus = sp.kind, sp, Failure
	n.ports = make([]value, len(sp.ports))
	for k, p := range sp.ports {
		n.ports[k] = value{port: p.name, slot: -1}
		a, ok := el.attr(p.name)
		switch {
		case !ok && p.def == "":
			c.src.problem(el.at, fmt.Sprintf("write %s=…", p.name), "%s wants port %s", sp.name, p.name)
			continue
		case !ok:
			a = attribute{name: p.name, value: strings.TrimSpace(p.def), at: -1}
		}
		c.kernelPort(p, a, &c.t.nodes[i].ports[k], sc, i)
	}
	for _, a := range el.attrs {
		if a.name == "name" || a.name == "ID" || hasPort(sp, a.name) || c.guardAttr(a, sc, i) {
			continue
		}
		c.src.problem(a.at, didYouMean(a.name, portNames(sp)), "%s has no port %s", sp.name, a.name)
	}
	switch kids := len(el.kids); {
	case sp.max < 0 && kids > 0:
		c.src.problem(el.at, "", "%s takes no children", sp.name)
		return
	case kids < sp.min, sp.max > 0 && kids > sp.max:
		c.src.problem(el.at, "", "%s takes %s, not %d", sp.name, childCount(sp), kids)
		return
	}
	c.kids(el, sc, i, stack)
	if sp.kind == kParallel || sp.kind == kParallelAll {
		for k, p := range c.t.nodes[i].ports {
			if p.slot < 0 && p.n > int64(len(el.kids)) {
				c.src.problem(el.at, "", "%s is %d, but there are only %d children", sp.ports[k].name, p.n, len(el.kids))
			}
		}
	}
}

func childCount(sp *spec) string {
	switch {
	case sp.min == sp.max && sp.max == 1:
		return "one child"
	case sp.min == sp.max:
		return fmt.Sprintf("%d children", sp.min)
	case sp.max <= 0:
		return fmt.Sprintf("%d or more children", sp.min)
	}
	return fmt.Sprintf("%d to %d children", sp.min, sp.max)
}

func hasPort(sp *spec, name string) bool {
	for _, p := range sp.ports {
		if p.name == name {
			return true
		}
	}
	return false
}

func portNames(sp *spec) []string {
	names := make([]string, len(sp.ports))
	for i, p := range sp.ports {
		names[i] = p.name
	}
	return names
}

// kernelPort reads one port of a kernel node by what the port wants.
func (c *compiler) kernelPort(p kernelPort, a attribute, v *value, sc *scope, i int32) {
	key, isKey := keyOf(a)
	v.key = key
	connect := func(how role, typ reflect.Type) {
		v.slot = sc.slot(key)
		c.uses = append(c.uses, use{slot: v.slot, node: i, role: how, typ: typ, port: p.name, at: a.at})
	}
	switch p.want {
	case wantScript:
		c.t.nodes[i].code = c.script(a, sc, i)
	case wantStatus:
		if err := c.t.nodes[i].elseStatus.UnmarshalText([]byte(a.value)); err != nil || c.t.nodes[i].elseStatus == Idle {
			c.src.problem(a.at, "SUCCESS, FAILURE, SKIPPED or RUNNING", "‘%s’ is not a status", a.value)
		}
	case wantText:
		if isKey {
			connect(readsIfSet, nil)
		}
		v.text = a.value
	case wantOut, wantOutBool, wantKey:
		typ, how := typeInt, writes
		if p.want != wantOut {
			typ = typeBool
		}
		if p.want == wantKey {
			how = readsIfSet
		}
		switch {
		case isKey:
			connect(how, typ)
		case a.value != "":
			c.src.problem(a.at, fmt.Sprintf(`write %s="{key}"`, p.name), "port %s wants a key, not ‘%s’", p.name, a.value)
		}
	case wantInt, wantBool:
		if isKey {
			connect(reads, typeInt64)
			return
		}
		switch a.value {
		case "true":
			v.n = 1
		case "false":
		default:
			n, err := strconv.ParseInt(a.value, 10, 32)
			if err != nil || p.want == wantBool {
				c.src.problem(a.at, "", "port %s: %v", p.name, &valueError{a.value, map[want]string{wantInt: "a whole number", wantBool: "true or false"}[p.want]})
			}
			v.n = n
		}
	}
}

// guardAttr takes an attribute that is a condition of any node; false if it is not one.
func (c *compiler) guardAttr(a attribute, sc *scope, i int32) bool {
	if !strings.HasPrefix(a.name, "_") {
		return false
	}
	n := &c.t.nodes[i]
	g := n.guard
	if g == nil {
		g = &guards{}
	}
	places := map[string]**script{"_failureIf": &g.failureIf, "_successIf": &g.successIf, "_skipIf": &g.skipIf,
		"_while": &g.while, "_onSuccess": &g.onSuccess, "_onFailure": &g.onFailure, "_onHalted": &g.onHalted, "_post": &g.post}
	place, known := places[a.name]
	if !known {
		if a.name != "_fullpath" && a.name != "_uid" {
			c.src.warn(a.at, didYouMean(a.name, keysOf(places)), "attribute %s means nothing and is ignored", a.name)
		}
		return true
	}
	*place = c.script(a, sc, i)
	n.guard = g
	return true
}

// script parses an expression and connects its keys.
func (c *compiler) script(a attribute, sc *scope, i int32) *script {
	s, err := parseScript(a.value)
	if err != nil {
		e := err.(*scriptError)
		c.src.problem(a.at+len(a.name)+2+e.pos, "", "%s: %s", a.name, e.msg)
		return nil
	}
	var connect func(e *expr)
	connect = func(e *expr) {
		how := reads
		switch {
		case e.op == ":=":
			how = writes
		case e.op == "key":
		case e.key == "": // an operator
			how = readsIfSet
		}
		if e.key != "" {
			e.slot = sc.slot(e.key)
			c.uses = append(c.uses, use{slot: e.slot, node: i, role: how, port: a.name, at: a.at + len(a.name) + 2 + e.pos})
		}
		for _, k := range e.kids {
			connect(k)
		}
	}
	for _, e := range s.stmts {
		connect(e)
	}
	return s
}

func (c *compiler) leafNode(el *element, leaf *Leaf, sc *scope, i int32) {
	n := &c.t.nodes[i]
	n.leaf, n.bind = leaf, &binding{note: leaf.note}
	if len(el.kids) > 0 {
		c.src.problem(el.at, "", "%s takes no children", leaf.Name)
	}
	known := map[string]bool{"name": true, "ID": true}
	for _, p := range leaf.in {
		known[p.Name] = true
		n.bind.in = append(n.bind.in, c.input(el, leaf, p, sc, i))
	}
	for _, p := range leaf.out {
		known[p.Name] = true
		a, ok := el.attr(p.Name)
		if !ok {
			continue
		}
		key, isKey := keyOf(a)
		if !isKey {
			c.src.problem(a.at, fmt.Sprintf(`write %s="{key}"`, p.Name), "output port %s wants a key, not ‘%s’", p.Name, a.value)
			continue
		}
		w := wire{port: p.Name, field: p.field, typ: p.Type, slot: sc.slot(key)}
		n.bind.out = append(n.bind.out, w)
		c.uses = append(c.uses, use{slot: w.slot, node: i, role: writes, typ: p.Type, port: p.Name, at: a.at})
	}
	for _, a := range el.attrs {
		if !known[a.name] && !c.guardAttr(a, sc, i) {
			c.src.problem(a.at, didYouMean(a.name, keysOf(known)), "%s has no port %s", leaf.Name, a.name)
		}
	}
}

func (c *compiler) input(el *element, leaf *Leaf, p Port, sc *scope, i int32) wire {
	w := wire{port: p.Name, field: p.field, typ: p.Type, slot: -1, literal: reflect.Zero(p.Type), must: !p.Optional && !p.HasDef}
	a, ok := el.attr(p.Name)
	if !ok {
		if w.must {
			c.src.problem(el.at, fmt.Sprintf(`write %s="{key}"`, p.Name), "%s wants port %s (%s): %s", leaf.Name, p.Name, typeName(p.Type), p.Doc)
			return w
		}
		a = attribute{name: p.Name, value: p.Default, at: el.at}
		if !p.HasDef {
			return w
		}
	}
	if p.HasDef {
		def, _ := parseLiteral(p.Default, p.Type)
		w.literal = reflect.ValueOf(def)
	}
	if key, isKey := keyOf(a); isKey {
		w.slot = sc.slot(key)
		how := reads
		if !w.must {
			how = readsIfSet
		}
		c.uses = append(c.uses, use{slot: w.slot, node: i, role: how, typ: p.Type, port: p.Name, at: a.at})
		return w
	}
	lit, err := parseLiteral(a.value, p.Type)
	if err != nil {
		c.src.problem(a.at, "", "%s: port %s: %v", leaf.Name, p.Name, err)
		return w
	}
	w.literal = reflect.ValueOf(lit)
	return w
}
