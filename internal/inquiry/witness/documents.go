package witness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"sibyl/internal/inquiry/record"
	"sibyl/internal/media/document"
	"sibyl/internal/model"
	"sibyl/internal/text"
	"sibyl/internal/text/language"
)

// Options say how documents are searched. The zero Options search by words, without a model.
type Options struct {
	// Hypothesis is what the inquiry is about. It completes a question that says nothing by itself (“When?”).
	Hypothesis string

	// Model, if set, chooses quotations from the passages that were found, with Prompt as its system prompt. Without
	// it, or if it fails, sentences with the words of the question are quoted.
	Model  model.Model
	Prompt string

	// Comparing is the prompt, with examples, with which Model compares statements of the documents that resemble each
	// other; "" compares none.
	Comparing string

	// Unread names what could not be read of the documents, as “a.pdf pp. 2-4”: it stands beside each absence.
	Unread []string

	// Embed, if set, finds passages by their meaning too.
	Embed model.Embedder
}

// errNothing is the error of Check if there are no passages.
var errNothing = errors.New("no document could be read: give a TXT, MD, PDF or DOCX file with text")

// documentWitness is a witness that quotes documents.
type documentWitness struct {
	Options
	name   string
	chunks []document.Chunk
	size   int    // bytes of all chunks
	index  *index // of the chunks
	// all sentences, when statements are compared first
	statements func() *statements
	meaning    *meaningRanker // nil without an embedder
}

// Documents is a witness that answers from documents.
func Documents(docs []document.Document, o Options) Witness {
	w := &documentWitness{Options: o, name: nameOf(docs)}
	var units []unit
	for _, d := range docs {
		name := strings.TrimSuffix(d.Name, path.Ext(d.Name))
		heading, code := name, language.Of(text.Clip(d.Pages[0].Text, 8_000)) // a document without text was refused
		for _, c := range document.Chunks(d) {
			w.chunks = append(w.chunks, c)
			w.size += len(c.Text)
			units = append(units, unit{c.Text, heading, code, d.Name})
			for paragraph := range strings.SplitSeq(c.Text, "\n\n") {
				if document.IsHeading(paragraph) {
					heading = name + " " + paragraph
				}
			}
		}
	}
	w.index = newIndex(units)
	w.statements = sync.OnceValue(w.newStatements)
	if o.Embed != nil {
		w.meaning = &meaningRanker{embed: o.Embed, chunks: w.chunks}
	}
	return w
}

func nameOf(docs []document.Document) string {
	switch len(docs) {
	case 0:
		return "no documents"
	case 1:
		return docs[0].Name
	}
	return fmt.Sprintf("%s and %s", docs[0].Name, text.Count(len(docs)-1, "more document"))
}

func (w *documentWitness) Name() string { return w.name }

// Check fails if there are no passages. It tries neither the embedder nor the model.
func (w *documentWitness) Check(ctx context.Context) error {
	if len(w.chunks) == 0 {
		return errNothing
	}
	return ctx.Err()
}

// fewWords: a question with at most so many terms is completed by the question before, or the hypothesis.
const fewWords = 1

// Answer quotes the sentences that answer the question.
func (w *documentWitness) Answer(ctx context.Context, question, code string, earlier []Exchange) (Answer, error) {
	a, before, exchanges := Answer{By: "documents"}, "", earlier
	told := fmt.Sprintf("The examination is about: %s\nQuestion: %s\n", w.Hypothesis, question)
	if len(earlier) > 0 {
		before = earlier[len(earlier)-1].Question
		told = "The question before was: " + before + "\n" + told
	}
	code = cmp.Or(code, language.Of(question), "en")
	terms := w.index.terms(question, code)
	if len(terms) <= fewWords {
		question = cmp.Or(before, w.Hypothesis) + " " + question
		terms = w.index.terms(question, code)
	}
	// the words around the hypothesis ask for an aspect, and are in no document
	if _, about := text.Find(question, strings.TrimRight(w.Hypothesis, ".?! ")); about {
		terms = slices.DeleteFunc(w.index.terms(w.Hypothesis, code), func(t term) bool { return len(t.forms) == 0 })
	} else {
		earlier = nil
	}
	order := rankByScore(w.index.scores(terms))
	if w.meaning != nil {
		near, err := w.meaning.rank(ctx, question)
		if err != nil && !errors.Is(err, errGivenUp) && ctx.Err() == nil {
			a.Notes = append(a.Notes, onlyWords.With(modelFailure(err)))
		}
		order = fuse(len(w.chunks), order, near)
	}
	if w.Model != nil {
		quotes, err := w.pickQuotes(ctx, told, code, order, &a)
		if err == nil && w.Comparing != "" {
			quotes = w.compare(ctx, quotes, exchanges, &a)
			err = ctx.Err()
		}
		if err == nil {
			return w.cite(quotes, code, a), nil
		}
		a.By = "documents"
		a.Notes = append(a.Notes, chosenByWords.With(modelFailure(err)))
	}
	if ctx.Err() != nil {
		return Answer{}, ctx.Err()
	}
	quotes, said := w.searchQuotes(terms, order, earlier)
	a = w.cite(quotes, code, a)
	if a.NotFound && said {
		a.Text, a.Further = notFoundTexts(code)[1]+w.unreadText(code), true
	}
	return a, nil
}

// cite completes an answer with these quotations.
func (w *documentWitness) cite(quotes []quote, code string, a Answer) Answer {
	var said []string
	for _, q := range quotes {
		c := w.chunks[q.chunk]
		words := c.Text[q.From:q.To]
		said = append(said, words)
		a.Citations = append(a.Citations, Citation{record.Citation{Document: c.Document, Hash: c.DocumentHash,
			Page: c.Page, Chunk: c.Index, ChunkHash: c.Hash, Quote: words}, c.Text})
	}
	a.NotFound = len(quotes) == 0
	a.Text = strings.Join(said, " ")
	if a.NotFound {
		a.Text = notFoundTexts(code)[0] + w.unreadText(code)
	}
	return a
}

// mostUnread is how many unread files an answer names.
const mostUnread = 5

// unreadText says in a language what was not read; "" if all was.
func (w *documentWitness) unreadText(code string) string {
	if len(w.Unread) == 0 {
		return ""
	}
	said, known := map[string]string{"de": "Nicht gelesen", "pt": "Não lido", "fr": "Non lu ", "es": "No leído"}[code]
	if !known {
		said = "Not read"
	}
	named := strings.Join(w.Unread[:min(len(w.Unread), mostUnread)], ", ")
	if len(w.Unread) > mostUnread {
		named += ", …"
	}
	return " " + said + ": " + named + "."
}

// notFoundTexts says in a language that a search found no passage, and that it found only passages that were quoted
// before.
func notFoundTexts(code string) [2]string {
	all := map[string][2]string{
		"de": {"Dazu habe ich keine Stelle gefunden.", "Dazu habe ich keine weitere Stelle gefunden."},
		"pt": {"Não encontrei nenhuma passagem sobre isto.", "Não encontrei mais nenhuma passagem sobre isto."},
		"fr": {"Je n’ai trouvé aucun passage à ce sujet.", "Je n’ai trouvé aucun autre passage à ce sujet."},
		"es": {"No encontré ningún pasaje sobre esto.", "No encontré ningún otro pasaje sobre esto."},
	}
	if said, known := all[code]; known {
		return said
	}
	return [...]string{"I found no passage on this.", "I found no further passage on this."}
}
