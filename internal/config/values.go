package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sibyl/internal/cleartext"
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
		return fmt.Errorf("is %s; it must be provider:model, such as ollama:llama3.1:8b, or just a provider", quote(*into))
	}
	return nil
}

// listOf takes a list of what one takes.
func listOf[F any](what string, one func(value, *F) error) func(value, *[]F) error {
	return func(v value, into *[]F) error {
		list, ok := v.raw.([]any)
		if !ok {
			return errors.New("must be a list of " + what)
		}
		*into = make([]F, len(list))
		for i, item := range list {
			if err := one(value{raw: item, base: v.base, places: v.places}, &(*into)[i]); err != nil {
				return fmt.Errorf("entry %d %w", i+1, err)
			}
		}
		return nil
	}
}

// wholeModel takes provider:model, both of them.
func (v value) wholeModel(into *string) error {
	if err := v.model(into); err != nil {
		return err
	}
	if provider, name, _ := strings.Cut(*into, ":"); name == "" {
		return fmt.Errorf("is %s, a provider without a model; write %s:MODEL", v.quoted(), provider)
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
			return fmt.Errorf("%w, or 0 for no limit", err)
		}
		return nil
	}
}

func duration(low, high time.Duration) func(value, *time.Duration) error {
	return func(v value, into *time.Duration) error {
		d, err := time.ParseDuration(strings.TrimSpace(fmt.Sprint(v.raw)))
		if err != nil || d < low || d > high {
			return fmt.Errorf("is %s; it must be a time with a unit, from %s to %s, such as 90s", v.quoted(), low, high)
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
	age, err := Age(text)
	if err != nil || age < day || age > maxRetention {
		return fmt.Errorf("is %s; it must be a number of days from 1d to %s, such as 90d, or never", v.quoted(), inDays(maxRetention))
	}
	*into = age
	return nil
}

// Age reads days as 90d, or a time in hours. More than a hundred years are cut to little more.
func Age(text string) (time.Duration, error) {
	days, ok := strings.CutSuffix(text, "d")
	if !ok {
		return time.ParseDuration(text)
	}
	n, err := strconv.Atoi(days)
	return min(time.Duration(n), maxRetention/day+1) * day, err
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
		return errors.New("must be the name of an environment variable, such as OPENAI_API_KEY, not a key")
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

// address takes a web address. Its errors do not repeat it, since it may hold a password.
func (v value) address() (*url.URL, error) {
	var text string
	if err := v.line(&text); err != nil {
		return nil, errors.New("must be a web address, such as https://host/path")
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "":
		return nil, errors.New("must be a web address, such as https://host/path")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("must be an address without ? and #")
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = ""
	return u, nil
}

func (v value) endpoint(into *Provider) error {
	u, err := v.address()
	if err != nil {
		return err
	}
	if u.User != nil {
		return errors.New("contains a user or password: use key_env or key_command")
	}
	into.BaseURL = u.String()
	into.Local = isLoopback(into.BaseURL)
	return nil
}

// searxng takes the address of a search server, from the environment with user and password.
func (v value) searxng(into *Web) error {
	u, err := v.address()
	if err != nil {
		return err
	}
	if u.User != nil && v.public {
		return errors.New("contains a user or password, which do not belong in this file: put the address in SIBYL_SEARXNG_URL")
	}
	if u.User != nil {
		password, _ := u.User.Password()
		into.User, into.Password = u.User.Username(), NewSecret(password)
		u.User = nil
	}
	into.SearXNG = u.String()
	return nil
}

// Address is the whole address of the search server, with user and password where there are any: for the connection,
// not for showing.
func (w Web) Address() string {
	u, err := url.Parse(w.SearXNG)
	if err != nil || w.User == "" && w.Password.Reveal() == "" {
		return w.SearXNG
	}
	u.User = url.UserPassword(w.User, w.Password.Reveal())
	return u.String()
}

// ollama takes an address in the forms that Ollama itself takes in OLLAMA_HOST: host, host:port, :port, or a web
// address. One that means "all interfaces" to a server means this machine to us.
func (v value) ollama(into *Ollama) error {
	const form = "must be a host, host:port or web address, such as 127.0.0.1:11434"
	var text string
	if err := v.line(&text); err != nil {
		return errors.New(form)
	}
	scheme, rest, hasScheme := strings.Cut(text, "://")
	port := "11434"
	switch {
	case !hasScheme:
		scheme, rest = "http", text
	case scheme == "http":
		port = "80"
	case scheme == "https":
		port = "443"
	default:
		return errors.New(form)
	}
	rest, path, _ := strings.Cut(rest, "/")
	host := strings.Trim(rest, "[]")
	if h, p, err := net.SplitHostPort(rest); err == nil {
		host, port = h, p
	} else if _, err := netip.ParseAddr(host); err != nil && strings.Contains(rest, ":") {
		return errors.New(form)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 || strings.ContainsAny(host, "@ ?#") {
		return errors.New(form)
	}
	switch host {
	case "", "0.0.0.0":
		host = "127.0.0.1"
	case "::":
		host = "::1"
	}
	u := url.URL{Scheme: scheme, Host: net.JoinHostPort(host, port)}
	if path = strings.Trim(path, "/"); path != "" {
		u.Path = "/" + path
	}
	into.Host, into.Local = u.String(), isLoopback(u.String())
	return nil
}

// isLoopback says whether an address leads to this machine, by what is written and not by what a resolver says.
func isLoopback(address string) bool {
	u, err := url.Parse(address)
	return err == nil && cleartext.Local(u)
}
