package bt

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

func (c *compiler) kernelNode(el *element, sp *spec, sc *scope, i int32) {
	n := &c.t.nodes[i]
	n.kind, n.run, n.spec, n.elseStatus = sp.kind, sp.run, sp, Failure
	n.settles, n.goOn = slices.Contains(settling, sp.kind), Success
	if slices.Contains(retries, sp.kind) {
		n.goOn = Failure
	}
	n.ports = make([]value, len(sp.ports))
	for k := range sp.ports {
		p := &sp.ports[k]
		n.ports[k] = value{port: p.name, slot: -1, least: p.least}
		a, ok := el.attr(p.name)
		switch {
		case ok:
			n.ports[k].text = a.value
		case p.optional:
			continue
		case p.def == "":
			c.src.problem(el.at, fmt.Sprintf("write %s=…", p.name), "%s wants port %s", sp.name, p.name)
			continue
		default:
			a = attribute{name: p.name, value: p.def, at: el.at}
		}
		c.kernelPort(p, a, &n.ports[k], sc, i)
	}
	c.otherAttributes(el, sp.name, sp.names, sc, i)
	c.childCount(el, sp, n)
}

// childCount checks the number of children, and counts of children that ports ask for.
func (c *compiler) childCount(el *element, sp *spec, n *node) {
	kids := len(el.kids)
	switch {
	case sp.max < 0 && kids > 0:
		c.src.problem(el.at, "", "%s takes no children", sp.name)
	case kids < sp.min, sp.max > 0 && kids > sp.max:
		c.src.problem(el.at, "", "%s takes %s, not %d", sp.name, howMany(sp), kids)
	case sp.kind == kParallel || sp.kind == kParallelAll:
		for _, p := range n.ports {
			if asked := threshold(p.n, kids); p.slot < 0 && (asked > kids || asked < 0) {
				a, _ := el.attr(p.port)
				c.src.problem(a.at, "negative counts from the end: -1 means all children",
					"%s is %d, but there are only %d children", p.port, p.n, kids)
			}
		}
	}
}

func howMany(sp *spec) string {
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

// otherAttributes takes the attributes that are no ports: conditions, or mistakes.
func (c *compiler) otherAttributes(el *element, owner string, ports []string, sc *scope, i int32) {
	for _, a := range el.attrs {
		if a.name == "name" || a.name == "ID" || slices.Contains(ports, a.name) || c.guardAttr(a, sc, i) {
			continue
		}
		c.src.problem(a.at, c.src.didYouMean(a.name, func() []string {
			return ports
		}), "%s has no port %s", owner, a.name)
		c.nameKey(a, sc, i)
	}
}

// kernelPort reads one port of a kernel node by what the port wants.
func (c *compiler) kernelPort(p *kernelPort, a attribute, v *value, sc *scope, i int32) {
	key, isKey := keyOf(a)
	connect := func(how role, typ reflect.Type) {
		v.key = key
		v.slot = c.connect(sc, use{node: i, role: how, typ: typ, port: p.name, key: key, at: a.at})
	}
	n := &c.t.nodes[i]
	switch p.want {
	case wantScript:
		n.code = c.script(a, sc, i)
	case wantStatus:
		if err := n.elseStatus.UnmarshalText([]byte(a.value)); err != nil || n.elseStatus == Idle {
			c.src.problem(a.at, "write SUCCESS, FAILURE, SKIPPED or RUNNING", "port %s: ‘%s’ is not a status",
				p.name, a.value)
		}
	case wantText:
		if isKey {
			connect(readsIfSet, nil)
		}
	case wantOut, wantOutBool, wantKey:
		switch {
		case !isKey:
			c.src.problem(a.at, fmt.Sprintf(`write %s="{key}"`, p.name), "port %s wants a key, not ‘%s’", p.name,
				a.value)
		case p.want == wantOut:
			connect(writes, typeInt)
		case p.want == wantOutBool:
			connect(writes, typeBool)
		default:
			connect(reads, typeBool)
		}
	case wantBool:
		if isKey {
			connect(reads, typeBool)
		} else if yes := c.literal(p, a, typeBool); yes == true {
			v.n = 1
		}
	case wantInt:
		if isKey {
			connect(reads, typeInt64)
		} else if n, ok := c.literal(p, a, typeInt64).(int64); ok {
			v.n = n
			if err := v.tooSmall(n); err != nil {
				c.src.problem(a.at, "", "port %s: %v", p.name, err)
			}
		}
	}
}

// literal is the value of a port's text; nil after a problem.
func (c *compiler) literal(p *kernelPort, a attribute, typ reflect.Type) any {
	v, err := parseLiteral(a.value, typ)
	if err != nil {
		c.src.problem(a.at, fmt.Sprintf(`or write %s="{key}"`, p.name), "port %s: %v", p.name, err)
		return nil
	}
	return v
}

// guardAttr takes an attribute that is a condition of any node; false if it is not one.
func (c *compiler) guardAttr(a attribute, sc *scope, i int32) bool {
	if !strings.HasPrefix(a.name, "_") {
		return false
	}
	n := &c.t.nodes[i]
	which := slices.Index(guardNames, a.name)
	switch {
	case which >= 0:
		if n.guard == nil {
			n.guard = &guards{}
		}
		n.guard[which] = c.script(a, sc, i)
	case a.name != "_fullpath" && a.name != "_uid":
		c.src.warn(a.at, c.src.didYouMean(a.name, func() []string {
			return guardNames
		}), "attribute %s means nothing and is ignored", a.name)
	}
	return true
}

// script parses an expression and connects its keys; nil after a problem.
func (c *compiler) script(a attribute, sc *scope, i int32) *script {
	if !c.roomFor(a.at, (scriptWeight-1)*len(a.value)) {
		return nil
	}
	s, err := parseScript(a.value)
	if wrong, is := errors.AsType[*scriptError](err); is {
		within := inValue{src: c.src, in: a}
		c.src.problem(within.at(wrong.pos), "", "%s: %s", a.name, wrong.msg)
		return nil
	}
	within := inValue{src: c.src, in: a}
	var connect func(e *expr)
	connect = func(e *expr) {
		if e.key != "" {
			how := updates
			switch e.op {
			case opCreate:
				how = writes
			case opKey:
				how = reads
			}
			e.slot = c.connect(sc, use{node: i, role: how, port: a.name, key: e.key, at: within.at(e.pos)})
		}
		for _, k := range e.kids {
			connect(k)
		}
	}
	for _, e := range s.stmts {
		connect(e)
		c.noteGrower(e, i, a)
	}
	return s
}

func (c *compiler) leafNode(el *element, leaf *Leaf, sc *scope, i int32) {
	n := &c.t.nodes[i]
	n.run, n.leaf, n.bind = (*exec).leaf, leaf, &binding{now: leaf.now, events: leaf.events}
	if len(el.kids) > 0 {
		c.src.problem(el.at, "", "%s takes no children", leaf.Name)
	}
	n.bind.in = make([]wire, len(leaf.in))
	for k := range leaf.in {
		n.bind.in[k] = c.input(el, leaf, &leaf.in[k], sc, i)
	}
	for k := range leaf.out {
		p := &leaf.out[k]
		a, ok := el.attr(p.Name)
		if !ok {
			continue
		}
		key, isKey := keyOf(a)
		if !isKey {
			c.src.problem(a.at, fmt.Sprintf(`write %s="{key}"`, p.Name), "output port %s wants a key, not ‘%s’", p.Name,
				a.value)
			continue
		}
		slot := c.connect(sc, use{node: i, role: writes, typ: p.Type, port: p.Name, key: key, at: a.at})
		n.bind.out = append(n.bind.out, wire{Port: p, slot: slot})
	}
	c.otherAttributes(el, leaf.Name, leaf.names, sc, i)
}

func (c *compiler) input(el *element, leaf *Leaf, p *Port, sc *scope, i int32) wire {
	w := wire{Port: p, slot: -1}
	a, ok := el.attr(p.Name)
	key, isKey := keyOf(a)
	switch {
	case isKey:
		how := reads
		if !p.required() {
			how = readsIfSet
		}
		w.slot = c.connect(sc, use{node: i, role: how, typ: p.Type, port: p.Name, key: key, at: a.at})
	case ok:
		literal, err := p.literal(a.value)
		if err != nil {
			hint := fmt.Sprintf(`or write %s="{key}"`, p.Name)
			if p.OneOf != nil {
				hint = c.src.didYouMean(a.value, func() []string { return p.OneOf })
			}
			c.src.problem(a.at, hint, "%s: port %s: %v", leaf.Name, p.Name, err)
			return w
		}
		w.literal = reflect.ValueOf(literal)
		return w
	case p.required():
		c.src.problem(el.at, fmt.Sprintf(`write %s="{key}"`, p.Name), "%s wants port %s", leaf.Name, describe(p))
	}
	if p.HasDef {
		literal, _ := parseLiteral(p.Default, p.Type)
		w.literal = reflect.ValueOf(literal)
	}
	return w
}

// describe is a port with its type and doc: "limit (int): how many".
func describe(p *Port) string {
	s := p.Name + " (" + typeName(p.Type) + ")"
	if p.Doc != "" {
		s += ": " + p.Doc
	}
	return s
}
