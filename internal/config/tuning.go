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

// Tuning configures requests to a provider's models. The provider decides what is unset.
type Tuning struct {
	Think string `name:"think" enum:"on,off,low,medium,high"`
	// tokens of an answer at most; 0 for not set
	MaxOutput int `name:"max_output" min:"256" max:"1000000" none:"no limit"`
	// how long Ollama keeps the model loaded; negative: for ever; 0 for not set
	KeepAlive time.Duration `name:"keep_alive" as:"keep_alive" min:"1s" max:"720h"`
	// how the model is to report on itself: ReportSignals, ReportTool; "" for not set
	Report string `name:"report" enum:"signals,tool"`
	// Headers are sent with each request; one that begins with $ names the environment variable to send.
	Headers map[string]string `name:"headers" as:"headers" like:"{X-Team: search, X-Gateway-Token: $GATEWAY_TOKEN}"`
	// values in the address of each request
	Query map[string]string `name:"query" as:"query" like:"{api-version: 2024-10-21}"`
	Body  map[string]any    `name:"body" as:"body" like:"{top_k: 20}"` // fields of the JSON of each request for a turn

	EnvHeaders map[string]Secret // what the variables of Headers held when the settings were loaded
}

// How a model reports on itself, as Tuning.Report.
const (
	ReportSignals = "signals" // by signals at the end of its text
	ReportTool    = "tool"    // by calling a tool
)

// Header returns the headers to send. The error names an unset variable and its header.
func (t Tuning) Header() (map[string]string, error) {
	out := maps.Clone(t.Headers)
	for name, text := range t.Headers {
		if variable, ok := strings.CutPrefix(text, "$"); ok {
			if out[name] = t.EnvHeaders[name].Reveal(); out[name] == "" {
				return nil, fmt.Errorf("the header %s uses the environment variable %s, which is not set",
					name, variable)
			}
		}
	}
	return out, nil
}

// JSON returns the fields of Body.
func (t Tuning) JSON() map[string]json.RawMessage {
	out := make(map[string]json.RawMessage, len(t.Body))
	for name, v := range t.Body {
		out[name], _ = json.Marshal(v) // it was tried when it was read
	}
	return out
}

// finishHeaders reads the variables that headers name.
func (s source) finishHeaders(t *Tuning) {
	for name, text := range t.Headers {
		if variable, ok := strings.CutPrefix(text, "$"); ok {
			if t.EnvHeaders == nil {
				t.EnvHeaders = map[string]Secret{}
			}
			t.EnvHeaders[name] = NewSecret(WithoutQuotes(s.places.get(variable)))
		}
	}
}

// noSecret rejects what looks like a key, by its text or its name.
func noSecret(named any) error {
	text, err := json.Marshal(named)
	if err == nil && redact.New().String(string(text)) != string(text) {
		return errors.New("contains what looks like a key, which does not belong in this file: use headers, with the " +
			"name of an environment variable")
	}
	return err
}

// body parses names and values of any JSON form. Dates become texts.
func (v value) body() (fields map[string]any, err error) {
	undate(v.Node)
	if err := v.decode(&fields); err != nil {
		return nil, err
	}
	// The program sends the question, the tools, and the way in which the answer comes.
	own := []string{"model", "messages", "input", "contents", "system", "instructions", "systemInstruction", "tools",
		"tool_choice", "toolConfig", "stream", "stream_options"}
	for _, name := range sortedNames(fields) {
		if slices.Contains(own, name) {
			return nil, fmt.Errorf("%s is sent by the program: leave it out", quote(name))
		}
		if looksLikeCredential(name) {
			return nil, fmt.Errorf("%s is the name of a key, which does not belong in this file: use key_env, "+
				"key_command or headers", quote(name))
		}
	}
	return fields, noSecret(fields)
}

func undate(n *yaml.Node) {
	if n.ShortTag() == "!!timestamp" {
		n.Tag = "!!str"
	}
	for _, inside := range n.Content {
		undate(inside)
	}
}

// texts takes names and texts; numbers and the like are texts here, as they are written.
func (v value) texts() (all map[string]string, err error) {
	if err := v.decode(&all); err != nil {
		return nil, err
	}
	for name, text := range all {
		if name == "" || text == "" || strings.ContainsFunc(name+text, isControl) {
			return nil, fmt.Errorf("%s must be one line of text, with a name", quote(name))
		}
	}
	return all, nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

func (v value) query() (map[string]string, error) {
	all, err := v.texts()
	if err != nil {
		return nil, err
	}
	for name := range all {
		if looksLikeCredential(name) {
			return nil, fmt.Errorf("%s looks like a key, which does not belong in an address: use key_env, "+
				"key_command or headers", quote(name))
		}
	}
	return all, noSecret(all)
}

// headers takes the headers of a request. One that is named like a credential has to name a variable, as no secret
// belongs in the file.
func (v value) headers() (map[string]string, error) {
	all, err := v.texts()
	if err != nil {
		return nil, err
	}
	for _, name := range sortedNames(all) {
		variable, fromEnvironment := strings.CutPrefix(all[name], "$")
		switch {
		case !isHeader(name):
			return nil, fmt.Errorf("%s is not a valid header name", quote(name))
		case fromEnvironment:
			if _, err := (value{Node: textOf(variable)}).variable(); err != nil {
				return nil, fmt.Errorf("%s, after $, %w", quote(name), err)
			}
		case strings.Contains(variable, "$"):
			return nil, fmt.Errorf("%s: a variable must stand alone, as $NAME; put the whole header value in it",
				quote(name))
		case looksLikeCredential(name):
			return nil, fmt.Errorf("%s may contain a secret, which does not belong in this file: put it in an "+
				"environment variable and write $NAME here; "+
				"for the key itself use key_env or key_command", quote(name))
		}
	}
	return all, noSecret(all)
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
