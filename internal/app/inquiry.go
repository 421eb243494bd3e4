package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"sibyl/internal/inquiry"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/inquiry/witness"
	"sibyl/internal/journal"
	"sibyl/internal/media/document"
	"sibyl/internal/model"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
)

// openInquiry prepares the Inquiry: its assistant, and the desk for reading inquiries.
func (a *App) openInquiry() (*assistant.Assistant, error) {
	prompts, err := fs.Sub(a.texts, "inquiry")
	if err != nil {
		return nil, fmt.Errorf("the prompts of the Inquiry: %w", err)
	}
	inquiries := perOwner[record.Folder]{open: func(owner journal.Owner) (*record.Folder, error) {
		return record.Open(a.Config.InquiriesOf(string(owner), owner == Owner))
	}}
	d := inquiry.Deps{Store: a.Store, Files: inquiries.get, Choose: a.Choose, Prompts: prompts,
		Embeddings: inquiry.Embeddings{By: a.Config.Inquiry.Embeddings, Away: a.Config.EmbeddingsAway()},
		Model: func(ctx context.Context, id string) (model.Model, error) {
			return a.openChain(ctx, a.Models, oracle.Env{Model: id, Fallback: a.Config.Fallback.Models}, true)
		},
		Witness: a.openWitness}
	made, err := inquiry.New(d)
	if err != nil {
		return nil, err
	}
	a.Inquiry = &inquiry.Desk{Deps: d, Standings: func(
		ctx context.Context, owner journal.Owner, runs ...journal.Run,
	) ([]run.Standing, error) {
		return a.Engine.Standings(ctx, owner, runs...)
	}}
	return inquiry.Describe(made, d), nil
}

// NewDocuments creates a reader of documents. Its PDF cache is in the person's cache folder.
func NewDocuments() *document.Reader {
	caches, err := os.UserCacheDir()
	if err != nil {
		return document.NewReader("")
	}
	return document.NewReader(filepath.Join(caches, "sibyl", "pdfium"))
}

// Sources reads the documents of a folder, or a file, to check citations of them.
func Sources(ctx context.Context, by *document.Reader, path string) (func(name string) (record.Source, error), error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	docs, _, err := by.ReadAll(ctx, path)
	if err != nil {
		return nil, err
	}
	return func(name string) (record.Source, error) {
		for _, d := range docs {
			if d.Name != name {
				continue
			}
			return record.Source{Hash: d.Hash, Chunks: document.Chunks(d)}, nil
		}
		return record.Source{}, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}, nil
}

// documentSource calls Sources with the program's reader.
func (a *App) documentSource(ctx context.Context, path string) (func(name string) (record.Source, error), error) {
	return Sources(ctx, a.Documents, path)
}

// mostUnread limits how many unreadable files an error names.
const mostUnread = 5

// readDocuments reads the documents of a witness: the attached ones, or those of a folder.
func (a *App) readDocuments(
	ctx context.Context, w inquiry.WitnessSpec,
) ([]document.Document, []*document.Error, error) {
	if w.Name == "" {
		docs, failed := document.FromMaterial(w.Handed)
		return docs, failed, nil
	}
	path, err := filepath.Abs(w.Name)
	if err != nil {
		return nil, nil, err
	}
	return a.Documents.ReadAll(ctx, path)
}

// unreadOf names the pages and documents that could not be read.
func unreadOf(docs []document.Document, failed []*document.Error) (names []string) {
	for _, d := range docs {
		if pages, n := d.BlankIn(1, math.MaxInt); n > 0 {
			names = append(names, d.Name+" "+pages)
		}
	}
	for _, f := range failed {
		if f.Reason != document.Unsupported && f.Reason != document.Empty {
			names = append(names, f.File)
		}
	}
	return names
}

// openWitness opens a witness: it reads documents or opens a model.
func (a *App) openWitness(ctx context.Context, w inquiry.WitnessSpec) (witness.Witness, []record.Document, error) {
	if w.Kind == record.WitnessModel {
		m, err := a.model(ctx, oracle.Env{Model: w.Name})
		if err != nil {
			return nil, nil, err
		}
		if m.ID() == model.OfflineRules {
			return nil, nil, errors.New(
				"the rules can't be a witness: name documents, or a model such as ollama:llama3.1:8b")
		}
		said := witness.Model(m, w.Text)
		return said, nil, said.Check(ctx)
	}
	docs, failed, err := a.readDocuments(ctx, w)
	if err != nil {
		return nil, nil, err
	}
	var known []record.Document
	for _, d := range docs {
		known = append(known, record.Document{Name: d.Name, Hash: d.Hash, Pages: len(d.Pages),
			Chunks: len(document.Chunks(d))})
	}
	var unread []string
	for _, f := range failed {
		known = append(known, record.Document{Name: f.File, Error: f.Why()})
		unread = append(unread, f.Error())
	}
	if len(docs) == 0 {
		why := "there is no document of a kind that can be read (txt, md, pdf, docx)"
		if len(unread) > 0 {
			why = strings.Join(unread[:min(len(unread), mostUnread)], "; ")
		}
		if more := len(unread) - mostUnread; more > 0 {
			why += fmt.Sprintf("; and %d more", more)
		}
		return nil, nil, fmt.Errorf("%s: %s", cmp.Or(w.Name, w.Title), why)
	}
	o := witness.Options{Hypothesis: w.Hypothesis, Unread: unreadOf(docs, failed)}
	if id := w.Embeddings.By; id != "" {
		a.LearnKeys(ctx, oracle.Env{Model: id})
		o.Embed = a.Embedder(id)
	}
	if w.Model != "" {
		if o.Model, err = a.openChain(ctx, a.Models, oracle.Env{Model: w.Model, Fallback: a.Config.Fallback.Models},
			true); err != nil {
			return nil, nil, err
		}
		o.Prompt, o.Comparing = w.Text, w.Comparing
	}
	return witness.Documents(docs, o), known, nil
}
