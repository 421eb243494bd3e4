package council

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/council/session"
	"sibyl/internal/model"
	"sibyl/internal/run"
)

// NextPayload requests the next recording that waits, except those tried in this run.
type NextPayload struct {
	Again bool  `json:"again,omitempty"` // those that have failed before wait, too
	Tried []int `json:"tried,omitempty"`
}

// NextReceipt is the recording; Sequence is 0 if none waits. Failed counts untried ones that failed in earlier runs.
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
	const doc = "Looks which recording waits to be transcribed, also of those that were added meanwhile."
	return bt.One("NextRecording", doc, plan, collect, nil)
}

func (p *performer) findNextRecording(ctx context.Context, _ run.Job, asked NextPayload) (any, error) {
	return withFolder(p, func(s *session.Store) (any, error) {
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

// TranscribePayload requests that a recording is transcribed.
type TranscribePayload struct {
	Sequence int `json:"sequence"`
}

// TranscriptReceipt is the state of the recording afterwards.
type TranscriptReceipt struct {
	Sequence int            `json:"sequence"`
	Status   session.Status `json:"status"`
	File     string         `json:"file,omitempty"`
	Words    int            `json:"words,omitempty"`
	By       string         `json:"by,omitempty"`
	Flags    []string       `json:"flags,omitempty"`  // their kinds
	Failed   string         `json:"failed,omitempty"` // why there is no transcript
	bt.Coded
}

func transcribeLeaf() bt.Leaf {
	type in struct {
		Recording Recording `port:"recording"`
	}
	type out struct {
		Tried  []Recording `port:"tried"`
		Events []bt.Typed  `port:",events"`
	}
	plan := func(i in) (bt.Request, error) {
		p := TranscribePayload{i.Recording.Sequence}
		return bt.Request{Kind: EffectTranscribe, Label: i.Recording.File, Payload: p}, nil
	}
	collect := func(i in, r TranscriptReceipt, _ int64, o *out) error {
		o.Tried = append(slices.Clip(o.Tried), i.Recording)
		o.Events = []bt.Typed{Transcribed{r.Sequence, r.Words, r.By, r.Flags}}
		if r.Failed != "" {
			o.Events = []bt.Typed{NotTranscribed{r.Sequence, r.Failed, r.Coded}}
		}
		return nil
	}
	const doc = "Has what is said in the recording written down, and kept in the session's folder. " +
		"If that fails, the reason is kept: the recording stays, and the others are tried."
	return bt.One("Transcribe", doc, plan, collect, nil)
}

// transcribe transcribes a recording, unless it is no longer PENDING, such as after a crash.
func (p *performer) transcribe(ctx context.Context, job run.Job, asked TranscribePayload) (any, error) {
	file := ""
	before, err := withFolder(p, func(s *session.Store) (r *TranscriptReceipt, err error) {
		now, err := s.Get(ctx, p.given.Session)
		if e := now.Entry(asked.Sequence); e != nil && e.Status != session.Pending {
			text := ""
			if e.Status == session.Success {
				text, _ = s.TranscriptOf(ctx, p.given.Session, *e) // for the count of its words
			}
			return transcriptReceipt(*e, text), err
		}
		if err == nil && now.State == session.Interrupted { // this run continues after the interruption
			_, err = s.BeginTranscribing(ctx, p.given.Session)
		}
		if err == nil {
			file, err = s.AudioPath(ctx, p.given.Session, asked.Sequence)
		}
		return nil, err
	})
	switch {
	case err != nil:
		return nil, err
	case before != nil:
		return before, nil
	}
	t, err := p.Transcribe(ctx, file, SpokenIn{p.env.Language, p.env.Expected}, Transcribing{
		Progress: func(done, of int) {
			if of > 1 {
				job.Emit(run.Piece{Retract: true})
				job.Emit(run.Piece{Text: fmt.Sprintf("part %d of %d", done, of)})
			}
		},
		Wait: func(w model.Wait) { job.Emit(run.Piece{Wait: agent.PauseFor(w)}) },
	})
	if ctx.Err() != nil { // it was stopped, and waits on
		return nil, ctx.Err()
	}
	t.Sequence = asked.Sequence
	return p.keepTranscript(ctx, t, err)
}

// keepTranscript saves a transcript, or why there is none, and gives the receipt. An error of saving is in the receipt,
// so that the other recordings are still tried.
func (p *performer) keepTranscript(ctx context.Context, t session.Transcript, failed error) (any, error) {
	return withFolder(p, func(s *session.Store) (any, error) {
		why := whyUntranscribed(failed)
		if failed == nil {
			e, err := s.SaveTranscript(ctx, p.given.Session, t)
			if err == nil {
				return transcriptReceipt(e, t.Text), nil
			}
			why = unwrittenDown.With()
			why.Text += ": " + err.Error()
		}
		_, _ = s.FailTranscript(ctx, p.given.Session, t.Sequence, why)
		return &TranscriptReceipt{Sequence: t.Sequence, Status: session.Failure, Failed: why.Text, Coded: why.Coded}, nil
	})
}

// whyUntranscribed says why there is no transcript: by its kind if a model failed, otherwise in the words of the error.
func whyUntranscribed(err error) bt.Why {
	switch failed, is := errors.AsType[*model.Error](err); {
	case err == nil:
		return bt.Why{}
	case is:
		return (&bt.Fault{Kind: string(failed.Kind), Reason: err.Error()}).Why()
	}
	return bt.Because(err.Error())
}

func transcriptReceipt(e session.AudioEntry, text string) *TranscriptReceipt {
	return &TranscriptReceipt{Sequence: e.Sequence, Status: e.Status, File: e.Transcript,
		Words: len(strings.Fields(text)),
		By:    e.By, Flags: flagKinds(e), Failed: e.Error, Coded: bt.Coded{Code: e.Code}}
}

// SettlePayload requests that the session's state is set from its recordings.
type SettlePayload struct{}

// SettleReceipt is the session's state afterwards.
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

func (p *performer) settleState(ctx context.Context, _ run.Job, _ SettlePayload) (any, error) {
	return withFolder(p, func(s *session.Store) (any, error) {
		now, err := s.EndTranscribing(ctx, p.given.Session)
		return SettleReceipt{now.State}, err
	})
}
