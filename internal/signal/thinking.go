package signal

import "strings"

// thinkingNames are the elements in which models write their thinking.
var thinkingNames = [...]string{"think", "thinking", "thought", "reasoning"}

// readThinkingTag reads an opening or closing tag of thinking, without attributes.
func readThinkingTag(text string) (n int, closing bool, v verdict) {
	short := text[:min(len(text), maxName)]
	for _, name := range thinkingNames {
		n, as := readWords(short, "<", name, ">")
		if as == no {
			n, as = readWords(short, "<", "/", name, ">")
			closing = as == yes
		}
		if as == yes {
			return n, closing, yes
		}
		v = max(v, as)
	}
	if len(short) < len(text) {
		return 0, false, no
	}
	return 0, false, v
}

// decideThinking decides about a tag of thinking. An opening tag counts at the beginning of a line. A closing tag ends
// thinking that began with the reply, if the opening tag was part of the prompt: it counts at either end of a line, if
// no opening tag was mentioned.
func (x *Extractor) decideThinking(w window) decision {
	n, closing, v := readThinkingTag(w.text)
	switch {
	case v == maybe && !w.final:
		return decision{kind: undecided}
	case v != yes:
		return aMention
	case !closing && (!x.md.beginsLine() || x.md.inCode()):
		x.openMentions++
		return aMention
	case !closing:
		return decision{kind: beginsThinking, n: n}
	case x.openMentions > 0:
		x.openMentions--
		return aMention
	}
	if d, is := x.decideCode(w); is {
		return d
	}
	rest := strings.TrimLeft(w.text[n:], " \t\r")
	switch {
	case x.md.beginsLine() || strings.HasPrefix(rest, "\n") || rest == "" && w.final:
		return decision{kind: endsThinking, n: n}
	case rest == "" && !w.full:
		return decision{kind: undecided}
	}
	return aMention
}

// dropThinking drops thinking, up to its end or as far as it has arrived. The closing tag of any of the names ends it.
func dropThinking(w window) decision {
	switch at := strings.IndexByte(w.text, '<'); {
	case at < 0:
		return decision{kind: isThinking, n: len(w.text)}
	case at > 0:
		return decision{kind: isThinking, n: at}
	}
	n, closing, v := readThinkingTag(w.text)
	switch {
	case v == yes && closing:
		return decision{kind: endsThinking, n: n}
	case v == maybe && !w.final:
		return decision{kind: undecided}
	}
	return decision{kind: isThinking, n: 1}
}
