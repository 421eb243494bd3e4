package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"sibyl/internal/redact"
)

// value is what somebody wrote for a setting.
type value struct {
	raw    any    // as YAML has it; always a string from the environment
	base   string // the folder that relative paths start from
	places places
	public bool // it stands in the file, where no secret belongs
}

// line takes one line of text.
func (v value) line(into *string) error {
	text, ok := v.raw.(string)
	if !ok {
		return fmt.Errorf("must be a text; put %v in quotes if it is one", v.raw)
	}
	text = strings.TrimSpace(text)
	if text == "" || strings.ContainsAny(text, "\n\r\x00") {
		return errors.New("must be one line of text")
	}
	*into = text
	return nil
}

func (v value) path(into *string) error {
	var path string
	if err := v.line(&path); err != nil {
		return err
	}
	path, err := v.places.absolute(path, v.base)
	*into = path
	return err
}

func (v value) model(into *string) error {
	if err := v.line(into); err != nil {
		return err
	}
	provider, name, named := strings.Cut(*into, ":")
	if !isProviderName(provider) || named && name == "" || strings.ContainsAny(*into, " \t") {
		return fmt.Errorf("is %s; it must be provider:model, such as ollama:llama3.1:8b, or a provider alone", quote(*into))
	}
	return nil
}

// models takes a list of models. None may be left to choice, since a list is an order.
func (v value) models(into *[]string) error {
	list, ok := v.raw.([]any)
	if !ok {
		return errors.New("must be a list of provider:model")
	}
	for i, item := range list {
		one := value{raw: item}
		var id string
		if err := one.model(&id); err != nil {
			return fmt.Errorf("entry %d %w", i+1, err)
		}
		if provider, name, _ := strings.Cut(id, ":"); name == "" {
			return fmt.Errorf("entry %d is %s, a provider alone; write %s:MODEL", i+1, quote(id), provider)
		}
		*into = append(*into, id)
	}
	return nil
}

// whole returns a whole number; false for anything else.
func (v value) whole() (int, bool) {
	if text, isText := v.raw.(string); isText {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		return n, err == nil
	}
	n, ok := v.raw.(int)
	return n, ok
}

func (v value) quoted() string { return quote(fmt.Sprint(v.raw)) }

func number(low, high int) func(value, *int) error {
	return func(v value, into *int) error {
		n, ok := v.whole()
		if !ok || n < low || n > high {
			return fmt.Errorf("is %s; it must be a whole number from %d to %d", v.quoted(), low, high)
		}
		*into = n
		return nil
	}
}

// numberOrNone is number with 0 for no bound.
func numberOrNone(low, high int) func(value, *int) error {
	return func(v value, into *int) error {
		if n, ok := v.whole(); ok && n == 0 {
			*into = 0
			return nil
		}
		if err := number(low, high)(v, into); err != nil {
			return fmt.Errorf("%w, or 0 for no bound", err)
		}
		return nil
	}
}

func duration(low, high time.Duration) func(value, *time.Duration) error {
	return func(v value, into *time.Duration) error {
		d, err := time.ParseDuration(strings.TrimSpace(fmt.Sprint(v.raw)))
		if err != nil || d < low || d > high {
			return fmt.Errorf("is %s; it must be a time with its unit from %s to %s, such as 90s", v.quoted(), low, high)
		}
		*into = d
		return nil
	}
}

func oneOf[T ~string](choices ...T) func(value, *T) error {
	return func(v value, into *T) error {
		var names []string
		for _, c := range choices {
			if v.raw == string(c) {
				*into = c
				return nil
			}
			names = append(names, string(c))
		}
		last := len(names) - 1
		return fmt.Errorf("is %s; it must be %s or %s", v.quoted(), strings.Join(names[:last], ", "), names[last])
	}
}

const (
	day          = 24 * time.Hour
	maxRetention = 36_500 * day
)

// retention takes days as 90d, a time in hours, or never, which it keeps as 0.
func (v value) retention(into *time.Duration) error {
	text := strings.TrimSpace(fmt.Sprint(v.raw))
	if text == "never" {
		*into = 0
		return nil
	}
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n int
		n, err = strconv.Atoi(days)
		d = min(time.Duration(n), maxRetention/day+1) * day
	}
	if err != nil || d < day || d > maxRetention {
		return fmt.Errorf("is %s; it must be days from 1d to %s, such as 90d, or never", v.quoted(), inDays(maxRetention))
	}
	*into = d
	return nil
}

// inDays writes a time as retention takes it.
func inDays(d time.Duration) string {
	switch {
	case d == 0:
		return "never"
	case d%day == 0:
		return fmt.Sprintf("%dd", d/day)
	}
	return d.String()
}

func (v value) yesNo(into *bool) error {
	yes, ok := v.raw.(bool)
	if !ok {
		return fmt.Errorf("is %s; it must be true or false", v.quoted())
	}
	*into = yes
	return nil
}

// variable takes the name of an environment variable. Its errors do not repeat it: it may be the key itself, put in
// the wrong place.
func (v value) variable(into *string) error {
	if err := v.line(into); err != nil {
		return errors.New("must be the name of an environment variable")
	}
	if strings.Trim(*into, letters+strings.ToUpper(letters)+digits+"_") != "" || strings.Contains(digits, (*into)[:1]) || redact.New().String(*into) != *into {
		return errors.New("must be the name of an environment variable, such as OPENAI_API_KEY, and not a key itself")
	}
	return nil
}

// command takes a program and its arguments. Its errors do not repeat them.
func (v value) command(into *[]string) error {
	const form = "must be a list of a program and its arguments, such as " + commandExample
	list, ok := v.raw.([]any)
	if !ok || len(list) == 0 {
		return errors.New(form)
	}
	for _, item := range list {
		word, ok := item.(string)
		if !ok || strings.ContainsRune(word, 0) {
			return errors.New(form + ", each of them a text")
		}
		*into = append(*into, word)
	}
	if (*into)[0] == "" {
		return errors.New(form)
	}
	return nil
}

// quote shows a wrong value, shortened, and not if it looks like a key.
func quote(text string) string { return fmt.Sprintf("%.60q", redact.New().String(text)) }

const (
	letters = "abcdefghijklmnopqrstuvwxyz"
	digits  = "0123456789"
)

func isProviderName(name string) bool {
	return name != "" && len(name) <= 40 && strings.Contains(letters, name[:1]) && strings.Trim(name, letters+digits+"_-") == ""
}
