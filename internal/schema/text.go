package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Flag is how the field is called on a command line, with a letter for short; "" for what has no flag.
func (f *Field) Flag() (name, short string) {
	name = strings.ReplaceAll(f.Name, "_", "-")
	if tag, ok := f.Tag.Lookup("flag"); ok {
		called, letter, _ := strings.Cut(tag, ",")
		if called == "-" {
			return "", ""
		}
		if called != "" {
			name = called
		}
		short = letter
	}
	return name, short
}

// Kind is the kind of value that a flag takes: bool, choice (a bool that may be left out), list, number, duration, or
// text.
func (f *Field) Kind() string {
	switch {
	case f.of == reflect.TypeFor[time.Duration]():
		return "duration"
	case f.of.Kind() == reflect.Pointer:
		return "choice"
	case f.of.Kind() == reflect.Slice:
		return "list"
	case f.schema.Type == "boolean":
		return "bool"
	case f.schema.Type == "string":
		return "text"
	}
	return "number"
}

// Choices lists the words that a text can be; empty if it can be any.
func (f *Field) Choices() (all []string) {
	for _, one := range f.schema.Enum {
		all = append(all, fmt.Sprint(one))
	}
	return all
}

// SetText sets the field in the struct that into points to from the text of a flag or setting; to a list it adds an
// entry. Times are rounded up to seconds. Its error names no field.
func (f *Field) SetText(into any, text string) error {
	raw := json.RawMessage(text)
	zero := strings.Trim(text, "0smh") == ""
	switch f.Kind() {
	case "text":
		raw, _ = json.Marshal(text)
	case "list":
		all := reflect.ValueOf(f.Value(into)).Elem().Interface().([]string) //nolint:forcetypeassert // flags are texts
		raw, _ = json.Marshal(append(all, text))
	case "duration":
		d, err := time.ParseDuration(text)
		if err != nil {
			raw = nil
			break
		}
		raw = json.RawMessage(strconv.Itoa(int((d + time.Second - 1) / time.Second)))
	}
	if _, none := f.Tag.Lookup("none"); none && zero {
		reflect.ValueOf(f.Value(into)).Elem().SetZero()
		return nil
	}
	if f.setJSON(into, raw) != nil {
		return fmt.Errorf("%s", f.requirement())
	}
	return nil
}

// requirement says what a flag has to be.
func (f *Field) requirement() string {
	must := f.Must()
	if f.Kind() == "duration" {
		must = fmt.Sprintf("must be a time from %s to %s", formatSeconds(*f.schema.Minimum), formatSeconds(*f.schema.Maximum))
	}
	if none, ok := f.Tag.Lookup("none"); ok {
		must += ", or 0: " + none
	}
	return must
}

// formatSeconds writes a time without the zeroes behind its last unit that counts: 1h, not 1h0m0s.
func formatSeconds(n float64) string {
	s := (time.Duration(n) * time.Second).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	return strings.Replace(s, "h0m", "h", 1)
}

// FillFromSettings sets the fields that were not given to the values of their settings, where a folder is a path.
func (o *Object) FillFromSettings(into any, setting func(path string) string, said func(*Field) bool) error {
	for _, f := range o.Fields {
		path := f.Tag.Get("setting")
		if path == "" || said(f) {
			continue
		}
		text := setting(path)
		if text == "" {
			continue
		}
		if folder, ok := f.Value(into).(*Folder); ok {
			if *folder = (Folder{Path: text}); f.Tag.Get("names") == "witness" && strings.Contains(text, ":") {
				*folder = Folder{Name: text}
			}
			continue
		}
		if err := f.SetText(into, text); err != nil {
			return fmt.Errorf("the setting %s %w", path, err)
		}
	}
	return nil
}
