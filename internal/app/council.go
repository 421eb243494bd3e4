package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"sibyl/internal/config"
	"sibyl/internal/council"
	"sibyl/internal/council/persona"
	"sibyl/internal/council/session"
	"sibyl/internal/journal"
	"sibyl/internal/media/audio"
	"sibyl/internal/media/scribe"
	"sibyl/internal/model"
	"sibyl/internal/oracle"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
)

// openCouncil prepares the Council: its assistants, and the desk for a person's actions.
func (a *App) openCouncil() ([]*assistant.Assistant, error) {
	prompts, err := fs.Sub(a.texts, "council")
	if err != nil {
		return nil, fmt.Errorf("the prompts of the Council: %w", err)
	}
	sessions := perOwner[session.Store]{open: func(owner journal.Owner) (*session.Store, error) {
		return session.Open(session.Config{Folder: a.Config.SessionsOf(string(owner), owner == Owner), Now: a.Clock.Now,
			Redact: a.Redact, Probe: probeAudio(audio.FindTools()), Read: a.Documents.Read, Step: a.options.Step})
	}}
	// programs and keys are looked for when they are wanted
	writing := sync.OnceValue(func() *scribe.Scribe { return newScribe(a.Config, a.secrets) })
	patient := a.Config
	patient.Timeouts = a.Config.OracleTimeouts()
	models := catalog(patient, a.secrets)
	a.shared = a.newSharedFolder(func() {
		sessions.each(func(s *session.Store) { _ = s.Close() }) // nothing was written through what it closes
	})
	d := council.Deps{Store: a.Store, Prompts: prompts, Now: a.Clock.Now,
		Sessions: func(owner journal.Owner) (*session.Store, error) {
			if err := a.shared.check(context.Background(), longPatience); err != nil {
				return nil, err
			}
			return sessions.get(owner)
		},
		Spoken:  a.options.Spoken,
		Away:    func(ctx context.Context) error { return a.shared.check(ctx, shortPatience) },
		Oracles: a.Oracles(),
		Choose: func(ctx context.Context, wanted string) (string, error) {
			return a.chooseFrom(ctx, models, wanted)
		},
		Known: a.Models.Known,
		Model: func(ctx context.Context, id string) (model.Model, error) {
			return a.openChain(ctx, models, oracle.Env{Model: id, Fallback: a.Config.Fallback.Models}, false)
		},
		Missing: func() string {
			return writing().Missing()
		}, HeardAt: func() string { return writing().Host }, Transcribe: transcribing(writing), Within: a.withinSitting,
		Driven: func(r journal.Run) bool { return a.Engine.Driven(r) },
		Withdraw: func(ctx context.Context, owner journal.Owner, id string) error {
			return a.Service.Withdraw(ctx, owner, id)
		}}
	made, err := council.New(d)
	if err != nil {
		return nil, err
	}
	a.Council = &d
	main := council.Describe(made, d)
	return []*assistant.Assistant{main, council.DescribeTranscription(main, d), council.DescribeMember(main, d)}, nil
}

// OraclesDir returns the folder of the oracles: the set one, or prompts/oracles in the working folder if it exists; ""
// means the built-in ones.
func (a *App) OraclesDir() string { return oraclesDir(a.Config) }

func oraclesDir(cfg config.Config) string {
	if set := cfg.Council.Oracles; set != "" {
		return set
	}
	usual := filepath.Join("prompts", "oracles")
	if info, err := os.Stat(usual); err != nil || !info.IsDir() {
		return ""
	}
	return usual
}

// Oracles returns the oracles of the settings, listed afresh.
func (a *App) Oracles() *persona.Shelf { return newOracles(a.Config) }

// withinSitting asks one oracle of a sitting in a separate run.
func (a *App) withinSitting(
	ctx context.Context, owner journal.Owner, id string, o council.Options,
) (json.RawMessage, error) {
	r, err := a.Service.Within(ctx, owner, id, service.Request{Assistant: council.MemberName, Options: o})
	return r.Outcome, err
}

// transcribing transcribes recordings.
func transcribing(
	by func() *scribe.Scribe,
) func(context.Context, string, council.SpokenIn, council.Transcribing) (session.Transcript, error) {
	return func(
		ctx context.Context, file string, in council.SpokenIn, tell council.Transcribing,
	) (session.Transcript, error) {
		t, err := by().Transcribe(ctx, file, scribe.Spoken(in), scribe.Listener(tell))
		if err != nil {
			return session.Transcript{}, err
		}
		kept := session.Transcript{Text: t.Text, By: t.By, Language: t.Language, Seconds: t.Seconds}
		for _, f := range t.Flags {
			kept.Flags = append(kept.Flags, session.Flag{Kind: f.Kind, Text: f.Text, Start: f.Start, End: f.End})
		}
		for _, at := range t.Times {
			kept.Times = append(kept.Times, session.Time{At: at.At, Seconds: at.Seconds})
		}
		return kept, nil
	}
}
