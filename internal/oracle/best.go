package oracle

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"sibyl/internal/agent"
	"sibyl/internal/signal"
	"sibyl/internal/text/search"
)

// Words is what the tree knows of the text of a reply.
type Words struct {
	Text      string `json:"text"`
	Size      int    `json:"size"`                // in characters
	Cites     bool   `json:"cites,omitempty"`     // it names a line or an address
	Announces bool   `json:"announces,omitempty"` // it says what will be done, and nothing else
}

func wordsOf(text string) Words {
	text = strings.TrimSpace(text)
	w := Words{Text: text, Size: utf8.RuneCountInString(text)}
	w.Cites = hasNumber(text) && pathCite().MatchString(text) || strings.Contains(text, "://")
	w.Announces = announces(text, w)
	return w
}

// mostAnnounced is how long an announcement is at most, in characters.
const mostAnnounced = 300

// sentenceEnd stands between two sentences.
var sentenceEnd = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[.!?]\s+`) })

// intention is how a sentence of English says what the speaker is about to do.
var intention = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?i)(?:^|, )(?:\w+,? ){0,2}(?:let me (?:[a-jl-z]|k[^n])\w*|let's|let us|i(?:'|’)ll|i will|i(?:'|’)m going to|i am going to|i need to|i(?:'|’)m (?:now )?\w+ing|i am (?:now )?\w+ing)\b`)
})

// announces says whether a text only says what will be done. It is short and cites nothing, and its first or last
// sentence says so in the first person, or it breaks off where something is to follow. Taken wrongly for one, an answer
// costs one more turn, and is kept.
func announces(text string, w Words) bool {
	if w.Size == 0 || w.Size > mostAnnounced || w.Cites || strings.Contains(text, "```") {
		return false
	}
	if strings.HasSuffix(text, ":") || strings.HasSuffix(text, "...") || strings.HasSuffix(text, "…") {
		return true
	}
	sentences := sentenceEnd().Split(text, -1)
	return intention().MatchString(sentences[0]) || intention().MatchString(sentences[len(sentences)-1])
}

// Best is the reply whose text would be the answer so far, and what was known when it came.
type Best struct {
	Ref    int64 `json:"ref"`
	Also   int64 `json:"also,omitempty"` // a reply that may refer back to it, or may be an answer of few words
	Words  Words `json:"words"`
	Opened int   `json:"opened,omitempty"` // places read before it
	Wrote  bool  `json:"wrote,omitempty"`
}

// said enters the text of a reply: it is the best one unless it only refers back to the one before. Text beside calls
// goes before the answer, unless it cites what was read or its signal says that it is one.
func (r *Reports) said(reply agent.Reply, report Report, l *agent.Ledger) {
	next := Best{Ref: reply.Ref, Words: report.Words, Opened: len(l.Opened), Wrote: l.HasWritten()}
	quiet, better := len(reply.Calls) == 0, next.replaces(r.Best)
	switch {
	case !quiet || better && next.Words.Size > 0 && next.Words.Text != r.Best.Words.Text:
		r.Idle = 0
	case r.Best.Ref != 0:
		r.Idle++
	}
	switch {
	case next.Words.Size == 0 || !quiet && !next.Words.Cites && !report.answers():
	case better:
		r.Best = next
	case (next.Opened > r.Best.Opened || r.Best.Words.Announces) && !next.Words.Announces:
		r.Best.Also = reply.Ref // it may be an answer of few words
	}
}

// answers says whether the signal is that of an answer.
func (r *Report) answers() bool {
	return r.Signal != nil && (r.Signal.Type == signal.ContextSufficient || r.Signal.Type == signal.PartialAnswer)
}

// replaces says whether a text stands in the place of the best one before it.
func (b Best) replaces(before Best) bool {
	switch {
	case before.Ref == 0 || before.Words.Announces && (b.Words.Announces || b.Opened > before.Opened ||
		2*b.Words.Size >= before.Words.Size):
		return true
	case b.Words.Announces:
		return false
	case b.Words.Cites || b.Wrote != before.Wrote || b.Opened > before.Opened && b.Words.names():
		return true
	}
	return !b.Words.refersBack(before.Words)
}

// names says whether a text holds a number, or a word that is written as names are, inside of a sentence.
func (w Words) names() bool {
	begins := true
	for word := range strings.FieldsSeq(w.Text) {
		first, _ := utf8.DecodeRuneInString(word)
		if strings.ContainsFunc(word, unicode.IsDigit) || unicode.IsUpper(first) && !begins && word != "I" ||
			strings.ContainsAny(word, "`_/") {
			return true
		}
		begins = strings.HasSuffix(word, ".") || strings.HasSuffix(word, "!") || strings.HasSuffix(word, ":")
	}
	return false
}

// fewWords is how many words of its own a shorter text has that only repeats a part of another.
const fewWords = 2

// refersBack says whether a text only points to another, as “My answer above is complete” does: it is shorter, and
// either speaks of nothing that the other speaks of, or repeats a part of it.
func (w Words) refersBack(to Words) bool {
	if w.Size >= to.Size {
		return false
	}
	known, shared, own := stems(to.Text), 0, 0
	for stem := range stems(w.Text) {
		if known[stem] {
			shared++
		} else {
			own++
		}
	}
	return shared == 0 || own < fewWords && 2*w.Size < to.Size
}

// stems are the words of a text that say something, by their stems.
func stems(text string) map[string]bool {
	all := map[string]bool{}
	for _, word := range search.Words(strings.ToLower(text)) {
		if !search.IsStop(word) {
			all[search.Stem(word)] = true
		}
	}
	return all
}
