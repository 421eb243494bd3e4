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
	"sibyl/internal/service/assistant"
)

// The assistants of the Council; they share one tree. A run of MemberName is that of one oracle in a sitting, and
// accompanies the sitting's run.
const (
	Name              = "council"
	MemberName        = "council.member"
	TranscriptionName = "council.transcription"
)

// The kinds of effects.
const (
	EffectReply      = "council.reply"      // a model answers as an oracle
	EffectMember     = "council.member"     // one oracle of a sitting answers in its own run
	EffectChair      = "council.chair"      // a model merges the answers
	EffectKeep       = "council.keep"       // an answer is written into the session's folder
	EffectName       = "council.name"       // a model names the session, and the name is saved
	EffectNext       = "council.next"       // finds the next recording to transcribe
	EffectTranscribe = "council.transcribe" // a recording is transcribed, and the transcript saved
	EffectSettle     = "council.settle"     // sets the session's state after transcribing
)

// Deps is what the Council needs from outside.
type Deps struct {
	Store    journal.Store
	Sessions func(owner journal.Owner) (*session.Store, error)
	Oracles  *persona.Shelf
	Choose   func(ctx context.Context, asked string) (model string, err error)
	Model    func(ctx context.Context, id string) (model.Model, error)
	Known    func(ctx context.Context, id string) model.Info // what is known of a model, at once
	Prompts  fs.FS                                           // chair.md and name.md
	Now      func() time.Time

	// Away says why this process has no access to the sessions, as an error that is session.ErrAway; nil: it has.
	Away func(ctx context.Context) error
	// Spoken is the language of whoever uses this machine, as its locale has it; "": not known.
	Spoken string
	// Missing says which setting transcription lacks, for people; "": it can transcribe.
	Missing func() string
	// HeardAt is the host that recordings are sent to; "": they stay on this machine.
	HeardAt func() string
	// Transcribe transcribes a recording. Errors of the transcriber are *model.Error; tell receives progress and pauses.
	Transcribe func(ctx context.Context, file string, in SpokenIn, tell Transcribing) (session.Transcript, error)
	// Driven reports whether somebody drives a running run.
	Driven func(journal.Run) bool
	// Within begins or resumes the run with this id, in which an oracle of a sitting answers, and gives its outcome.
	Within func(ctx context.Context, owner journal.Owner, id string, o Options) (outcome json.RawMessage, err error)
	// Withdraw asks such a run to stop.
	Withdraw func(ctx context.Context, owner journal.Owner, id string) error
}

// SpokenIn is in which language a recording is; "": it is detected, and Expected are the likely ones, the likeliest
// first.
type SpokenIn struct {
	Language string
	Expected []string
}

// Transcribing receives the progress of a transcription.
type Transcribing struct {
	Progress func(done, of int) // parts
	Wait     func(model.Wait)   // a pause before a retry
}

// New makes the assistant Name.
func New(d Deps) (*run.Assistant, error) {
	leaves, opt, err := Leaves()
	if err != nil {
		return nil, err
	}
	return &run.Assistant{Name: Name, Leaves: leaves, Options: opt, Outcome: outcome, Effects: effects(), Open: d.open,
		Lacks: d.Away, Used: assistant.UsedBy}, nil
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

// withFolder calls do with the sessions of the run's owner. Errors that are no faults become faults of KindFolder.
func withFolder[T any](p *performer, do func(s *session.Store) (T, error)) (done T, err error) {
	s, err := p.Sessions(p.view.Owner)
	if err == nil {
		done, err = do(s)
	}
	if _, is := errors.AsType[*bt.Fault](err); err != nil && !is {
		err = folderError(err)
	}
	return done, err
}

// folderError is the error of an effect for an error of the folder: a fault or, if this process has no access to the
// sessions, one that suspends the run until a process has. Which folder that is, the operator is told by the log.
func folderError(err error) error {
	if errors.Is(err, session.ErrAway) {
		return &run.Suspended{Fault: &bt.Fault{Kind: KindFolder, Reason: session.ErrAway.Error()}}
	}
	return &bt.Fault{Kind: KindFolder, Reason: err.Error()}
}

// wasDeleted is the reason of the fault of notDeleted.
const wasDeleted = "the session was deleted"

// notDeleted returns a fault if the run's session no longer exists: then nothing of it may be sent to a model.
func (p *performer) notDeleted(ctx context.Context) error {
	s, err := p.Sessions(p.view.Owner)
	if err == nil {
		_, err = s.Get(ctx, p.given.Session)
	}
	switch {
	case errors.Is(err, session.ErrNotFound):
		return &bt.Fault{Kind: KindFolder, Reason: wasDeleted}
	case errors.Is(err, session.ErrAway):
		return folderError(err)
	}
	return nil // after any other error of the folder, the answer waits in the journal
}

// KindFolder is the kind of the fault if the session's folder can't be read or written.
const KindFolder = "folder"
