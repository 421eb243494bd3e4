package inquiry

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"sibyl/internal/bt"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/run"
	"sibyl/internal/schema"
	"sibyl/internal/service/assistant"
	"sibyl/internal/text"
	"sibyl/internal/text/language"
)

// Options are what a person says besides the hypothesis.
type Options struct {
	Witness   schema.Folder `json:"witness,omitempty" flag:",w" names:"witness" setting:"inquiry.witness" min:"1" max:"500" tool:"a folder of documents here, or provider:model" doc:"who is asked: a folder of documents, or a model as provider:model"`
	Documents string        `json:"documents,omitempty" tool:"-" flag:"-" max:"1048576" doc:"texts of documents, as ‘POST /api/documents’ gives them, one behind the other: they are the witness in place of any other, and are kept with the inquiry"`
	Detective string        `json:"detective,omitempty" flag:",m" names:"model" setting:"model" tool:"provider:model" doc:"the model that asks, by its name or as provider:model; offline:rules for none"`
	Limit     int           `json:"limit,omitempty" flag:",n" setting:"inquiry.limit" min:"5" max:"20" doc:"questions at most"`
	Language  string        `json:"language,omitempty" enum:"en,de,pt,fr,es" tool:"of the questions" doc:"of the questions; that of the hypothesis if none is given"`
}

// MaxDocuments bounds the texts of documents that an inquiry is handed, in bytes: they are kept in the journal.
const MaxDocuments = 1 << 20

const usualLimit = 10

// languages are the languages of the templates. A model asks in any language of a hypothesis.
func languages() []string { return []string{"en", "de", "pt", "fr", "es"} }

// mostHypothesis bounds a hypothesis, in characters.
const mostHypothesis = 4000

// claim is held by the running inquiry of an owner, so there is one at a time.
const claim = "inquiry"

// Describe says how the assistant's runs begin and are shown.
func Describe(a *run.Assistant, d Deps) *assistant.Assistant {
	return &assistant.Assistant{
		Assistant: a, About: "has a detective cross-examine a witness and audits the answers", Tree: Name,
		Permanent: true, Exclusive: true,
		Options: schema.Of[Options](), Begin: assistant.BeginWith(d.runSpec), Setup: d.setup, Offers: wishes().Offers,
		Events: Events(), Reasons: reasons(),
		Show: showOutcome, Words: outcomeText, ShowEffect: exchangedEffect,
		Tool: &assistant.Tool{Name: "investigate", Title: "Begin an inquiry", Words: "hypothesis",
			Description: "A detective cross-examines a witness about a hypothesis. It takes minutes: inquiry reads it."}}
}

func (d Deps) runSpec(ctx context.Context, b assistant.Request, o Options) (run.Spec, error) {
	if b.Session != "" {
		return run.Spec{}, &assistant.RequestError{Why: bt.Because("an inquiry needs its own session"), Hint: "name none"}
	}
	words := withoutWish(strings.TrimSpace(journal.Clean(b.Words)))
	if n := utf8.RuneCountInString(words); n == 0 || n > mostHypothesis {
		return run.Spec{}, &assistant.RequestError{Why: wrongHypothesis.With(mostHypothesis)}
	}
	code := cmp.Or(o.Language, language.Of(words))
	if code != "" && !slices.Contains(languages(), code) {
		return run.Spec{}, &assistant.RequestError{Why: bt.Because("the Inquiry does not know this language"), Hint: "give " +
			strings.Join(languages(), ", ") + ", or none"}
	}
	w, err := witnessSpec(o)
	if err != nil {
		return run.Spec{}, err
	}
	if err := d.checkNoneRunning(ctx, b.Owner); err != nil {
		return run.Spec{}, err
	}
	if w.Kind == record.WitnessModel {
		if w.Name, err = d.Choose(ctx, w.Name); err != nil {
			return run.Spec{}, witnessError(err)
		}
		w.Title = w.Name
	}
	asked := b.KeepModel("detective", &o.Detective, true, "")
	detective, err := d.chooseDetective(ctx, o.Detective)
	if err != nil {
		return run.Spec{}, err
	}
	if w.Kind == record.WitnessDocuments {
		w.Embeddings = d.Embeddings
		if detective != model.OfflineRules {
			w.Model = detective
		}
	}
	texts, err := d.readPrompts(&w)
	if err != nil {
		return run.Spec{}, err
	}
	if _, _, err := d.Witness(ctx, w); err != nil {
		return run.Spec{}, witnessError(err)
	}
	if w.Handed != "" {
		texts = append(texts, run.Text{Name: textHanded, Content: []byte(w.Handed)})
	}
	id := uuid.NewString()
	return run.Spec{Session: id, Title: text.Brief(words, journal.MostTitle), Texts: texts, Claims: []string{claim},
		Given: Given{ID: id, Hypothesis: words, Language: code, Limit: cmp.Or(o.Limit, usualLimit),
			Model: detective != model.OfflineRules, Detective: detective},
		Env: Env{Detective: detective, Asked: asked, Witness: w}}, nil
}

// setup tells which detective was chosen for an inquiry.
func (d Deps) setup(ctx context.Context, owner journal.Owner, session, _ string) (told assistant.Setup, err error) {
	last, err := d.Store.Runs(ctx, owner, journal.Filter{Session: session, Assistant: Name, Limit: 1})
	if err != nil || len(last) == 0 {
		return told, err
	}
	var env Env
	err = run.ReadStart(ctx, d.Store, owner, last[0].ID, &env, &Given{})
	return assistant.Setup{Model: env.Asked}, err
}

// witnessSpec makes the witness from the options: documents that are handed over, a folder, or a model.
func witnessSpec(o Options) (w WitnessSpec, err error) {
	w.Kind, w.Name = record.WitnessDocuments, cmp.Or(o.Witness.Path, strings.TrimSpace(o.Witness.Name))
	switch {
	case len(o.Documents) > MaxDocuments:
		err = &assistant.RequestError{Why: largeDocuments.With(MaxDocuments >> 10),
			Hint: "give fewer, or a folder that the server may read"}
	case strings.TrimSpace(o.Documents) != "":
		w.Name, w.Title = "", "documents"
		w.Handed = journal.Clean(o.Documents)
	case w.Name == "":
		err = &assistant.RequestError{Why: noWitness.With(),
			Hint: "give documents or a model; the setting inquiry.witness sets a default"}
	case o.Witness.Path == "" && strings.Contains(w.Name, ":"):
		w.Kind, w.Title = record.WitnessModel, w.Name
	default:
		w.Title = filepath.Base(cmp.Or(o.Witness.Name, w.Name))
	}
	return w, err
}

// checkNoneRunning refuses an inquiry early, while another one is running, before anything is read for it. The claim
// guarantees that only one runs.
func (d Deps) checkNoneRunning(ctx context.Context, owner journal.Owner) error {
	rows, err := d.Store.Runs(ctx, owner, journal.Filter{Assistant: Name, Status: journal.Running, Limit: 1})
	if err != nil || len(rows) == 0 {
		return err
	}
	return &journal.ClaimedError{Key: claim, Run: rows[0].ID}
}

func witnessError(err error) error {
	return &assistant.RequestError{Why: deafWitness.With(),
		Hint: "give documents that can be read, or a model that responds", Err: fmt.Errorf("the witness: %w", err)}
}

// chooseDetective chooses the detective, and checks that its model can be made.
func (d Deps) chooseDetective(ctx context.Context, asked string) (id string, err error) {
	if id, err = d.Choose(ctx, asked); err == nil && id != model.OfflineRules {
		_, err = d.Model(ctx, id)
	}
	if err != nil {
		err = &assistant.RequestError{Why: noDetective.With(),
			Hint: "leave it out to use the configured one", Err: fmt.Errorf("the detective: %w", err)}
	}
	return id, err
}

// readPrompts reads the texts of the prompts, and apart from them those of the witness.
func (d Deps) readPrompts(w *WitnessSpec) (texts []run.Text, err error) {
	read := func(name string) (content []byte) {
		if err == nil {
			content, err = fs.ReadFile(d.Prompts, name+".md")
		}
		return content
	}
	for _, name := range []string{textDetective, textAnalyse, textSummary, strategyContradiction} {
		texts = append(texts, run.Text{Name: name, Content: read(name)})
	}
	switch {
	case w.Kind == record.WitnessModel:
		w.Text = string(read("witness"))
	case w.Model != "":
		w.Text, w.Comparing = string(read("documents")), string(read("compare"))
	}
	if err != nil {
		return nil, fmt.Errorf("the prompts of the Inquiry: %w", err)
	}
	return texts, nil
}
