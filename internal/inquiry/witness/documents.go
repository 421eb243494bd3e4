package witness

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/document"
	"sibyl/internal/model"
	"sibyl/internal/sentence"
)

// Options say how documents are searched. The zero Options search by words alone.
type Options struct {
	// Hypothesis is what the inquiry is about. A question that says nothing by itself (“When?”) is understood by it.
	Hypothesis string

	// Embed, if set, finds passages by their meaning too. Cache is a folder for its vectors, which are kept by the hash of their text and
	// by EmbedID, the model's "provider:model"; "" keeps none. Room bounds the folder, in bytes: what was not used for the longest time goes; 0: 512 MB.
	Embed   model.Embedder
	EmbedID string
	Cache   string
	Room    int64
}

// errNothing is what Check says where nothing can be asked.
var errNothing = errors.New("no document could be read: give a TXT, MD, PDF or DOCX file with text")

// ofDocuments is a witness that quotes documents.
type ofDocuments struct {
	name    string
	chunks  []document.Chunk
	corpus  *sentence.Corpus // of the chunks
	meaning *meaning         // nil without an embedder
}

// Documents is a witness that answers from documents.
func Documents(docs []document.Document, o Options) Witness {
	w := &ofDocuments{name: nameOf(docs)}
	var texts []sentence.Text
	for _, d := range docs {
		text := sentence.Text{Name: strings.TrimSuffix(d.Name, "."+d.Kind)}
		for _, c := range document.Chunks(d) {
			w.chunks, text.Parts = append(w.chunks, c), append(text.Parts, c.Text)
		}
		texts = append(texts, text)
	}
	w.corpus = sentence.New(texts, o.Hypothesis)
	if o.Embed != nil {
		w.meaning = newMeaning(o, w.chunks)
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
	return fmt.Sprintf("%s and %s", docs[0].Name, agent.Counted(len(docs)-1, "more document"))
}

func (w *ofDocuments) Name() string { return w.name }

// Check says whether there is anything to answer from. An embedder that fails is no obstacle.
func (w *ofDocuments) Check(ctx context.Context) error {
	if len(w.chunks) == 0 {
		return errNothing
	}
	return ctx.Err()
}

// Answer quotes the sentences that answer the question.
func (w *ofDocuments) Answer(ctx context.Context, question, language string, earlier []Exchange) (Answer, error) {
	if err := ctx.Err(); err != nil {
		return Answer{}, err
	}
	a := Answer{By: "documents"}
	q := w.corpus.Ask(question, language, earlier)
	var near []int
	if w.meaning != nil {
		var err error
		near, err = w.meaning.rank(ctx, question, q.Thin(), earlier)
		switch {
		case ctx.Err() != nil:
			return Answer{}, ctx.Err()
		case err != nil && !errors.Is(err, errGivenUp):
			a.Notes = append(a.Notes, "the search by meaning failed; from here on only words are searched: "+err.Error())
		}
	}
	var said []string
	for _, quote := range w.corpus.Answers(q, near) {
		ch := w.chunks[quote.Part]
		words := ch.Text[quote.From:quote.To]
		said = append(said, words)
		a.Citations = append(a.Citations, Citation{Document: ch.Document, Hash: ch.DocumentHash, Page: ch.Page, Chunk: ch.Index, ChunkHash: ch.Hash, Quote: words, Passage: ch.Text})
	}
	if a.Text = strings.Join(said, " "); len(said) == 0 {
		a.NotFound, a.Text = true, notFound(language)
	}
	return a, nil
}

// notFound is what is said where nothing answers.
func notFound(language string) string {
	if language == "de" {
		return "Das steht nicht in den Dokumenten."
	}
	return "That is not in the documents."
}
