package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/config"
	"sibyl/internal/files"
	"sibyl/internal/preset"
	"sibyl/internal/schema"
)

// optionFlagSet holds the options O of an assistant as flags set them; given says which flags did.
type optionFlagSet[O any] struct {
	object  *schema.Object
	options O
	given   map[*schema.Field]bool
}

// optionFlags adds to a command the flags that O declares, or only the named ones.
func optionFlags[O any](cmd *cobra.Command, only ...string) *optionFlagSet[O] {
	s := &optionFlagSet[O]{object: schema.Of[O](), given: map[*schema.Field]bool{}}
	bindFlags(cmd, s.object, &s.options, s.given, only)
	return s
}

// bindFlags adds flags that fill in the struct that into points to, and mark their fields in given.
func bindFlags(cmd *cobra.Command, object *schema.Object, into any, given map[*schema.Field]bool, only []string) {
	for _, f := range object.Fields {
		name, short := f.Flag()
		if name == "" || len(only) > 0 && !slices.Contains(only, name) {
			continue
		}
		usage := f.Doc
		if path := f.Tag.Get("setting"); path != "" {
			usage += " (default: the setting " + path + ")"
		}
		if none := f.Tag.Get("none"); none != "" {
			usage += "; 0: " + none
		}
		value := &optionFlag{field: f, into: into, given: given}
		cmd.Flags().VarP(value, name, short, usage)
		if value.Type() == "bool" {
			cmd.Flags().Lookup(name).NoOptDefVal = "true"
		}
		if f.Kind() == "choice" {
			cmd.Flags().Var(&optionFlag{field: f, into: into, given: given, not: true}, "no-"+name, f.Tag.Get("no"))
			cmd.Flags().Lookup("no-" + name).NoOptDefVal = "true"
			cmd.MarkFlagsMutuallyExclusive(name, "no-"+name)
		}
	}
}

// optionFlag is the value of a flag that sets an option.
type optionFlag struct {
	field *schema.Field
	into  any
	given map[*schema.Field]bool
	not   bool // of a flag --no-NAME, which sets the opposite
}

// String implements pflag.Value. It is empty, as the usage says what the default is.
func (*optionFlag) String() string { return "" }

// Type implements pflag.Value.
func (o *optionFlag) Type() string {
	return map[string]string{"bool": "bool", "choice": "bool", "number": "int", "duration": "duration",
		"list": "strings", "text": "string"}[o.field.Kind()]
}

// kind says for completion what the flag takes: = and the choices, or a kind of names.
func (o *optionFlag) kind() string {
	if all := o.field.Choices(); len(all) > 0 {
		return "=" + strings.Join(all, " ")
	}
	return o.field.Tag.Get("names")
}

// Set implements pflag.Value.
func (o *optionFlag) Set(text string) error {
	if o.not {
		text = map[string]string{"true": "false", "false": "true"}[text]
	}
	o.given[o.field] = true
	return o.field.SetText(o.into, text)
}

// sets says whether a flag sets an option, by its name in JSON.
func (s *optionFlagSet[O]) sets(option string) bool { return isGiven(s.object, s.given, option) }

// isGiven says whether a field of that name in JSON is among those given.
func isGiven(object *schema.Object, given map[*schema.Field]bool, option string) bool {
	return given[fieldNamed(object, option)]
}

// fieldNamed finds a field by its name in JSON; nil: there is none.
func fieldNamed(object *schema.Object, option string) *schema.Field {
	at := slices.IndexFunc(object.Fields, func(f *schema.Field) bool { return f.Name == option })
	if at < 0 {
		return nil
	}
	return object.Fields[at]
}

// withSettings gives the options, with the settings where no flag was given, and absolute paths of folders.
func (s *optionFlagSet[O]) withSettings(cfg config.Config) (O, error) {
	o := s.options
	return o, applySettings(s.object, &o, s.given, cfg)
}

// applySettings fills in *into where no flag was given, from the preset that it names and then from the settings, and
// makes the paths of folders absolute.
func applySettings(object *schema.Object, into any, given map[*schema.Field]bool, cfg config.Config) error {
	err := applyPreset(object, into, given, cfg)
	if err == nil {
		err = object.FillFromSettings(into, cfg.Text, func(f *schema.Field) bool { return given[f] })
	}
	if err == nil {
		err = object.FindFolders(into, localPath)
	}
	for _, f := range object.Fields {
		setting := f.Tag.Get("setting")
		if err != nil || setting == "" || given[f] {
			continue
		}
		if err = cfg.CheckThere(setting); err != nil {
			err = fmt.Errorf("%s: %w", cfg.Where(setting), err)
		}
	}
	return withCode(ExitUsage, err)
}

// applyPreset fills in *into from the preset that it names, where no flag was given. The fields then count as given.
func applyPreset(object *schema.Object, into any, given map[*schema.Field]bool, cfg config.Config) error {
	find := func(name string) (preset.Preset, error) {
		return app.NewPresets(cfg).FindNamed(context.Background(), name)
	}
	return preset.Apply(object, into, find, func(f *schema.Field) bool { return given[f] },
		func(f *schema.Field) { given[f] = true })
}

// localPath gives the absolute path of a folder, which has to exist; a witness may also be a file.
func localPath(f *schema.Field, name string) (string, error) {
	flag, _ := f.Flag()
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", fmt.Errorf("--%s: %w", flag, err)
	}
	info, err := os.Stat(abs)
	switch {
	case err != nil && f.Tag.Get("names") == "witness" && !strings.Contains(name, ":"):
		return "", fmt.Errorf("the witness: there is no file or folder %s; name a model with its provider, such as "+
			"ollama:llama3.1:8b", name)
	case err != nil:
		return "", fmt.Errorf("--%s: %s: %w", flag, name, files.Cause(err))
	case !info.IsDir() && f.Tag.Get("names") == "folder":
		return "", fmt.Errorf("--%s: %s is not a folder", flag, name)
	}
	return abs, nil
}
