package openai

import (
	"encoding/json"
	"strings"
)

// call is a tool call that is coming in. Its index is -1 where the endpoint gives none.
type call struct {
	index     int
	id        string
	name      string
	arguments strings.Builder
}

// addCall adds a part to the call that it belongs to, or begins another.
func (t *turn) addCall(p *callPart) {
	c := t.callFor(p)
	if c == nil {
		c = &call{index: -1}
		if p.Index != nil {
			c.index = *p.Index
		}
		t.calls = append(t.calls, c)
	}
	if c.id == "" {
		c.id = p.ID
	}
	if c.name == "" {
		c.name = p.Function.Name
	}
	c.arguments.WriteString(string(p.Function.Arguments))
}

// callFor returns the call that p goes on with, or nil where p begins one. The index decides, unless p has all that
// begins a call and the call under its index is another: some endpoints count every call as number 0. Without an index
// the id decides, and a part without either goes on with the last call unless it names a tool.
func (t *turn) callFor(p *callPart) *call {
	for i := len(t.calls) - 1; i >= 0; i-- {
		c := t.calls[i]
		switch {
		case p.Index != nil && c.index == *p.Index:
			if p.Function.Name != "" && c.isOtherThan(p) {
				return nil
			}
			return c
		case p.Index != nil:
		case p.ID != "" && c.id == p.ID:
			return c
		case p.ID == "" && p.Function.Name == "":
			return c
		}
	}
	return nil
}

func (c *call) isOtherThan(p *callPart) bool {
	if p.ID != "" && c.id != "" {
		return p.ID != c.id
	}
	return json.Valid([]byte(c.arguments.String()))
}
