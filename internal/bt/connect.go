package bt

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

func (c *compiler) buildKernelNode(el *element, sp *spec, sc *scope, i int32) {
	n := &c.t.nodes[i]
	n.kind, n.run, n.spec, n.elseStatus = sp.kind, sp.run, sp, Failure
	n.needsReset, n.continueOn = slices.Contains(kindsToReset, sp.kind), Success
	if slices.Contains(continueOnFailure, sp.kind) {
		n.continueOn = Failure
	}
	n.ports = make([]portValue, len(sp.ports))
	for k := range sp.ports {
		p := &sp.ports[k]
		n.ports[k] = portValue{port: p.name, slot: -1, least: p.least}
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
		c.connectKernelPort(p, a, &n.ports[k], sc, i)
	}
	c.checkOtherAttributes(el, sp.name, sp.names, sc, i)
	c.checkChildCount(el, sp, n)
}

// checkChildCount checks the number of children, and the counts of children in ports.
func (c *compiler) checkChildCount(el *element, sp *spec, n *node) {
	kids := len(el.kids)
	switch {
	case sp.max < 0 && kids > 0:
		c.src.problem(el.at, "", "%s takes no children", sp.name)
	case kids < sp.min, sp.max > 0 && kids > sp.max:
		c.src.problem(el.at, "", "%s takes %s, not %d", sp.name, childCountText(sp), kids)
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

func childCountText(sp *spec) string {
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

// checkOtherAttributes compiles the attributes that are conditions, and reports those that are neither that nor ports.
func (c *compiler) checkOtherAttributes(el *element, owner string, ports []string, sc *scope, i int32) {
	for _, a := range el.attrs {
		if a.name == "name" || a.name == "ID" || slices.Contains(ports, a.name) || c.compileGuard(a, sc, i) {
			continue
		}
		c.src.problem(a.at, c.src.didYouMean(a.name, func() []string {
			return ports
		}), "%s has no port %s", owner, a.name)
		c.mentionKey(a, sc, i)
	}
}

// connectKernelPort reads one port of a kernel node, as a literal or as a key.
func (c *compiler) connectKernelPort(p *kernelPort, a attribute, v *portValue, sc *scope, i int32) {
	key, isKey := keyOf(a)
	connect := func(how accessKind, typ reflect.Type) {
		v.key = key
		v.slot = c.connect(sc, use{node: i, access: how, typ: typ, port: p.name, key: key, at: a.at})
	}
	n := &c.t.nodes[i]
	switch p.want {
	case wantScript:
		n.code = c.compileScript(a, sc, i)
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
		} else if yes := c.portLiteral(p, a, typeBool); yes == true {
			v.n = 1
		}
	case wantInt:
		if isKey {
			connect(reads, typeInt64)
		} else if n, ok := c.portLiteral(p, a, typeInt64).(int64); ok {
			v.n = n
			if err := v.tooSmall(n); err != nil {
				c.src.problem(a.at, "", "port %s: %v", p.name, err)
			}
		}
	}
}

// portLiteral is the value of a port's text; nil if there is a problem.
func (c *compiler) portLiteral(p *kernelPort, a attribute, typ reflect.Type) any {
	v, err := parseLiteral(a.value, typ)
	if err != nil {
		c.src.problem(a.at, fmt.Sprintf(`or write %s="{key}"`, p.name), "port %s: %v", p.name, err)
		return nil
	}
	return v
}

// compileGuard compiles an attribute that is a condition of any node; false if it is not one.
func (c *compiler) compileGuard(a attribute, sc *scope, i int32) bool {
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
		n.guard[which] = c.compileScript(a, sc, i)
	case a.name != "_fullpath" && a.name != "_uid":
		c.src.warn(a.at, c.src.didYouMean(a.name, func() []string {
			return guardNames
		}), "attribute %s means nothing and is ignored", a.name)
	}
	return true
}

// compileScript parses an expression and connects its keys; nil if there is a problem.
func (c *compiler) compileScript(a attribute, sc *scope, i int32) *script {
	if !c.hasRoomFor(a.at, (scriptWeight-1)*len(a.value)) {
		return nil
	}
	s, err := parseScript(a.value)
	if wrong, is := errors.AsType[*scriptError](err); is {
		within := valueOffsets{src: c.src, attr: a}
		c.src.problem(within.offset(wrong.pos), "", "%s: %s", a.name, wrong.msg)
		return nil
	}
	within := valueOffsets{src: c.src, attr: a}
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
			e.slot = c.connect(sc, use{node: i, access: how, port: a.name, key: e.key, at: within.offset(e.pos)})
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

func (c *compiler) buildLeafNode(el *element, leaf *Leaf, sc *scope, i int32) {
	n := &c.t.nodes[i]
	n.run, n.leaf, n.bind = (*exec).tickLeaf, leaf, &binding{now: leaf.now, events: leaf.events}
	if len(el.kids) > 0 {
		c.src.problem(el.at, "", "%s takes no children", leaf.Name)
	}
	n.bind.in = make([]wire, len(leaf.in))
	for k := range leaf.in {
		n.bind.in[k] = c.connectInput(el, leaf, &leaf.in[k], sc, i)
	}
	for k := range leaf.out {
		p := &leaf.out[k]
		a, byName, ok := c.portOf(el, p.Name)
		if !ok {
			continue
		}
		key, isKey := keyOf(a)
		if !isKey {
			c.src.problem(a.at, fmt.Sprintf(`write %s="{key}"`, p.Name), "output port %s wants a key, not ‘%s’", p.Name,
				a.value)
			continue
		}
		slot := c.connect(sc, use{node: i, access: writes, typ: p.Type, port: p.Name, key: key, byName: byName, at: a.at})
		n.bind.out = append(n.bind.out, wire{Port: p, slot: slot})
	}
	c.checkOtherAttributes(el, leaf.Name, leaf.names, sc, i)
}

// portOf is the attribute of a leaf's port. In a file that says so, a port that has none is the key of its name.
func (c *compiler) portOf(el *element, name string) (a attribute, byName, ok bool) {
	if a, ok = el.attr(name); ok || !c.src.connectsByName {
		return a, false, ok
	}
	return attribute{name: name, value: "{=}", at: el.at}, true, true
}

func (c *compiler) connectInput(el *element, leaf *Leaf, p *Port, sc *scope, i int32) wire {
	w := wire{Port: p, slot: -1}
	a, byName, ok := c.portOf(el, p.Name)
	if byName && p.HasDef {
		ok, a = false, attribute{}
	}
	key, isKey := keyOf(a)
	switch {
	case isKey:
		how := reads
		if !p.required() {
			how = readsIfSet
		}
		w.slot = c.connect(sc, use{node: i, access: how, typ: p.Type, port: p.Name, key: key, byName: byName, at: a.at})
	case ok:
		literal, err := p.literal(joinLines(a.value))
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
		c.src.problem(el.at, fmt.Sprintf(`write %s="{key}"`, p.Name), "%s wants port %s", leaf.Name, describePort(p))
	}
	if p.HasDef {
		literal, _ := parseLiteral(p.Default, p.Type)
		w.literal = reflect.ValueOf(literal)
	}
	return w
}

// joinLines makes one line of a value that stands in the file on several: in XML, a line break in an attribute is a
// space.
func joinLines(value string) string {
	if !strings.Contains(value, "\n") {
		return value
	}
	return strings.Join(strings.Fields(value), " ")
}

// describePort is a port with its type and doc: "limit (int): how many".
func describePort(p *Port) string {
	s := p.Name + " (" + typeName(p.Type) + ")"
	if p.Doc != "" {
		s += ": " + p.Doc
	}
	return s
}
