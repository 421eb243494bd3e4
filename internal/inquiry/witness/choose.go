package witness

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/bt"
	"sibyl/internal/model"
	"sibyl/internal/schema"
	"sibyl/internal/text"
)

// The bounds of what a model chooses from, and of its choice.
const (
	mostGiven  = 24_000 // bytes of passages in a request
	leastGiven = 3_000  // of them, if the window is too small for more
	mostRounds = 4      // of requests, until a passage answers
	mostQuotes = 8
)

// PurposeChoose names the requests to a model that chooses quotations.
const PurposeChoose = "inquiry.passages"

// modelChoice is a model's reply.
type modelChoice struct {
	Quotations []quotation `json:"quotations" max:"60"`
	Search     []string    `json:"search" max:"30"`
}

// quotation is a quotation that a model chose.
type quotation struct {
	Passage int    `json:"passage"` // from 1
	Words   string `json:"words"`
}

// pickQuotes has a model choose quotations from the likeliest passages. If none answers, it tries the next ones, with
// words to search for from the model. The answer gets what the requests cost, even if one failed.
func (w *documentWitness) pickQuotes(ctx context.Context, told, code string, order []int, a *Answer) ([]quote, error) {
	given := map[int]bool{}
	room := mostGiven
	for round := 0; round < mostRounds; {
		batch := w.nextBatch(order, given, room)
		if len(batch) == 0 {
			break
		}
		quotes, search, err := w.chooseFrom(ctx, told, batch, a)
		if model.KindOf(err) == model.ContextLength && room > leastGiven {
			a.Sent.Cut += (room - room/2) / model.BytesPerToken
			room /= 2
			continue
		}
		if err != nil || len(quotes) > 0 {
			return quotes, err
		}
		for _, i := range batch {
			given[i] = true
		}
		if terms := w.index.terms(strings.Join(search, " "), code); len(terms) > 0 {
			order = append(rankByScore(w.index.scores(terms)), order...)
		}
		round++
	}
	return nil, nil
}

// nextBatch takes the next passages by order that fit in room bytes, at least one, and returns them in the order of the
// documents. If all passages fit in a few rounds, those without a score follow.
func (w *documentWitness) nextBatch(order []int, given map[int]bool, room int) (batch []int) {
	if w.size <= mostGiven*mostRounds {
		for i := range w.chunks {
			order = append(slices.Clip(order), i)
		}
	}
	for _, i := range order {
		size := len(w.chunks[i].Text)
		if !given[i] && !slices.Contains(batch, i) && (size <= room || len(batch) == 0) {
			room -= size
			batch = append(batch, i)
		}
	}
	slices.Sort(batch)
	return batch
}

// chooseFrom has a model choose from passages, and once more if a quotation is not in its passage. The passages come
// first in the prompt, since they are the same for many questions.
func (w *documentWitness) chooseFrom(
	ctx context.Context, told string, batch []int, a *Answer,
) (quotes []quote, search []string, err error) {
	var b strings.Builder
	var given []string
	for n, i := range batch {
		c := w.chunks[i]
		fmt.Fprintf(&b, "Passage %d (%s, page %d):\n%s\n\n", n+1, c.Document, c.Page, c.Text)
		given = append(given, fmt.Sprintf("%s, page %d, passage %d", c.Document, c.Page, c.Index))
	}
	b.WriteString(told)
	for range 2 {
		req := model.Request{System: w.Prompt, Purpose: PurposeChoose, Bound: model.BoundForm,
			Messages: []model.Message{{Role: model.User, Text: b.String()}}}
		var said modelChoice
		form := model.Schema{Name: "quotations", JSON: schema.Answer[modelChoice]()}
		if err := w.ask(ctx, req, form, &said, a); err != nil {
			return nil, nil, err
		}
		search = said.Search
		a.Given, given = append(a.Given, given...), nil
		var wrong []quotation
		if quotes, wrong = w.wholeQuotes(said.Quotations, batch); len(wrong) == 0 {
			break
		}
		b.WriteString("\nThese quotations do not stand in their passages letter by letter. " +
			"Copy all that answers once more, exactly:\n")
		for _, q := range wrong {
			fmt.Fprintf(&b, "- passage %d: “%s”\n", q.Passage, q.Words)
			a.Notes = append(a.Notes, notInPassage.With(a.By, text.Brief(q.Words, 200)))
		}
	}
	return quotes, search, nil
}

// ask asks the model for a value that fits a form. The answer gets what that cost, even if it failed, and who gave it.
func (w *documentWitness) ask(ctx context.Context, req model.Request, form model.Schema, into any, a *Answer) error {
	noting := &Noting{Model: w.Model}
	_, resp, err := model.Structured(ctx, noting, req, form, into)
	a.TimedOut = append(a.TimedOut, noting.TimedOut...)
	a.Model, a.Usage, a.Tries = resp.Model, a.Usage.Add(resp.Usage), append(a.Tries, resp.Tries...)
	a.Sent.Hash, a.Sent.Bytes = req.Digest().Hash, a.Sent.Bytes+req.Digest().Bytes
	if err != nil {
		return err
	}
	a.By = resp.Model
	for _, t := range resp.Tries {
		a.Notes = append(a.Notes, chosenByOther.With(t.Model,
			(&bt.Fault{Kind: string(t.Kind), Reason: string(t.Kind)}).Why(), a.By))
	}
	return nil
}

// wholeQuotes returns the quotations that are literally in their passages, widened to whole sentences, and those that
// are not.
func (w *documentWitness) wholeQuotes(all []quotation, batch []int) (quotes []quote, wrong []quotation) {
	for _, q := range all {
		if q.Passage < 1 || q.Passage > len(batch) {
			wrong = append(wrong, q)
			continue
		}
		i := batch[q.Passage-1]
		place, found := text.Find(w.chunks[i].Text, q.Words)
		if !found {
			wrong = append(wrong, q)
			continue
		}
		place = wholeSentences(w.chunks[i].Text, place)
		same := func(k quote) bool { return k.chunk == i && k.From < place.To && k.To > place.From }
		if at := slices.IndexFunc(quotes, same); at >= 0 {
			quotes[at].From, quotes[at].To = min(quotes[at].From, place.From), max(quotes[at].To, place.To)
		} else if len(quotes) < mostQuotes {
			quotes = append(quotes, quote{i, place})
		}
	}
	return quotes, wrong
}
