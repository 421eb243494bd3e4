package council

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"time"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/council/persona"
	"sibyl/internal/council/session"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/run"
)

// The assistants of the Council, which have one tree. The runs of a member are those of one oracle in a sitting: they
// accompany its run.
const (
	Name              = "council"
	MemberName        = "council.member"
	TranscriptionName = "council.transcription"
)

// The kinds of effects.
const (
	EffectReply      = "council.reply"      // a model answers as an oracle
	EffectMember     = "council.member"     // one oracle of a sitting answers, by a run of its own
	EffectChair      = "council.chair"      // one oracle merges the answers of all
	EffectKeep       = "council.keep"       // an answer is written into the session's folder
	EffectName       = "council.name"       // a model names the session, and the name is kept
	EffectNext       = "council.next"       // the next recording that waits
	EffectTranscribe = "council.transcribe" // it is written down, and its transcript kept
	EffectSettle     = "council.settle"     // how the session stands after it
)

// Deps is what the Council needs of the outside.
type Deps struct {
	Store    journal.Store
	Sessions func(owner journal.Owner) (*session.Store, error)
	Oracles  *persona.Shelf
	Choose   func(ctx context.Context, asked string) (model string, err error)
	Model    func(ctx context.Context, id string) (model.Model, error)
	Describe func(ctx context.Context, id string) model.Info
	Prompts  fs.FS // chair.md and name.md
	Now      func() time.Time

	// Missing says which setting would transcribe, in words for people; "": it can.
	Missing func() string
	// Transcribe writes down a recording. Errors are *model.Error; tell hears of parts that are done, and of pauses.
	Transcribe func(ctx context.Context, file, language string, tell Transcribing) (session.Transcript, error)
	// Driven says whether somebody drives a run that has not ended.
	Driven func(journal.Run) bool
	// Within has an oracle of a sitting answer by the run of that id, and gives its outcome.
	Within func(ctx context.Context, owner journal.Owner, id string, o Options) (outcome json.RawMessage, err error)
	// Withdraw asks that run to stop.
	Withdraw func(ctx context.Context, owner journal.Owner, id string) error
}

// Transcribing hears how the transcription of a recording goes on.
type Transcribing struct {
	Progress func(done, of int) // parts
	Wait     func(model.Wait)   // the transcriber is asked again after a pause
}

// New makes the assistant.
func New(d Deps) (*run.Assistant, error) {
	leaves, opt, err := Leaves()
	if err != nil {
		return nil, err
	}
	return &run.Assistant{Name: Name, Leaves: leaves, Options: opt, Outcome: outcome, Effects: effects(), Open: d.open},
		nil
}

func effects() map[string]run.EffectType {
	return map[string]run.EffectType{
		EffectReply:      run.EffectOf[ReplyPayload, ReplyReceipt](),
		EffectMember:     run.EffectOf[MemberPayload, MemberReceipt](),
		EffectChair:      run.EffectOf[ChairPayload, ChairReceipt](),
		EffectKeep:       run.EffectOf[KeepPayload, KeepReceipt](),
		EffectName:       run.EffectOf[NamePayload, NameReceipt](),
		EffectNext:       run.EffectOf[NextPayload, NextReceipt](),
		EffectTranscribe: run.EffectOf[TranscribePayload, TranscriptReceipt](),
		EffectSettle:     run.EffectOf[SettlePayload, SettleReceipt](),
	}
}

// performer performs the effects of one run.
type performer struct {
	Deps
	view  *run.View
	env   Env
	given Given
}

func (d Deps) open(_ context.Context, v *run.View) (map[string]run.Performer, func(), error) {
	p := &performer{Deps: d, view: v}
	if err := p.readStart(); err != nil {
		return nil, nil, err
	}
	return map[string]run.Performer{
		EffectReply:      {Do: p.answerAsOracle},
		EffectMember:     {Do: agent.NewPerformer(p.askMember), Withdraw: p.stopMember},
		EffectChair:      {Do: agent.NewPerformer(p.mergeAnswers)},
		EffectKeep:       {Do: agent.NewPerformer(p.saveAnswer), Found: p.findSavedAnswer},
		EffectName:       {Do: agent.NewPerformer(p.nameSession)},
		EffectNext:       {Do: agent.NewPerformer(p.findNextRecording)},
		EffectTranscribe: {Do: agent.NewPerformer(p.transcribe)},
		EffectSettle:     {Do: agent.NewPerformer(p.settleState)},
	}, nil, nil
}

// withFolder runs do with the sessions of the run's owner. Errors become faults of the folder.
func withFolder[T any](p *performer, do func(s *session.Store) (T, error)) (done T, err error) {
	s, err := p.Sessions(p.view.Owner)
	if err == nil {
		done, err = do(s)
	}
	if _, is := errors.AsType[*bt.Fault](err); err != nil && !is {
		err = &bt.Fault{Kind: KindFolder, Reason: err.Error()}
	}
	return done, err
}

// wasDeleted is why no model is asked any more.
const wasDeleted = "the session was deleted"

// notDeleted is a fault if the session of the run is no longer there: then nothing of it goes to a model.
func (p *performer) notDeleted(ctx context.Context) error {
	s, err := p.Sessions(p.view.Owner)
	if err == nil {
		_, err = s.Get(ctx, p.given.Session)
	}
	if errors.Is(err, session.ErrNotFound) {
		return &bt.Fault{Kind: KindFolder, Reason: wasDeleted}
	}
	return nil // of any other folder, the answer waits in the journal
}

// KindFolder is the fault of an effect that the session's folder did not take.
const KindFolder = "folder"
