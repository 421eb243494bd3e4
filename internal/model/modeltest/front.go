package modeltest

import (
	"strings"

	"sibyl/internal/model"
)

// FoundAgain is how much of an earlier request a later one begins with, from 0 to 1: what a server has read and need
// not read again. It is the least of two templates: one puts tools before the system prompt, one behind it.
func FoundAgain(earlier, later model.Request) float64 {
	least := 1.0
	for _, toolsFirst := range []bool{true, false} {
		was, is := rendered(earlier, toolsFirst), rendered(later, toolsFirst)
		n := 0
		for n < min(len(was), len(is)) && was[n] == is[n] {
			n++
		}
		least = min(least, float64(n)/float64(len(was)))
	}
	return least
}

// rendered is a request as the templates of models write it.
func rendered(req model.Request, toolsFirst bool) string {
	tools, out := &strings.Builder{}, &strings.Builder{}
	for _, t := range req.Tools {
		tools.WriteString("<tool>" + t.Name + "\n" + t.Description + "\n" + string(t.Schema) + "\n")
	}
	if toolsFirst {
		out.WriteString(tools.String() + "<system>" + req.System + "\n")
	} else {
		out.WriteString("<system>" + req.System + "\n" + tools.String())
	}
	for _, m := range req.Messages {
		out.WriteString("<" + string(m.Role) + ">" + m.Text + "\n")
		for _, c := range m.ToolCalls {
			out.WriteString("<call>" + c.Name + " " + c.Arguments + "\n")
		}
	}
	return out.String()
}
