package sentence

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sibyl/internal/text/search"
)

// span is a part of a text, in bytes.
type span struct{ from, to int }

// abbreviations end in a full stop that ends no sentence. Single letters do so too.
func isAbbreviation(word string) bool {
	return slices.Contains([]string{
		"dr", "mr", "mrs", "ms", "prof", "st", "no", "nos", "nr", "vs", "etc", "approx", "ca", "inc", "ltd", "co", "corp", "fig", "figs", "vol", "pp", "ed", "eds", "al",
		"jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "okt", "nov", "dec", "dez", "bzw", "usw", "vgl", "abb", "abs", "art", "bspw", "evtl", "ggf",
		"inkl", "zzgl", "mio", "mrd", "str", "tel", "hr", "fr", "geb", "gest", "zb", "dipl", "ing", "max", "min", "eur",
	}, word)
}

// Split gives the sentences of a text, without white space around them.
func Split(text string) (list []string) {
	for _, s := range sentences(text) {
		list = append(list, text[s.from:s.to])
	}
	return list
}

// sentences takes a text apart. Lines are sentences of their own: documents are read so that running text has none within.
func sentences(text string) []span {
	var list []span
	start := 0
	add := func(end int) {
		part := text[start:end]
		from := start + len(part) - len(strings.TrimLeft(part, " \n"))
		if to := start + len(strings.TrimRight(part, " \n")); to > from {
			list = append(list, span{from, to})
		}
		start = end
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		switch r {
		case '\n', '•', '▪', '◦', '●':
			add(i - size)
		case '.', '!', '?', '…':
			if end := closing(text, i); endsSentence(text, start, i-size, end) {
				add(end)
				i = max(i, end)
			}
		}
	}
	add(len(text))
	return list
}

// closing is where the quotation marks and brackets behind a full stop end.
func closing(text string, at int) int {
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		if !strings.ContainsRune("\"'”’“»)]!?.…", r) {
			break
		}
		at += size
	}
	return at
}

// endsSentence says whether a sign at a place, after which text goes on at end, ends the sentence that began at start.
func endsSentence(text string, start, sign, end int) bool {
	if end >= len(text) {
		return true
	}
	if text[end] != ' ' && text[end] != '\n' {
		return false
	}
	rest := strings.TrimLeft(text[end:], " ")
	next, _ := utf8.DecodeRuneInString(rest)
	if unicode.IsLower(next) {
		return false
	}
	if text[sign] != '.' {
		return true
	}
	before := strings.TrimRight(text[start:sign], "\"”’“»)]")
	word := strings.ToLower(before[strings.LastIndexAny(before, " (\n\u00a0“„\"")+1:])
	switch {
	case word != "" && utf8.RuneCountInString(word) == 1 && !isDigits(word): // an initial, unless no name follows: “in hall B. The guard”
		return opensSentence(rest)
	case word == "" || isAbbreviation(strings.ReplaceAll(word, ".", "")):
		return false
	case strings.Contains(word, ".") && !strings.ContainsAny(word, "0123456789"): // z.B, e.g, U.S
		return false
	case isDigits(word) && len(word) <= 2:
		return !isOrdinal(before[:len(before)-len(word)], rest)
	}
	return true
}

// opensSentence says whether a text begins with a word that holds sentences together, which is no name.
func opensSentence(rest string) bool {
	list := pieces(rest)
	if len(list) == 0 {
		return false
	}
	low := search.Words(list[0].text)
	return len(low) == 1 && len(low[0]) > 1 && search.IsStop(low[0])
}

// isOrdinal says whether a figure with a full stop counts a place, as in “am 3. Mai”, by what stands around it.
func isOrdinal(before, rest string) bool {
	fields := strings.Fields(before)
	if len(fields) == 0 {
		return true // “3. The pump” is an item of a list
	}
	next := strings.Fields(rest)
	if len(next) > 0 && isMonth(strings.ToLower(strings.Trim(next[0], ".,;"))) {
		return true
	}
	return slices.Contains([]string{"am", "vom", "den", "dem", "der", "die", "das", "zum", "bis", "ab", "des", "im", "und", "seit", "beim", "zur", "jeder", "jeden", "jede"}, strings.ToLower(fields[len(fields)-1]))
}

func isDigits(word string) bool {
	return word != "" && strings.Trim(word, "0123456789") == ""
}
