package preset_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/preset"
	"sibyl/internal/schema"
	"sibyl/internal/text/front"
)

type options struct {
	Model  string        `json:"model,omitempty" flag:",m" names:"model" setting:"model"`
	Turns  int           `json:"max_turns,omitempty" min:"1" max:"9"`
	Web    *bool         `json:"web,omitempty" no:"no"`
	Folder schema.Folder `json:"code,omitempty" flag:"in" names:"folder"`
	Preset schema.Preset `json:"preset,omitempty" flag:",p" names:"preset"`
	Set    []string      `json:"set,omitempty" names:"variables"`
}

// applied gives the options with the preset of a file, where the flags of given were given.
func applied(t *testing.T, file string, o options, given ...string) (options, error) {
	t.Helper()
	of := schema.Of[options]()
	err := preset.Apply(of, &o, func(name string) (preset.Preset, error) {
		entries, prompt, err := front.Split(file)
		return preset.New(name, "/p/review.md", "{{CONTEXT}}", entries, prompt), err
	}, func(f *schema.Field) bool {
		name, _ := f.Flag()
		return strings.Contains(" "+strings.Join(given, " ")+" ", " "+name+" ")
	}, func(*schema.Field) {})
	return o, err
}

func TestPresetGivesWhatThePersonDidNot(t *testing.T) {
	const file = "---\nabout: Reviews\nmodel: a:b\nmax-turns: 3\nweb: false\nin: src\nvariables:\n  tone: calm\n  focus:\n---\n" +
		"Review in a {{tone}} way: {{ focus }}. {{CONTEXT}}\n"
	o, err := applied(t, file, options{Turns: 7, Preset: schema.Preset{Name: "review"},
		Set: []string{"focus={{tone}} = x"}}, "max-turns")
	assert.Require(t, err == nil, "%v", err)
	assert.That(t, o.Model == "a:b" && o.Turns == 7 && o.Web != nil && !*o.Web && o.Folder.Name == "src", "%+v", o)
	assert.Equalf(t, o.Preset.Prompt, "Review in a calm way: {{tone}} = x. (the question)", "the prompt")
}

func TestPresetFromElsewhereTakesSourcesAwayAndSetsNothingElse(t *testing.T) {
	apply := func(lines string, given ...string) (o options, err error) {
		o.Preset.Name = "./p.md"
		of := schema.Of[options]()
		entries, prompt, err := front.Split("---\n" + lines + "\n---\nLook.")
		assert.Nil(t, err)
		err = preset.Apply(of, &o, func(name string) (preset.Preset, error) {
			p := preset.New(name, "/c/p.md", "", entries, prompt)
			p.Foreign = true
			return p, nil
		}, func(f *schema.Field) bool { name, _ := f.Flag(); return slices.Contains(given, name) }, func(*schema.Field) {})
		return o, err
	}
	o, err := apply("web: false")
	assert.That(t, err == nil && o.Web != nil && !*o.Web && o.Preset.Foreign, "%+v, %v", o, err)
	o, err = apply("model: a:b\nmax-turns: 9", "model", "max-turns")
	assert.That(t, err == nil && o.Model == "" && o.Turns == 0, "what the person gives is replaced: %+v, %v", o, err)
	for _, line := range []string{"model: a:b", "in: src", "web: true", "max-turns: 1"} {
		name, _, _ := strings.Cut(line, ":")
		_, err := apply(line)
		assert.That(t, err != nil && strings.Contains(err.Error(), "it may not set "+name+": give --"+name+" yourself"),
			"%s: %v", line, err)
	}
}

func TestWrongPresetsSayWhatWouldBeRight(t *testing.T) {
	named := options{Preset: schema.Preset{Name: "review"}}
	for _, c := range []struct {
		file string
		set  []string
		want string
	}{
		{"Look at {{focus}} and {{tone}}.", []string{"tone=x"}, "needs a value for focus: --set focus=…"},
		{"Look.", []string{"tone=x"}, "has no variable “tone”; it has none"},
		{"Look at {{focus}}.", []string{"focus"}, "“focus” sets no variable: write name=value"},
		{"---\nmodell: x\n---\nLook.", nil, "review.md, line 2: there is no option “modell”; known are about, variables, model"},
		{"---\n\nmax-turns: 99\n---\nLook.", nil, "review.md, line 3: max-turns must be a whole number from 1 to 9"},
		{"---\npreset: other\n---\nLook.", nil, "there is no option “preset”"},
		{strings.Repeat("x", preset.MaxPrompt+1), nil, "has 8001 characters; 8000 at most"},
	} {
		o := named
		o.Set = c.set
		_, err := applied(t, c.file, o)
		assert.That(t, err != nil && strings.Contains(err.Error(), c.want), "%.40q: %v, want %q", c.file, err, c.want)
	}
	_, err := applied(t, "Look.", options{Set: []string{"tone=x"}})
	assert.That(t, err != nil && strings.Contains(err.Error(), "no preset is named"), "%v", err)
	none := errors.New("there is none")
	o := named
	err = preset.Apply(schema.Of[options](), &o, func(string) (preset.Preset, error) { return preset.Preset{}, none },
		func(*schema.Field) bool { return false }, func(*schema.Field) {})
	assert.ErrorIs(t, err, none)
}
