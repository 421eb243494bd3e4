package council

import (
	"cmp"
	"context"
	_ "embed" // the words
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"sibyl/internal/bt"
	"sibyl/internal/council/session"
	"sibyl/internal/model"
	"sibyl/internal/run"
	"sibyl/internal/text"
)

// ChairPayload asks an oracle to merge what all have said.
type ChairPayload struct {
	Chair   Seat     `json:"chair"`
	Answers []Spoken `json:"answers"`
}

// MergedAnswers is what a chair makes of the oracles' answers. What is in Overlooked, no oracle said.
type MergedAnswers struct {
	Sentences  []Sentence `json:"sentences"`
	Agree      []Sentence `json:"agree,omitempty"`
	Differ     []Sentence `json:"differ,omitempty"`
	Overlooked []Sentence `json:"overlooked,omitempty"`
	Unused     []string   `json:"unused,omitempty"` // oracles who are named for none of the sentences
}

// Sentence is one of a chair, in one line. By and Unproven are names of oracles, in the order of their answers; where
// there are none, the sentence is the chair's own.
type Sentence struct {
	Text string   `json:"text"`
	By   []string `json:"by,omitempty"` // whose answers hold the words that the chair quotes for it
	// whom the chair names as well, though their answers do not hold what it quotes
	Unproven []string `json:"unproven,omitempty"`
	Minority bool     `json:"minority,omitempty"`
}

// ChairReceipt is what a chair has made of the answers. Text is Markdown of it.
type ChairReceipt struct {
	Text string `json:"text"`
	MergedAnswers
	Model string      `json:"model"`
	Usage model.Usage `json:"usage"`
	Composed
}

// chairReply is what the chair's model replies. For each name it quotes the words that it relies on.
type chairReply struct {
	Sentences  []credited `json:"sentences" min:"1" max:"60"`
	Agree      []point    `json:"agree" max:"8"`
	Differ     []point    `json:"differ" max:"8"`
	Overlooked []string   `json:"overlooked" max:"8"`
}

// point is a sentence as a model gives it.
type point struct {
	Text string   `json:"text" min:"1"`
	By   []quoted `json:"by"`
}

// credited is a point that may be of a minority.
type credited struct {
	point
	Minority bool `json:"minority"`
}

// quoted are words of an oracle's answer.
type quoted struct {
	Oracle string `json:"oracle"`
	Words  string `json:"words"`
}

// uncredited are points of which none is a minority's.
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
		Heard []Heard `port:"heard"`
		Chair Seat    `port:"chair"`
	}
	type out struct {
		Reply  int64      `port:"reply" doc:"the record of what was merged"`
		Events []bt.Typed `port:",events"`
	}
	plan := func(i in) (bt.Request, error) {
		return bt.Request{Kind: EffectChair, Label: i.Chair.Name + " presides", Payload: ChairPayload{i.Chair,
			answersGiven(i.Heard)}}, nil
	}
	collect := func(i in, r ChairReceipt, ref int64, o *out) error {
		o.Reply = ref
		o.Events = []bt.Typed{Chaired{i.Chair.Name, len(r.Agree), len(r.Differ), len(r.Overlooked)}}
		return nil
	}
	failed := func(_ in, why *bt.Fault, _ int64, o *out) {
		o.Events = []bt.Typed{Skipped{partChair, why.Why()}}
	}
	const doc = "Has the chair merge all answers, and say where they agree, where they differ and what all overlook. " +
		"Each sentence names its authors, and minority views are kept."
	return bt.One("Preside", doc, plan, collect, failed)
}

func (p *performer) mergeAnswers(ctx context.Context, _ run.Job, asked ChairPayload) (any, error) {
	m, _, err := p.modelTaskOf(ctx, asked)
	if err != nil {
		return nil, err
	}
	var said chairReply
	c, resp, err := p.askStructured(ctx, m, &said)
	r := ChairReceipt{Model: resp.Model, Usage: resp.Usage, Composed: c}
	if err != nil {
		return r, err
	}
	r.Sentences = attributeSentences(said.Sentences, m.answers)
	r.Agree = attributeSentences(uncredited(said.Agree), m.answers)
	r.Differ = attributeSentences(uncredited(said.Differ), m.answers)
	for _, one := range said.Overlooked {
		r.Overlooked = append(r.Overlooked, attributeSentences([]credited{{point: point{Text: one}}}, nil)...)
	}
	r.Unused = unusedOracles(m.answers, r.Sentences)
	r.Text = r.markdown(wordsOf(p.env.Language))
	return r, nil
}

// unusedOracles are the oracles who are named for no sentence.
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

// attributeSentences names the authors of sentences: as proven those whose answers contain the words quoted for them.
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

// fewestQuoted is how many words prove something: fewer are in many an answer by chance.
const fewestQuoted = 3

// containsWords says whether an answer contains these words, one after the other. Case, punctuation and Markdown
// between them don't count.
func containsWords(answer, words string) bool {
	wanted := wordsOnly(words)
	if strings.Count(wanted, " ") < fewestQuoted-1 && wanted != wordsOnly(answer) || wanted == "" {
		return false
	}
	return strings.Contains(" "+wordsOnly(answer)+" ", " "+wanted+" ")
}

// wordsOnly is a text as its words alone, in lower case with a space between them.
func wordsOnly(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.M, r)
	}), " ")
}

// plainLine is a text in one line, which leaves brackets to those that say whose a sentence is.
func plainLine(s string) string {
	return strings.NewReplacer("[", "(", "]", ")").Replace(text.OneLine(s))
}

//go:embed words.json
var wordsFile []byte

// words are the few that are shown in the session's language, and its name in English.
type words struct {
	Name, Chair, Own, Minority, Unused, Unproven, Agree, Differ, Overlooked string
}

var allWords = sync.OnceValue(func() (all map[string]words) {
	if err := json.Unmarshal(wordsFile, &all); err != nil {
		panic(err) // the file is a part of the program
	}
	return all
})

// wordsOf are those of a language; English ones where there are none.
func wordsOf(language string) words {
	if w, known := allWords()[language]; known {
		return w
	}
	return allWords()["en"]
}

// markdown is what a chair has made of answers, each sentence with whose it is.
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
