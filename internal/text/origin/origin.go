// Package origin tells a model's own words in a reply from those that it was only sent, by where they come from: a run
// of words that stands in what Sibyl wrote into the request, and in nothing that the person, a source or an earlier
// answer said, is an echo. No list of phrases decides.
//
// Guarantees:
//   - A reply that shares no run of words, no mark and no call with the request is returned unchanged.
//   - What is dropped is whole: sentences, blocks, or marks.
//   - The same request and reply give the same result, in time proportional to their sizes.
package origin

import (
	"hash/maphash"
	"iter"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Sent is what a model was sent, by whose words it is.
type Sent struct {
	Ours    []string // the instructions, and the words around what others said
	Told    []string // whole messages of the controller, and errors: one repeated whole is an echo, if it is short, too
	Theirs  Texts    // the person's words, sources, and earlier answers
	Results []string // those of them that tools returned
	Tools   []Tool   // that the request describes
	Mark    string   // begins messages of the controller; "": there are none
}

// Texts gives texts. It is called only for a reply that shares words or marks with the request, which few do.
type Texts func() []string

// Tool is a tool as it was described.
type Tool struct {
	Name string
	Text string // its description and schema
}

// The sizes from which equal words are no chance. A run of gram words is looked for; an echo has leastEcho words, with
// leastLetters letters. Words of the person, a source or an earlier answer count from knownGram words on.
const (
	gram         = 4
	knownGram    = 5
	leastEcho    = 9
	leastLetters = 24
	leastWhole   = 4 // words of a whole message
	leastField   = 5 // words of a field
	mostGap      = 2 // words that an echo may have changed in one place
	mostPlaces   = 8 // at which the beginning of a run is tried
)

// echoShare is the part of a sentence's words that makes it an echo.
const echoShare = 0.7

// Request is what was sent, ready to be compared with replies. It is safe for concurrent use.
type Request struct {
	sent   Sent
	ours   []uint64               // the words of all texts of ours, hashed; between is between two texts
	runs   []uint64               // of each word with those behind it, gram together; 0 at the end of a text
	whole  []span                 // of ours: the messages that were told
	marked func() map[string]bool // names of elements that texts of ours have
}

type span struct{ from, to int }

// between is the hash of no word.
const between = 0

var seed = sync.OnceValue(maphash.MakeSeed)

func (w word) hash() uint64 { return max(1, maphash.String(seed(), w.text)) }

// hashOfRun is the hash of words with these hashes.
func hashOfRun(words []uint64) (h uint64) {
	for _, w := range words {
		h = (h ^ w) * 0x9E3779B97F4A7C15
	}
	return max(1, h)
}

// Of reads a request.
func Of(sent Sent) *Request {
	r := &Request{sent: sent}
	var texts []string
	add := func(text string) {
		from := len(r.ours)
		for w := range words(text) {
			r.ours = append(r.ours, w.hash())
		}
		for at := range len(r.ours) - from {
			run := uint64(0)
			if at += from; at+gram <= len(r.ours) {
				run = hashOfRun(r.ours[at : at+gram])
			}
			r.runs = append(r.runs, run)
		}
		r.ours, r.runs = append(r.ours, between), append(r.runs, 0)
		texts = append(texts, text)
	}
	for _, text := range sent.Ours {
		add(text)
	}
	for _, text := range sent.Told {
		from := len(r.ours)
		add(strings.TrimPrefix(text, sent.Mark))
		r.whole = append(r.whole, span{from, len(r.ours) - 1})
	}
	for _, t := range sent.Tools {
		add(t.Text)
	}
	r.marked = sync.OnceValue(func() map[string]bool {
		marked := map[string]bool{}
		for _, text := range texts {
			for _, e := range elementsIn(text, nowhere) {
				marked[e.name] = true
			}
		}
		return marked
	})
	return r
}

// echo is words of a reply that stand in a text of ours: a run of them, or several with few other words between.
type echo struct {
	runs  []span // each from a word to before another
	whole bool   // it has a whole message
}

// echoes finds the runs of a reply that stand in texts of ours. Two that are neighbours in both are one.
func (r *Request) echoes(reply []word) (all []echo) {
	said := make([]uint64, len(reply))
	for i, w := range reply {
		said[i] = w.hash()
	}
	places := r.placesOf(said)
	if places == nil {
		return nil
	}
	before, end := 0, 0 // the ends of the last run, in the reply and in ours
	for i := 0; i+gram <= len(said); {
		n, at := r.longest(said[i:], places[hashOfRun(said[i:i+gram])], end)
		if n == 0 {
			i++
			continue
		}
		if before == 0 || i-before > mostGap || at < end || at-end > mostGap {
			all = append(all, echo{})
		}
		last := &all[len(all)-1]
		last.runs, last.whole = append(last.runs, span{i, i + n}), last.whole || r.hasWhole(at, at+n)
		i, end = i+n, at+n
		before = i
	}
	return all
}

// placesOf finds where runs of gram words of a reply stand in texts of ours, by their hashes; nil if none does. The
// reply is indexed, as it is short beside the request.
func (r *Request) placesOf(said []uint64) (places map[uint64][]int32) {
	const buckets = 1 << 12
	var seen [buckets / 64]uint64 // by the lowest bits of the hashes: most runs of ours are in none
	wanted := map[uint64]bool{}
	for i := range len(said) - gram + 1 {
		run := hashOfRun(said[i : i+gram])
		seen[run%buckets/64] |= 1 << (run % 64)
		wanted[run] = true
	}
	for at, run := range r.runs {
		if run == 0 || seen[run%buckets/64]&(1<<(run%64)) == 0 || !wanted[run] || len(places[run]) == mostPlaces {
			continue
		}
		if places == nil {
			places = map[uint64][]int32{}
		}
		places[run] = append(places[run], int32(at))
	}
	return places
}

// words gives the indexes of an echo's words.
func (e echo) words() iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, run := range e.runs {
			for i := run.from; i < run.to; i++ {
				if !yield(i) {
					return
				}
			}
		}
	}
}

// longest is the longest run that begins at one of these places, the nearest behind end of equal ones.
func (r *Request) longest(said []uint64, places []int32, end int) (n, at int) {
	for _, p := range places {
		m := 0
		for m < len(said) && int(p)+m < len(r.ours) && said[m] == r.ours[int(p)+m] {
			m++
		}
		if m > n || m == n && at < end && int(p) >= end {
			n, at = m, int(p)
		}
	}
	return n, at
}

func (r *Request) hasWhole(from, to int) bool {
	return slices.ContainsFunc(r.whole, func(s span) bool {
		return from <= s.from && s.to <= to && s.to-s.from >= leastWhole
	})
}

// known marks the words of a reply that stand in one of the texts, in runs of knownGram.
func known(reply []word, texts []string) []bool {
	ids, wanted := map[string]int32{}, map[[knownGram]int32][]int{}
	own := make([]int32, len(reply))
	for i, w := range reply {
		id, seen := ids[w.text]
		if !seen {
			id = int32(len(ids))
			ids[w.text] = id
		}
		own[i] = id
		if at := i + 1 - knownGram; at >= 0 {
			key := [knownGram]int32(own[at:])
			wanted[key] = append(wanted[key], at)
		}
	}
	is := make([]bool, len(reply))
	for _, text := range texts {
		var last [knownGram]int32
		n := 0
		for w := range words(text) {
			id, seen := ids[w.text]
			if !seen {
				n = 0
				continue
			}
			copy(last[:], last[1:])
			last[knownGram-1] = id
			if n++; n < knownGram {
				continue
			}
			for _, at := range wanted[last] {
				for i := range knownGram {
					is[at+i] = true
				}
			}
			delete(wanted, last)
		}
	}
	return is
}

// echoed marks the words of a reply that are an echo of at least so many words, or of a whole message.
func (r *Request) echoed(text string, reply []word, least int) []bool {
	is := make([]bool, len(reply))
	all := r.echoes(reply)
	if len(all) == 0 {
		return is
	}
	theirs := known(reply, r.sayable())
	r.allowToolTexts(text, reply, theirs)
	for _, e := range all {
		n, letters := 0, 0
		for i := range e.words() {
			if !theirs[i] {
				n, letters = n+1, letters+utf8.RuneCountInString(reply[i].text)
			}
		}
		if n < least || letters < leastLetters*least/leastEcho {
			if !e.whole || n < leastWhole {
				continue
			}
		}
		for i := range e.words() {
			is[i] = !theirs[i]
		}
	}
	return is
}

func (r *Request) theirs() []string {
	if r.sent.Theirs == nil {
		return nil
	}
	return r.sent.Theirs()
}

// sayable are the words of the person, of sources and of earlier answers, and what the instructions quote: that is what
// a model is told to say.
func (r *Request) sayable() []string {
	all := slices.Clone(r.theirs())
	for _, text := range r.sent.Ours {
		all = append(all, quotedIn(text)...)
	}
	return all
}

// allowToolTexts marks what a line says of a tool that it names, in the words of the tool's description.
func (r *Request) allowToolTexts(text string, reply []word, is []bool) {
	for from := 0; from < len(reply); {
		to, names := from+1, []string{}
		for to < len(reply) && !strings.Contains(text[reply[to-1].to:reply[to].from], "\n") {
			to++
		}
		for _, t := range r.sent.Tools {
			if slices.ContainsFunc(reply[from:to], func(w word) bool { return w.text == strings.ToLower(t.Name) }) {
				names = append(names, t.Text)
			}
		}
		if len(names) > 0 {
			for i, k := range known(reply[from:to], names) {
				is[from+i] = is[from+i] || k
			}
		}
		from = to
	}
}

// IsOwn says whether a short text, such as the field of a report, is the model's own: an empty one is.
func (r *Request) IsOwn(field string) bool {
	all := slices.Collect(words(field))
	n := 0
	for _, is := range r.echoed(field, all, leastField) {
		if is {
			n++
		}
	}
	isEcho := n > 0 && float64(n) >= echoShare*float64(len(all))
	return !isEcho && !r.isMarkedMessage(field)
}

// isMarkedMessage says whether a text is a message of the controller with its mark.
func (r *Request) isMarkedMessage(text string) bool {
	rest, marked := strings.CutPrefix(strings.TrimSpace(text), strings.TrimSpace(r.sent.Mark))
	return r.sent.Mark != "" && marked && r.isTold(rest)
}

// isTold says whether a text has the words of a whole message.
func (r *Request) isTold(text string) bool {
	plain := wordsOnly(text)
	return slices.ContainsFunc(r.sent.Told, func(told string) bool {
		return plain == wordsOnly(strings.TrimPrefix(told, r.sent.Mark))
	})
}
