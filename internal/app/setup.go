package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"sibyl/internal/api"
	"sibyl/internal/config"
	"sibyl/internal/keys"
	"sibyl/internal/service"
)

// ErrAgain is what Serve returns when an operator wants the changed settings in force.
var ErrAgain = errors.New("the program is to be opened anew with the changed settings")

// setup is how the page shows and changes the settings.
type setup struct {
	options config.Options
	data    string // the data folder in use, which need not be that of the settings
	content []byte // of the settings file when the program was opened
	opened  time.Time
	failed  string      // why the changed settings could not be taken up
	touched atomic.Bool // a key was stored or deleted
	redact  func(string) string
}

func (a *App) newSetup(again func()) *api.Setup {
	s := &setup{options: a.options.Settings, data: a.Config.DataDir, opened: a.Clock.Now(), failed: a.options.Failed,
		redact: a.Redact}
	_, s.content, _ = config.Content(s.options) // one that can't be read is told when it is shown
	return &api.Setup{Show: s.show, Set: s.set, Unset: s.unset, SetKey: s.setKey, DeleteKey: s.deleteKey,
		Models: s.models, Again: again}
}

// show returns the settings as the file has them now.
func (s *setup) show() (api.Settings, error) {
	path, content, err := config.Content(s.options)
	if err != nil {
		return api.Settings{}, s.refused(err)
	}
	cfg, err := config.Load(s.options)
	if err != nil {
		return api.Settings{}, s.refused(err)
	}
	lines, err := config.Explain(s.options)
	if err != nil {
		return api.Settings{}, s.refused(err)
	}
	all := api.Settings{File: path, Opened: s.opened, Failed: s.failed, KeyNames: cfg.KeyNames(),
		Pending: s.failed != "" || s.touched.Load() || !bytes.Equal(content, s.content), Settings: []api.Setting{}}
	hints := map[string]config.Hint{}
	for _, h := range config.Hints(slices.Sorted(maps.Keys(cfg.Providers)), slices.Sorted(maps.Keys(cfg.MCP.Servers))) {
		hints[h.Name] = h
	}
	for _, line := range lines {
		all.Settings = append(all.Settings, shownSetting(line, hints[line.Path], path))
	}
	all.Keys, err = KeysOf(cfg)
	if err != nil {
		all.KeyProblem = s.redact(err.Error())
	}
	return all, nil
}

// shownSetting is a setting as the page shows it.
func shownSetting(line config.Line, h config.Hint, file string) api.Setting {
	one := api.Setting{Name: line.Path, SettingValue: shownValue(line.Value), Part: h.Page, Form: "line",
		Choices: h.Choices, From: "default"}
	switch {
	case strings.HasPrefix(line.From, file+":"):
		one.From = "file"
	case line.From != "default":
		one.From, one.By = "environment", line.From
	}
	switch {
	case len(h.Choices) > 0 && !h.List:
		one.Form = "choice"
	case h.Names:
		one.Form = "names"
	case h.List:
		one.Form = "list"
	case h.Long:
		one.Form = "text"
	case h.Model:
		one.Form = "model"
	}
	return one
}

// shownValue is a value as the page shows it.
func shownValue(value any) (v api.SettingValue) {
	switch of := reflect.ValueOf(value); of.Kind() {
	case reflect.Invalid:
	case reflect.Slice:
		for i := range of.Len() {
			v.List = append(v.List, fmt.Sprint(of.Index(i)))
		}
	case reflect.Map:
		v.Names = map[string]string{}
		for _, name := range of.MapKeys() {
			v.Names[fmt.Sprint(name)] = fmt.Sprint(of.MapIndex(name))
		}
	default:
		v.Text = fmt.Sprint(value)
	}
	return v
}

// set sets a setting. What the page may not set is set on a terminal.
func (s *setup) set(ctx context.Context, name string, words []string, anyway bool) (string, error) {
	if err := s.mayChange(name); err != nil {
		return "", err
	}
	before, err := config.Load(s.options)
	if err != nil {
		return "", s.refused(err)
	}
	done, _, err := s.guarded(before).Set(ctx, name, words, anyway)
	return done.Overridden, s.refused(err)
}

func (s *setup) unset(name string) error {
	if err := s.mayChange(name); err != nil {
		return err
	}
	before, err := config.Load(s.options)
	if err != nil {
		return s.refused(err)
	}
	return s.refused(s.guarded(before).Unset(name))
}

func (s *setup) guarded(before config.Config) Settings {
	return Settings{Options: s.options, Guard: func(after config.Config) error { return s.guards(before, after) }}
}

// mayChange refuses a setting that is set on a terminal alone. A provider may be taken out as a whole.
func (s *setup) mayChange(name string) error {
	provider, is := strings.CutPrefix(name, "providers.")
	if provider, _, _ = strings.Cut(provider, "."); !is {
		provider = "none"
	}
	if is && name == "providers."+provider {
		return nil
	}
	all := config.Hints([]string{provider}, nil)
	at := slices.IndexFunc(all, func(h config.Hint) bool { return h.Name == name })
	switch {
	case at < 0:
		return &api.SettingError{Kind: api.SettingRefused, Text: "there is no setting of this name"}
	case all[at].Page == "":
		return &api.SettingError{Kind: api.SettingOfTerminal,
			Text: "this is set on a terminal, with ‘sibyl config set NAME VALUE’"}
	}
	return nil
}

// guards refuses what would let whoever operates the page read more than they may: a key that exists would be sent to
// another address, or a folder that questions may name has what Sibyl keeps of others.
func (s *setup) guards(before, after config.Config) error {
	for name, p := range after.Providers {
		from, _ := after.KeyOrigin(name)
		was := before.Providers[name]
		// one that can't be read now may be read later
		hasKey := from != "" || after.StoredProblem != nil || p.KeyEnv != "" && was.KeyEnv != "" || len(p.KeyCommand) > 0 ||
			len(p.EnvHeaders) > 0
		if hasKey && p.BaseURL != was.BaseURL {
			return fmt.Errorf("the key of %s would be sent to another address: delete the key first, and set it again "+
				"after that; one that is in no key store is changed on a terminal", name)
		}
	}
	if len(after.Ollama.EnvHeaders) > 0 && after.Ollama.Host != before.Ollama.Host {
		return errors.New("the headers for Ollama hold a secret, which would be sent to another address: change it on " +
			"a terminal")
	}
	foldersOf := func(cfg config.Config) []string {
		return slices.AppendSeq([]string{"", cfg.Vault}, maps.Values(cfg.Server.Folders))
	}
	own := []string{s.data, after.DataDir, after.Presets, after.Keys.Identity, after.Keys.File}
	for _, folder := range foldersOf(after) {
		if slices.Contains(foldersOf(before), folder) { // whoever named it could do so
			continue
		}
		for n, kept := range own {
			switch {
			case kept == "":
			case n < 2 && isWithin(kept, folder):
				return fmt.Errorf("%s lies in the data folder, which has what Sibyl keeps of all users: name another", folder)
			case isWithin(folder, kept):
				return fmt.Errorf("%s has what Sibyl keeps of all users, or its keys: name a folder in it, or another",
					folder)
			}
		}
	}
	return nil
}

// isWithin reports whether a path is a folder or lies in it, by where they really are.
func isWithin(folder, path string) bool {
	rel, err := filepath.Rel(realPath(folder), realPath(path))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// realPath is where a path really is, also one of which only the folders above are there.
func realPath(path string) string {
	if found, err := filepath.EvalSymlinks(path); err == nil {
		return found
	}
	above := filepath.Dir(path)
	if above == path {
		return path
	}
	return filepath.Join(realPath(above), filepath.Base(path))
}

// setKey stores a key. Without anyway, one that looks like another's is refused.
func (s *setup) setKey(ctx context.Context, name, text string, anyway bool) error {
	cfg, err := config.Load(s.options)
	if err != nil {
		return s.refused(err)
	}
	if err := config.CheckName(name, cfg.KeyNames()); err != nil {
		return s.refused(err)
	}
	key, err := config.TypedKey(text)
	if err != nil {
		return s.refused(err)
	}
	if other := config.OwnerOfKey(key); other != "" && other != name && !anyway {
		return s.refused(&UnfitError{fmt.Errorf("it looks like a key of %s, and would be sent to %s", other, name)})
	}
	if _, err = keys.New(cfg.Keys).Set(ctx, name, key); err == nil {
		s.touched.Store(true)
	}
	return s.refused(err)
}

func (s *setup) deleteKey(ctx context.Context, name string) error {
	cfg, err := config.Load(s.options)
	if err == nil {
		err = keys.New(cfg.Keys).Delete(ctx, name)
	}
	if err == nil {
		s.touched.Store(true)
	}
	return s.refused(err)
}

// models lists the models that the settings of the file would give.
func (s *setup) models(ctx context.Context) (service.Models, error) {
	cfg, err := config.Load(s.options)
	if err != nil {
		return service.Models{}, s.refused(err)
	}
	a, err := Prepare(cfg)
	if err != nil {
		return service.Models{}, s.refused(err)
	}
	defer a.closePrepared()
	all, _ := a.Offered.List(ctx) // without a default, one has to be named
	return all, nil
}

// refused is an error as the page is told it.
func (s *setup) refused(err error) error {
	if err == nil {
		return nil
	}
	told := &api.SettingError{Kind: api.SettingRefused, Text: s.redact(err.Error())}
	if _, unfit := errors.AsType[*UnfitError](err); unfit {
		told.Kind = api.SettingUnfit
	}
	return told
}
