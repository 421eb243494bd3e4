package digest

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// sentence is a sentence of a transcript, or what speech has in its place.
type sentence struct {
	entry   int     // of the talk
	tokens  []token // without what it begins and ends with by the way
	text    string  // verbatim, white space aside
	asked   bool    // it ends in a question mark
	stated  bool    // it ends in a full stop or an exclamation mark
	stems   []string
	figures []quantity
}

const (
	longRun    = 26 // words of a sentence that is parted at connectives
	fewest     = 7  // words that a part has at least
	fullPart   = 16 // words of a part that is parted at a mere “and”
	commaRun   = 45 // words of a part that is parted at a comma
	hardRun    = 80 // words of a part that is parted wherever it is
	wrappedAt  = 50 // bytes of a line that may go on in the next one
	longQuote  = 45 // words of a quotation
	longSaying = 6  // words of a sentence that says something with no word of meaning
	ellipsis   = "…"
	terminates = ".!?;" + ellipsis
)

// split takes a text apart into sentences.
func (l *language) split(text string, entry int) []sentence {
	list := tokens(text)
	var out []sentence
	add := func(part []token) {
		if s, ok := l.sentence(text, part, entry); ok {
			out = append(out, s)
		}
	}
	start, wrapped := 0, isWrapped(text)
	for i := range list {
		if l.ends(text, list, start, i, wrapped) {
			l.parts(list[start:i+1], add)
			start = i + 1
		}
	}
	l.parts(list[start:], add)
	return out
}

// ends says whether a sentence that began at start ends with token i.
func (l *language) ends(text string, list []token, start, i int, wrapped bool) bool {
	t := list[i]
	if t.Word || i+1 == len(list) {
		return false
	}
	next := list[i+1]
	following := text[t.To:next.From]
	switch t.Norm {
	case paragraphEnd:
		return true
	case lineEnd:
		return !wrapped || isItem(list, i+1)
	case "!", "?", ";":
		return following != "" || next.Norm == lineEnd || next.Norm == paragraphEnd
	case ellipsis:
		return !startsLower(text, next)
	case ".":
		if following == "" && !strings.HasPrefix(next.Norm, lineEnd) || i == start {
			return false
		}
		before := list[i-1]
		switch {
		case before.Norm == ".":
			return !startsLower(text, next)
		case l.words["abbreviations"].Is(before.Norm) || utf8.RuneCountInString(before.Norm) == 1 && !before.IsFigure():
			return false
		case len(before.Norm) <= 2 && before.IsFigure():
			return l.code != "de" && !startsLower(text, next)
		}
		return true
	}
	return false
}

// isWrapped says whether sentences go on over the ends of lines: nearly all lines are long.
func isWrapped(text string) bool {
	short, all := 0, 0
	for line := range strings.Lines(strings.TrimSpace(text)) {
		if line = strings.TrimSpace(line); line != "" {
			all++
			if len(line) < wrappedAt {
				short++
			}
		}
	}
	return 4*short <= all+3 // the last line of a paragraph is short
}

// isItem says whether a line begins with the mark of a list.
func isItem(list []token, i int) bool {
	return slices.Contains([]string{"-", "*", "•", "–"}, list[i].Norm) && i+1 < len(list) && list[i+1].From > list[i].To
}

func startsLower(text string, t token) bool {
	r, _ := utf8.DecodeRuneInString(text[t.From:])
	return unicode.IsLower(r)
}

// parts gives a run of words as it is, or where it is too long for one sentence, in parts that begin with connectives.
func (l *language) parts(run []token, add func([]token)) {
	left := countWords(run)
	start, count := 0, 0
	long := left > longRun
	for i := range run {
		if long && count >= fewest && left >= fewest {
			joint := l.connects("joints", run, i) > 0 || l.asksNext(run, i) || count >= fullPart && l.connects("joined clause", run, i) > 0
			if joint || count >= hardRun || count >= commaRun && run[i].Norm == "," {
				add(run[start:i])
				start, count = i, 0
			}
		}
		if run[i].Word {
			count++
			left--
		}
	}
	add(run[start:])
}

// asksNext says whether a question follows a connective: “so how do we”.
func (l *language) asksNext(run []token, i int) bool {
	n := l.connects("lead", run, i)
	return n > 0 && l.words["asks"].At(run, i+n) > 0
}

func countWords(list []token) int {
	n := 0
	for _, t := range list {
		if t.Word {
			n++
		}
	}
	return n
}

// sentence trims a part. It is none if no word of meaning is left.
func (l *language) sentence(text string, part []token, entry int) (sentence, bool) {
	s := sentence{entry: entry}
	end := len(part)
	for end > 0 && !part[end-1].Word {
		s.asked = s.asked || part[end-1].Norm == "?"
		s.stated = s.stated || part[end-1].Norm == "." || part[end-1].Norm == "!"
		end--
	}
	first := 0
	for first < end {
		n := l.connects("lead", part[:end], first)
		switch {
		case !part[first].Word && !opens(part[:end], first):
			first++
		case n > 0 && first+n < end && l.connects("kept", part[:end], first) == 0:
			first += n
		default:
			s.tokens = part[first:end]
			s.text = quoted(text, s.tokens, part[end:])
			s.stems = l.content(s.tokens)
			s.figures = l.quantities(text, s.tokens)
			return s, len(s.stems) > 0 || len(s.figures) > 0 || countWords(s.tokens) >= longSaying
		}
	}
	return s, false
}

// opens says whether a sign belongs to the word behind it.
func opens(list []token, i int) bool {
	return slices.Contains([]string{"$", "€", "£", "+", "-"}, list[i].Norm) && i+1 < len(list) && list[i+1].From == list[i].To
}

// quoted is the text of a sentence on one line, with the sign that ends it.
func quoted(text string, list, after []token) string {
	last := list[len(list)-1]
	cut := false
	for i, n := 0, 0; i < len(list); i++ {
		if list[i].Word {
			n++
		}
		if n == longQuote && i < len(list)-5 {
			last, cut = list[i], true
			break
		}
	}
	line := oneLine(text[list[0].From:last.To])
	switch {
	case cut:
		line += ellipsis
	case len(after) > 0 && after[0].From == last.To && strings.Contains(terminates+"%€$", after[0].Norm):
		line += after[0].Norm
	}
	return line
}

// oneLine puts a text on one line, without what a terminal would obey.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// span is what tokens of a sentence say, verbatim.
func span(text string, list []token) string { return quoted(text, list, nil) }
