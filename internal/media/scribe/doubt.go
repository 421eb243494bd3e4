package scribe

import (
	_ "embed"
	"slices"
	"strings"
	"unicode/utf8"

	"sibyl/internal/model"
	"sibyl/internal/text"
	"sibyl/internal/text/search"
)

// A unit is what is doubted as a whole: a segment, or a sentence where there are no segments.
type unit struct {
	text       string
	words      []string // folded
	start, end float64  // both 0: not known
	noSpeech   float64
	confidence float64 // 0: not known
}

func (u unit) span() float64 { return u.end - u.start }

// unitsOf takes a transcript apart; all is its text, laid out.
func unitsOf(said model.Transcript, all string, start float64) (units []unit) {
	for _, s := range said.Segments {
		if part := strings.TrimSpace(s.Text); part != "" {
			units = append(units, unit{text: part, words: search.Words(part), start: start + s.Start,
				end:      start + s.End,
				noSpeech: s.NoSpeech, confidence: s.Confidence})
		}
	}
	if units != nil {
		return units
	}
	for _, s := range text.Sentences(all) {
		part := all[s.From:s.To]
		units = append(units, unit{text: part, words: search.Words(part)})
	}
	return units
}

// From when on a sign counts. Whisper itself takes a segment for silence at 0.6 if it is unsure of the words as well,
// and decodes anew where the mean logarithm of its tokens' probabilities is below -1.
const (
	noSpeech     = 0.6  // as the transcriber says
	someNoSpeech = 0.3  // in support of another sign
	unsure       = 0.35 // of the transcriber's confidence
	repeats      = 3    // of one unit in a row
	cycles       = 4    // of the same words within a unit
	cycleWords   = 8    // that these have together, at least
	slowest      = 1.0  // characters a second, over at least slowSpan seconds
	slowSpan     = 8.0
	fastest      = 45.0 // characters a second, of at least fastText characters
	fastText     = 40
)

// doubts flags what is doubtful in the units, each once: by the strongest reason, one flag for those that repeat.
//
// What a transcriber invents shows by what it rests on, not by what it says: no voice under it, words that go round, a
// pace at which nobody speaks. Known phrases add to that. Only credits, which nobody says, are told by their words
// alone; what people may say needs another sign, or to be all that there is.
func doubts(units []unit) (flags []Flag) {
	known := phrases()
	alone := !slices.ContainsFunc(units, func(u unit) bool { return sortOf(known, u.words) == "" })
	for i := 0; i < len(units); i++ {
		u := units[i]
		kind := u.doubt(sortOf(known, u.words), alone)
		if n := run(units[i:]); n >= repeats {
			kind = Ghost
			i += n - 1
		}
		if kind != "" {
			flags = append(flags, Flag{Kind: kind, Text: text.Brief(u.text, mostText), Start: u.start,
				End: units[i].end})
		}
	}
	return flags
}

// doubt is the kind of flag that u deserves, "" for none. phrase is the sort of phrase that it is, and alone says that
// there are only such.
func (u unit) doubt(phrase string, alone bool) string {
	weak := u.pace() || u.confidence > 0 && u.confidence < unsure
	switch {
	case phrase == credit, phrase != "" && (alone || weak || u.noSpeech >= someNoSpeech), cyclic(u.words):
		return Ghost
	case weak, u.noSpeech >= noSpeech:
		return LowConfidence
	}
	return ""
}

// pace says whether nobody speaks as slowly or as fast.
func (u unit) pace() bool {
	n := float64(utf8.RuneCountInString(u.text))
	return u.span() >= slowSpan && n/u.span() < slowest || u.span() > 0 && n >= fastText && n/u.span() > fastest
}

// run counts how many units at the beginning say the same.
func run(units []unit) int {
	n := 1
	for n < len(units) && len(units[0].words) > 0 && slices.Equal(units[n].words, units[0].words) {
		n++
	}
	return n
}

// cyclic says whether words are the same few again and again.
func cyclic(words []string) bool {
	for period := 1; len(words) >= cycleWords && period <= len(words)/cycles; period++ {
		if slices.Equal(words[period:], words[:len(words)-period]) {
			return true
		}
	}
	return false
}

// mostText bounds the text of a flag, in characters.
const mostText = 200

// The sorts of phrases that transcribers are known to invent; ghosts.txt says what they are.
const (
	credit   = "credit"
	caption  = "caption"
	farewell = "farewell"
)

//go:embed ghosts.txt
var ghosts string

// phrase is a known one, as its words with a space behind each.
type phrase struct{ sort, words string }

func phrases() (known []phrase) {
	for line := range strings.Lines(ghosts) {
		sort, said, _ := strings.Cut(line, " ")
		if words := joined(search.Words(said)); sort != "#" && words != "" {
			known = append(known, phrase{sort, words})
		}
	}
	return known
}

// sortOf is the first sort of phrase that words are; "" for none.
func sortOf(known []phrase, words []string) string {
	all := joined(words)
	for _, p := range known {
		if all == p.words || p.sort != farewell && strings.HasPrefix(all, p.words) {
			return p.sort
		}
	}
	return ""
}

// joined are words with a space behind each.
func joined(words []string) string {
	return strings.Join(append(words[:len(words):len(words)], ""), " ")
}
