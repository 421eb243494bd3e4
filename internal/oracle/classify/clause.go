package classify

import (
	"slices"
	"strings"
)

// act is what a sentence does: tell, ask, ask to be shown something, or ask for a change.
type act int

const (
	telling act = iota
	asking
	reading
	writing
)

// clause is one sentence of the text with its act.
type clause struct {
	all   []token
	words []token // without the courtesies and polite frames that it opens with
	first int     // position of words in the text
	act   act
	head  string  // first of words
	verbs []token // of a writing clause: the verbs that ask for the change
}

// begin joins the first words of a clause.
func (c clause) begin(n int) string {
	var words []string
	for _, t := range c.words[:min(n, len(c.words))] {
		words = append(words, t.norm)
	}
	return strings.Join(words, " ")
}

// clauses splits tokens at the ends of sentences and finds out what each sentence does. Pasted blocks do nothing.
func clauses(tokens []token) []clause {
	var out []clause
	start := 0
	for i, t := range tokens {
		if i < len(tokens)-1 && t.after < sentence {
			continue
		}
		if tokens[start].kind != block {
			out = append(out, newClause(tokens[start:i+1], start))
		}
		start = i + 1
	}
	return out
}

func newClause(all []token, at int) clause {
	words, requested := skipRequest(skipOpeners(all))
	c := clause{all: all, words: words, first: at + len(all) - len(words)}
	if len(words) == 0 {
		return c
	}
	head := words[0]
	c.head = head.norm
	switch {
	case head.quoted || head.kind != word:
	case !requested && words[len(words)-1].after == question && len(words) > 1 && !lex().Determiners[words[1].norm]:
		c.act = asking
	case isOrder(words, requested):
		c.act = writing
		c.verbs = append(c.verbs, head)
	case lex().WhWords[head.norm], !requested && lex().Auxiliaries[head.norm] && len(words) > 1:
		c.act = asking
	case lex().ReadVerbs[head.norm], opensToRead(words):
		c.act = reading
	case asksLater(words), !requested && words[len(words)-1].after == question:
		c.act = asking
	}
	c.addCoordinated(requested)
	return c
}

// addCoordinated finds a change asked for after the first verb: "look at the cache and write a note". After a question or a statement it takes
// more than a verb: a polite frame, or an object that points at what was said.
func (c *clause) addCoordinated(requested bool) {
	for i := 1; i < len(c.words)-1; i++ {
		t, before := c.words[i], c.words[i-1]
		if !joins(before) && before.norm != "please" || t.quoted || t.kind != word {
			continue
		}
		rest, asked := skipRequest(c.words[i:])
		polite := asked || before.norm == "please" || requested
		pointing := len(rest) > 1 && before.after >= comma && (lex().ObjectPronouns[rest[1].norm] || rest[1].quoted)
		var may bool
		switch c.act {
		case asking:
			may = asked || before.norm == "please"
		case telling:
			may = polite || pointing
		default:
			may = true
		}
		if may && isOrder(rest, asked || before.norm == "please") {
			c.act = writing
			c.verbs = append(c.verbs, rest[0])
		}
	}
}

// joins says that a new part of the sentence begins after t.
func joins(t token) bool {
	return t.after >= comma || t.norm == "and" || t.norm == "then" || t.norm == "but" || t.norm == "so"
}

// asksLater recognises a question whose frame follows a topic ("for the checkout: what's the order") or a preposition ("in which file").
func asksLater(ts []token) bool {
	if len(ts) > 2 && lex().StopWords[ts[0].norm] && lex().WhWords[ts[1].norm] {
		return true
	}
	for i := 1; i < len(ts); i++ {
		if !joins(ts[i-1]) && ts[i-1].norm != "whether" {
			continue
		}
		if lex().WhWords[ts[i].norm] || lex().Auxiliaries[ts[i].norm] && i+2 < len(ts) {
			return true
		}
	}
	return false
}

// skipOpeners drops greetings, thanks and fillers from the front.
func skipOpeners(ts []token) []token {
	for i, t := range ts {
		thankYou := t.norm == "you" && i > 0 && ts[i-1].norm == "thank"
		if t.kind != symbol && (t.kind != word || t.quoted || !lex().OpenerWords[t.norm] && !thankYou) {
			return ts[i:]
		}
	}
	return nil
}

// maxFrames is how many polite frames may stand in a row: "could you please help me to".
const maxFrames = 4

// skipRequest drops polite frames and says whether one was there: after it stands a verb, not a noun.
func skipRequest(ts []token) (rest []token, requested bool) {
	for range maxFrames {
		n := requestLen(ts)
		if n == 0 {
			break
		}
		ts, requested = ts[n:], true
		for len(ts) > 1 && ts[0].kind == word && (lex().OpenerWords[ts[0].norm] || strings.HasSuffix(ts[0].norm, "ly")) {
			ts = ts[1:]
		}
	}
	return ts, requested
}

// requestLen is the length of the polite frame that begins ts, 0 if none does. "can we use X" asks; "can we add X" requests.
func requestLen(ts []token) int {
	for _, p := range lex().Requests {
		if len(ts) <= len(p) || !hasPrefix(ts, p) {
			continue
		}
		if toAssistant := slices.Contains(p, "you") || p[0] == "please" || p[0] == "kindly" || p[0] == "let"; toAssistant || isVerb(ts[len(p)].norm) {
			return len(p)
		}
	}
	return 0
}

func isVerb(w string) bool {
	return lex().WriteVerbs[w] || lex().NounVerbs[w] || lex().ReadVerbs[w] || w == "please"
}

func hasPrefix(ts []token, words []string) bool {
	if len(ts) < len(words) {
		return false
	}
	for i, w := range words {
		if ts[i].norm != w || ts[i].quoted {
			return false
		}
	}
	return true
}

func containsAny(ts []token, words map[string]bool) bool {
	return slices.ContainsFunc(ts, func(t token) bool { return words[t.norm] && !t.quoted })
}
