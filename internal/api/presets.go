package api

import (
	"context"

	"sibyl/internal/preset"
)

// Preset is a prompt with options that a question may name. Paths of files are left out.
type Preset struct {
	Name      string            `json:"name" doc:"By which the options of a question name it."`
	Kind      string            `json:"kind" enum:"preset,oracle" doc:"An oracle is one of the Council."`
	About     string            `json:"about,omitempty" doc:"What it is for, in one line."`
	Language  string            `json:"language,omitempty" doc:"Of its prompt: en, pt or de."`
	Variables []preset.Variable `json:"variables" doc:"What the option set may give a value to."`
	Options   []PresetOption    `json:"options" doc:"What it sets, where the question itself does not."`
	Warnings  []string          `json:"warnings" doc:"What is wrong with its file, in English."`
}

// PresetOption is an option that a preset sets.
type PresetOption struct {
	Name  string `json:"name" doc:"As the flag of the command line."`
	Value string `json:"value"`
}

// Presets are the presets of the server.
type Presets struct {
	Presets []Preset        `json:"presets"`
	Skipped []SkippedPreset `json:"skipped" doc:"Files that can't be used."`
}

// SkippedPreset is a file that can't be used.
type SkippedPreset struct {
	File   string `json:"file" doc:"Its name."`
	Reason string `json:"reason" doc:"In English."`
}

func (s *Server) listPresets(ctx context.Context, _ *noInput) (Presets, error) {
	if s.config.Presets == nil {
		return Presets{Presets: []Preset{}, Skipped: []SkippedPreset{}}, nil
	}
	return s.config.Presets(ctx)
}
