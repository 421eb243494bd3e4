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
	w.Cites = mayCitePath(text) && pathCite().MatchString(text) || strings.Contains(text, "://")
	w.Announces = isAnnouncement(text, w)
	return w
}

// maxAnnouncement is the longest text that can be an announcement, in characters.
const maxAnnouncement = 300

// sentenceEnd matches the end of a sentence.
var sentenceEnd = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[.!?]\s+`) })

// intentionPattern matches an English sentence in which the speaker says what they are about to do.
var intentionPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?i)(?:^|, )(?:\w+,? ){0,2}(?:let me (?:[a-jl-z]|k[^n])\w*|let's|let us|i(?:'|’)ll|i will|i(?:'|’)m going to|i am going to|i need to|i(?:'|’)m (?:now )?\w+ing|i am (?:now )?\w+ing)\b`)
})

// fillerWords is the length of a sentence that says nothing beside an intention, as “One moment, please.”
const fillerWords = 3

// isAnnouncement says whether a text only says what will be done: it is short and cites nothing, and says so in the
// first person, in its first or last sentence or beside mere fillers, or it breaks off where something would follow. An
// answer that is mistaken for one costs one more turn, but is kept.
func isAnnouncement(text string, w Words) bool {
	if w.Size == 0 || w.Size > maxAnnouncement || w.Cites || strings.Contains(text, "```") {
		return false
	}
	if strings.HasSuffix(text, ":") || strings.HasSuffix(text, "...") || strings.HasSuffix(text, "…") {
		return true
	}
	sentences := sentenceEnd().Split(text, -1)
	first, last := 0, len(sentences)-1
	for first < last && isFiller(sentences[first]) {
		first++
	}
	for last > first && isFiller(sentences[last]) {
		last--
	}
	return intentionPattern().MatchString(sentences[first]) || intentionPattern().MatchString(sentences[last])
}

func isFiller(sentence string) bool {
	return len(strings.Fields(sentence)) <= fillerWords && !strings.ContainsAny(sentence, "`_/0123456789")
}

// Best is the reply whose text would be the answer so far, with the state of the run when it came.
type Best struct {
	Ref    int64 `json:"ref"`
	Also   int64 `json:"also,omitempty"` // a reply that may refer back to it, or may be an answer of few words
	Words  Words `json:"words"`
	Opened int   `json:"opened,omitempty"` // places read before it
	Wrote  bool  `json:"wrote,omitempty"`
}

// updateBest makes a reply the best one, unless it only refers back to the one before. Text besides calls comes before
// the answer and does not count, unless it cites a source or its signal is that of an answer.
func (r *Reports) updateBest(reply agent.Reply, report Report, l *agent.Ledger) {
	if r.LookedUp && !r.Handed {
		r.Handed, r.ByTree = true, len(l.Opened)
	}
	next := Best{Ref: reply.Ref, Words: report.Words, Opened: len(l.Opened), Wrote: l.HasWritten()}
	noCalls, better := len(reply.Calls) == 0, next.replaces(r.Best)
	switch {
	case !noCalls || better && next.Words.Size > 0 && next.Words.Text != r.Best.Words.Text:
		r.Idle = 0
	case r.Best.Ref != 0:
		r.Idle++
	}
	switch {
	case next.Words.Size == 0 || !noCalls && !next.Words.Cites && !report.signalsAnswer():
	case better:
		r.Best = next
	// It may be an answer of few words. To what the tree has looked up, that it stands by its answer is none.
	case (next.Opened > max(r.Best.Opened, r.ByTree) || r.Best.Words.Announces) && !next.Words.Announces:
		r.Best.Also = reply.Ref
	}
}

// signalsAnswer says whether the reply has a signal of an answer.
func (r *Report) signalsAnswer() bool {
	return r.Signal != nil && (r.Signal.Type == signal.ContextSufficient || r.Signal.Type == signal.PartialAnswer)
}

// replaces says whether a text replaces the best one before it.
func (b Best) replaces(before Best) bool {
	switch {
	case before.Ref == 0 || before.Words.Announces && (b.Words.Announces || b.Opened > before.Opened ||
		2*b.Words.Size >= before.Words.Size):
		return true
	case b.Words.Announces:
		return false
	case b.Words.Cites || b.Wrote != before.Wrote || b.Opened > before.Opened && b.Words.hasNameOrNumber():
		return true
	}
	return !b.Words.refersBack(before.Words)
}

// hasNameOrNumber says whether a text has a number, or a word inside a sentence that is spelled like a name.
func (w Words) hasNameOrNumber() bool {
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

// ownStemsLimit: a much shorter text with fewer stems of its own only repeats a part of the other.
const ownStemsLimit = 2

// refersBack says whether a text only points to another, as “My answer above is complete” does: it is shorter, and
// either shares no word with it, or repeats a part of it.
func (w Words) refersBack(to Words) bool {
	if w.Size >= to.Size {
		return false
	}
	known, shared, own := contentStems(to.Text), 0, 0
	for stem := range contentStems(w.Text) {
		if known[stem] {
			shared++
		} else {
			own++
		}
	}
	return shared == 0 || own < ownStemsLimit && 2*w.Size < to.Size
}

// contentStems are the stems of the words in a text that carry meaning.
func contentStems(text string) map[string]bool {
	all := map[string]bool{}
	for _, word := range search.Words(strings.ToLower(text)) {
		if !search.IsStop(word) {
			all[search.Stem(word)] = true
		}
	}
	return all
}
