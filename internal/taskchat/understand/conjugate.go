package understand

import "strings"

// portugueseVerbs are the forms in which a person asks for something to be done, of verbs given as infinitives: "apagar" gives apaga, apague,
// apagues, apagasse, apagasses and the infinitive itself. A form that the rules miss stands beside it: "excluir/exclui".
func portugueseVerbs(list string) string {
	var out []string
	for _, item := range strings.Fields(list) {
		verb, more, _ := strings.Cut(item, "/")
		verb, value, _ := strings.Cut(verb, ":")
		if value != "" {
			value = ":" + value
		}
		stem, vowel := verb[:len(verb)-2], verb[len(verb)-2:len(verb)-1]
		forms := []string{verb, stem + vowel + "sse", stem + vowel + "sses", stem + vowel + "ssem"}
		if vowel == "a" {
			soft := softened(stem)
			forms = append(forms, stem+"a", soft+"e", soft+"es", soft+"em")
		} else {
			soft := strings.TrimSuffix(stem, "u") + "u"
			if !strings.HasSuffix(stem, "u") {
				soft = stem
			}
			forms = append(forms, stem+"e", soft+"a", soft+"as", soft+"am")
		}
		if more != "" {
			forms = append(forms, strings.Split(more, ",")...)
		}
		for _, form := range forms {
			out = append(out, form+value)
		}
	}
	return strings.Join(out, " ")
}

// softened is the stem of a verb before e: apag-ar, apagu-e; marc-ar, marqu-e; começ-ar, comec-e.
func softened(stem string) string {
	switch {
	case strings.HasSuffix(stem, "g"):
		return stem + "u"
	case strings.HasSuffix(stem, "c"):
		return strings.TrimSuffix(stem, "c") + "qu"
	case strings.HasSuffix(stem, "ç"):
		return strings.TrimSuffix(stem, "ç") + "c"
	}
	return stem
}

// portugueseOrder brings what a request is about behind the words of asking: "a segunda podes apagar"; and behind what was done: "o carro já lavei".
func portugueseOrder(x *lexicon, src string, tokens []token) []token {
	o := order{x, src}
	var out []token
	for lo := 0; lo < len(tokens); {
		hi := lo
		for hi < len(tokens) && (tokens[hi].kind != sign || tokens[hi].quoted || tokens[hi].norm == "-" || tokens[hi].norm == "#") {
			hi++
		}
		out = append(out, o.askedBehind(o.asksYou(tokens[lo:hi]))...)
		for ; hi < len(tokens) && tokens[hi].kind == sign && !tokens[hi].quoted && tokens[hi].norm != "#"; hi++ {
			out = append(out, tokens[hi])
		}
		lo = hi
	}
	return out
}

// asksYou reads "apagas a segunda?", "você apaga a segunda?" as a request: the verb in its imperative, and the words of asking before it.
func (o order) asksYou(c []token) []token {
	if len(c) < 2 {
		return c
	}
	from := o.start(c)
	switch verb, you := c[from], c[from].norm == "voce" || c[from].norm == "vc"; {
	case verb.quoted || verb.kind != word || from+1 >= len(c) || o.habit(c[from+1:], verb.norm):
	case you && !c[from+1].quoted && o.commands(c[from+1].norm) && !o.infinitive(c[from+1], false) && from+2 < len(c) && !o.habit(c[from+2:], ""):
		c = append([]token{}, c...)
		c[from].norm = "podes"
	case len(o.entries[verb.norm]) == 0 && strings.HasSuffix(verb.norm, "s"):
		imperative := strings.TrimSuffix(verb.norm, "s")
		if !o.commands(imperative) && !o.reminds(imperative) {
			return c
		}
		ask := verb
		ask.norm, ask.end, verb.norm = "podes", verb.start, imperative
		return append(append(append([]token{}, c[:from]...), ask, verb), c[from+1:]...)
	}
	return c
}

// askedBehind reads a clause that ends with an infinitive behind words of asking, or with a verb that says what was done.
func (o order) askedBehind(c []token) []token {
	if len(c) < 3 {
		return c
	}
	from := o.start(c)
	if o.length(c[from:], rNot) > 0 {
		return c
	}
	last := c[len(c)-1]
	if last.quoted || last.kind != word || o.commands(c[from].norm) || o.length(c[from:], fAsk, fAsking, fIf, fWish, fHelp, vNeed, fSubject, vErrand, fGreet) > 0 {
		return c
	}
	for i := from + 1; i < len(c)-1; i++ {
		if n := o.length(c[i:], vNeed); n > 0 && i <= from+3 && o.length(c[from:], tTime, fFiller) > 0 && !c[i].quoted { // "amanhã tenho de …"
			moved := append(append([]token{}, c[:from]...), c[i:i+n]...)
			return append(append(moved, c[i+n:]...), c[from:i]...)
		}
		asks := o.length(c[i:], fCould)
		if o.length(c[i-1:], rNot) > 0 || o.length(c[from:], rNot) > 0 {
			return c
		}
		verb := i + o.length(c[i:], fAsk, fCould)
		if asks > 0 && !c[i].quoted && verb < len(c) && o.commands(c[verb].norm) && o.infinitive(c[verb], false) {
			moved := append(append([]token{}, c[:from]...), c[i:verb+1]...)
			return append(append(moved, c[from:i]...), c[verb+1:]...)
		}
		if n := o.length(c[i:], fPerfect); n > 0 && i+n == len(c)-1 && (o.past(last.norm) || o.length(c[len(c)-1:], tPast) > 0) {
			moved := append(append([]token{}, c[:from]...), c[i:]...)
			return append(moved, c[from:i]...)
		}
	}
	return c
}
