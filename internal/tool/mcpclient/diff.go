package mcpclient

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/tool"
)

// Diff says for a person what has changed between two listings: “+” and “-” are before tools that came and went, and before lines of what
// changed in one, which has “~”. It is empty where nothing has. It quotes the server: what steers a terminal is for the caller to take out.
func Diff(was, is Listing) string {
	b := &strings.Builder{}
	find := func(l Listing, name string) (Offer, bool) {
		i := slices.IndexFunc(l, func(o Offer) bool { return o.Name == name })
		if i < 0 {
			return Offer{}, false
		}
		return l[i], true
	}
	for _, o := range was {
		if _, still := find(is, o.Name); !still {
			fmt.Fprintf(b, "- %s\n", o.Name)
		}
	}
	for _, o := range is {
		before, known := find(was, o.Name)
		switch {
		case !known:
			fmt.Fprintf(b, "+ %s (%s)\n", o.Name, HintsInWords(o.Hints))
			writeLines(b, "    ", o.Description)
		default:
			b.WriteString(offerDiff(before, o))
		}
	}
	return b.String()
}

// HintsInWords says what a tool does to the world, as its server tells.
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

func offerDiff(was, is Offer) string {
	b := &strings.Builder{}
	for _, part := range []struct{ name, was, is string }{
		{"what it does", HintsInWords(was.Hints), HintsInWords(is.Hints)},
		{"title", was.Title, is.Title},
		{"description", was.Description, is.Description},
		{"arguments", spread(was.Input), spread(is.Input)},
		{"results", spread(was.Output), spread(is.Output)},
	} {
		if part.was == part.is {
			continue
		}
		fmt.Fprintf(b, "  %s:\n", part.name)
		before, after := strings.Split(part.was, "\n"), strings.Split(part.is, "\n")
		writeLines(b, "    - ", strings.Join(without(before, after), "\n"))
		writeLines(b, "    + ", strings.Join(without(after, before), "\n"))
	}
	if b.Len() == 0 && was.Hints != is.Hints {
		b.WriteString("  its hints\n")
	}
	if b.Len() == 0 {
		return ""
	}
	return "~ " + is.Name + "\n" + b.String()
}

// without leaves out lines that stand in others as often.
func without(lines, others []string) (rest []string) {
	left := map[string]int{}
	for _, o := range others {
		left[o]++
	}
	for _, l := range lines {
		if left[l]--; left[l] < 0 {
			rest = append(rest, l)
		}
	}
	return rest
}

func writeLines(b *strings.Builder, before, text string) {
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString(before + line + "\n")
	}
}

// spread is JSON with a line for each part.
func spread(raw json.RawMessage) string {
	var out bytes.Buffer
	if len(raw) == 0 || json.Indent(&out, raw, "", "  ") != nil {
		return string(raw)
	}
	return out.String()
}
