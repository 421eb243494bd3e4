package openai

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// listEntry is an entry of a list of models, with what endpoints report beside the id.
type listEntry struct {
	ID string `json:"id"`

	ContextLength    count `json:"context_length"`     // OpenRouter, Together, Moonshot
	ContextWindow    count `json:"context_window"`     // Groq
	MaxModelLen      count `json:"max_model_len"`      // vLLM, SGLang
	MaxContextLength count `json:"max_context_length"` // Mistral, LM Studio
	MaxOutput        count `json:"max_completion_tokens"`
	TopProvider      struct {
		ContextLength count `json:"context_length"`
		MaxOutput     count `json:"max_completion_tokens"`
	} `json:"top_provider"`
	Meta struct { // llama.cpp
		Served  count `json:"n_ctx"`
		Trained count `json:"n_ctx_train"`
		Size    size  `json:"n_params"`
		Bytes   size  `json:"size"`
		Words   count `json:"n_vocab"`
	} `json:"meta"`

	// What names the weights behind the id.
	Root         string `json:"root"`           // vLLM: their folder
	Slug         string `json:"canonical_slug"` // OpenRouter
	Quantization string `json:"quantization"`   // LM Studio

	Parameters   []string `json:"supported_parameters"` // OpenRouter
	Architecture struct {
		Input []string `json:"input_modalities"` // OpenRouter
	} `json:"architecture"`
	Capabilities json.RawMessage `json:"capabilities"` // an object of Mistral's; others list words
}

// count is a number of tokens; anything else is decoded as zero.
type count int

func (c *count) UnmarshalJSON(raw []byte) error {
	n, err := strconv.ParseFloat(wire.PlainText(raw), 64)
	if err == nil && n > 0 && n < 1<<31 {
		*c = count(n)
	}
	return nil
}

// size is a number of parameters; anything else is decoded as zero.
type size int

func (s *size) UnmarshalJSON(raw []byte) error {
	n, err := strconv.ParseFloat(wire.PlainText(raw), 64)
	if err == nil && n > 0 && n < 1<<53 {
		*s = size(n)
	}
	return nil
}

// fetchList asks for the models that the endpoint offers.
func fetchList(x *wire.Call) ([]listEntry, error) {
	var list struct {
		Models []listEntry `json:"data"`
	}
	err := x.GetList("models", nil, &list, func() bool { return list.Models != nil })
	return list.Models, err
}

// listIDs returns the ids of the models that the endpoint offers.
func listIDs(x *wire.Call) ([]string, error) {
	all, err := fetchList(x)
	ids := make([]string, 0, len(all))
	for _, entry := range all {
		ids = append(ids, entry.ID)
	}
	return ids, err
}

// describe looks for the model in the endpoint's list, and asks llama.cpp for the window that it serves and the
// template that it uses.
func (p *protocol) describe(x *wire.Call) (model.Info, error) {
	all, err := fetchList(x)
	if err != nil {
		return model.Info{}, err
	}
	at := slices.IndexFunc(all, func(entry listEntry) bool { return entry.ID == p.config.Model })
	if at < 0 {
		return model.Info{}, nil
	}
	entry := &all[at]
	info := entry.info()
	if entry.Meta.Trained == 0 {
		info.Digest = model.DigestOf(entry.Root, entry.Slug, entry.Quantization)
		return info, nil
	}
	var props struct {
		Settings struct {
			Window count `json:"n_ctx"`
		} `json:"default_generation_settings"`
		Path     string `json:"model_path"`
		Template string `json:"chat_template"`
	}
	// The path is beside /v1. A server that does not answer this is assumed to serve what the model was trained for.
	err = x.GetList("../props", nil, &props, func() bool { return true })
	if err == nil && props.Settings.Window > 0 && entry.Meta.Served == 0 {
		info.Window = int(props.Settings.Window)
	}
	if kind := model.KindOf(err); err == nil || kind == model.Invalid || kind == model.Auth { // or it may answer later
		info.Digest = model.DigestOf(fmt.Sprint(entry.Meta.Size, entry.Meta.Bytes, entry.Meta.Words), props.Path,
			props.Template)
	}
	return info, nil
}

// info returns the properties that an entry reports.
func (l *listEntry) info() model.Info {
	window := cmp.Or(l.TopProvider.ContextLength, l.MaxModelLen, l.ContextLength, l.ContextWindow, l.MaxContextLength,
		l.Meta.Served, l.Meta.Trained)
	info := model.Info{Window: int(window), Output: int(cmp.Or(l.TopProvider.MaxOutput, l.MaxOutput)),
		Parameters: int(l.Meta.Size)}
	info.NoTools = len(l.Parameters) > 0 && !slices.Contains(l.Parameters, "tools")
	modalities := l.Architecture.Input
	info.NoPictures = len(modalities) > 0 && !slices.Contains(modalities, "image")
	var capabilities struct {
		Chat   *bool `json:"completion_chat"`
		Tools  *bool `json:"function_calling"`
		Vision *bool `json:"vision"`
	}
	if json.Unmarshal(l.Capabilities, &capabilities) == nil {
		info.NoChat = capabilities.Chat != nil && !*capabilities.Chat
		info.NoTools = info.NoTools || capabilities.Tools != nil && !*capabilities.Tools
		info.NoPictures = info.NoPictures || capabilities.Vision != nil && !*capabilities.Vision
	}
	return info
}
