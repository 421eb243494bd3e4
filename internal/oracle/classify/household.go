package classify

import (
	"slices"
	"strings"
)

// householdFrames find questions about the program at hand that name no part of it, and about how its people go on: everyday
// wording, which shows in the build of the question and not in its nouns.
var householdFrames = []frame{
	{name: "own-program", weight: balance{code: 1.2, web: -1}, match: func(t *text) []string { return t.program }},
	{name: "own-way", weight: balance{code: 1.6}, match: func(t *text) []string { return t.handling }},
	{name: "asked-for-part", weight: balance{code: 1.2}, clause: asksForPart, unless: namesOutside},
	{name: "permission", weight: balance{docs: 2.6, code: -0.5}, clause: permission},
	{name: "procedure", weight: balance{docs: 3.6, code: -1.5}, clause: procedure},
	{name: "convention", weight: balance{docs: 2.6, code: -1.5}, clause: convention},
	{name: "our-doing", weight: balance{docs: 2, code: -0.5}, clause: ourDoing},
	{name: "wish", weight: balance{docs: 2.6}, clause: wish},
	{name: "to-do", weight: balance{docs: 2}, clause: func(_ *text, c clause) string { return lex().OpenTasks.first(c.words) }},
	{name: "supported", weight: balance{code: 1.2}, match: supported, unless: namesOutside},
	{name: "past", weight: balance{docs: 1.2, code: -0.3}, clause: past},
	{name: "still-so", weight: balance{docs: 1}, clause: stillSo},
	{name: "past-incident", weight: balance{docs: 2.2, code: -1}, match: pastIncident},
}

// namesOutside says whether something outside is named: then "it" and ways to do things are about that.
func namesOutside(t *text) bool {
	outside := func(o occurrence) bool {
		w := lex().features[o.feature].weight
		return w[web] >= 1.5 && w[code] == 0 && w[docs] == 0
	}
	return slices.ContainsFunc(t.seen, outside) || containsAny(t.tokens, lex().LibraryWords) || len(properNames(t)) > 0 ||
		slices.ContainsFunc(t.tokens, func(tok token) bool { return tok.kind == link || lex().Products[tok.norm] && !tok.quoted })
}

// shared says whether the asker speaks of the project as a common thing.
func (t *text) shared() bool { return len(t.ours) > 0 }

// atHome says whether the question is about the program at hand or about the project.
func (t *text) atHome() bool { return t.shared() || len(t.program)+len(t.handling) > 0 }

// program finds "it" where nothing was named that it could stand for: "does it clean up", "the version it builds with".
func program(t *text) []string {
	for _, c := range t.clauses {
		if c.act != asking && c.act != reading {
			continue
		}
		named := false // something stands before, in a part of its own
		for i, w := range c.words {
			if w.norm == "it" && i > 0 && !w.quoted && !named && !expletive(c.words, i) {
				return []string{c.words[i-1].norm + " it"}
			}
			named = named || i+1 < len(c.words) && w.kind == word && nameable(w.norm) && (w.after >= comma || lex().Subordinates[c.words[i+1].norm])
		}
		if slices.ContainsFunc(c.words, func(w token) bool { return w.kind != word || nameable(w.norm) }) {
			return nil
		}
	}
	return nil
}

func nameable(w string) bool {
	return !lex().StopWords[w] && !lex().EmptyVerbs[w] && !lex().ReadVerbs[w]
}

// expletive says whether "it" at position i stands for nothing: "what time is it", "how long does it take".
func expletive(ts []token, i int) bool {
	if lex().Copulas[ts[i-1].norm] {
		return true
	}
	return i+1 < len(ts) && (lex().Expletives[ts[i+1].norm] || ts[i+1].norm == "be" && i+2 < len(ts) && lex().Expletives[ts[i+2].norm])
}

// handling finds questions for a way to handle a program: something that one does with programs, and a thing that they have.
func handling(_ *text, c clause) string {
	verb, thing := "", ""
	for i, w := range afterWay(c.words) {
		switch {
		case w.kind != word || w.quoted:
		case lex().HandlingVerbs[w.norm] && (i < 3 && verb == "" || w.gloss): // German puts it last
			verb = w.norm
		case thing == "" && (isPart(w.norm) || lex().HandledThings[strings.TrimSuffix(w.norm, "s")]):
			thing = w.norm
		}
	}
	if verb != "" && thing != "" {
		return verb + " " + thing
	}
	return ""
}

// asksForPart finds "is there a setting for that": a part of a program, if there is one.
func asksForPart(_ *text, c clause) string {
	w := c.words
	if len(w) < 4 || c.head != "is" && c.head != "are" || w[1].norm != "there" {
		return ""
	}
	for _, part := range w[2:min(6, len(w))] {
		if lex().Prepositions[part.norm] {
			break
		}
		if part.kind == word && (isPart(part.norm) || lex().HandledThings[strings.TrimSuffix(part.norm, "s")]) {
			return c.head + " there " + part.norm
		}
	}
	return ""
}

// afterWay is what follows the question for a way to do something, or for leave to; nil if the words ask for neither.
func afterWay(ts []token) []token {
	if way, rest := lex().WaysTo.in(ts); way != nil {
		return rest
	}
	if may := lex().MayOne.at(ts); may != nil {
		return ts[len(may):]
	}
	return nil
}

// pointsHome says whether words speak of a thing that both speakers know, or of a part of a program.
func pointsHome(ts []token) bool {
	return slices.ContainsFunc(ts, func(t token) bool {
		return !t.quoted && (t.norm == "the" || lex().Deixis[t.norm] || isPart(t.norm) || lex().HandledThings[strings.TrimSuffix(t.norm, "s")])
	})
}

// permission finds questions for who may do something and whether one may.
func permission(_ *text, c clause) string {
	if c.act != asking || len(c.words) < 3 {
		return ""
	}
	home, next := pointsHome(c.words), c.words[1].norm
	switch {
	case c.head == "who" && (lex().Leave[next] || lex().WeakLeave[next] && home), c.head == "what" && lex().Leave[next],
		c.head == "may" && (next == "i" || next == "we"):
		return c.begin(2)
	}
	return when(home, lex().Permitted.first(c.words))
}

// procedure finds questions for what people are to do in a case.
func procedure(_ *text, c clause) string {
	for i := range c.words {
		p := lex().WhatToDo.at(c.words[i:])
		if rest := c.words[i+len(p):]; p != nil && len(rest) > 0 && lex().CaseWords[rest[0].norm] && pointsHome(rest) {
			return strings.Join(p, " ")
		}
	}
	return ""
}

// convention finds "do we number them by date or in sequence": a choice between ways in which people work.
func convention(_ *text, c clause) string {
	w := c.words
	if len(w) < 5 || w[0].norm != "do" && w[0].norm != "should" || w[1].norm != "we" || w[2].kind != word || lex().ProgramVerbs[w[2].norm] {
		return ""
	}
	return when(slices.ContainsFunc(w[3:], func(t token) bool { return t.norm == "or" }), c.begin(3))
}

// ourDoing finds what people do, by a verb that programs have no use for: "when do we switch off …", "since when do we …".
func ourDoing(_ *text, c clause) string {
	if c.act == asking && len(c.words) > 1 && c.words[1].norm == "when" && (c.head == "since" || c.head == "until") && containsAny(c.words, lex().Deixis) {
		return c.head + " when"
	}
	for i := 1; i+2 < len(c.words); i++ {
		w := c.words[i:]
		before := c.words[i-1].norm
		if !lex().Deixis[w[1].norm] || w[0].norm != "do" && w[0].norm != "will" && w[0].norm != "should" {
			continue
		}
		if before == "when" && !lex().ProgramVerbs[w[2].norm] {
			return "when " + w[0].norm + " " + w[1].norm
		}
	}
	return ""
}

// wish finds what some people want: "which customers want a warning". Wishes are written down, not programmed.
func wish(_ *text, c clause) string {
	if c.head != "who" && c.head != "which" {
		return ""
	}
	for i, w := range c.words[1:min(5, len(c.words))] {
		if lex().WishVerbs[w.norm] && (i > 0 || c.head == "who") {
			return c.head + " " + w.norm
		}
	}
	return ""
}

// supported finds questions for what a program can deal with.
func supported(t *text) []string {
	return tokensLike(t, func(tok token) bool { return !tok.quoted && lex().Supports[tok.norm] })
}

// past finds questions for what happened to a known thing: how a program behaves is asked in the present.
func past(t *text, c clause) string {
	if c.act != asking || !lex().WhWords[c.head] || c.head == "where" || len(c.words) < 3 || len(definite(t)) == 0 {
		return ""
	}
	for _, w := range c.words[1:min(4, len(c.words))] {
		if lex().PastWords[w.norm] {
			return c.head + " " + w.norm
		}
	}
	return when(c.head == "who" && (c.words[1].norm == "has" || c.words[1].norm == "have"), "who has")
}

// stillSo finds questions for why a state of affairs goes on.
func stillSo(_ *text, c clause) string {
	return when(c.act == asking && c.head == "why" && containsAny(c.words, lex().Still), "why still")
}

// pastIncident finds questions for what failed at some time past: people write down what it was.
func pastIncident(t *text) []string {
	asked := false
	for i, w := range t.words {
		before := ""
		if i > 0 {
			before = t.words[i-1]
		}
		asked = asked || w == "why" || w == "what" || w == "who" || w == "when" || w == "how"
		switch {
		case !asked:
		case w == "wrong" && before == "went", w == "down" && (before == "was" || before == "were" || before == "went"):
			return []string{before + " " + w}
		case (w == "cause" || w == "reason") && i > 2 && (t.words[i-2] == "was" || t.words[i-2] == "were"):
			return []string{t.span(i-2, i+1)}
		case w == "outage" || w == "outages" || w == "downtime":
			return []string{w}
		}
	}
	return nil
}
