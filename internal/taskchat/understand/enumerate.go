package understand

import "strings"

// enumerated makes lines of a list that is numbered within a line: "1. buy milk 2. call Anna", "add: 1) milk 2) bread". It begins the message
// or follows a colon, counts from 1, and each number has something behind it.
func enumerated(tokens []token) []token {
	var at []int
	for i, tok := range tokens {
		first := i == 0 || tokens[i-1].kind == sign && tokens[i-1].norm == ":"
		if tok.value == len(at)+1 && marksItem(tokens, i) && (len(at) > 0 || first) {
			at = append(at, i)
		}
	}
	if len(at) < 2 {
		return tokens
	}
	for k, i := range at {
		end := len(tokens)
		if k+1 < len(at) {
			end = at[k+1]
		}
		if !isItem(tokens[i+2:end], at[0] == 0) {
			return tokens
		}
	}
	lines := make([]token, 0, len(tokens))
	for i := 0; i < len(tokens); i++ {
		tok := tokens[i]
		if len(at) > 0 && i == at[0] {
			tok.kind, tok.norm, tok.value, tok.ordinal, tok.end = sign, "\n", 0, false, tokens[i+1].end
			at, i = at[1:], i+1
		}
		tok.index = len(lines)
		lines = append(lines, tok)
	}
	return lines
}

// marksItem says that a token is a number with a full stop or bracket, before a word.
func marksItem(tokens []token, i int) bool {
	if i+2 >= len(tokens) || tokens[i].kind != number || tokens[i].quoted || tokens[i+2].glued {
		return false
	}
	mark := tokens[i+1]
	return mark.kind == sign && mark.glued && (mark.norm == "." || mark.norm == ")") && (tokens[i+2].kind == word || tokens[i+2].quoted)
}

// isItem says that what follows a number is no mere connector, as in "1. und 2."; at the beginning of a message two words are the least.
func isItem(tokens []token, bare bool) bool {
	words, bytes := 0, 0
	for _, tok := range tokens {
		if tok.kind == word {
			words, bytes = words+1, bytes+tok.end-tok.start
		}
	}
	return words > 1 || words == 1 && bytes > 3 && !bare
}

// joints are the words between the things of an enumeration, in all languages, since titles keep theirs.
var joints = map[string]bool{"and": true, "und": true, "sowie": true, "e": true, "&": true, "+": true, ",": true}

// Enumerated are the parts of words that name several things: "the dishes, the laundry and the bins". One thing has none.
func Enumerated(words string) (parts []string) {
	list, from := tokenize(words), 0
	for i, t := range list {
		if !joints[t.norm] || t.quoted {
			continue
		}
		if i > 0 && list[i-1].end > from {
			parts = append(parts, strings.TrimSpace(words[from:t.start]))
		}
		from = t.end
	}
	if rest := strings.TrimSpace(words[from:]); len(parts) > 0 && rest != "" {
		return append(parts, rest)
	}
	return nil
}
