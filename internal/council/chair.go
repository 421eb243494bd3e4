package council

import (
	"cmp"
	"context"
	_ "embed" // words.json
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/council/session"
	"sibyl/internal/model"
	"sibyl/internal/run"
	"sibyl/internal/text"
	"sibyl/internal/text/origin"
)

// ChairPayload requests that an oracle merges the answers.
type ChairPayload struct {
	Chair   Seat     `json:"chair"`
	Answers []Spoken `json:"answers"`
	Briefly bool     `json:"briefly,omitempty"` // in one sentence for each oracle
}

// MergedAnswers is a chair's summary of the answers. The sentences of Overlooked have no authors.
type MergedAnswers struct {
	Sentences  []Sentence `json:"sentences"`
	Agree      []Sentence `json:"agree,omitempty"`
	Differ     []Sentence `json:"differ,omitempty"`
	Overlooked []Sentence `json:"overlooked,omitempty"`
	Unused     []string   `json:"unused,omitempty"` // oracles named in none of Sentences
}

// Sentence is a sentence of a chair, in one line. By and Unproven are names of oracles, in the order of their answers;
// if both are empty, the sentence is the chair's own.
type Sentence struct {
	Text string   `json:"text"`
	By   []string `json:"by,omitempty"` // oracles whose answers contain the words that the chair quotes
	// oracles that the chair names although their answers do not contain the quoted words
	Unproven []string `json:"unproven,omitempty"`
	Minority bool     `json:"minority,omitempty"`
}

// ChairReceipt is a chair's summary of the answers; Text is the same in Markdown.
type ChairReceipt struct {
	Text string `json:"text"`
	MergedAnswers
	Model  string      `json:"model"`
	Usage  model.Usage `json:"usage"`
	NotOwn []string    `json:"not_own,omitempty"` // sentences that were dropped: only repeated of what was sent
	Twice  []string    `json:"twice,omitempty"`   // sentences that were dropped: they stand before
	Poor   bool        `json:"poor,omitempty"`    // it can't be used: it repeats itself, is too long, or quotes nobody
	Composed
}

// chairReply is the reply of the chair's model. For each oracle that it names it quotes the words it relies on.
type chairReply struct {
	Sentences  []credited `json:"sentences" min:"1" max:"60"`
	Agree      []point    `json:"agree" max:"8"`
	Differ     []point    `json:"differ" max:"8"`
	Overlooked []string   `json:"overlooked" max:"8"`
}

// point is a sentence of the model's reply.
type point struct {
	Text string   `json:"text" min:"1"`
	By   []quoted `json:"by" max:"36"`
}

// credited is a point that may be a minority view.
type credited struct {
	point
	Minority bool `json:"minority"`
}

// quoted are words that the model claims to quote from an oracle's answer.
type quoted struct {
	Oracle string `json:"oracle"`
	Words  string `json:"words"`
}

// briefReply is the reply of a chair that is asked for one sentence for each oracle.
type briefReply struct {
	Sentences []briefly `json:"sentences" min:"1" max:"36"`
}

// briefly is what one oracle says.
type briefly struct {
	quoted
	Text string `json:"text" min:"1"`
}

// whole is a brief reply as a chair writes it who finds nothing else.
func (b *briefReply) whole() (c chairReply) {
	for _, s := range b.Sentences {
		c.Sentences = append(c.Sentences, credited{point: point{Text: s.Text, By: []quoted{s.quoted}}})
	}
	return c
}

// keepOwn drops the sentences that only repeat what the chair was told, and returns them.
func (c *chairReply) keepOwn(from *origin.Request) (dropped []string) {
	isOwn := func(said string) bool {
		own := from.IsOwn(said)
		if !own {
			dropped = append(dropped, said)
		}
		return own
	}
	c.Sentences = slices.DeleteFunc(c.Sentences, func(s credited) bool { return !isOwn(s.Text) })
	c.Agree = slices.DeleteFunc(c.Agree, func(p point) bool { return !isOwn(p.Text) })
	c.Differ = slices.DeleteFunc(c.Differ, func(p point) bool { return !isOwn(p.Text) })
	c.Overlooked = slices.DeleteFunc(c.Overlooked, func(one string) bool { return !isOwn(one) })
	return dropped
}

// uncredited converts points to credited, none of them a minority view.
func uncredited(points []point) (all []credited) {
	for _, p := range points {
		all = append(all, credited{point: p})
	}
	return all
}

func callChair() bt.Leaf {
	type in struct {
		Heard []Heard `port:"heard"`
		Chair Seat    `port:"chair"`
	}
	type out struct {
		Events []bt.Typed `port:",events"`
	}
	const doc = "Says that the chair merges the answers. FAILURE where fewer than two oracles have answered."
	return bt.Func("CallChair", doc, func(i in, o *out) error {
		if len(answersGiven(i.Heard)) < 2 {
			o.Events = []bt.Typed{Skipped{partChair, tooFew.With()}}
			return errors.New(tooFew.With().Text)
		}
		o.Events = []bt.Typed{Merging{i.Chair.Name}}
		return nil
	})
}

func chairLeaf() bt.Leaf {
	type in struct {
		Heard   []Heard `port:"heard"`
		Chair   Seat    `port:"chair"`
		Briefly bool    `port:"briefly" default:"false" doc:"in one sentence for each oracle"`
	}
	type out struct {
		Reply  int64      `port:"reply" doc:"the record of what was merged"`
		Poor   bool       `port:"poor" doc:"what the model wrote can't be used"`
		Events []bt.Typed `port:",events"`
	}
	plan := func(i in) (bt.Request, error) {
		return bt.Request{Kind: EffectChair, Label: i.Chair.Name + " presides", Payload: ChairPayload{i.Chair,
			answersGiven(i.Heard), i.Briefly}}, nil
	}
	collect := func(i in, r ChairReceipt, ref int64, o *out) error {
		if o.Poor = r.Poor; r.Poor {
			if i.Briefly { // else it is asked once more
				o.Events = agent.WithNotOwn([]bt.Typed{Skipped{partChair, poorChair.With()}}, r.NotOwn)
			}
			return errors.New(poorChair.With().Text)
		}
		o.Reply = ref
		o.Events = agent.WithNotOwn([]bt.Typed{Chaired{i.Chair.Name, len(r.Agree), len(r.Differ), len(r.Overlooked)}},
			r.NotOwn)
		o.Events = agent.WithCut(o.Events, r.Sent)
		return nil
	}
	failed := func(i in, why *bt.Fault, _ int64, o *out) {
		if o.Poor = why.Kind == string(model.Garbled) || why.Kind == string(model.Repeated); i.Briefly || !o.Poor {
			o.Events = []bt.Typed{Skipped{partChair, why.Why()}}
		}
	}
	const doc = "Has the chair merge all answers, and say where they agree, where they differ and what all overlook. " +
		"Each sentence names its authors, and minority views are kept. FAILURE if it fails, or can't be used."
	return bt.One("Preside", doc, plan, collect, failed)
}

func (p *performer) mergeAnswers(ctx context.Context, job run.Job, asked ChairPayload) (any, error) {
	m, _, err := p.modelTaskOf(ctx, asked)
	if err != nil {
		return nil, err
	}
	var said chairReply
	var into any = &said
	var brief briefReply
	if asked.Briefly {
		into = &brief
	}
	q, resp, err := p.askStructured(ctx, job, m, into)
	r := ChairReceipt{Model: resp.Model, Usage: resp.Usage}
	if q != nil {
		r.Composed = q.kept(p.given.Snapshot)
	}
	if err != nil {
		return r, err
	}
	if asked.Briefly {
		said = brief.whole()
	}
	if r.NotOwn = said.keepOwn(agent.OriginOfTexts(q.TextsByOrigin(m.about, "language"))); len(said.Sentences) == 0 {
		return r, &bt.Fault{Kind: string(model.Garbled), Reason: resp.Model + " merged nothing"}
	}
	r.Sentences = attributeSentences(said.Sentences, m.answers)
	r.Agree = attributeSentences(uncredited(said.Agree), m.answers)
	r.Differ = attributeSentences(uncredited(said.Differ), m.answers)
	for _, one := range said.Overlooked {
		r.Overlooked = append(r.Overlooked, attributeSentences([]credited{{point: point{Text: one}}}, nil)...)
	}
	tooLong, all := r.isTooLong(m.answers), r.count()
	r.Twice = r.dropRepeated()
	repeats := !asked.Briefly && mostRepeated*len(r.Twice) > all
	if r.Poor = tooLong || repeats || r.quotesNobody(); r.Poor {
		return r, nil
	}
	r.Unused = unusedOracles(m.answers, r.Sentences)
	r.Text = r.markdown(wordsOf(p.env.Language))
	return r, nil
}

// lists are all lists of sentences, in the order in which they are read.
func (m *MergedAnswers) lists() []*[]Sentence {
	return []*[]Sentence{&m.Sentences, &m.Agree, &m.Differ, &m.Overlooked}
}

func (m *MergedAnswers) count() (all int) {
	for _, list := range m.lists() {
		all += len(*list)
	}
	return all
}

// mostRepeated is the part of its sentences, one in so many, that a chair may say twice.
const mostRepeated = 4

// dropRepeated drops each sentence that stands before in the same words, or as a part of it, and returns them.
func (m *MergedAnswers) dropRepeated() (dropped []string) {
	var before []string
	for _, list := range m.lists() {
		*list = slices.DeleteFunc(*list, func(s Sentence) bool {
			words := " " + wordsOnly(s.Text) + " "
			if slices.ContainsFunc(before, func(b string) bool { return strings.Contains(b, words) }) {
				dropped = append(dropped, s.Text)
				return true
			}
			before = append(before, words)
			return false
		})
	}
	return dropped
}

// moreWords are how many words a chair may have beyond those of the answers.
const moreWords = 40

// isTooLong says whether a chair needs more words than the answers that it merges.
func (m *MergedAnswers) isTooLong(answers []Answer) bool {
	own, theirs := 0, moreWords
	for _, list := range m.lists() {
		for _, s := range *list {
			own += len(strings.Fields(s.Text))
		}
	}
	for _, a := range answers {
		theirs += len(strings.Fields(a.Text))
	}
	return own > theirs
}

// quotesNobody says whether a chair of several sentences has no words of an oracle in any of them.
func (m *MergedAnswers) quotesNobody() bool {
	return len(m.Sentences) > 1 && !slices.ContainsFunc(m.Sentences, func(s Sentence) bool { return len(s.By) > 0 })
}

// unusedOracles gives the names of the oracles that no sentence names.
func unusedOracles(answers []Answer, all []Sentence) (names []string) {
	for _, a := range answers {
		name := a.Oracle.Name
		if !slices.ContainsFunc(all, func(s Sentence) bool {
			return slices.Contains(s.By, name) || slices.Contains(s.Unproven, name)
		}) {
			names = append(names, name)
		}
	}
	return names
}

// attributeSentences sorts the oracles named for each sentence: By if their answer contains the quoted words, else
// Unproven. It drops blank sentences and names of nobody in answers.
func attributeSentences(given []credited, answers []Answer) (all []Sentence) {
	for _, one := range given {
		s := Sentence{Text: plainLine(one.Text)}
		if session.Blank(s.Text) {
			continue
		}
		for _, a := range answers {
			named, proven := false, false
			for _, by := range one.By {
				if strings.EqualFold(strings.TrimSpace(by.Oracle), a.Oracle.Name) {
					named = true
					proven = proven || containsWords(a.Text, by.Words)
				}
			}
			switch {
			case proven:
				s.By = append(s.By, a.Oracle.Name)
			case named:
				s.Unproven = append(s.Unproven, a.Oracle.Name)
			}
		}
		s.Minority = one.Minority && len(s.By)+len(s.Unproven) > 0
		all = append(all, s)
	}
	return all
}

// fewestQuoted is the least number of words that prove an author: fewer may match by chance.
const fewestQuoted = 3

// fewestSigns is the same where no spaces are put between words.
const fewestSigns = 6

// isUnspaced says whether a character is of a script without spaces between words.
func isUnspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
		unicode.Myanmar)
}

// containsWords reports whether an answer contains these words in sequence, ignoring case and punctuation. False for
// fewer than fewestQuoted words, unless they are the whole answer.
func containsWords(answer, words string) bool {
	wanted := wordsOnly(words)
	if strings.ContainsFunc(wanted, isUnspaced) && utf8.RuneCountInString(wanted) >= fewestSigns {
		return strings.Contains(wordsOnly(answer), wanted)
	}
	if strings.Count(wanted, " ") < fewestQuoted-1 && wanted != wordsOnly(answer) || wanted == "" {
		return false
	}
	return strings.Contains(" "+wordsOnly(answer)+" ", " "+wanted+" ")
}

// wordsOnly reduces a text to its words, in lower case and separated by spaces.
func wordsOnly(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.M, r)
	}), " ")
}

// plainLine puts a text in one line and replaces its square brackets, which mark the authors of sentences.
func plainLine(s string) string {
	return strings.NewReplacer("[", "(", "]", ")").Replace(text.OneLine(s))
}

//go:embed words.json
var wordsFile []byte

// words are the words shown in the session's language.
type words struct {
	Chair, Own, Minority, Unused, Unproven, Agree, Differ, Overlooked string
}

var allWords = sync.OnceValue(func() (all map[string]words) {
	if err := json.Unmarshal(wordsFile, &all); err != nil {
		panic(err) // the file is a part of the program
	}
	return all
})

// wordsOf gives the words of a language; the English ones if it is not known.
func wordsOf(language string) words {
	if w, known := allWords()[language]; known {
		return w
	}
	return allWords()["en"]
}

// markdown formats a chair's summary, each sentence with its authors; a "?" marks unproven ones.
func (m *MergedAnswers) markdown(w words) string {
	b := &strings.Builder{}
	doubt := false
	list := func(title string, own bool, all []Sentence) {
		if len(all) > 0 && title != "" {
			fmt.Fprintf(b, "\n**%s**\n\n", title)
		}
		for _, s := range all {
			by := slices.Clone(s.By)
			for _, name := range s.Unproven {
				by = append(by, name+"?")
				doubt = true
			}
			whose := strings.Join(by, ", ")
			if own {
				whose = cmp.Or(whose, w.Own)
			}
			b.WriteString("- " + s.Text)
			if whose != "" {
				b.WriteString(" [" + whose + "]")
			}
			b.WriteString("\n")
		}
	}
	few := slices.DeleteFunc(slices.Clone(m.Sentences), func(s Sentence) bool { return !s.Minority })
	most := slices.DeleteFunc(slices.Clone(m.Sentences), func(s Sentence) bool { return s.Minority })
	list("", true, most)
	list(w.Minority, true, few)
	list(w.Agree, false, m.Agree)
	list(w.Differ, false, m.Differ)
	list(w.Overlooked, false, m.Overlooked)
	if len(m.Unused) > 0 {
		fmt.Fprintf(b, "\n*%s: %s*\n", w.Unused, strings.Join(m.Unused, ", "))
	}
	if doubt {
		fmt.Fprintf(b, "\n*?: %s*\n", w.Unproven)
	}
	return strings.TrimSpace(b.String())
}
