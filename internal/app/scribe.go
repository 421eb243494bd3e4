package app

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"

	"sibyl/internal/config"
	"sibyl/internal/council/session"
	"sibyl/internal/media/audio"
	"sibyl/internal/media/scribe"
	"sibyl/internal/model"
	"sibyl/internal/model/speech"
)

// newScribe creates the scribe of the settings, which transcribes recordings.
func newScribe(cfg config.Config, keys *secrets) *scribe.Scribe {
	set := cfg.Transcription
	c := scribe.Config{Language: set.Language, Audio: audio.FindTools()}
	switch {
	case set.Model != "":
		c.By, c.Limits = set.Model, scribe.HostedLimits().WithFormats(set.Formats)
		name, _ := model.SplitID(set.Model)
		if p := cfg.Providers[name]; p.Local {
			c.Limits = c.Limits.ForLocal()
		} else {
			c.Host = hostOf(p.BaseURL)
		}
		if c.Transcriber, c.Problem = hostedModel(cfg, keys); c.Transcriber == nil {
			c.By = ""
		}
	case set.Server != "":
		limit := set.Limit(set.Local)
		server := speech.NewServer(speech.ServerConfig{BaseURL: set.Server, Local: set.Local, FirstByte: limit,
			Idle: limit, PlainHTTP: cfg.PlainHTTP})
		c.Transcriber, c.By, c.Limits = server, server.By(), scribe.WhisperLimits().WithFormats(set.Formats)
		if !set.Local {
			c.Host = hostOf(set.Server)
		}
	case len(set.Command) > 0:
		command := speech.New(speech.Config{Command: set.Command, Timeout: set.Limit(true)})
		c.Transcriber, c.By, c.Limits = command, command.By(), scribe.WhisperLimits().WithFormats(set.Formats)
	default:
		c.Offers = speech.Suggestions(exec.LookPath)
	}
	return scribe.New(c)
}

// hostOf is the host of an address of the settings, which were checked.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.Hostname()
}

// Transcription returns the transcriber, as "openai:whisper-1", or else what is missing. The error says why the set one
// can't be used: no key, or no program. It sends nothing.
func (a *App) Transcription() (by, missing string, err error) {
	set := a.Config.Transcription
	s := newScribe(a.Config, a.secrets)
	if s.Problem != "" {
		return "", "", errors.New(s.Problem)
	}
	if set.Model == "" && set.Server == "" && len(set.Command) > 0 {
		if _, err := exec.LookPath(set.Command[0]); err != nil {
			return s.By, "", fmt.Errorf("transcription.command: %w", err)
		}
	}
	return s.By, s.Missing(), nil
}

// hostedModel returns the model of the settings, or why it can't be used.
func hostedModel(cfg config.Config, keys *secrets) (t model.Transcriber, problem string) {
	patient := cfg
	here, elsewhere := cfg.Transcription.Limit(true), cfg.Transcription.Limit(false)
	patient.Timeouts = config.Timeouts{Start: elsewhere, Silence: elsewhere, LocalStart: here, LocalSilence: here,
		Web: cfg.Timeouts.Web}
	m, err := catalog(patient, keys).Open(cfg.Transcription.Model)
	if err != nil {
		return nil, fmt.Sprintf("transcription.model: %v", err)
	}
	t, ok := m.(model.Transcriber)
	if !ok {
		return nil, fmt.Sprintf("transcription.model: %s does not transcribe", cfg.Transcription.Model)
	}
	return t, ""
}

// probeAudio returns a function that inspects an upload for a session.
func probeAudio(tools audio.Tools) func(ctx context.Context, file string) (session.Facts, error) {
	return func(ctx context.Context, file string) (session.Facts, error) {
		i, err := tools.Probe(ctx, file)
		return session.Facts{Seconds: i.Seconds, Silent: i.Silent != nil && *i.Silent, Ending: i.Format}, err
	}
}

// Recorders returns this machine's recording programs, the best first.
func (a *App) Recorders() []audio.Recorder { return audio.FindTools().Recorders() }

// Recordings returns the folder that holds recordings until a session has imported them.
func (a *App) Recordings() string { return filepath.Join(a.Config.DataDir, "recordings") }
