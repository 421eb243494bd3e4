package mcpclient

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/aymanbagabas/go-udiff"

	"sibyl/internal/tool"
)

// Diff shows a person what has changed between two listings: a unified diff for each tool that was added, removed or
// changed; "" if none was. It quotes the server: the caller has to remove control sequences for terminals.
func Diff(was, is Listing) (diffs string) {
	before, after := toolTexts(was), toolTexts(is)
	names := maps.Clone(before)
	maps.Copy(names, after)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		diffs += udiff.Unified(name+" (trusted)", name+" (now)", before[name], after[name])
	}
	return diffs
}

// toolTexts describes each tool of a listing in lines, by name.
func toolTexts(l Listing) map[string]string {
	texts := map[string]string{}
	for _, o := range l {
		text := o.Name + " (" + HintsInWords(o.Hints) + ")\n"
		for _, part := range []struct{ name, text string }{
			{"title: ", o.Title}, {"", o.Description},
			{"arguments: ", indentJSON(o.Input)}, {"results: ", indentJSON(o.Output)},
		} {
			if part.text != "" {
				text += part.name + part.text + "\n"
			}
		}
		if o.Hints.Idempotent {
			text += "may be repeated\n"
		}
		if o.Left != "" {
			text += "left out: " + o.Left + "\n"
		}
		texts[o.Name] += text // a name may be listed twice
	}
	return texts
}

// indentJSON returns JSON with a line for each part.
func indentJSON(raw json.RawMessage) string {
	var out bytes.Buffer
	if len(raw) == 0 || json.Indent(&out, raw, "", "  ") != nil {
		return string(raw)
	}
	return out.String()
}

// HintsInWords says what a tool does, according to its server.
func HintsInWords(h tool.Hints) string {
	words := "only reads"
	switch {
	case h.ReadOnly:
	case h.Destructive:
		words = "may delete or overwrite"
	default:
		words = "writes"
	}
	if h.OpenWorld {
		words += ", reaches outside"
	}
	return words
}
