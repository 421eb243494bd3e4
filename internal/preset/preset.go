// Package preset reads presets: files of a prompt that say in their front matter which options a question gets.
//
// Guarantees:
//   - An option that the person gives comes before that of the preset, and this before the settings.
//   - A preset from elsewhere may only turn things off: no model, folder or limit is set by it.
//   - No variable reaches a model unfilled: one without a value is an error that names it.
package preset

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"sibyl/internal/schema"
	"sibyl/internal/text/front"
)

// MaxPrompt bounds the prompt of a preset, in characters.
const MaxPrompt = 8000

// Preset is one file.
type Preset struct {
	Name        string // by which it is asked for
	File        string // its path; of one that is built in, its name
	Prompt      string // with its variables
	Placeholder string // a text in the prompt that stands for the question; "": there is none
	Variables   []Variable
	Options     []front.Entry // as flags of the command line are called
	Foreign     bool          // see schema.Preset
}

// Variable is what a prompt has as {{name}}.
type Variable struct {
	Name    string `json:"name"`
	Default string `json:"default,omitempty"`
	Needed  bool   `json:"needed" doc:"It has no default."`
}

// The names in the front matter that are no options: what the preset is for, and its variables with their defaults.
const (
	AboutName     = "about"
	variablesName = "variables"
)

// Names lists the names that the front matter of a preset may have, for the options of an assistant.
func Names(o *schema.Object) []string {
	names := []string{AboutName, variablesName}
	for _, f := range o.Fields {
		isOwn := slices.Contains([]string{"preset", "variables", "instructions"}, f.Tag.Get("names"))
		if name, _ := f.Flag(); name != "" && !isOwn {
			names = append(names, name)
		}
	}
	return names
}

// New makes a preset of the parts of a file.
func New(name, file, placeholder string, entries []front.Entry, prompt string) Preset {
	p := Preset{Name: name, File: file, Placeholder: placeholder, Prompt: strings.TrimSpace(prompt)}
	said := map[string]string{}
	var declared []string
	for _, e := range entries {
		switch e.Name {
		case AboutName:
		case variablesName:
			for _, v := range e.Fields {
				declared = append(declared, v.Name)
				said[v.Name] = v.Text
			}
		default:
			p.Options = append(p.Options, e)
		}
	}
	for _, name := range append(declared, p.used()...) {
		if !slices.ContainsFunc(p.Variables, func(v Variable) bool { return v.Name == name }) {
			p.Variables = append(p.Variables, Variable{Name: name, Default: said[name], Needed: said[name] == ""})
		}
	}
	return p
}

var variable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{\{[ \t]*([\p{L}_][\p{L}\p{N}_.-]{0,40})[ \t]*\}\}`)
})

// used are the names of the variables in the prompt, in their order.
func (p Preset) used() (names []string) {
	for _, m := range variable().FindAllStringSubmatch(p.withoutPlaceholder(""), -1) {
		names = append(names, m[1])
	}
	return names
}

func (p Preset) withoutPlaceholder(instead string) string {
	if p.Placeholder == "" {
		return p.Prompt
	}
	return strings.ReplaceAll(p.Prompt, p.Placeholder, instead)
}

// theQuestion stands in a prompt in place of the placeholder.
const theQuestion = "(the question)"

// fill gives the prompt with its variables. set has name=value for some of them.
func (p Preset) fill(set []string) (string, error) {
	given := map[string]string{}
	for _, one := range set {
		name, value, has := strings.Cut(one, "=")
		if name = strings.TrimSpace(name); !has || name == "" {
			return "", fmt.Errorf("“%s” sets no variable: write name=value", brief(one))
		}
		if !slices.ContainsFunc(p.Variables, func(v Variable) bool { return v.Name == name }) {
			return "", fmt.Errorf("the preset %s has no variable “%s”; %s", p.Name, brief(name), p.variableNames())
		}
		given[name] = value
	}
	var missing []string
	for _, v := range p.Variables {
		if _, is := given[v.Name]; !is {
			given[v.Name] = v.Default
		}
		if strings.TrimSpace(given[v.Name]) == "" && v.Needed {
			missing = append(missing, v.Name)
		}
	}
	if len(missing) > 0 {
		return "", fmt.Errorf("the preset %s needs a value for %s: --set %s=…", p.Name, strings.Join(missing, ", "),
			missing[0])
	}
	prompt := variable().ReplaceAllStringFunc(p.withoutPlaceholder(theQuestion), func(tag string) string {
		return given[variable().FindStringSubmatch(tag)[1]]
	})
	if n := utf8.RuneCountInString(prompt); n > MaxPrompt {
		return "", fmt.Errorf("the prompt of the preset %s has %d characters; %d at most", p.Name, n, MaxPrompt)
	}
	return prompt, nil
}

func (p Preset) variableNames() string {
	var names []string
	for _, v := range p.Variables {
		names = append(names, v.Name)
	}
	if names == nil {
		return "it has none"
	}
	return "it has " + strings.Join(names, ", ")
}

func brief(name string) string { return fmt.Sprintf("%.60s", name) }

// Apply finds the preset that is named in the struct that into points to, and sets the options that the person has not
// given to those of the preset. marked is called for each of these. Without a preset it does nothing, and a value for a
// variable is an error. A foreign preset may only turn things off: another option in it is an error, unless the person
// gave that.
func Apply(o *schema.Object, into any, find func(name string) (Preset, error), given func(*schema.Field) bool,
	marked func(*schema.Field)) error {
	var chosen *schema.Preset
	var set []string
	for _, f := range o.Fields {
		switch v := f.Value(into).(type) {
		case *schema.Preset:
			chosen = v
		case *[]string:
			if f.Tag.Get("names") == "variables" {
				set = *v
			}
		}
	}
	switch {
	case chosen == nil || chosen.File != "":
		return nil
	case chosen.Name == "" && len(set) > 0:
		return fmt.Errorf("“%s” sets a variable of a preset, and no preset is named", brief(set[0]))
	case chosen.Name == "":
		return nil
	}
	p, err := find(chosen.Name)
	if err != nil {
		return err
	}
	known := Names(o)
	var beyond []string
	for _, e := range p.Options {
		if err := Check(e, filepath.Base(p.File), known); err != nil {
			return err
		}
		at := slices.IndexFunc(o.Fields, func(f *schema.Field) bool { name, _ := f.Flag(); return name == e.Name })
		f := o.Fields[at]
		takesAway := f.Kind() == "choice" && e.Text == "false"
		switch {
		case given(f):
			continue
		case p.Foreign && !takesAway:
			beyond = append(beyond, e.Name)
			continue
		}
		if err := f.SetText(into, e.Text); err != nil {
			return fmt.Errorf("%s, line %d: %s %w", filepath.Base(p.File), e.Line, e.Name, err)
		}
		marked(f)
	}
	if beyond != nil {
		return fmt.Errorf("the preset %s is not from your own presets, so it may not set %s: give --%s yourself, or copy "+
			"the file to your presets", chosen.Name, strings.Join(beyond, ", "), strings.Join(beyond, " and --"))
	}
	prompt, err := p.fill(set)
	if err != nil {
		return err
	}
	*chosen = schema.Preset{Name: chosen.Name, File: p.File, Prompt: prompt, Foreign: p.Foreign}
	return nil
}

// Check says that an entry of front matter has a known name, or names the nearest ones.
func Check(e front.Entry, file string, known []string) error {
	if slices.Contains(known, e.Name) {
		return nil
	}
	return fmt.Errorf("%s, line %d: there is no option “%s”; known are %s", file, e.Line, brief(e.Name),
		strings.Join(known, ", "))
}
