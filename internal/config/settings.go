package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// The fields of Config say by tags what can be set:
//
//	name     its name in the file; of a struct or a map of structs, that of a section
//	env      the environment variable that comes before the file; of a provider what follows the name of a
//	         vendor: OPENAI_MODEL
//	as       the kind of value, one of kinds; left out: what its type says
//	min, max bounds of a number or a time, inclusive
//	none     what 0 means, which may be set besides what the bounds allow
//	match    the form of a text, as a regular expression, and must: that in words
//	enum     all that it may be, with commas between
//	default  what it is where nobody sets it, as the file would have it
//	there    “folder” or “file”: what a path has to name already when it is set
//	login    where the user and password of an address belong
//	like     an example of the list, or of the names and values, that it takes; left out: it takes one value

// setting describes one setting.
type setting struct {
	path  string // in the file, sections and name with dots between, below those of its section
	index []int  // of its field in the struct of its section
	tag   reflect.StructTag
	kind  kind
}

// section holds the settings of the Config, or of each struct in one of its maps: a Provider, or an MCPServer.
type section struct {
	prefix   string // before the names in the map, such as "providers."; "" for the Config
	index    []int  // of the map in the Config
	of       reflect.Type
	settings []setting
}

// sections lists all settings: first those of the Config itself, then those under names.
var sections = sync.OnceValue(func() []section {
	all := []section{{of: reflect.TypeFor[Config]()}}
	for i := 0; i < len(all); i++ {
		all = append(all, all[i].collect(all[i].of, "", nil)...)
	}
	return all
})

// collect adds the settings of a struct and of nested ones, and returns the maps of structs.
func (s *section) collect(of reflect.Type, prefix string, index []int) (maps []section) {
	for i := range of.NumField() {
		field := of.Field(i)
		name, named := field.Tag.Lookup("name")
		path, at, as := prefix+name, slices.Concat(index, []int{i}), field.Tag.Get("as")
		kind := field.Type.Kind()
		switch {
		case as == "" && kind == reflect.Struct && !named:
			maps = append(maps, s.collect(field.Type, prefix, at)...)
		case as == "" && kind == reflect.Struct:
			maps = append(maps, s.collect(field.Type, path+".", at)...)
		case as == "" && named && kind == reflect.Map:
			maps = append(maps, section{prefix: path + ".", index: at, of: field.Type.Elem()})
		case named:
			s.settings = append(s.settings, setting{path: path, index: at, tag: field.Tag, kind: kindOf(field)})
		}
	}
	return maps
}

// pattern returns the path of a setting with a star for the name of a provider or server.
func (s section) pattern(one setting) string {
	if s.index == nil {
		return one.path
	}
	return s.prefix + "*." + one.path
}

// choices returns the possible values of a setting, if they are a few words.
func (s setting) choices() []string {
	switch enum := s.tag.Get("enum"); {
	case enum != "":
		return strings.Split(enum, ",")
	case s.tag.Get("as") == "switch":
		return []string{"on", "off"}
	case s.kind.of.Kind() == reflect.Bool:
		return []string{"true", "false"}
	}
	return nil
}

// defaults returns the settings before anybody has set anything.
func defaults() Config {
	var c Config
	into := reflect.ValueOf(&c).Elem()
	for _, s := range sections() {
		if s.index != nil {
			names := into.FieldByIndex(s.index)
			names.Set(reflect.MakeMap(names.Type()))
			continue
		}
		for _, one := range s.settings {
			text, has := one.tag.Lookup("default")
			if !has {
				continue
			}
			if err := one.read(value{Node: textOf(text)}, into); err != nil {
				panic(fmt.Sprintf("the default of %s %v", one.path, err)) // a test reads each
			}
		}
	}
	return c
}

// read stores a value in the field of a struct.
func (s setting) read(v value, into reflect.Value) error {
	v.tag = s.tag
	field := into.FieldByIndex(s.index)
	got, err := s.kind.valueFor(v, field.Type())
	if err != nil {
		return err
	}
	field.Set(reflect.ValueOf(got).Convert(field.Type()))
	return nil
}

// source combines the file and the environment.
type source struct {
	configFile
	places  places
	origins map[string]string // where each setting that somebody wrote stands: file:line, or the variable
}

// apply stores the set values in c, and skips wrong ones.
func (s source) apply(c *Config) error {
	var problems []error
	whole := reflect.ValueOf(c).Elem()
	for _, section := range sections() {
		if section.index == nil {
			problems = append(problems, s.fill(whole, section, "", func(env string) string { return env })...)
			continue
		}
		for _, name := range s.names(section) {
			one := reflect.New(section.of).Elem()
			variable := func(env string) string { return vendorOf(name).variable(env) }
			problems = append(problems, s.fill(one, section, section.prefix+name+".", variable)...)
			whole.FieldByIndex(section.index).SetMapIndex(reflect.ValueOf(name), one)
		}
	}
	return errors.Join(problems...)
}

// names returns, sorted, the names in a section of the file and the vendors that have a variable set.
func (s source) names(of section) (names []string) {
	for path := range s.lines {
		if name, ok := strings.CutPrefix(path, of.prefix); ok && !strings.Contains(name, ".") {
			names = append(names, name)
		}
	}
	for _, v := range vendors() {
		if slices.ContainsFunc(of.settings, func(one setting) bool {
			return s.places.get(v.variable(one.tag.Get("env"))) != ""
		}) {
			names = append(names, v.name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// fill stores the settings below a prefix in a struct.
func (s source) fill(
	into reflect.Value, of section, prefix string, variable func(env string) string,
) (problems []error) {
	for _, one := range of.settings {
		path, env := prefix+one.path, variable(one.tag.Get("env"))
		v := value{Node: s.values[path], places: s.places, base: filepath.Dir(s.path), public: true}
		where, origin := s.at(path), s.line(path)
		if text := s.places.get(env); text != "" {
			v = value{Node: textOf(text), places: s.places}
			where, origin = env, env
		}
		if v.Node == nil {
			continue
		}
		if err := one.read(v, into); err != nil {
			problems = append(problems, &Problem{Setting: path, Where: origin, text: where + " " + err.Error()})
			continue
		}
		s.origins[path] = origin
	}
	return problems
}

// at names a setting or section with its line, for errors.
func (f configFile) at(path string) string { return f.line(path) + ": " + path }

func (f configFile) line(path string) string { return fmt.Sprintf("%s:%d", f.path, f.lines[path]) }

// Hint describes the possible input for a setting.
type Hint struct {
	Name    string   // sections and name with dots between
	Choices []string // all that it may be, where that is a few words
	Model   bool     // it takes provider:model
	Path    bool     // it takes a file or folder
	List    bool     // it takes several values
	Names   bool     // it takes names with values
	Long    bool     // it takes a text of several lines
	Page    string   // the part of the page that sets it; "": it is set on a terminal alone
}

// Hints lists the hints for all settings, with those of providers and MCP servers for each given name.
func Hints(providers, servers []string) (all []Hint) {
	names := map[string][]string{"": {""}, "providers.": providers, mcpSection: servers}
	for _, section := range sections() {
		for _, name := range names[section.prefix] {
			for _, one := range section.settings {
				path := strings.Replace(section.pattern(one), "*", name, 1)
				as := one.tag.Get("as")
				form, _ := one.form()
				all = append(all, Hint{Name: path, Choices: one.choices(), Model: strings.HasSuffix(as, "model"),
					Path: as == "path", List: form == yaml.SequenceNode, Names: form == yaml.MappingNode,
					Long: as == "text", Page: pageOf(section.pattern(one))})
			}
		}
	}
	return all
}

// pageOf returns the part of the page that sets a setting of a pattern; "" if none does. What names a program to run,
// where a secret comes from or who may reach the server is set on a terminal alone.
func pageOf(pattern string) string {
	for part, patterns := range map[string][]string{
		"models": {"model", "providers.*.base_url", "providers.*.kind", "providers.*.model", "providers.*.window",
			"ollama.host", "ollama.context", fallbackModels, "fallback.local_to_cloud", inquiryWitness,
			"models.remember"},
		"folders": {"vault", "server.folders"},
		"answers": {"instructions", "max_turns", "max_tokens", "max_time", "models.limit"},
		"web":     {webSwitch, "web.engine", "web.searxng", "web.allow", "web.deny"},
		"voice":   {transcriptionModel, "transcription.server", "transcription.language"},
	} {
		if slices.Contains(patterns, pattern) {
			return part
		}
	}
	return ""
}
