package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"sibyl/internal/files"
	"sibyl/internal/redact"
)

// Change is the effect of Set or Unset.
type Change struct {
	File       string
	Line       int     // where the setting stands; 0 for one that was taken out
	Overridden string  // the variable that is set and wins; "" for none
	Left       []error // what was wrong with the file before, and still is
}

// Set writes one setting into the file, creating it if needed. A list takes several words, or one of the form [a, b];
// names and values take one word of the form {a: b}. Comments and order remain. The result is checked before writing:
// an error leaves the file unchanged and repeats no secret, also one of works, which gets the settings that would hold
// if no variable overrode this one.
func Set(opts Options, name string, words []string, works func(Config) error) (Change, error) {
	value, err := valueOf(name, words)
	if err != nil {
		return Change{}, err
	}
	return change(opts, []string{name}, works, value)
}

// CheckThere returns an error if the setting of a name is the path of a folder or file that has to be there, and is
// not.
func (c Config) CheckThere(name string) error {
	pattern, _ := patternOf(name)
	kind := knownNames()[pattern].tag.Get("there")
	path := c.Text(name)
	if kind == "" || path == "" {
		return nil
	}
	switch info, err := os.Stat(path); {
	case err != nil:
		return fmt.Errorf("%s: %w", path, files.Cause(err))
	case (kind == "folder") != info.IsDir():
		return fmt.Errorf("%s is not a %s", path, kind)
	}
	return nil
}

// Text is a setting that takes one text, with that text.
type Text struct{ Name, Value string }

// SetTexts sets several settings of one text each: all of them or none. The Change is that of the first.
func SetTexts(opts Options, all []Text) (Change, error) {
	if len(all) == 0 {
		return Change{}, errors.New("no setting is named")
	}
	var names []string
	var values []*yaml.Node
	for _, one := range all {
		value, err := valueOf(one.Name, []string{one.Value})
		if err != nil {
			return Change{}, err
		}
		names = append(names, one.Name)
		values = append(values, value)
	}
	return change(opts, names, nil, values...)
}

// Unset removes a setting or section from the file, with emptied sections, unless works, which may be nil, has an error
// for what would result. Comments above it remain. Unsetting what the file does not name is an error.
func Unset(opts Options, name string, works func(Config) error) (Change, error) {
	return change(opts, []string{name}, works, nil)
}

// valueOf returns a setting's value as YAML for the file.
func valueOf(name string, words []string) (*yaml.Node, error) {
	set, err := settable(name)
	if err != nil {
		return nil, err
	}
	for _, word := range words {
		if redact.New().String(word) != word {
			return nil, fmt.Errorf("the value for %s looks like a key, which does not belong in the settings: "+
				"store it with ‘sibyl config set-key NAME’; it may now be in your shell history", name)
		}
	}
	return settingNode(name, set, words)
}

// settable returns the setting of a name.
func settable(name string) (setting, error) {
	known := knownNames()
	pattern, _ := patternOf(name)
	set, ok := known[pattern]
	switch {
	case ok:
		return set, nil
	case known.isSection(pattern):
		all := sortedNames(known)
		first := slices.IndexFunc(all, func(one string) bool { return strings.HasPrefix(one, pattern+".") })
		inside := strings.Replace(strings.TrimPrefix(all[first], pattern+"."), "*", "NAME", 1)
		return set, fmt.Errorf("%s is a section: set something in it, such as %s.%s", name, name, inside)
	}
	return set, errors.New(redact.New().String(known.unknownSetting(name)))
}

// settingNode converts the words for a setting to YAML.
func settingNode(name string, set setting, words []string) (*yaml.Node, error) {
	form, _ := set.form()
	like := set.tag.Get("like")
	var whole yaml.Node
	if form != yaml.ScalarNode && len(words) == 1 && yaml.Unmarshal([]byte(words[0]), &whole) == nil &&
		len(whole.Content) == 1 && whole.Content[0].Kind == form {
		return whole.Content[0], nil
	}
	switch {
	case form == yaml.MappingNode:
		return nil, fmt.Errorf("%s takes names and values as one argument, such as '%s'", name, like)
	case form == yaml.ScalarNode && len(words) != 1:
		return nil, fmt.Errorf("%s takes one value: put it in quotes", name)
	case form == yaml.ScalarNode:
		one := textOf(words[0])
		switch set.kind.of.Kind() {
		case reflect.Int, reflect.Float64, reflect.Bool:
			if json.Valid([]byte(words[0])) {
				one.Tag = "" // it is what it looks like
			}
		}
		return one, nil
	case strings.HasPrefix(words[0], "["):
		return nil, fmt.Errorf("%s takes a list, such as '%s'", name, like)
	}
	all := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, word := range words {
		all.Content = append(all.Content, textOf(word))
	}
	return all, nil
}

// change sets the named settings of the file, or removes those with a nil value, and checks the result, also by works
// unless that is nil.
func change(opts Options, names []string, works func(Config) error, values ...*yaml.Node) (Change, error) {
	path, content, err := Content(opts)
	if err != nil {
		return Change{}, err
	}
	before, err := parse(path, content)
	if err != nil && before.path == "" {
		return Change{}, fmt.Errorf("%w; fix it first: nothing was written", err)
	}
	name := names[0]
	text := content
	for i, one := range names {
		if text, err = editSetting(text, one, values[i]); err != nil {
			return Change{}, fmt.Errorf("%s: %w", path, err)
		}
	}
	left, err := rewrite(opts, path, content, text, names, works)
	if err != nil {
		return Change{}, err
	}
	after, err := examine(path, text, opts)
	out := Change{File: path, Line: after.source.lines[name], Left: left}
	if origin := after.source.origins[name]; origin != "" && origin != after.source.line(name) {
		out.Overridden = origin
	}
	return out, err
}

// Content returns the settings file that Load would read, and its content: nil if the file does not exist.
func Content(opts Options) (path string, content []byte, err error) {
	if path, err = Path(opts); err != nil {
		return "", nil, err
	}
	if content, err = contentOf(path); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return path, content, err
}

// Rewrite replaces the content that Content returned, if the new text is valid. An error leaves the file unchanged,
// names the wrong lines of the text, and repeats no secret. It returns the earlier problems that remain.
func Rewrite(opts Options, content, text []byte) (left []error, err error) {
	path, err := Path(opts)
	if err != nil {
		return nil, err
	}
	if len(text) > maxFileBytes {
		return nil, fmt.Errorf("it would be larger than %d KB; nothing was written", maxFileBytes>>10)
	}
	return rewrite(opts, path, content, text, nil, nil)
}

// rewrite replaces a content with a text that has no new problems, none with the named settings, and none that works
// finds.
func rewrite(
	opts Options, path string, content, text []byte, names []string, works func(Config) error,
) (left []error, err error) {
	before, _ := examine(path, content, opts) // one that can't be read has nothing that may stay wrong
	after, err := examine(path, text, opts)
	if err == nil {
		left, err = newProblems(before.problems, after.problems, names)
	}
	if err == nil && works != nil {
		err = works(after.withoutVariables(names, opts))
	}
	if err != nil {
		return nil, fmt.Errorf("%w; nothing was written", err)
	}
	if now, err := contentOf(path); !bytes.Equal(now, content) && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s was changed by another program at the same time: try again", path)
	}
	mode := fs.FileMode(0o600)
	if _, err := os.Stat(path); err == nil {
		mode = 0 // that of the file
	}
	if err := files.Replace(path, text, mode); err != nil {
		return nil, fmt.Errorf("the settings can't be written: %w", err)
	}
	return left, nil
}

// examined holds what a file and the variables say, and all problems of the file, alone and with the variables.
type examined struct {
	cfg      Config
	source   source
	problems []*Problem
}

// examine parses and checks a file. It returns an error if the file can't be read.
func examine(path string, content []byte, opts Options) (e examined, err error) {
	file, err := parse(path, content)
	if err != nil && file.path != path {
		return e, err
	}
	where := opts.places()
	bare := source{configFile: file, places: places{variables: map[string]string{}, home: where.home},
		origins: map[string]string{}}
	aside := defaults()
	alone := bare.apply(&aside)
	var together error
	e.cfg, e.source, together = combine(file, where, opts.Stored)
	for _, p := range problemsOf(errors.Join(err, alone, together)) {
		if !slices.ContainsFunc(e.problems, func(q *Problem) bool { return p.text == q.text }) {
			e.problems = append(e.problems, p)
		}
	}
	return e, nil
}

// withoutVariables gives what would hold if no variable overrode the named settings.
func (e examined) withoutVariables(names []string, opts Options) Config {
	where, cfg, src := opts.places(), e.cfg, e.source
	isOverridden := func(name string) bool {
		_, is := where.variables[src.origins[name]]
		return is
	}
	for slices.ContainsFunc(names, isOverridden) {
		for _, name := range names {
			delete(where.variables, src.origins[name])
		}
		cfg, src, _ = combine(e.source.configFile, where, opts.Stored) // what else is wrong was found before
	}
	return cfg
}

// newProblems returns an error for problems that a change caused or that concern the named settings, and the earlier
// problems that remain.
func newProblems(before, after []*Problem, names []string) (left []error, err error) {
	var made []error
	for _, p := range after {
		was := slices.ContainsFunc(before, func(q *Problem) bool {
			return q.Setting == p.Setting && q.Says() == p.Says()
		})
		switch {
		case was && !slices.Contains(names, p.Setting):
			left = append(left, p)
		case names == nil: // the person knows the lines
			made = append(made, p)
		default:
			made = append(made, errors.New(p.Says()))
		}
	}
	return left, errors.Join(made...)
}
