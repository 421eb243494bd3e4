package council

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/council/session"
	"sibyl/internal/model"
	"sibyl/internal/run"
)

// NextPayload asks for the next recording that waits, beside those that were tried in this run.
type NextPayload struct {
	Again bool  `json:"again,omitempty"` // those that have failed before wait, too
	Tried []int `json:"tried,omitempty"`
}

// NextReceipt is the recording; none waits: Sequence is 0. Failed counts those that have failed before, and don't wait.
type NextReceipt struct {
	Sequence int    `json:"sequence"`
	File     string `json:"file,omitempty"`
	Failed   int    `json:"failed,omitempty"`
}

func nextRecording() bt.Leaf {
	type in struct {
		Again bool        `port:"again" doc:"those that have failed before wait, too"`
		Tried []Recording `port:"tried,optional"`
	}
	type out struct {
		Recording Recording `port:"recording"`
		Over      bool      `port:"over" doc:"none waits"`
	}
	plan := func(i in) (bt.Request, error) {
		p := NextPayload{Again: i.Again && len(i.Tried) == 0}
		for _, r := range i.Tried {
			p.Tried = append(p.Tried, r.Sequence)
		}
		return bt.Request{Kind: EffectNext, Label: "the next recording", Payload: p}, nil
	}
	collect := func(_ in, r NextReceipt, _ int64, o *out) error {
		o.Recording, o.Over = Recording{Sequence: r.Sequence, File: r.File}, r.Sequence == 0
		return nil
	}
	return bt.One("NextRecording", "Looks which recording of the session waits to be transcribed, also of those that were added meanwhile.", plan, collect, nil)
}

func (p *performing) next(ctx context.Context, job run.Job, asked NextPayload) (any, error) {
	return inFolder(p, func(s *session.Store) (any, error) {
		look := s.Get
		if asked.Again {
			look = s.Retry
		}
		now, err := look(ctx, p.given.Session)
		var r NextReceipt
		for _, e := range now.Audio {
			switch {
			case slices.Contains(asked.Tried, e.Sequence) || e.File == "":
			case e.Status == session.Failure:
				r.Failed++
			case e.Status == session.Pending && r.Sequence == 0:
				r.Sequence, r.File = e.Sequence, e.File
			}
		}
		if err == nil && r.Sequence != 0 {
			_, err = s.BeginTranscribing(ctx, p.given.Session)
		}
		return r, err
	})
}

// TranscribePayload asks what is said in a recording.
type TranscribePayload struct {
	Sequence int `json:"sequence"`
}

func transcribeLeaf() bt.Leaf {
	type in struct {
		Recording Recording `port:"recording"`
	}
	type out struct {
		Recording Recording `port:"recording"`
	}
	plan := func(i in) (bt.Request, error) {
		return bt.Request{Kind: EffectTranscribe, Label: i.Recording.File, Payload: TranscribePayload{i.Recording.Sequence}}, nil
	}
	collect := func(_ in, _ session.Transcript, ref int64, o *out) error { o.Recording.Ref = ref; return nil }
	failed := func(_ in, why *bt.Fault, _ int64, o *out) { o.Recording.Failed = why.Reason }
	return bt.One("Transcribe", "Has what is said in the recording written down.", plan, collect, failed)
}

func (p *performing) transcribe(ctx context.Context, job run.Job, asked TranscribePayload) (any, error) {
	file, err := inFolder(p, func(s *session.Store) (string, error) {
		now, err := s.Get(ctx, p.given.Session)
		if err == nil && now.State == session.Interrupted { // this run goes on after that
			_, err = s.BeginTranscribing(ctx, p.given.Session)
		}
		if err != nil {
			return "", err
		}
		return s.AudioPath(ctx, p.given.Session, asked.Sequence)
	})
	if err != nil {
		return nil, err
	}
	t, err := p.Transcribe(ctx, file, p.env.Language, Transcribing{
		Progress: func(done, of int) {
			if of > 1 {
				job.Emit(run.Piece{Retract: true})
				job.Emit(run.Piece{Text: fmt.Sprintf("part %d of %d", done, of)})
			}
		},
		Wait: func(w model.Wait) { job.Emit(run.Piece{Wait: waiting(w)}) },
	})
	if err != nil {
		return nil, agent.ModelFault(err)
	}
	t.Sequence = asked.Sequence
	return t, nil
}

// TranscriptPayload asks that the transcript of a record is written into the folder, or why there is none.
type TranscriptPayload struct {
	Sequence int    `json:"sequence"`
	Ref      int64  `json:"ref,omitempty"`
	Failed   string `json:"failed,omitempty"`
}

// TranscriptReceipt is how the recording stands after it.
type TranscriptReceipt struct {
	Sequence int            `json:"sequence"`
	Status   session.Status `json:"status"`
	File     string         `json:"file,omitempty"`
	Words    int            `json:"words,omitempty"`
	By       string         `json:"by,omitempty"`
	Flags    []string       `json:"flags,omitempty"` // their kinds
}

// keeping is what both leaves that end with a recording read and write.
type keeping struct {
	Recording Recording `port:"recording"`
}

type keptRecording struct {
	Tried  []Recording `port:"tried"`
	Events []bt.Typed  `port:",events"`
}

func keepTranscript() bt.Leaf {
	plan := func(i keeping) (bt.Request, error) {
		p := TranscriptPayload{Sequence: i.Recording.Sequence, Ref: i.Recording.Ref}
		return bt.Request{Kind: EffectTranscript, Label: "the transcript of " + i.Recording.File, Payload: p, Once: true}, nil
	}
	type out struct {
		Recording Recording   `port:"recording"`
		Tried     []Recording `port:"tried"`
		Events    []bt.Typed  `port:",events"`
	}
	collect := func(i keeping, r TranscriptReceipt, _ int64, o *out) error {
		o.Tried = append(slices.Clip(o.Tried), i.Recording)
		o.Events = []bt.Typed{Transcribed{r.Sequence, r.Words, r.By, r.Flags}}
		return nil
	}
	failed := func(_ keeping, why *bt.Fault, _ int64, o *out) { o.Recording.Failed = unwritten + ": " + why.Reason }
	return bt.One("KeepTranscript", "Writes the transcript into the session's folder, once.", plan, collect, failed)
}

func keepFailure() bt.Leaf {
	plan := func(i keeping) ([]bt.Request, error) {
		p := TranscriptPayload{Sequence: i.Recording.Sequence, Failed: failure(i.Recording)}
		return []bt.Request{{Kind: EffectTranscript, Label: "the failure of " + i.Recording.File, Payload: p, Once: true}}, nil
	}
	collect := func(i keeping, done []bt.Completion, o *keptRecording) error {
		i.Recording.Failed = failure(i.Recording)
		o.Tried = append(slices.Clip(o.Tried), i.Recording)
		o.Events = []bt.Typed{NotTranscribed{i.Recording.Sequence, i.Recording.Failed}}
		return nil // that it could not be noted does not keep the others from being tried
	}
	return bt.Task("KeepFailure", "Notes in the session's folder why the recording has no transcript. The recording stays.", plan, collect)
}

const unwritten = "its transcript could not be written into the session's folder"

func failure(r Recording) string {
	if r.Failed != "" {
		return r.Failed
	}
	return unwritten
}

func (p *performing) transcript(ctx context.Context, job run.Job, asked TranscriptPayload) (any, error) {
	if asked.Ref == 0 {
		return inFolder(p, func(s *session.Store) (any, error) {
			e, err := s.FailTranscript(ctx, p.given.Session, asked.Sequence, asked.Failed)
			return receiptOf(e, ""), err
		})
	}
	t, err := run.ResultAt[session.Transcript](p.view, asked.Ref)
	if err != nil {
		return nil, err
	}
	return inFolder(p, func(s *session.Store) (any, error) {
		e, err := s.SaveTranscript(ctx, p.given.Session, t)
		return receiptOf(e, t.Text), err
	})
}

func receiptOf(e session.AudioEntry, text string) TranscriptReceipt {
	return TranscriptReceipt{Sequence: e.Sequence, Status: e.Status, File: e.Transcript, Words: len(strings.Fields(text)), By: e.By, Flags: doubts(e)}
}

// transcribed tells whether a recording's transcript, or its failure, was written before a crash.
func (p *performing) transcribed(ctx context.Context, job run.Job) (any, bool, error) {
	asked, err := run.AskedOf[TranscriptPayload](job)
	if err != nil {
		return nil, false, err
	}
	receipt, err := inFolder(p, func(s *session.Store) (any, error) {
		now, err := s.Get(ctx, p.given.Session)
		if e := now.Entry(asked.Sequence); e != nil && e.Status != session.Pending {
			text := ""
			if e.Status == session.Success {
				text, _ = s.TranscriptOf(ctx, p.given.Session, *e) // for the count of its words
			}
			return receiptOf(*e, text), err
		}
		return nil, err
	})
	return receipt, receipt != nil, err
}

// SettlePayload asks that the session's state is what its recordings are.
type SettlePayload struct{}

// SettleReceipt is how the session stands.
type SettleReceipt struct {
	State session.State `json:"state"`
}

func settleLeaf() bt.Leaf {
	type none struct{}
	plan := func(none) (bt.Request, error) {
		return bt.Request{Kind: EffectSettle, Label: "the session's state", Payload: SettlePayload{}}, nil
	}
	collect := func(none, SettleReceipt, int64, *none) error { return nil }
	return bt.One("Settle", "Sets the session's state by how its recordings stand.", plan, collect, nil)
}

func (p *performing) settle(ctx context.Context, job run.Job, asked SettlePayload) (any, error) {
	return inFolder(p, func(s *session.Store) (any, error) {
		now, err := s.EndTranscribing(ctx, p.given.Session)
		return SettleReceipt{now.State}, err
	})
}
