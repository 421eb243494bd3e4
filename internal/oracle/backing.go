package oracle

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"sibyl/internal/agent"
	"sibyl/internal/model"
	"sibyl/internal/signal"
	"sibyl/internal/text"
	"sibyl/internal/text/search"
)

// Backing is how an answer from what was looked up was checked, for a model that is told of no tools.
type Backing struct {
	Answer  string   `json:"answer"`            // in the model's words
	Cite    string   `json:"cite,omitempty"`    // the lines that back it; "": none does
	General bool     `json:"general,omitempty"` // none does, and it may come from the model's knowledge
	Own     []string `json:"own,omitempty"`     // figures and names of the answer that stand in no place that was found
}

// noneOfThese is what a model is asked to say if no passage answers the question.
const noneOfThese = "none"

// backedListener reads an answer from what was looked up, and shows it with the lines that back it. These are found by
// the words of question and answer: a small model that is asked to copy them invents instead. An answer that no place
// backs is no finding: the person reads that no place answers the question, and the best places, as without a model.
type backedListener struct {
	asked  agent.Request
	o      offline
	places []passage // that the model was shown
	text   strings.Builder
}

// newBackedListener gives nil where there is nothing to check: nothing was looked up, the model may answer from its
// knowledge and was shown no place, or it is asked for notes.
func newBackedListener(asked agent.Request) agent.Listener[Heard] {
	sit, err := offlineSituation(asked.Request)
	if err != nil || !sit.NoTools || asked.Purpose != Purpose {
		return nil
	}
	o := newOffline(sit)
	places := o.withMostWords(o.openedPassages(), handyRows, o.sit.General)
	if len(places) == 0 && (o.sit.General || len(o.sit.Steps) == 0) {
		return nil
	}
	return &backedListener{asked: asked, o: o, places: places}
}

// Write shows nothing: half an answer can't be checked.
func (l *backedListener) Write(text string) string {
	l.text.WriteString(text)
	return ""
}

// Standing is 0: nothing is shown before the end.
func (l *backedListener) Standing(string) int { return 0 }

func (l *backedListener) Close(string, []model.ToolCall) agent.CompleteReply[Heard] {
	own, dropped := agent.OriginOf(l.asked).Own(l.text.String())
	said, b := l.o.backed(strings.TrimSpace(signal.Neutralise(own)), l.places)
	kind, field := "context_sufficient", fieldXML("sources_found", "1")
	if b.Cite == "" && !b.General {
		kind, field = "partial_answer", fieldXML("missing", l.o.phrase("place"))
	}
	h := Heard{Backing: &b, NotOwn: dropped}
	if s, err := signal.Parse(signalXML(kind, 0.9, field)); err == nil {
		h.Signal = &s
		h.setTime(time.Now().UTC().Truncate(time.Millisecond))
	}
	return agent.CompleteReply[Heard]{Rest: said, Report: h}
}

// backed makes the answer that the person reads.
func (o offline) backed(answer string, places []passage) (said string, b Backing) {
	b.Answer = answer
	none := strings.EqualFold(trimMarks(answer), noneOfThese)
	if lines, ok := o.backing(answer, places); ok && !none {
		b.Cite, b.Own = lines.cite(), o.ownWords(answer, places)
		return fmt.Sprintf("%s\n\n`%s`:\n\n%s\n", answer, b.Cite, lines.fenced()), b
	}
	if o.sit.General && answer != "" && !none {
		b.General = true
		return answer, b
	}
	if len(places) == 0 {
		said, _ = o.nothingFound()
		return said, b
	}
	more := ""
	if len(places) > 1 {
		more = o.phrase("look_there")
	}
	places = places[:min(len(places), mostPlaces)]
	return strings.TrimSpace(o.listPlaces(places, o.phrase("no_place")+"\n\n", more)), b
}

const (
	backedRows   = 8    // of a passage that backs an answer, as it is shown
	leastHeld    = 0.4  // of an answer's words by the place that backs it
	figureWeight = 3    // of a figure among the words
	leastAsked   = 0.33 // of a question's words by a place that may be about it
	mostAsked    = 0.75 // of them by one that surely is
	// Up to this figure people write numbers out, and a passage may have the other form.
	writtenOut = 12
)

// backing are the lines that back an answer: of a place that is about the question, and has the answer's words, one at
// least that the question does not have. A place that may be about something else needs each word that the answer
// repeats of the question, too. Of several places, it is the one with most words.
func (o offline) backing(answer string, places []passage) (lines passage, ok bool) {
	words := o.wordsToBack(answer)
	best := 0.0
places:
	for _, p := range places {
		fits := o.fits(p)
		if fits == notAbout {
			continue
		}
		var all, figures, fresh weighed
		mayRepeat := fits == surelyAbout || o.isForeignTo(p)
		for _, w := range words {
			has, weight := p.has(w.text), 1
			if w.figure {
				has, weight = has || p.hasInOtherForm(w.text), figureWeight
				figures.add(weight, has)
			}
			if w.fresh { // a number that may be written out is taken for such a word
				fresh.add(1, has || isNumber(w.text) && !w.figure)
			}
			all.add(weight, has)
			joins := strings.ContainsFunc(w.text, search.IsUnspaced) // a pair of letters may join two words
			if !has && !w.fresh && !mayRepeat && !joins && tellsMuch(w.text) {
				continue places
			}
		}
		share := all.share()
		if share >= leastHeld && share > best && fresh.held > 0 && (figures.held > 0 || figures.all == 0) {
			best, lines = share, p
		}
	}
	if best == 0 {
		return passage{}, false
	}
	terms := slices.Clone(o.terms)
	for _, w := range words {
		terms = append(terms, w.text)
	}
	return lines.excerpt(backedRows, soughtBy(terms...)), true
}

// tellsMuch says whether a word says by itself what a place is about.
func tellsMuch(word string) bool { return !search.IsWeak(word) && !search.IsGeneric(word) }

// weighed counts words by their weights.
type weighed struct{ all, held int }

func (w *weighed) add(weight int, held bool) {
	w.all += weight
	if held {
		w.held += weight
	}
}

func (w *weighed) share() float64 { return float64(w.held) / float64(max(w.all, 1)) }

// answerWord is a word of an answer.
type answerWord struct {
	text   string // in lower case
	figure bool   // a number that nobody writes out
	fresh  bool   // the question does not have it
}

// wordsToBack are the words of an answer that a passage has to have: all that carry meaning, but for names that the
// question has. Who asks about a person gets their name back, whatever is said of them.
func (o offline) wordsToBack(answer string) (words []answerWord) {
	var light []answerWord
	asked, named := strings.ToLower(o.sit.Question), strings.ToLower(strings.Join(namesIn(o.sit.Question), " "))
	for bare := range wordsIn(answer) {
		w := answerWord{text: bare, figure: isFigure(bare), fresh: !hasTerm(asked, bare)}
		switch {
		case bare == "", search.IsStop(bare), hasTerm(named, bare),
			slices.ContainsFunc(words, func(x answerWord) bool { return x.text == bare }):
		case !w.figure && w.fresh &&
			(search.IsLight(bare) || search.IsWeak(bare) || search.IsGeneric(bare) || search.IsAsking(bare)):
			light = append(light, w)
		default:
			words = append(words, w)
		}
	}
	if len(words) == 0 {
		return light
	}
	return words
}

// wordsIn yields the words of a text in lower case, and for a script without spaces the pairs of letters by which it is
// searched.
func wordsIn(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for field := range strings.FieldsSeq(text) {
			all := []string{strings.ToLower(withoutGenitive(trimMarks(field)))}
			if strings.ContainsFunc(field, search.IsUnspaced) {
				all = search.Words(field)
			}
			for _, w := range all {
				if !yield(w) {
					return
				}
			}
		}
	}
}

// withoutGenitive is a word without an English “'s”.
func withoutGenitive(word string) string {
	return strings.TrimSuffix(strings.TrimSuffix(word, "'s"), "’s")
}

func isNumber(word string) bool {
	_, err := strconv.Atoi(word)
	return err == nil
}

// isFigure says whether a word is a number that nobody writes out, or has one in it.
func isFigure(word string) bool {
	n, err := strconv.Atoi(word)
	return err == nil && n > writtenOut || err != nil && strings.ContainsFunc(word, unicode.IsDigit)
}

// fit is how much of the question a place has.
type fit int

const (
	notAbout    fit = iota
	maybeAbout      // every name, and a third of the words
	surelyAbout     // and most of those that tell what is asked
)

// fits compares a place with the question, whose words may stand there as they are or translated. In a question in
// another language, a word without a known translation tells nothing.
func (o offline) fits(p passage) fit {
	if languageOf(o.sit.Question, o.earlier) != "de" && // where every noun has a capital letter
		slices.ContainsFunc(namesIn(o.sit.Question), func(name string) bool { return !p.has(name) }) {
		return notAbout
	}
	var asked, telling weighed
	part := 1.0
	foreign := o.isForeignTo(p) && search.IsForeign(o.sit.Question)
	for t := range wordsIn(strings.Join(o.terms, " ")) {
		if strings.ContainsFunc(t, search.IsUnspaced) { // every other pair of letters joins two words
			part = 0.5
		}
		low := text.Fold(t)
		translated := slices.Concat(search.InEnglish(low)...)
		has := p.has(t) || foreign && slices.ContainsFunc(append(translated, search.Cognates(low)...), p.has)
		tells := tellsMuch(low) && (!foreign || translated != nil)
		if has || tells {
			asked.add(1, has)
		}
		if tells {
			telling.add(1, has)
		}
	}
	switch {
	case telling.all > 0 && telling.share() >= mostAsked*part:
		return surelyAbout
	case asked.all == 0 || asked.share() >= leastAsked*part:
		return maybeAbout
	}
	return notAbout
}

// isForeignTo says whether the question is in another language than a place.
func (o offline) isForeignTo(p passage) bool {
	return search.IsForeign(o.sit.Question) != search.IsForeign(strings.Join(p.lines, "\n"))
}

// has says whether a place, its path or its title has a word, an abbreviation of it, or another form.
func (p passage) has(word string) bool {
	whole := strings.Join(append(slices.Clip(p.lines), p.cite(), p.hit.Title, p.hit.Symbol), "\n")
	low := strings.ToLower(word)
	return slices.ContainsFunc(slices.Concat([]string{low}, search.Abbreviations(low), search.Forms(low)),
		func(form string) bool { return beginsIn(whole, search.Stem(form)) })
}

// hasInOtherForm says whether a place has the numbers of a figure that is written otherwise there: 30s for 30 seconds,
// 50000 for 50,000, a date by its year and day. A version is one number, as its parts stand anywhere.
func (p passage) hasInOtherForm(figure string) bool {
	plain := thousands().ReplaceAllString(figure, "$1$2")
	if strings.Contains(plain, ".") {
		return false
	}
	numbers := strings.FieldsFunc(plain, func(r rune) bool { return !unicode.IsDigit(r) })
	numbers = slices.DeleteFunc(numbers, func(n string) bool { return !isFigure(n) })
	p.lines = []string{thousands().ReplaceAllString(strings.Join(p.lines, "\n"), "$1$2")}
	return len(numbers) > 0 && !slices.ContainsFunc(numbers, func(n string) bool { return !p.has(n) })
}

// thousands matches what separates the thousands of a number, with the digits around it.
var thousands = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([0-9])[,'’]([0-9]{3})\b`) })

// longStem is from how many bytes on a stem is found inside of words, as in compounds.
const longStem = 7

// beginsIn says whether a word of a text, or a part of a name, begins with a stem: “rate” is not in “migrate”. A short
// stem has nothing but an ending behind it.
func beginsIn(whole, stem string) bool {
	low := strings.ToLower(whole)
	if stem == "" || len(low) != len(whole) { // a letter whose other case has another length
		return search.Holds(low, stem)
	}
	isPart := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	for from := 0; ; {
		at := strings.Index(low[from:], stem)
		if at < 0 {
			return false
		}
		at += from
		from = at + 1
		before, _ := utf8.DecodeLastRuneInString(whole[:at])
		first, _ := utf8.DecodeRuneInString(whole[at:])
		begins := !isPart(before) || unicode.IsUpper(first) && !unicode.IsUpper(before)
		rest := whole[at+len(stem):]
		if end := strings.IndexFunc(rest, func(r rune) bool { return !isPart(r) }); end >= 0 {
			rest = rest[:end]
		}
		switch {
		case len(stem) >= longStem, search.IsUnspaced(first),
			begins && (len(stem) > search.ShortStem || search.IsForm(stem, []byte(rest))):
			return true
		}
	}
}

// ownWords are the figures of an answer, and its names, that stand neither in what was found nor in the question.
func (o offline) ownWords(answer string, places []passage) (own []string) {
	known := text.Fold(o.sit.Question + " " + o.earlier)
	for _, p := range places {
		known += "\n" + text.Fold(strings.Join(p.lines, "\n")) + "\n" + strings.ToLower(p.cite())
	}
	begins, german := true, languageOf(answer) == "de" // where every noun has a capital letter
	for word := range strings.FieldsSeq(answer) {
		bare := trimMarks(word)
		isName := !begins && !german && bare != "I" && strings.ContainsFunc(bare, unicode.IsUpper)
		if slices.ContainsFunc(places, func(p passage) bool { return p.path != "" && strings.Contains(word, p.path) }) {
			continue
		}
		if (isName || strings.ContainsFunc(bare, unicode.IsDigit)) && !strings.Contains(known, text.Fold(bare)) &&
			!slices.Contains(own, bare) {
			own = append(own, bare)
		}
		begins = strings.HasSuffix(word, ".") || strings.HasSuffix(word, "!") || strings.HasSuffix(word, "?") ||
			strings.HasSuffix(word, ":")
	}
	return own
}
