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

// unit is what is flagged as a whole: a segment, or a sentence if there are no segments.
type unit struct {
	text       string
	words      []string // folded
	start, end float64  // both 0: not known
	noSpeech   float64
	confidence float64 // 0: not known
}

func (u unit) duration() float64 { return u.end - u.start }

// splitUnits splits a transcript into segments, whose times get start added, or else its whole text into sentences.
func splitUnits(transcript model.Transcript, all string, start float64) (units []unit) {
	for _, s := range transcript.Segments {
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

// The thresholds of flagUnits' signs. Whisper itself takes a segment for silence at 0.6 if it is unsure of the words as
// well, and decodes again if the mean logarithm of its tokens' probabilities is below -1.
const (
	noSpeechLimit   = 0.6  // as the transcriber says
	weakNoSpeech    = 0.3  // together with a known phrase
	confidenceLimit = 0.35 // of the transcriber's confidence
	minRepeats      = 3    // of one unit in a row
	minCycles       = 4    // of the same words within a unit
	minCycleWords   = 8    // in all of these together
	slowest         = 1.0  // characters a second, over at least slowSpan seconds
	slowSpan        = 8.0
	fastest         = 45.0 // characters a second, of at least fastText characters
	fastText        = 40
)

// flagUnits flags the doubtful units: as Ghost, or else as LowConfidence. Repeated units share one flag.
//
// What a transcriber invents is recognised by other signs than its words: no voice, words that repeat, a pace at which
// nobody speaks. A known phrase supports such a sign. Credits, which nobody says, are recognised by their words alone;
// phrases that people may say need another sign, or have to be the whole transcript.
func flagUnits(units []unit) (flags []Flag) {
	known := phrases()
	onlyPhrases := !slices.ContainsFunc(units, func(u unit) bool { return phraseCategory(known, u.words) == "" })
	for i := 0; i < len(units); i++ {
		u := units[i]
		kind := u.flagKind(phraseCategory(known, u.words), onlyPhrases)
		if n := countRepeats(units[i:]); n >= minRepeats {
			kind = Ghost
			i += n - 1
		}
		if kind != "" {
			flags = append(flags, Flag{Kind: kind, Text: text.Brief(u.text, maxFlagText), Start: u.start,
				End: units[i].end})
		}
	}
	return flags
}

// flagKind returns the kind of flag for u, "" for none. phrase is the category of u's phrase, and onlyPhrases says that
// all units are known phrases.
func (u unit) flagKind(phrase string, onlyPhrases bool) string {
	weak := u.hasOddPace() || u.confidence > 0 && u.confidence < confidenceLimit
	switch {
	case phrase == credit, phrase != "" && (onlyPhrases || weak || u.noSpeech >= weakNoSpeech), isCyclic(u.words):
		return Ghost
	case weak, u.noSpeech >= noSpeechLimit:
		return LowConfidence
	}
	return ""
}

// hasOddPace says whether u is slower or faster than people speak.
func (u unit) hasOddPace() bool {
	n := float64(utf8.RuneCountInString(u.text))
	d := u.duration()
	return d >= slowSpan && n/d < slowest || d > 0 && n >= fastText && n/d > fastest
}

// countRepeats counts how many units at the beginning say the same.
func countRepeats(units []unit) int {
	n := 1
	for n < len(units) && len(units[0].words) > 0 && slices.Equal(units[n].words, units[0].words) {
		n++
	}
	return n
}

// isCyclic says whether words repeat the same few again and again.
func isCyclic(words []string) bool {
	for period := 1; len(words) >= minCycleWords && period <= len(words)/minCycles; period++ {
		if slices.Equal(words[period:], words[:len(words)-period]) {
			return true
		}
	}
	return false
}

// maxFlagText bounds the text of a flag, in characters.
const maxFlagText = 200

// The categories of phrases that transcribers are known to invent; ghosts.txt explains them.
const (
	credit   = "credit"
	caption  = "caption"
	farewell = "farewell"
)

//go:embed ghosts.txt
var ghosts string

// phrase is a known phrase; words has a space after each word.
type phrase struct{ category, words string }

func phrases() (known []phrase) {
	for line := range strings.Lines(ghosts) {
		category, rest, _ := strings.Cut(line, " ")
		if words := joinWords(search.Words(rest)); category != "#" && words != "" {
			known = append(known, phrase{category, words})
		}
	}
	return known
}

// phraseCategory returns the category of the first known phrase that the words are, or begin with; "" for none.
func phraseCategory(known []phrase, words []string) string {
	all := joinWords(words)
	for _, p := range known {
		if all == p.words || p.category != farewell && strings.HasPrefix(all, p.words) {
			return p.category
		}
	}
	return ""
}

// joinWords joins words with a space after each.
func joinWords(words []string) string {
	return strings.Join(append(words[:len(words):len(words)], ""), " ")
}
