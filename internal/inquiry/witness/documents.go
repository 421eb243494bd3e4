package witness

import (
	"context"
	"errors"
	"fmt"

	"sibyl/internal/agent"
	"sibyl/internal/document"
	"sibyl/internal/model"
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
	corpus  *corpus
	meaning *meaning // nil without an embedder
}

// Documents is a witness that answers from documents.
func Documents(docs []document.Document, o Options) Witness {
	w := &ofDocuments{corpus: newCorpus(docs, o.Hypothesis), name: nameOf(docs)}
	if o.Embed != nil {
		w.meaning = newMeaning(o, w.corpus)
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
	if len(w.corpus.chunks) == 0 {
		return errNothing
	}
	return ctx.Err()
}
