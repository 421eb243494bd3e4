package bt

import (
	"reflect"
	"strings"
)

// scope has the keys of one subtree instance.
type scope struct {
	keys        map[string]int32
	unusedPorts map[string]bool // ports of the subtree that no node in it has used so far
	parent      *scope
	auto        bool // _autoremap
	c           *compiler
}

func (c *compiler) newScope(keys map[string]int32, parent *scope) *scope {
	return &scope{keys: keys, parent: parent, c: c}
}

// slotOf is the slot of a key; the first use of a key creates it.
func (s *scope) slotOf(key string) int32 {
	if rest := strings.TrimLeft(key, "@"); rest != key {
		return s.c.root.slotOf(rest)
	}
	delete(s.unusedPorts, key)
	if i, ok := s.keys[key]; ok {
		return i
	}
	if s.auto && !strings.HasPrefix(key, "_") {
		s.keys[key] = s.parent.slotOf(key)
	} else {
		s.createSlot(key)
	}
	return s.keys[key]
}

func (s *scope) createSlot(key string) int32 {
	i := int32(len(s.c.t.slots))
	s.c.t.slots = append(s.c.t.slots, slot{name: key})
	s.c.slotScopes = append(s.c.slotScopes, s)
	s.keys[key] = i
	return i
}

type accessKind uint8

const (
	reads      accessKind = iota
	readsIfSet            // the node does not require it
	writes
	updates  // a script's ‘=’: it changes a key that something else creates
	mentions // a node with another problem connects it, nobody knows how
)

// use is one place where a key is read or written; at is its offset in the file. If the type is nil, it is any basic
// one.
type use struct {
	slot   int32
	node   int32 // -1: the caller of the tree
	access accessKind
	typ    reflect.Type
	port   string
	key    string // its name at that place
	byName bool   // the node does not name the port: it is connected to the key of its name
	at     int
}

// connect notes a use of a key and returns its slot.
func (c *compiler) connect(sc *scope, u use) int32 {
	u.slot = sc.slotOf(u.key)
	c.uses = append(c.uses, u)
	return u.slot
}

func (c *compiler) connectGiven(main *treeDef, ports []Port) {
	for _, p := range ports {
		slot := c.connect(c.root, use{node: -1, access: writes, typ: p.Type, port: p.Name, key: p.Name, at: main.el.at})
		c.t.slots[slot].typ = p.Type
		if p.Optional && isBasic(p.Type) {
			c.t.slots[slot].initial = reflect.Zero(p.Type).Interface() // EncodePorts leaves it out
		}
	}
}

func (c *compiler) connectWanted(main *treeDef, ports []Port) {
	for _, p := range ports {
		how := reads
		if p.Optional {
			how = readsIfSet
		}
		c.connect(c.root, use{node: -1, access: how, typ: p.Type, port: p.Name, key: p.Name, at: main.el.at})
	}
}

// keyOf reads "{key}"; "{=}" is a key with the name of the port. JSON in braces is not a key, nor is a text with more
// braces.
func keyOf(a attribute) (string, bool) {
	v := a.value
	if len(v) < 3 || v[0] != '{' || v[len(v)-1] != '}' {
		return "", false
	}
	key := v[1 : len(v)-1]
	if key == "=" {
		return a.name, true
	}
	return key, !strings.ContainsAny(key, `{}"`)
}
