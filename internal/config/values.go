package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"sibyl/internal/redact"
)

// value is the text of a setting in the file or the environment.
type value struct {
	*yaml.Node
	base   string // the folder for relative paths
	places places
	public bool // it is in the file, where secrets are refused
	tag    reflect.StructTag
}

// textOf returns a text of the environment as a YAML node.
func textOf(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
}

// kind says how a value is read and shown.
type kind struct {
	of   reflect.Type // the type of read's result
	read func(value) (any, error)
	show func(s source, held any) any // nil: unchanged
}

// reads returns a kind whose values are shown unchanged.
func reads[T any](read func(value) (T, error)) kind {
	return kind{of: reflect.TypeFor[T](), read: func(v value) (any, error) { return read(v) }}
}

// readsAndShows returns a kind whose values are shown by show.
func readsAndShows[T any](read func(value) (T, error), show func(held T) any) kind {
	k := reads(read)
	k.show = func(_ source, held any) any { return show(held.(T)) } //nolint:forcetypeassert // read returned it
	return k
}

// kinds returns the kinds by their names in the tag as. For a list, the tag names the kind of its entries.
func kinds() map[string]kind {
	return map[string]kind{
		"path":        reads(value.path),
		"text":        reads(value.text),
		"model":       reads(value.model),
		"whole model": reads(value.wholeModel),
		"language":    reads(value.language),
		"switch": readsAndShows(value.isOff, func(off bool) any {
			return map[bool]string{true: "off", false: "on"}[off]
		}),
		"retention":  readsAndShows(value.retention, func(d time.Duration) any { return inDays(d) }),
		"keep_alive": readsAndShows(value.keepAlive, showKeepAlive),
		"variable": {of: reflect.TypeFor[string](), read: func(v value) (any, error) {
			return v.variable()
		}, show: source.showVariables},
		"command": readsAndShows(value.command, showProgram),
		"transcriber": readsAndShows(value.transcriber, func(command []string) any {
			return asFileValue(withoutCredentials(command))
		}),
		"database":       readsAndShows(value.database, func(d Database) any { return asFileValue(d.Where()) }),
		"url":            reads(value.url),
		"web server":     reads(value.searxng),
		"audio server":   reads(value.whisper),
		"ollama":         reads(value.ollama),
		"listen":         reads(value.listen),
		"host":           reads(value.host),
		"host with port": reads(value.hostWithPort),
		"origin":         reads(value.origin),
		"addresses":      reads(value.prefix),
		"headers":        reads(value.headers),
		"query":          reads(value.query),
		"body":           reads(value.body),
		"folders":        reads(value.folders),
		"prices":         readsAndShows(value.prices, showPrices),
		"amount":         reads(value.amount),
	}
}

// kindOf returns the kind of a field, by its tags or else its type. It panics if there is none.
func kindOf(field reflect.StructField) kind {
	if as := field.Tag.Get("as"); as != "" {
		k, known := kinds()[as]
		if !known {
			panic("there is no kind " + as)
		}
		return k
	}
	if _, ok := field.Tag.Lookup("enum"); ok && field.Type != reflect.TypeFor[slog.Level]() {
		return reads(value.choice)
	}
	of := field.Type
	if of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	switch {
	case of == reflect.TypeFor[time.Duration]():
		return reads(value.duration)
	case of == reflect.TypeFor[slog.Level]():
		return readsAndShows(value.level, func(level slog.Level) any { return strings.ToLower(level.String()) })
	case of.Kind() == reflect.String:
		return reads(value.line)
	case of.Kind() == reflect.Int:
		return reads(value.number)
	case of.Kind() == reflect.Float64:
		return reads(value.ratio)
	case of.Kind() == reflect.Bool:
		return reads(value.yesNo)
	}
	panic(fmt.Sprintf("no kind for %s", field.Name))
}

// valueFor reads a value for a field of type of. If that is a slice and k reads single values, it reads a list.
func (k kind) valueFor(v value, of reflect.Type) (any, error) {
	if of.Kind() != reflect.Slice || k.of.Kind() == reflect.Slice {
		return k.read(v)
	}
	if least := v.tag.Get("min"); len(v.Content) == 0 && least != "" {
		return nil, fmt.Errorf("must be a list with an entry, such as %s", v.tag.Get("like"))
	}
	out := reflect.MakeSlice(of, 0, len(v.Content))
	for i, item := range v.Content {
		one := v
		one.Node, one.public = item, false
		got, err := k.read(one)
		if err != nil {
			return nil, fmt.Errorf("entry %d %w", i+1, err)
		}
		out = reflect.Append(out, reflect.ValueOf(got))
	}
	return out.Interface(), nil
}

// line reads one line of text, which must match the tag match if there is one.
func (v value) line() (string, error) {
	if v.ShortTag() != "!!str" {
		return "", fmt.Errorf("must be a text; put %s in quotes if it is one", v.Value)
	}
	text := v.word()
	if text == "" || strings.ContainsAny(text, "\n\r\x00") {
		return "", errors.New("must be one line of text")
	}
	if match, ok := v.tag.Lookup("match"); ok && !regexp.MustCompile("^(?:"+match+")$").MatchString(text) {
		return "", fmt.Errorf("is %s; it must be %s", quote(text), v.tag.Get("must"))
	}
	return text, nil
}

// text reads a text of several lines, with at most the characters of the tag max.
func (v value) text() (string, error) {
	most, _ := strconv.Atoi(v.tag.Get("max")) // a test sets each bound
	text := strings.TrimSpace(v.Value)
	if n := utf8.RuneCountInString(text); n > most {
		return "", fmt.Errorf("has %d characters; %d at most", n, most)
	}
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return "", errors.New("must be text in UTF-8")
	}
	return text, nil
}

// word returns the trimmed text of the value, whatever its YAML type.
func (v value) word() string { return strings.TrimSpace(v.Value) }

func (v value) quoted() string { return quote(v.Value) }

// quote returns a wrong value for messages: quoted, at most 60 characters, and with anything like a key redacted.
func quote(text string) string { return fmt.Sprintf("%.60q", redact.New().String(text)) }

func (v value) path() (string, error) {
	path, err := v.line()
	if err != nil {
		return "", err
	}
	return v.places.absolute(path, v.base)
}

func (v value) model() (string, error) {
	text, err := v.line()
	if err != nil {
		return "", err
	}
	provider, name, named := strings.Cut(text, ":")
	if provider == "" || named && name == "" || strings.ContainsAny(text, " \t") {
		return "", fmt.Errorf("is %s; it must be provider:model, such as ollama:llama3.1:8b, just a provider, or the "+
			"name of a model", quote(text))
	}
	return text, nil
}

// wholeModel reads provider:model. It refuses a provider or a model alone, which model accepts.
func (v value) wholeModel() (string, error) {
	text, err := v.model()
	if provider, _, _ := strings.Cut(text, ":"); err == nil && !isProviderName(provider) {
		return "", fmt.Errorf("is %s; it must be provider:model, such as ollama:llama3.1:8b", quote(text))
	}
	if err == nil && !strings.Contains(text, ":") {
		err = fmt.Errorf("is %s, a provider without a model; write %s:MODEL", v.quoted(), text)
	}
	return text, err
}

func (v value) number() (int, error) {
	low, _ := strconv.Atoi(v.tag.Get("min")) // a test sets each bound
	high, _ := strconv.Atoi(v.tag.Get("max"))
	none, hasNone := v.tag.Lookup("none")
	n, err := strconv.Atoi(v.word())
	if v.ShortTag() == "!!int" { // YAML has several notations
		err = v.Decode(&n)
	}
	switch {
	case err == nil && (n >= low && n <= high || n == 0 && hasNone):
		return n, nil
	case hasNone:
		none = ", or 0 for " + none
	}
	return 0, fmt.Errorf("is %s; it must be a whole number from %d to %d%s", v.quoted(), low, high, none)
}

func (v value) duration() (time.Duration, error) {
	low, _ := time.ParseDuration(v.tag.Get("min")) // a test sets each bound
	high, _ := time.ParseDuration(v.tag.Get("max"))
	d, err := time.ParseDuration(v.word())
	if err != nil || d < low || d > high {
		return 0, fmt.Errorf("is %s; it must be a time with a unit, from %s to %s, such as 90s", v.quoted(), low, high)
	}
	return d, nil
}

// forever is the value of keep_alive for a model that stays loaded. It is stored as a negative duration.
const forever = "forever"

func (v value) keepAlive() (time.Duration, error) {
	if v.Value == forever {
		return -time.Second, nil
	}
	d, err := v.duration()
	if err != nil {
		err = fmt.Errorf("%w, or forever", err)
	}
	return d, err
}

func showKeepAlive(d time.Duration) any {
	if d < 0 {
		return forever
	}
	return asFileValue(d)
}

// ratio reads a number from 0 to 1.
func (v value) ratio() (float64, error) {
	n, err := strconv.ParseFloat(v.word(), 64)
	if err != nil || !(n >= 0 && n <= 1) { // also refuses NaN
		return 0, fmt.Errorf("is %s; it must be a number from 0 to 1, such as 0.1", v.quoted())
	}
	return n, nil
}

// amount reads a sum of money, from 0 to the tag max.
func (v value) amount() (float64, error) {
	high, _ := strconv.ParseFloat(v.tag.Get("max"), 64) // a test sets each bound
	n, err := strconv.ParseFloat(v.word(), 64)
	if err != nil || !(n >= 0 && n <= high) { // also refuses NaN
		return 0, fmt.Errorf("is %s; it must be an amount such as 2.50, or 0 for no limit", v.quoted())
	}
	return n, nil
}

// choice reads one of the texts in the tag enum.
func (v value) choice() (string, error) {
	all := strings.Split(v.tag.Get("enum"), ",")
	for _, one := range all {
		if v.Value == one {
			return one, nil
		}
	}
	last := len(all) - 1
	return "", fmt.Errorf("is %s; it must be %s or %s", v.quoted(), strings.Join(all[:last], ", "), all[last])
}

func (v value) level() (level slog.Level, err error) {
	name, err := v.choice()
	if err != nil {
		return 0, err
	}
	return level, level.UnmarshalText([]byte(name))
}

// yesNo reads true, false, or words for them, in any case.
func (v value) yesNo() (bool, error) {
	switch strings.ToLower(v.word()) {
	case "true", "on", "yes":
		return true, nil
	case "false", "off", "no":
		return false, nil
	}
	return false, fmt.Errorf("is %s; it must be true or false", v.quoted())
}

// isOff reads on, off, true or false, in any case, and returns true for off.
func (v value) isOff() (bool, error) {
	switch strings.ToLower(v.word()) {
	case "on", "true":
		return false, nil
	case "off", "false":
		return true, nil
	}
	return false, fmt.Errorf("is %s; it must be on or off", v.quoted())
}

const (
	day          = 24 * time.Hour
	maxRetention = 36_500 * day
)

// retention reads a time as Age does, from 1d to maxRetention, or never, which is 0.
func (v value) retention() (time.Duration, error) {
	text := v.word()
	if text == "never" {
		return 0, nil
	}
	age, err := Age(text)
	if err != nil || age < day || age > maxRetention {
		return 0, fmt.Errorf("is %s; it must be a number of days from 1d to %s, such as 90d, or never", v.quoted(),
			inDays(maxRetention))
	}
	return age, nil
}

// Age parses days, as in 90d, or a Go duration. It limits days to one more than maxRetention, and durations not at all.
func Age(text string) (time.Duration, error) {
	days, ok := strings.CutSuffix(text, "d")
	if !ok {
		return time.ParseDuration(text)
	}
	n, err := strconv.Atoi(days)
	return min(time.Duration(n), maxRetention/day+1) * day, err
}

// inDays formats a time as retention reads it.
func inDays(d time.Duration) string {
	switch {
	case d == 0:
		return "never"
	case d%day == 0:
		return fmt.Sprintf("%dd", d/day)
	}
	return d.String()
}

// variable reads the name of an environment variable. Errors do not repeat it, since it may be a key in the wrong
// place.
func (v value) variable() (string, error) {
	name, err := v.line()
	if err != nil {
		return "", errors.New("must be the name of an environment variable")
	}
	if strings.Trim(name, letters+strings.ToUpper(letters)+digits+"_") != "" || strings.Contains(digits, name[:1]) ||
		redact.New().String(name) != name {
		return "", errors.New("must be the name of an environment variable, such as OPENAI_API_KEY, not a key")
	}
	return name, nil
}

// showVariables omits names of variables that are neither set nor usual, since they may be keys in the wrong place. nil
// if none is left.
func (s source) showVariables(held any) any {
	set := func(name string) bool { return s.places.get(name) != "" || isUsualVariable(name) }
	if all, ok := held.([]string); ok {
		return asFileValue(slices.DeleteFunc(slices.Clone(all), func(name string) bool { return !set(name) }))
	}
	if name, _ := held.(string); set(name) {
		return name
	}
	return nil
}

// command reads a list of a program and its arguments. Errors do not repeat them.
func (v value) command() ([]string, error) {
	form := "must be a list of a program and its arguments, such as " + v.tag.Get("like")
	if len(v.Content) == 0 || v.Content[0].Value == "" {
		return nil, errors.New(form)
	}
	var all []string
	for _, item := range v.Content {
		if item.ShortTag() != "!!str" || strings.ContainsRune(item.Value, 0) {
			return nil, errors.New(form + ", each of them a text")
		}
		all = append(all, item.Value)
	}
	return all, nil
}

// showProgram returns a command with "…" for its arguments, since one may be a secret.
func showProgram(command []string) any {
	if len(command) > 1 {
		return []string{command[0], "…"}
	}
	return asFileValue(command)
}

// language reads a language code such as pt or pt-BR, and returns it without the region, in lower case.
func (v value) language() (string, error) {
	text, err := v.line()
	if err != nil {
		return "", err
	}
	code, _, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(text, "_", "-")), "-")
	if len(code) < 2 || len(code) > 3 || strings.Trim(code, letters) != "" {
		return "", fmt.Errorf("is %s; it must be the code of a language, such as pt, en or de", v.quoted())
	}
	return code, nil
}

// decode reads names and values that JSON can express. Errors do not repeat a value, since it may be a secret.
func (v value) decode(into any) error {
	if v.Decode(into) != nil {
		return errors.New("must contain names and values, each name once")
	}
	if _, err := json.Marshal(into); err != nil {
		return errors.New("contains a value that is not valid JSON: use text, a " +
			"number, true, false, a list, or names and values")
	}
	return nil
}

const (
	letters = "abcdefghijklmnopqrstuvwxyz"
	digits  = "0123456789"
)

func isProviderName(name string) bool {
	return name != "" && len(name) <= 40 && strings.Contains(letters, name[:1]) &&
		strings.Trim(name, letters+digits+"_-") == ""
}

// isHeader reports whether a text can be the name of a header.
func isHeader(name string) bool {
	return name != "" && strings.Trim(name, letters+strings.ToUpper(letters)+digits+"-_") == ""
}

// asFileValue returns the value that the file would have for a field; nil if it is not set.
func asFileValue(held any) any {
	v := reflect.ValueOf(held)
	switch h := held.(type) {
	case time.Duration:
		if h == 0 {
			return nil
		}
		return h.String()
	case []netip.Prefix:
		var texts []string
		for _, one := range h {
			texts = append(texts, one.String())
		}
		return asFileValue(texts)
	}
	switch kind := v.Kind(); {
	case (kind == reflect.String || kind == reflect.Slice || kind == reflect.Map) && v.Len() == 0:
		return nil
	case kind == reflect.String:
		return v.String()
	}
	return held
}
