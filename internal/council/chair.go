package council

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"sibyl/internal/bt"
	"sibyl/internal/model"
	"sibyl/internal/run"
	"sibyl/internal/text/search"
)

// ChairPayload asks an oracle to edit what all have said.
type ChairPayload struct {
	Chair   Seat     `json:"chair"`
	Answers []Spoken `json:"answers"`
}

// ChairReceipt is what a chair has edited. Text is Markdown of the sentences.
type ChairReceipt struct {
	Text      string      `json:"text"`
	Sentences []Sentence  `json:"sentences"`
	Unused    []string    `json:"unused,omitempty"` // oracles of whose answers nothing was taken up
	Model     string      `json:"model"`
	Usage     model.Usage `json:"usage"`
	Composed
}

// Sentence is one of a chair. By are the oracles who said it; none: it is the chair's own, or nothing of what it names says it (Doubted).
type Sentence struct {
	Text     string   `json:"text"`
	By       []string `json:"by,omitempty"`
	Minority bool     `json:"minority,omitempty"`
	Doubted  []string `json:"doubted,omitempty"` // whom the chair named, though no answer of theirs says it
}

var edited = model.Schema{Name: "edited", JSON: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["sentences"],"properties":{"sentences":{"type":"array","minItems":1,"maxItems":60,"items":{"type":"object","additionalProperties":false,"required":["text","by","minority"],"properties":{"text":{"type":"string","minLength":1},"by":{"type":"array","items":{"type":"string"}},"minority":{"type":"boolean"}}}}}}`)}

func chairLeaf() bt.Leaf {
	type in struct {
		Heard []Heard `port:"heard"`
		Chair Seat    `port:"chair"`
	}
	type out struct {
		Reply  int64      `port:"reply" doc:"the record of what was edited"`
		Events []bt.Typed `port:",events"`
	}
	plan := func(i in) (bt.Request, error) {
		return bt.Request{Kind: EffectChair, Label: i.Chair.Name + " presides", Payload: ChairPayload{i.Chair, spoken(i.Heard)}}, nil
	}
	collect := func(i in, r ChairReceipt, ref int64, o *out) error {
		e := Chaired{Oracle: i.Chair.Name, Sentences: len(r.Sentences)}
		for _, s := range r.Sentences {
			if len(s.By) == 0 {
				e.Own++
			}
		}
		o.Reply, o.Events = ref, []bt.Typed{e}
		return nil
	}
	failed := func(_ in, why *bt.Fault, _ int64, o *out) {
		o.Events = []bt.Typed{Skipped{partChair.With(), why.Reason}}
	}
	return bt.One("Preside", "Has the chair merge all answers: each sentence names its author, minority views are kept, and anything no answer says is marked as the chair's own.", plan, collect, failed)
}

func (p *performing) chair(ctx context.Context, job run.Job, asked ChairPayload) (any, error) {
	m, _, err := p.matterOf(ctx, asked)
	if err != nil {
		return nil, err
	}
	answers := m.answers
	var r ChairReceipt
	c, resp, err := p.structured(ctx, m, &r)
	if err != nil {
		return nil, err
	}
	r.Model, r.Usage, r.Composed = resp.Model, resp.Usage, c
	for n := range r.Sentences {
		r.Sentences[n].attribute(answers)
	}
	r.Unused = unused(answers, r.Sentences)
	r.Text = edition(r, p.env.Language)
	return r, nil
}

// unused are the oracles who are named for no sentence.
func unused(answers []Answer, all []Sentence) (names []string) {
	for _, a := range answers {
		if !slices.ContainsFunc(all, func(s Sentence) bool { return slices.Contains(s.By, a.Oracle.Name) }) {
			names = append(names, a.Oracle.Name)
		}
	}
	return names
}

// ownBrackets leaves brackets to those that say whose a sentence is.
var ownBrackets = strings.NewReplacer("[", "(", "]", ")")

// attribute leaves a sentence to those alone whose answers say it.
func (s *Sentence) attribute(answers []Answer) {
	named := s.By
	s.By, s.Doubted, s.Text = nil, nil, ownBrackets.Replace(inLine(s.Text))
	for _, a := range answers {
		if !slices.ContainsFunc(named, func(n string) bool { return strings.EqualFold(strings.TrimSpace(n), a.Oracle.Name) }) {
			continue
		}
		if says(a.Text, s.Text) {
			s.By = append(s.By, a.Oracle.Name)
		} else {
			s.Doubted = append(s.Doubted, a.Oracle.Name)
		}
	}
	if len(s.By) == 0 {
		s.Minority = false
	}
}

// saidShare is how much of a sentence's telling words an answer must hold to be one that says it. A chair may put it in words of its own.
const saidShare = 0.3

// says tells whether a text may say what a sentence does: so many of the words that carry its meaning are in it, by their beginnings.
func says(text, sentence string) bool {
	has := map[string]bool{}
	search.EachWord(text, func(w []byte) { has[beginning(w)] = true })
	all, found := 0, 0
	search.EachWord(sentence, func(w []byte) {
		if utf8.RuneCount(w) < 3 || search.IsStop(string(w)) {
			return
		}
		all++
		if has[beginning(w)] {
			found++
		}
	})
	return all > 0 && float64(found) >= saidShare*float64(all)
}

// beginning stands for all forms of a word: endings differ, in each language in its own way.
func beginning(w []byte) string {
	const letters = 5
	r := []rune(string(w))
	return string(r[:min(len(r), letters)])
}

// ownWords are how an edition marks what is the chair's own, its heading of minority views, and what it says of those who are not in it, by language.
func ownWords(language string) (own, minority, unused string) {
	switch language {
	case "pt":
		return "da presidência", "Opiniões minoritárias", "Nada foi retomado de"
	case "de":
		return "vom Vorsitz", "Einzelne Stimmen", "Nichts ist aufgenommen von"
	}
	return "the chair's own", "Minority views", "Nothing is taken up of"
}

// edition is Markdown of a chair's sentences, each with whose it is.
func edition(r ChairReceipt, language string) string {
	own, minority, unused := ownWords(language)
	b := &strings.Builder{}
	write := func(s Sentence) {
		by := strings.Join(s.By, ", ")
		if by == "" {
			by = own
		}
		fmt.Fprintf(b, "- %s [%s]\n", s.Text, by)
	}
	few := 0
	for _, s := range r.Sentences {
		if s.Minority {
			few++
			continue
		}
		write(s)
	}
	if few > 0 {
		fmt.Fprintf(b, "\n**%s**\n\n", minority)
		for _, s := range r.Sentences {
			if s.Minority {
				write(s)
			}
		}
	}
	if len(r.Unused) > 0 {
		fmt.Fprintf(b, "\n*%s: %s*\n", unused, strings.Join(r.Unused, ", "))
	}
	return strings.TrimSpace(b.String())
}
