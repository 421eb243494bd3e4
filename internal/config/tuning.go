package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"sibyl/internal/redact"
)

// Tuning is how the models of a provider are asked. What is not set is left to the provider.
type Tuning struct {
	Think     string            // "on", "off", or an effort: "low", "medium", "high"; "" for not set
	MaxOutput int               // tokens of an answer at most, 256 to 1,000,000; 0 for not set
	Headers   map[string]string // sent with each request; one that begins with $ names the environment variable to send
	Query     map[string]string // values in the address of each request
	Body      map[string]any    // fields of the JSON of each request for a turn
	Report    string            // how the model is to report on itself: ReportSignals, ReportTool; "" for not set
	KeepAlive time.Duration     // how long Ollama keeps the model loaded, from 1 s on; negative: for ever; 0 for not set

	EnvHeaders map[string]Secret // what the variables of Headers held when the settings were loaded
}

// How a model reports on itself, as Tuning.Report.
const (
	ReportSignals = "signals" // by signals at the end of its text
	ReportTool    = "tool"    // by calling a tool
)

// The APIs of an endpoint of OpenAI's kind, as Provider.API.
const (
	APIChat      = "chat"
	APIResponses = "responses"
)

// Header returns the headers to send. The error names a variable that is not set, and its header.
func (t Tuning) Header() (map[string]string, error) {
	out := maps.Clone(t.Headers)
	for name, text := range t.Headers {
		if variable, ok := strings.CutPrefix(text, "$"); ok {
			if out[name] = t.EnvHeaders[name].Reveal(); out[name] == "" {
				return nil, fmt.Errorf("the header %s uses the environment variable %s, which is not set", name, variable)
			}
		}
	}
	return out, nil
}

// JSON returns the fields of Body.
func (t Tuning) JSON() (map[string]json.RawMessage, error) {
	out := make(map[string]json.RawMessage, len(t.Body))
	for name, v := range t.Body {
		text, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("the field %s of body is not valid JSON", name)
		}
		out[name] = text
	}
	return out, nil
}

// tuning lists the settings of a Tuning.
func tuning[T any](prefix string, of func(*T) *Tuning) []setting[T] {
	return []setting[T]{
		choice(prefix+"think", "", func(t *T) *string { return &of(t).Think }, "on", "off", "low", "medium", "high"),
		field(prefix+"max_output", "", func(t *T) *int { return &of(t).MaxOutput }, numberOrNone(256, 1_000_000)),
		field(prefix+"keep_alive", "", func(t *T) *time.Duration { return &of(t).KeepAlive }, value.keepAlive).shown(func(t *T) any {
			if of(t).KeepAlive < 0 {
				return forever
			}
			return plain(of(t).KeepAlive)
		}),
		choice(prefix+"report", "", func(t *T) *string { return &of(t).Report }, ReportSignals, ReportTool),
		field(prefix+"headers", "", func(t *T) *Tuning { return of(t) }, value.headers).taking("{X-Team: search, X-Gateway-Token: $GATEWAY_TOKEN}").
			shown(func(t *T) any { return plain(of(t).Headers) }),
		field(prefix+"query", "", func(t *T) *map[string]string { return &of(t).Query }, value.query).taking("{api-version: 2024-10-21}"),
		field(prefix+"body", "", func(t *T) *map[string]any { return &of(t).Body }, value.fields).taking("{top_k: 20}"),
	}
}

// forever is what keep_alive takes for a model that stays loaded.
const forever = "forever"

func (v value) keepAlive(into *time.Duration) error {
	if v.raw == forever {
		*into = -time.Second
		return nil
	}
	if err := duration(time.Second, 30*day)(v, into); err != nil {
		return fmt.Errorf("%w, or forever", err)
	}
	return nil
}

// names takes names and values without a secret.
func (v value) names(into any) error {
	if err := v.decode(into); err != nil {
		return err
	}
	return noSecret(into)
}

// decode takes names and values. The error does not repeat a value: it may be a secret in the wrong place.
func (v value) decode(into any) error {
	node, ok := v.raw.(*yaml.Node)
	if !ok || node.Decode(into) != nil {
		return errors.New("must contain names and values, each name once")
	}
	if _, err := json.Marshal(into); err != nil {
		return errors.New("contains a value that is not valid JSON: use text, a number, true, false, a list, or names and values")
	}
	return nil
}

// noSecret refuses what looks like a key, in itself or by its name.
func noSecret(named any) error {
	text, err := json.Marshal(named)
	if err == nil && redact.New().String(string(text)) != string(text) {
		return errors.New("contains what looks like a key, which does not belong in this file: use headers, with the name of an environment variable")
	}
	return err
}

// fields takes names and values of any form that JSON has. Dates are texts there.
func (v value) fields(into *map[string]any) error {
	if node, ok := v.raw.(*yaml.Node); ok {
		undate(node)
	}
	if err := v.decode(into); err != nil {
		return err
	}
	for _, name := range sortedNames(*into) {
		if slices.Contains(ownFields(), name) {
			return fmt.Errorf("%s is sent by the program: leave it out", quote(name))
		}
		if looksLikeCredential(name) {
			return fmt.Errorf("%s is the name of a key, which does not belong in this file: use key_env, key_command or headers", quote(name))
		}
	}
	return noSecret(into)
}

// ownFields are the fields of a request that hold the question, the tools, and the way in which the answer comes.
func ownFields() []string {
	return []string{"model", "messages", "input", "contents", "system", "instructions", "systemInstruction", "tools", "tool_choice", "toolConfig", "stream", "stream_options"}
}

func undate(n *yaml.Node) {
	if n.ShortTag() == "!!timestamp" {
		n.Tag = "!!str"
	}
	for _, inside := range n.Content {
		undate(inside)
	}
}

// texts takes names and texts; numbers and the like are texts here, as they are written. What they may hold is the caller's to say.
func (v value) texts(into *map[string]string) error {
	if err := v.decode(into); err != nil {
		return err
	}
	for name, text := range *into {
		if name == "" || text == "" || strings.ContainsFunc(name+text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return fmt.Errorf("%s must be one line of text, with a name", quote(name))
		}
	}
	return nil
}

func (v value) query(into *map[string]string) error {
	if err := v.texts(into); err != nil {
		return err
	}
	for name := range *into {
		if looksLikeCredential(name) {
			return fmt.Errorf("%s looks like a key, which does not belong in an address: use key_env, key_command or headers", quote(name))
		}
	}
	return noSecret(into)
}

// headers takes the headers of a request. One that is named like a credential has to name a variable, as no secret belongs in the file.
func (v value) headers(into *Tuning) error {
	if err := v.texts(&into.Headers); err != nil {
		return err
	}
	into.EnvHeaders = map[string]Secret{}
	for _, name := range sortedNames(into.Headers) {
		text := into.Headers[name]
		variable, fromEnvironment := strings.CutPrefix(text, "$")
		switch {
		case !isHeader(name):
			return fmt.Errorf("%s is not a valid header name", quote(name))
		case fromEnvironment:
			if err := (value{raw: variable}).variable(&variable); err != nil {
				return fmt.Errorf("%s, after $, %w", quote(name), err)
			}
			into.EnvHeaders[name] = NewSecret(v.places.get(variable))
		case strings.Contains(text, "$"):
			return fmt.Errorf("%s: a variable must stand alone, as $NAME; put the whole header value in it", quote(name))
		case looksLikeCredential(name):
			return fmt.Errorf("%s may contain a secret, which does not belong in this file: put it in an environment variable and write $NAME here; "+
				"for the key itself use key_env or key_command", quote(name))
		}
	}
	return noSecret(into.Headers)
}

// looksLikeCredential says whether people give that name to what is secret in a request.
func looksLikeCredential(name string) bool {
	if looksLikeKey(name) {
		return true
	}
	name = strings.ToLower(name)
	for _, ending := range []string{"auth", "authorization", "cookie", "credential", "credentials", "signature"} {
		if strings.HasSuffix(name, ending) {
			return true
		}
	}
	return false
}
