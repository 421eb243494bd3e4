package ollama

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// The windows to ask for if no setting names one, in tokens.
const (
	defaultWindow = 32_768 // of a model with that window or a larger one: memory grows with the window
	unknownWindow = 8_192  // if the server does not report the model's properties
)

// facts are what the server reports of its model. Zero facts mean that it reports nothing.
type facts struct {
	reported        bool
	remote          bool     // the server forwards the conversation to another
	window          int      // the model's largest; 0: not reported
	modelfileWindow int      // num_ctx of its Modelfile; 0: none
	loadedWindow    int      // with which the model is loaded; 0: it is not loaded
	capabilities    []string // capabilities; nil from servers older than 0.6.4
	bareCalls       bool     // BareCalls
	parameters      int      // of the model; 0: not reported
}

// info returns f in the contract's words, with the window to ask for.
func (f *facts) info(window int) model.Info {
	lacks := func(capability string) bool {
		return f.capabilities != nil && !slices.Contains(f.capabilities, capability)
	}
	return model.Info{Window: window, NoChat: lacks("completion"), NoTools: lacks("tools"), NoPictures: lacks("vision"),
		BareCalls: f.bareCalls, Parameters: f.parameters}
}

// numCtx returns the window to ask for, never the server's default: that may be 4096. 0: none, another server runs it.
func (f *facts) numCtx(set int) int {
	n := set
	switch {
	case n > 0:
	case f.remote:
		return 0
	case !f.reported:
		return unknownWindow
	case f.modelfileWindow > 0:
		n = f.modelfileWindow
	default:
		n = max(defaultWindow, f.loadedWindow) // another window than the loaded one would load the model again
	}
	if f.window > 0 {
		n = min(n, f.window)
	}
	return n
}

// loadFacts returns the facts, and asks for them until they are known. A server that reports them, answers something
// else, or takes too long is not asked again.
func (p protocol) loadFacts(x *wire.Call) (*facts, error) {
	if known := p.known.Load(); known != nil {
		return known, nil
	}
	f, err := p.fetchFacts(x)
	if kind := model.KindOf(err); err == nil || kind == model.Garbled || kind == model.Timeout &&
		x.Context().Err() == nil {
		p.known.Store(f)
	}
	return f, err
}

// knownFacts returns the facts as far as they are known.
func (p protocol) knownFacts() *facts {
	if known := p.known.Load(); known != nil {
		return known
	}
	return &facts{}
}

// fetchFacts asks the server for the facts.
func (p protocol) fetchFacts(x *wire.Call) (*facts, error) {
	var show struct {
		Info         map[string]json.RawMessage `json:"model_info"`
		Parameters   string                     `json:"parameters"`
		Template     string                     `json:"template"`
		Modelfile    string                     `json:"modelfile"`
		Capabilities []string                   `json:"capabilities"`
		RemoteHost   string                     `json:"remote_host"`
	}
	body, err := json.Marshal(map[string]string{"model": p.config.Model})
	if err != nil {
		return &facts{}, x.Fail(model.Invalid, err.Error(), err)
	}
	if err := x.GetInfo("api/show", body, &show); err != nil {
		return &facts{}, err
	}
	f := &facts{reported: true, remote: show.RemoteHost != "" || isCloud(p.config.Model),
		capabilities: show.Capabilities, modelfileWindow: parameter(show.Parameters, "num_ctx"),
		bareCalls: !strings.Contains(show.Modelfile, "\nPARSER ") && needsBareCalls(show.Template)}
	// it stays 0 if the field has another form
	_ = json.Unmarshal(show.Info["general.parameter_count"], &f.parameters)
	_ = json.Unmarshal(show.Info[wire.PlainText(show.Info["general.architecture"])+".context_length"], &f.window)
	if p.config.NumCtx > 0 || f.remote {
		return f, nil
	}
	var loaded struct {
		Models []struct {
			Name   string `json:"name"`
			Window int    `json:"context_length"`
		} `json:"models"`
	}
	if x.GetInfo("api/ps", nil, &loaded) == nil { // if this fails, the model counts as not loaded
		for _, m := range loaded.Models {
			if m.Name == p.config.Model || m.Name == p.config.Model+":latest" {
				f.loadedWindow = m.Window
			}
		}
	}
	return f, nil
}

// parameter returns an integer parameter out of lines of names and values; 0 if there is none.
func parameter(lines, name string) int {
	for line := range strings.Lines(lines) {
		if words := strings.Fields(line); len(words) == 2 && words[0] == name {
			n, _ := strconv.Atoi(words[1])
			return n
		}
	}
	return 0
}

// needsBareCalls says whether the server finds calls only at the beginning of an answer. It looks for what the model's
// template writes before the JSON of a call, such as a tag. If that is nothing, or the bracket of a list, it looks only
// at the beginning (tools.parseTag and tools.Parser.Add of Ollama 0.17.4). This holds for models without a parser of
// their own, which their Modelfile would name.
func needsBareCalls(template string) bool {
	if !strings.Contains(template, ".Tools") {
		return false
	}
	before := ""
	if at := ifCallsAction.FindStringIndex(template); at != nil {
		before = firstText(template[at[1]:])
	}
	before, _, _ = strings.Cut(before, "{")
	before = strings.TrimSpace(before)
	return before == "" || before == "["
}

var (
	ifCallsAction = regexp.MustCompile(`\{\{-?\s*(?:else )?if [^}$]*\.ToolCalls[^}]*\}\}`)
	controlAction = regexp.MustCompile(`^\{\{-?\s*(?:if|range|with)\b`)
	anyAction     = regexp.MustCompile(`\{\{[^}]*\}\}`)
)

// firstText returns the first text of a template that is not blank; "" if the model's words come before it.
func firstText(template string) string {
	for template != "" {
		at := anyAction.FindStringIndex(template)
		if at == nil {
			return template
		}
		if text := template[:at[0]]; strings.TrimSpace(text) != "" {
			return text
		}
		if !controlAction.MatchString(template[at[0]:at[1]]) {
			return ""
		}
		template = template[at[1]:]
	}
	return ""
}

// windowAdvice says what to do about a request that does not fit.
func (p protocol) windowAdvice() string {
	f := p.knownFacts()
	setting := "ollama.context"
	if p.config.Provider != Ollama {
		setting = "providers." + p.config.Provider + ".window"
	}
	switch n := f.numCtx(p.config.NumCtx); n {
	case 0:
		return ""
	case f.window:
		return fmt.Sprintf(" (the context window is set to %d tokens, which is all that the model takes)", n)
	default:
		return fmt.Sprintf(" (the context window is set to %d tokens; %s in the settings sets a larger one)",
			n, setting)
	}
}
