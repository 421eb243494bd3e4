package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"sibyl/internal/api"
	"sibyl/internal/config"
	"sibyl/internal/council/persona"
	"sibyl/internal/oracle"
	"sibyl/internal/preset"
	"sibyl/internal/schema"
)

// Presets are the presets of the settings. The oracles of the Council are presets, too.
type Presets struct {
	cfg   config.Config
	files *persona.Shelf
}

// NewPresets returns the presets of the settings. Nothing is read before it is asked for.
func NewPresets(cfg config.Config) Presets {
	return Presets{cfg: cfg, files: persona.New(persona.Config{Dir: cfg.Presets, Presets: true,
		Placeholder: cfg.Council.Placeholder, Names: presetNames()})}
}

// presetNames are the names that the front matter of a preset, and of an oracle, may have.
func presetNames() []string { return preset.Names(schema.Of[oracle.Options]()) }

// newOracles returns the oracles of the settings.
func newOracles(cfg config.Config) *persona.Shelf {
	return persona.New(persona.Config{Dir: oraclesDir(cfg), Placeholder: cfg.Council.Placeholder,
		TTL: time.Duration(cfg.Council.CacheTTL) * time.Second, Names: presetNames()})
}

// ListedPreset is a preset as it is listed.
type ListedPreset struct {
	preset.Preset
	About, Language string
	Warnings        []string
	IsOracle        bool
}

// List returns the presets, then the oracles, and the files that can't be used.
func (p Presets) List(ctx context.Context) (all []ListedPreset, skipped []persona.Skipped, err error) {
	for _, isOracle := range []bool{false, true} {
		shelf := p.shelf(isOracle)
		if shelf == nil {
			continue
		}
		l, err := shelf.List(ctx)
		if err != nil {
			return nil, nil, err
		}
		for _, one := range l.Oracles {
			all = append(all, p.listed(one, isOracle))
		}
		skipped = append(skipped, l.Skipped...)
	}
	return all, skipped, nil
}

// shelf returns the files of presets, or those of oracles; nil if no folder can be known.
func (p Presets) shelf(ofOracles bool) *persona.Shelf {
	switch {
	case ofOracles:
		return newOracles(p.cfg)
	case p.cfg.Presets == "":
		return nil
	}
	return p.files
}

// Find returns a preset by its name, or an oracle by its own.
func (p Presets) Find(ctx context.Context, name string) (ListedPreset, error) {
	for _, isOracle := range []bool{false, true} {
		shelf := p.shelf(isOracle)
		if shelf == nil {
			continue
		}
		one, err := shelf.Find(ctx, name)
		if err == nil {
			return p.listed(one, isOracle), nil
		}
		if !errors.Is(err, persona.ErrNotFound) {
			return ListedPreset{}, err
		}
	}
	return ListedPreset{}, fmt.Errorf("no preset is called “%.60s”; ‘sibyl presets’ lists them", name)
}

// listed is a file as it is listed. An oracle is foreign if its folder is only that of the working folder.
func (p Presets) listed(one persona.Persona, isOracle bool) ListedPreset {
	name := one.Name
	if isOracle {
		name = one.Slug
	}
	l := ListedPreset{Preset: preset.New(name, one.File, one.Placeholder, one.Front, one.Content),
		About: one.About, Language: one.Language, Warnings: one.Warnings, IsOracle: isOracle}
	l.Foreign = isOracle && p.cfg.Council.Oracles == "" && oraclesDir(p.cfg) != ""
	return l
}

// presetsOfServer lists the presets without the folders of their files.
func (a *App) presetsOfServer(ctx context.Context) (api.Presets, error) {
	all, skipped, err := NewPresets(a.Config).List(ctx)
	listed := api.Presets{Presets: []api.Preset{}, Skipped: []api.SkippedPreset{}}
	for _, one := range all {
		p := api.Preset{Name: one.Name, Kind: "preset", About: one.About, Language: one.Language,
			Variables: append([]preset.Variable{}, one.Variables...), Options: []api.PresetOption{}, Warnings: one.Warnings}
		if one.IsOracle {
			p.Kind = "oracle"
		}
		for _, o := range one.Options {
			p.Options = append(p.Options, api.PresetOption{Name: o.Name, Value: o.Text})
		}
		listed.Presets = append(listed.Presets, p)
	}
	for _, one := range skipped {
		listed.Skipped = append(listed.Skipped, api.SkippedPreset{File: filepath.Base(one.File), Reason: one.Reason})
	}
	return listed, err
}

// FindNamed returns a preset by its name or, if that has a slash, by the path of its file.
func (p Presets) FindNamed(ctx context.Context, name string) (preset.Preset, error) {
	if !strings.ContainsAny(name, `/\`) {
		one, err := p.Find(ctx, name)
		return one.Preset, err
	}
	one, err := persona.Read(name, p.cfg.Council.Placeholder)
	if err != nil {
		return preset.Preset{}, fmt.Errorf("the preset %w", err)
	}
	made := p.listed(one, false).Preset
	made.Foreign = filepath.Dir(one.File) != p.cfg.Presets
	return made, nil
}
