package inquiry

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/inquiry/witness"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
)

// Name is the assistant, and its tree.
const Name = "inquiry"

// The kinds of effects.
const (
	EffectOpen    = "inquiry.open"     // the witness is looked at: documents are read
	EffectAsk     = "inquiry.question" // the detective puts a question
	EffectAnswer  = "inquiry.answer"   // the witness answers
	EffectAnalyse = "inquiry.analyse"  // what the answers leave open, and where they clash
	EffectSum     = "inquiry.summary"  // what came of it, in words
	EffectWrite   = "inquiry.write"    // the session's file
)

// Runs reads the runs of inquiries, as journal.Store does.
type Runs interface {
	run.Reader
	Runs(ctx context.Context, owner journal.Owner, f journal.Filter) ([]journal.Run, error)
}

// Deps are the Inquiry's dependencies.
type Deps struct {
	Store   Runs
	Files   func(owner journal.Owner) (*record.Folder, error)
	Choose  func(ctx context.Context, asked string) (model string, err error)
	Model   func(ctx context.Context, id string) (model.Model, error)
	Witness func(ctx context.Context, w WitnessSpec) (witness.Witness, []record.Document, error) // reads its documents
	// detective.md, contradiction.md, analyse.md, summary.md, witness.md, documents.md and
	// compare.md
	Prompts fs.FS

	// find passages of documents by meaning; zero: documents are searched by words alone
	Embeddings Embeddings
}

// Embeddings are the model that compares passages and questions.
type Embeddings struct {
	By   string `json:"by,omitempty"`   // provider:model; "" for none
	Away bool   `json:"away,omitempty"` // what it is sent leaves the person's machines
}

// WitnessSpec is the witness of an inquiry.
type WitnessSpec struct {
	Kind string `json:"kind"` // "documents" or "model"
	// the path of documents, or provider:model; "": documents that were handed over
	Name  string `json:"name"`
	Title string `json:"title,omitempty"` // its name for people
	// the prompt of a model that is the witness, or that chooses quotations of documents
	Text string `json:"text,omitempty"`
	// the prompt with which that model compares what documents say; "": they are not compared
	Comparing string `json:"comparing,omitempty"`
	// provider:model, which chooses quotations of documents; "": they are found by search alone
	Model string `json:"model,omitempty"`

	Embeddings Embeddings `json:"embeddings,omitzero"` // of documents

	// the texts of documents that were handed over, as document.JoinParts makes them; the run keeps them
	Handed string `json:"-"`
	// completes a question that says nothing by itself, when documents are searched; a model does not get it
	Hypothesis string `json:"-"`
}

// errorWithoutPath is the text of an error, with the name of the documents in place of their path.
func (c WitnessSpec) errorWithoutPath(err error) string {
	if c.Kind != record.WitnessDocuments || c.Name == "" {
		return err.Error()
	}
	whole, absErr := filepath.Abs(c.Name)
	if absErr != nil {
		whole = c.Name
	}
	return replacePath(replacePath(err.Error(), whole, c.Title), c.Name, c.Title)
}

// replacePath replaces a path in a text by a name, and the path's separator by “/”.
func replacePath(text, path, name string) string {
	if path == "." || path == "" {
		return text
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, path+string(filepath.Separator), name+"/"), path, name)
}

// New makes the assistant.
func New(d Deps) (*run.Assistant, error) {
	leaves, opt, err := Leaves()
	if err != nil {
		return nil, err
	}
	return &run.Assistant{Name: Name, Leaves: leaves, Options: opt, Outcome: outcomeOf, Open: d.performers,
		Used: assistant.UsedBy,
		Effects: map[string]run.EffectType{
			EffectOpen:    run.EffectOf[OpenPayload, OpenReceipt](),
			EffectAsk:     run.EffectOf[AskPayload, AskReceipt](),
			EffectAnswer:  run.EffectOf[AnswerPayload, AnswerReceipt](),
			EffectAnalyse: run.EffectOf[AnalysePayload, AnalyseReceipt](),
			EffectSum:     run.EffectOf[SumPayload, SumReceipt](),
			EffectWrite:   run.EffectOf[WritePayload, WriteReceipt](),
		}}, nil
}

// performer performs the effects of one run.
type performer struct {
	Deps
	view  *run.View
	env   Env
	given Given

	mu        sync.Mutex
	witness   witness.Witness // opened when it is first asked
	documents []record.Document
}

func (d Deps) performers(_ context.Context, v *run.View) (map[string]run.Performer, func(), error) {
	p := &performer{Deps: d, view: v}
	if err := p.readStart(); err != nil {
		return nil, nil, err
	}
	return map[string]run.Performer{
		EffectOpen:    {Do: p.performOpen},
		EffectAsk:     {Do: agent.NewPerformer(p.performAsk)},
		EffectAnswer:  {Do: agent.NewPerformer(p.performAnswer)},
		EffectAnalyse: {Do: agent.NewPerformer(p.performAnalyse)},
		EffectSum:     {Do: agent.NewPerformer(p.performSum)},
		EffectWrite:   {Do: agent.NewPerformer(p.performWrite)},
	}, nil, nil
}

// openWitness opens the witness once in a process, and returns it with its documents.
func (p *performer) openWitness(ctx context.Context) (witness.Witness, []record.Document, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.witness == nil {
		spec := p.env.Witness
		spec.Hypothesis = p.given.Hypothesis
		if spec.Kind == record.WitnessDocuments && spec.Name == "" {
			handed, err := p.view.Text(ctx, textHanded)
			if err != nil {
				return nil, nil, err
			}
			spec.Handed = string(handed)
		}
		w, documents, err := p.Witness(ctx, spec)
		if err != nil {
			return nil, nil, &bt.Fault{Kind: KindWitness, Reason: p.env.Witness.errorWithoutPath(err)}
		}
		p.witness, p.documents = w, documents
	}
	return p.witness, p.documents, nil
}

// KindWitness is the fault of an effect that failed because of the witness.
const KindWitness = "witness"

// Turn is one pair, by the records of its parts. Analysis is 0 until the answer is analysed; Failed says why it could
// not be.
type Turn struct {
	Question int64  `json:"question"`
	Answer   int64  `json:"answer,omitempty"`
	Analysis int64  `json:"analysis,omitempty"`
	Late     int    `json:"late,omitempty"` // which of the late analyses of that record it is, from 1
	Failed   string `json:"failed,omitempty"`
	bt.Coded
}

// answeredPairs reads the answered pairs from the receipts.
func answeredPairs(v *run.View, turns []Turn) (all []AnsweredPair, err error) {
	for _, t := range turns {
		if t.Answer == 0 {
			continue
		}
		q, err := run.ResultAt[AskReceipt](v, t.Question)
		if err != nil {
			return nil, err
		}
		a, err := run.ResultAt[AnswerReceipt](v, t.Answer)
		if err != nil {
			return nil, err
		}
		all = append(all, AnsweredPair{witness.Exchange{Question: q.Text, Answer: a.Text, NotFound: a.NotFound},
			a.Citations, a.Passages, a.Compared})
	}
	return all, nil
}
